"""Numbers in texts: which values a text states, so that a number in a description or an answer can be traced.

Written with digits (1,000 · 1 000 · 3.5 · 3,5 · 1e-4 · 3 million) or as English words (twenty-five). A token that mixes
letters and digits (RE16, GPT-4o, H2O) is a name, not a number, and is compared as one.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
_UNITS = {word: value for value, word in enumerate(ONES)}
_TENS = {word: 10 * value for value, word in enumerate(TENS, 2)}
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 1000, "m": 10**6, "bn": 10**9,
}  # fmt: skip

_NAME = re.compile(r"(?<![^\W_])(?=\d*+[^\W\d_])(?=[^\W\d_]*+\d)[^\W_]++(?:\.\d++)*+")
_PLAIN = r"\d++(?:[.,]\d++)*+"
_DIGITS = rf"\d{{1,3}}(?:[ \u00a0\u202f']\d{{3}})++(?!\d)(?:[.,]\d++)?|{_PLAIN}"
_NUMBER = re.compile(
    rf"(?P<sign>(?<![^\s(\[{{=:,;|/*·×])-)?(?<!\d)(?P<digits>{_DIGITS})(?P<power>e[-+]?\d+)?"
    r"(?:st|nd|rd|th|\s?(?P<scale>thousand|million|billion|trillion|bn|k|m))?(?![^\W_])",
    re.I,
)
_ENDED = re.compile(r"\d+(?:st|nd|rd|th|k|m|bn|e\d*)", re.I)
"""A number with an ordinal ending, a scale or an exponent, which looks like a name."""
_WORD = "|".join([*ONES, *TENS, "hundred", "thousand", "million", "billion", "trillion"])
_DIGIT_WORD = "|".join(ONES[:10])
_WORDS = re.compile(
    rf"\b(?:{_WORD})(?:[\s-]+(?:and\s+)?(?:{_WORD}))*\b(?P<decimals>(?:\s+point)(?:\s+(?:{_DIGIT_WORD}))+\b)?", re.I
)
_CLOCK = re.compile(r"(?<![\d:])\d{1,3}:[0-5]\d(?::[0-5]\d)?(?![\d:])")


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text: as written, and the values that it may mean ("1,234" is 1234 or 1.234)."""

    written: str
    readings: frozenset[Decimal]


def numbers(text: str) -> list[Number]:
    """The numbers of a text in order. Clock times and names with digits are left out; so is "one", mostly a pronoun."""
    plain = _folded(text)
    plain = _CLOCK.sub(lambda m: " " * len(m.group()), plain)
    found: list[tuple[int, Number]] = []
    for match in _NUMBER.finditer(_without_names(plain)):
        readings = _readings(match)
        if readings:
            found.append((match.start(), Number(match.group().strip(), readings)))
    for match in _WORDS.finditer(_NUMBER.sub(lambda m: " " * len(m.group()), plain)):
        decimals = match["decimals"] or ""
        said = _spoken(match.group().removesuffix(decimals))
        for k, (written, value) in enumerate(said):
            digits = "".join(str(_UNITS[w]) for w in decimals.casefold().split()[1:]) if k == len(said) - 1 else ""
            if digits or value != 1:
                exact = Decimal(f"{value}.{digits}" if digits else value).normalize()
                found.append((match.start(), Number(written + (decimals if digits else ""), frozenset({exact}))))
    return [number for _, number in sorted(found, key=lambda f: f[0])]


def values(text: str) -> set[Decimal]:
    """Every value that a text states, generously: both readings, with and without its sign or its scale word."""
    stated: set[Decimal] = set()
    plain = _folded(text)
    for number in numbers(text):
        stated |= number.readings
        stated |= {abs(v) for v in number.readings}
    for match in _NUMBER.finditer(plain):  # names lend their digits: "GPT-4" states 4, "v3.5" states 3.5
        stated |= _plain_readings(match["digits"])
    for digits in re.findall(_PLAIN, plain):  # "3 100" is also 3 and 100
        stated |= _plain_readings(digits)
    if re.search(r"\bone\b|\b(?:a|an) (?:hundred|thousand|million)\b", plain, re.I):
        stated.add(Decimal(1))
    if re.search(r"\b(?:minus|negative)\b", plain, re.I):
        stated |= {-v for v in stated}
    return stated


def names(text: str) -> set[str]:
    """The tokens that mix letters and digits, folded: RE16, H2O."""
    found = (m.group() for m in _NAME.finditer(_folded(text)))
    return {name.casefold() for name in found if not _ENDED.fullmatch(name)}


def clocks(text: str) -> list[str]:
    """The clock times of a text as written: 12:34, 1:02:03."""
    return [m.group() for m in _CLOCK.finditer(_folded(text))]


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text)
    return folded.replace("\u2212", "-").replace("\u2013", " - ").replace("\u2014", " - ")


def _without_names(text: str) -> str:
    return _NAME.sub(lambda m: m.group() if _ENDED.fullmatch(m.group()) else " " * len(m.group()), text)


def _readings(match: re.Match[str]) -> frozenset[Decimal]:
    readings = _plain_readings(match["digits"])
    if match["power"]:
        readings = {_decimal(f"{v}{match['power']}") or v for v in readings}
    if match["scale"]:
        readings = {v * _SCALES[match["scale"].casefold()] for v in readings}
    if match["sign"]:
        readings = {-v for v in readings}
    return frozenset(v.normalize() for v in readings)


def _plain_readings(digits: str) -> set[Decimal]:
    """1,234.5 · 1.234,5 · 1,234 (twice) · 3,5: a comma or point before three digits may group, any single one may be decimal."""
    compact = re.sub(r"[ \u00a0\u202f']", "", digits)
    options = set()
    for group, point in ((",", "."), (".", ",")):
        whole, _, rest = compact.partition(point)
        grouped = re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+", whole)
        if grouped and (not rest or rest.isdigit()):
            options.add(whole.replace(group, "") + (f".{rest}" if rest else ""))
    options = options or set(re.split(r"[.,]", compact))  # "1.2.3" is a version: its parts
    return {value.normalize() for option in options if (value := _decimal(option)) is not None}


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value.adjusted()) < 60 else None


def _spoken(words: str) -> list[tuple[str, int]]:
    """The numbers in a run of English number words: "two hundred and five" [205]; "two three" [2, 3]."""
    said: list[tuple[str, int]] = []
    current: list[str] = []
    whole = part = 0
    last = ""
    for word in re.split(r"[\s-]+", words):
        folded = word.casefold()
        unit, tens, scale = _UNITS.get(folded), _TENS.get(folded), _SCALES.get(folded)
        clash = (unit is not None and (last == "unit" or (last == "tens" and not 0 < unit < 10))) or (
            tens is not None and last in ("unit", "tens")
        )
        if clash:
            said.append((" ".join(current), whole + part))
            current, whole, part, last = [], 0, 0, ""
        if unit is not None:
            part, last = part + unit, "unit"
        elif tens is not None:
            part, last = part + tens, "tens"
        elif folded == "hundred":
            part, last = max(part, 1) * 100, "scale"
        elif scale is not None:
            whole, part, last = whole + max(part, 1) * scale, 0, "scale"
        current.append(word)
    return [*said, (" ".join(current), whole + part)]
