"""Misheard terms: which suggested corrections are applied, and the corrected speech.

A correction is applied only where the model is certain, the term is one of the slide's, the passage stands in the speech, and
the two sound alike (`sound`). The original text always stays beside the corrected one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from videmus.config import PremindSettings
from videmus.model import Correction, content_id
from videmus.segment.passages import UNSPACED
from videmus.understand.sound import likeness

LONGEST_TERM = 80
"""Characters of a term; more is a rewritten sentence, not a misheard term."""

_LETTER = rf"[^\W_{UNSPACED.pattern[1:-1]}]"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a model takes for a misheard term: `heard` as it stands in the speech, `meant` as on the slide."""

    heard: str
    meant: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """The corrections to apply, and the suggestions refused with the reason."""

    applied: tuple[Correction, ...]
    refused: tuple[tuple[str, str, str], ...]


def judged(
    suggestions: Iterable[Suggestion],
    speech: str,
    terms: Collection[str],
    slide: str,
    segment: str,
    settings: PremindSettings,
) -> Judged:
    """Sort suggestions for one slide. `terms` are its keywords, `slide` its recognised text, `segment` its id."""
    applied: dict[str, Correction] = {}
    refused: list[tuple[str, str, str]] = []
    for suggestion in suggestions:
        heard, meant = " ".join(suggestion.heard.split()), " ".join(suggestion.meant.split())
        if not heard or not meant or heard.casefold() == meant.casefold() or heard.casefold() in applied:
            continue
        found = likeness(heard, meant, settings)
        reason = _refusal(suggestion, heard, meant, speech, terms, slide) or found.reason
        if reason:
            refused.append((heard[:LONGEST_TERM], meant[:LONGEST_TERM], reason))
        else:
            applied[heard.casefold()] = Correction(
                content_id("c", segment, heard.casefold(), meant), heard, meant, found.distance
            )
    return Judged(tuple(applied.values()), tuple(refused))


def _refusal(suggestion: Suggestion, heard: str, meant: str, speech: str, terms: Collection[str], slide: str) -> str:
    if not suggestion.certain:
        return "the model is not certain"
    if max(len(heard), len(meant)) > LONGEST_TERM:
        return "longer than a term"
    folded = {" ".join(term.casefold().split()) for term in terms}
    if meant.casefold() not in folded and not _pattern([meant]).search(" ".join(slide.split())):
        return "not a term of the slide"
    if not _pattern([heard]).search(speech):
        return "not in the speech"
    if heard.casefold() in folded:
        return "itself a term of the slide"
    return ""


def corrected(original: str, corrections: Sequence[Correction]) -> str:
    """The text with every correction that is not undone applied once, the longest first, whole words only."""
    active = {" ".join(c.original.casefold().split()): c.corrected for c in corrections if not c.undone}
    if not active:
        return original
    return _pattern(active).sub(lambda m: active[" ".join(m.group().casefold().split())], original)


def _pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """The terms as whole words (in scripts with spaces), any run of spaces between words, letter case left aside."""
    options = []
    for term in sorted(terms, key=len, reverse=True):
        body = r"\s+".join(re.escape(word) for word in term.split())
        first = rf"(?<!{_LETTER})" if re.match(_LETTER, term[0]) else ""
        last = rf"(?!{_LETTER})" if re.match(_LETTER, term[-1]) else ""
        options.append(f"{first}{body}{last}")
    return re.compile("|".join(options), re.I)
