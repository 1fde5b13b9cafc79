"""Words that carry a subject, and the phrases that they make: the key terms of a text.

Terms are phrases between function words, by how often and in how many pieces they come (RAKE, Rose et al. 2010, with titles
counted more). Knows nothing of questions.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources

from videmus.segment.passages import UNSPACED
from videmus.understand.pieces import Piece

STEM = 5
"""Letters by which two inflections of a word count as one."""

_CLITIC = re.compile(r"['’](?:ll|re|ve|t|s|d|m)$", re.I)


@cache
def function_words() -> frozenset[str]:
    """Words that carry no subject, from the list in data/."""
    text = resources.files(__package__).joinpath("data", "function_words.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def content_words(text: str) -> list[str]:
    """The words that carry a subject, folded: no function words, pairs of characters in scripts without spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    runs = re.findall(rf"{UNSPACED.pattern}+", folded)
    words = [w for w in re.findall(r"[^\W_]+(?:['’][^\W_]+)?", UNSPACED.sub(" ", folded)) if w not in function_words()]
    return [w for w in words if len(w) > 1 and not _CLITIC.search(w)] + [
        run[k : k + 2] for run in runs for k in range(max(1, len(run) - 1))
    ]


def key_terms(found: Sequence[Piece], most: int) -> tuple[str, ...]:
    """Phrases of up to three content words as they are written, by how often they come and in how many pieces."""
    counts: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for piece in found:
        here: set[str] = set()
        titles = {" ".join(row.text.partition("\n")[0].split()).casefold() for row in piece.rows if "\n" in row.text}
        for phrase in phrases(piece.text):
            key = phrase.casefold()
            counts[key] += 3 if key in titles else 1
            written.setdefault(key, Counter())[phrase] += 1
            here.add(key)
        spread.update(here)
    scored = sorted(
        counts, key=lambda k: (-(counts[k] + spread[k]) * math.sqrt(len(k.split())) * min(1.0, len(k) / 5), k)
    )
    chosen: list[str] = []
    used: set[str] = set()
    for key in scored:
        stems = {root(word) for word in key.split()}
        if (counts[key] > 1 or len(found) == 1) and 2 * len(stems & used) < len(stems):
            chosen.append(written[key].most_common(1)[0][0])
            used |= stems
        if len(chosen) == most:
            break
    return tuple(chosen)


def root(word: str) -> str:
    """What two inflections of a word have in common: its first letters, without the s of many."""
    return word.removesuffix("s")[:STEM]


def phrases(text: str) -> list[str]:
    """Runs of one to three content words between function words and marks; short runs of characters without spaces."""
    phrases = [run for run in re.findall(rf"{UNSPACED.pattern}+", text) if 2 <= len(run) <= 8]
    for stretch in re.split(r"[^\w'’\-\s.]|\.(?!\d)|\n|(?<!\d)\.", UNSPACED.sub("\n", text)):
        run: list[str] = []
        for word in [*stretch.split(), ""]:
            bare = "" if _CLITIC.search(word) else word.strip("'’-")
            if (
                bare
                and bare.casefold() not in function_words()
                and not bare.replace(".", "").isdigit()
                and len(bare) > 1
            ):
                run.append(bare)
                continue
            phrases += [" ".join(run[a : a + n]) for n in (1, 2, 3) for a in range(len(run) - n + 1)]
            run = []
    return phrases
