"""Chapters, summary and key terms without a model: the video's own titles and sentences, verbatim, chosen by their words.

Chapter borders lie where the words change most between neighbours (depth of the gap, as in TextTiling, Hearst 1997); the
summary is made of the sentences central to the whole (`central`), some from each chapter; key terms are those of `terms`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from videmus.config import SummarySettings
from videmus.model import Evidence
from videmus.segment.passages import UNSPACED
from videmus.understand.central import Candidate, candidates, central, cosine, weighted
from videmus.understand.pieces import Piece
from videmus.understand.terms import content_words, key_terms, phrases, root

CHAPTER_MS = 240_000
FEWEST = 3
SHORTEST_MS = 45_000
"""A chapter for each four minutes, but three at least, none shorter than a window: what a person overlooks."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Chapters as (title, start, sentences), the summary's sentences with their evidence, and key terms."""

    chapters: tuple[tuple[str, int, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    summary: tuple[tuple[str, tuple[str, ...]], ...]
    terms: tuple[str, ...]


def outlined(found: Sequence[Piece], rows: Sequence[Evidence], settings: SummarySettings) -> Outline:
    """The outline of a video from its pieces (at least one); sentences are taken from what was said, else shown or seen."""
    bags = [Counter(content_words(p.text)) for p in found]
    spread = Counter(word for bag in bags for word in bag)
    weight = {word: math.log(1 + len(found) / n) for word, n in spread.items()}
    borders = _borders(found, bags, weight, settings)
    groups = [found[a:b] for a, b in zip(borders, [*borders[1:], len(found)], strict=True)]
    terms = key_terms(found, settings.terms)
    sentences = candidates(_told(rows, found))
    told_apart = [_phrase_bag(group) for group in groups]
    whole = weighted(sum(bags, Counter()), weight)
    chapters = []
    summary: list[Candidate] = []
    share = max(1, round(settings.sentences / len(groups)))
    for k, group in enumerate(groups):
        start, end = group[0].start_ms, group[-1].end_ms
        inside = [c for c in sentences if start <= c.start_ms < end]
        theme = weighted(sum((Counter(content_words(p.text)) for p in group), Counter()), weight)
        best = central(inside, theme, weight, 2)
        title = _title(group, k, told_apart)
        chapters.append((title, 0 if k == 0 else start, tuple((c.text, c.ids) for c in best)))
        summary += central(inside, whole, weight, share)
    summary = central(summary, whole, weight, settings.sentences)
    return Outline(tuple(chapters), tuple((c.text, c.ids) for c in summary), terms)


def _told(rows: Sequence[Evidence], found: Sequence[Piece]) -> list[Evidence]:
    """The rows whose sentences may be quoted: what was said, else narrated, else the pieces' own rows."""
    speech = [r for r in rows if r.kind == "speech"]
    return speech or [r for r in rows if r.kind == "narration"] or [row for p in found for row in p.rows]


def _borders(
    found: Sequence[Piece], bags: Sequence[Counter[str]], weight: dict[str, float], settings: SummarySettings
) -> list[int]:
    """Indices of pieces that begin a chapter: the deepest gaps between what comes before and after."""
    length = found[-1].end_ms - found[0].start_ms
    count = min(settings.chapters, max(FEWEST, round(length / CHAPTER_MS)), len(found))
    gaps = []
    for k in range(1, len(found)):
        before, after = sum(bags[max(0, k - 2) : k], Counter()), sum(bags[k : k + 2], Counter())
        gaps.append((cosine(weighted(before, weight), weighted(after, weight)), k))
    borders = [0]
    for _, k in sorted(gaps):
        starts = [*(found[b].start_ms for b in borders), found[-1].end_ms]
        if len(borders) < count and all(abs(found[k].start_ms - other) >= SHORTEST_MS for other in starts):
            borders.append(k)
    return sorted(borders)


def _title(group: Sequence[Piece], k: int, bags: Sequence[Counter[str]]) -> str:
    """The title of the slide shown longest, else the words that tell this chapter from the others."""
    titled = [p for p in group if "\n" in p.text and p.rows[0].kind == "consolidated" and not p.rows[0].origin.model]
    if titled:
        return max(titled, key=lambda p: p.end_ms - p.start_ms).text.partition("\n")[0].strip()[:100]
    mine = bags[k]
    apart = {w: n * len(w.split()) * math.log(1 + len(bags) / sum(w in b for b in bags)) for w, n in mine.items()}
    chosen: list[str] = []
    used: set[str] = set()
    for word in sorted(apart, key=lambda w: (-apart[w], w)):
        stems = {root(part) for part in word.split()}
        if not stems & used:
            chosen.append(word)
            used |= stems
        if len(chosen) == 3:
            break
    title = ", ".join(chosen) or group[0].text.strip()[:60]
    return title[:1].upper() + title[1:]


def _phrase_bag(group: Sequence[Piece]) -> Counter[str]:
    return Counter(p.casefold() for piece in group for p in phrases(piece.text) if len(p) > 3 or UNSPACED.match(p))
