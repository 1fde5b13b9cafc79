"""Whether two terms sound alike: Refined Soundex, and the gate that a correction of a misheard term must pass.

Code: the first letter, then one digit for each letter (equal neighbours once), numbers as they are spoken in English.
Source of the table: Refined Soundex as in Apache Commons Codec; of the gate: PreMind, section A.4.2 (distance under 5).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from videmus.config import PremindSettings
from videmus.understand.numbers import ONES, TENS, values

_DIGITS = {
    letter: digit
    for digit, letters in enumerate(["AEIOUHWY", "BP", "FV", "CKS", "GJ", "QXZ", "DT", "L", "MN", "R"])
    for letter in letters
}
TURNED = [
    ("in", "de"), ("in", "ex"), ("im", "ex"), ("en", "de"), ("over", "under"), ("hyper", "hypo"), ("inter", "intra"),
    ("pre", "post"), ("up", "down"), ("", "un"), ("", "non"), ("", "in"), ("", "im"), ("", "dis"), ("", "anti"),
]  # fmt: skip
"""Prefixes that turn a word's meaning round. Such pairs sound alike by any code (increase / decrease), both are words that
a speaker means, and a wrong correction says the opposite."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """`distance`: edits between the two codes; `alike`: whether the gate lets the correction pass; `reason` why not."""

    distance: int
    alike: bool
    reason: str = ""


def likeness(heard: str, meant: str, settings: PremindSettings) -> Likeness:
    """How much `heard` sounds like `meant`. Terms in scripts that the code does not cover are never alike."""
    first, second = refined_soundex(heard), refined_soundex(meant)
    if not first or not second:
        return Likeness(max(len(first), len(second)), False, "no sound code for this script")
    distance = Levenshtein.distance(first, second)
    if distance >= settings.gate_distance:
        return Likeness(distance, False, f"sounds unlike: distance {distance}")
    if settings.gate != "premind":
        longer = max(len(first), len(second))
        if distance > settings.gate_share * longer:
            return Likeness(distance, False, f"sounds unlike: {distance} of {longer} sounds differ")
        if (stated := values(heard)) and (other := values(meant)) and not stated & other:
            return Likeness(distance, False, "another number")
        if turned_round(heard, meant):
            return Likeness(distance, False, "a prefix that turns the meaning round")
    return Likeness(distance, True)


def refined_soundex(term: str) -> str:
    """The code of a word or phrase, spaces and marks left out: "Braz" B1905; "3.5" as "three point five". "" for no letters."""
    letters = _letters(term)
    code = letters[:1]
    last = ""
    for letter in letters:
        digit = str(_DIGITS[letter])
        if digit != last:
            code += digit
        last = digit
    return code


def turned_round(one: str, other: str) -> bool:
    """Whether two words differ by nothing but prefixes that turn a meaning round."""
    first, second = one.casefold().strip(), other.casefold().strip()
    return any(
        a.startswith(x) and b.startswith(y) and a[len(x) :] == b[len(y) :] and len(a) - len(x) >= 3
        for x, y in TURNED
        for a, b in ((first, second), (second, first))
    )


def _letters(term: str) -> str:
    spoken = re.sub(r"(?<=\d)[.,](?=\d)", " point ", term)
    spoken = re.sub(r"\d+", lambda m: f" {_number(m.group())} ", spoken)
    plain = unicodedata.normalize("NFKD", spoken.casefold().replace("ß", "ss")).upper()
    return "".join(c for c in plain if c in _DIGITS)


def _number(digits: str) -> str:
    """A number of up to two digits as a word, a longer one digit by digit, as lecturers read out versions and names."""
    if len(digits) > 2 or digits.startswith("0"):
        return " ".join(ONES[int(d)] for d in digits)
    value = int(digits)
    if value < 20:
        return ONES[value]
    tens, ones = divmod(value, 10)
    return TENS[tens - 2] + (f" {ONES[ones]}" if ones else "")
