"""The deterministic check before the critic: recognised words and numbers of a slide that its description lacks.

Costs nothing, and decides whether a critic's call is worth it. Knows the recognised lines and a text, nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from videmus.segment.passages import UNSPACED
from videmus.understand.numbers import names, numbers, values

_WORD = re.compile(r"[^\W\d_]{4,}")
"""Shorter words are mostly grammar, which a description puts in its own way."""

BEGINNING = 6
"""Letters by which two inflections count as one word."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What stands on the slide and not in the description; `share` of the slide's longer words that lack."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    share: float

    def flawed(self, allowed: float) -> bool:
        """Any number that lacks, or more than the allowed share of the words."""
        return bool(self.numbers) or self.share > allowed


def lacking(lines: Sequence[str], description: str) -> Lacking:
    """Compare recognised lines (footers left out by the caller) with a description of them."""
    slide = "\n".join(lines)
    told = _stems(description)
    shown = Counter(_stems(slide))
    words = [word for word in shown if word not in told]
    stated, named = values(description), names(description)
    missing = [n.written for n in numbers(slide) if not n.readings & stated]
    missing += [name for name in sorted(names(slide)) if name not in named]
    return Lacking(tuple(words), tuple(dict.fromkeys(missing)), len(words) / len(shown) if shown else 0.0)


def _stems(text: str) -> list[str]:
    """Longer words by their beginnings (descent, descending), and pairs of characters in scripts without spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = UNSPACED.sub(" ", folded)
    stems = [word[:BEGINNING] for word in _WORD.findall(spaced)]
    runs = re.findall(rf"{UNSPACED.pattern}+", folded)
    return stems + [run[k : k + 2] for run in runs for k in range(max(1, len(run) - 1))]
