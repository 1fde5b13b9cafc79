"""Chapters, summary and key terms without a model: the video's own titles and sentences, verbatim, chosen by their words.

Chapter borders lie where the words change most between neighbours (depth of the gap, as in TextTiling, Hearst 1997); the
sentences nearest to the words of the whole make the summary; terms are phrases between function words, by how often and
in how many pieces they come (RAKE, Rose et al. 2010, with titles counted more).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from videmus.config import SummarySettings
from videmus.model import Evidence
from videmus.segment.passages import UNSPACED, sentence_spans, spans
from videmus.understand.pieces import Piece

CHAPTER_MS = 240_000
FEWEST = 3
SHORTEST_MS = 45_000
"""A chapter for each four minutes, but three at least, none shorter than a window: what a person overlooks."""

LONGEST_SENTENCE = 320
SHORTEST_SENTENCE = 30
STEM = 5
"""Letters by which two inflections of a word count as one."""

_CLITIC = re.compile(r"['’](?:ll|re|ve|t|s|d|m)$", re.I)


@dataclass(frozen=True, slots=True)
class Outline:
    """Chapters as (title, start, sentences), the summary's sentences with their evidence, and key terms."""

    chapters: tuple[tuple[str, int, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    summary: tuple[tuple[str, tuple[str, ...]], ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    row: Evidence
    words: Counter[str]


def outlined(found: Sequence[Piece], rows: Sequence[Evidence], settings: SummarySettings) -> Outline:
    """The outline of a video from its pieces (at least one); sentences are taken from what was said, else shown or seen."""
    bags = [Counter(content_words(p.text)) for p in found]
    spread = Counter(word for bag in bags for word in bag)
    weight = {word: math.log(1 + len(found) / n) for word, n in spread.items()}
    borders = _borders(found, bags, weight, settings)
    groups = [found[a:b] for a, b in zip(borders, [*borders[1:], len(found)], strict=True)]
    terms = key_terms(found, settings.terms)
    candidates = _candidates(rows, found)
    phrases = [_phrase_bag(group) for group in groups]
    whole = _weighted(sum(bags, Counter()), weight)
    chapters = []
    summary: list[_Candidate] = []
    share = max(1, round(settings.sentences / len(groups)))
    for k, group in enumerate(groups):
        start, end = group[0].start_ms, group[-1].end_ms
        inside = [c for c in candidates if start <= c.row.start_ms < end]
        theme = _weighted(sum((Counter(content_words(p.text)) for p in group), Counter()), weight)
        best = _best(inside, theme, weight, 2)
        sentences = tuple((c.text, (c.row.id,)) for c in best)
        chapters.append((_title(group, k, phrases), 0 if k == 0 else start, sentences))
        summary += _best(inside, whole, weight, share)
    summary = sorted(_best(summary, whole, weight, settings.sentences), key=lambda c: (c.row.start_ms, c.row.id))
    return Outline(tuple(chapters), tuple((c.text, (c.row.id,)) for c in summary), terms)


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
        for phrase in _phrases(piece.text):
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
        stems = {word[:STEM] for word in key.split()}
        if (counts[key] > 1 or len(found) == 1) and 2 * len(stems & used) < len(stems):
            chosen.append(written[key].most_common(1)[0][0])
            used |= stems
        if len(chosen) == most:
            break
    return tuple(chosen)


def _phrases(text: str) -> list[str]:
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


def _borders(
    found: Sequence[Piece], bags: Sequence[Counter[str]], weight: dict[str, float], settings: SummarySettings
) -> list[int]:
    """Indices of pieces that begin a chapter: the deepest gaps between what comes before and after."""
    length = found[-1].end_ms - found[0].start_ms
    count = min(settings.chapters, max(FEWEST, round(length / CHAPTER_MS)), len(found))
    gaps = []
    for k in range(1, len(found)):
        before, after = sum(bags[max(0, k - 2) : k], Counter()), sum(bags[k : k + 2], Counter())
        gaps.append((_cosine(_weighted(before, weight), _weighted(after, weight)), k))
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
        stems = {part[:STEM] for part in word.split()}
        if not stems & used:
            chosen.append(word)
            used |= stems
        if len(chosen) == 3:
            break
    title = ", ".join(chosen) or group[0].text.strip()[:60]
    return title[:1].upper() + title[1:]


def _phrase_bag(group: Sequence[Piece]) -> Counter[str]:
    return Counter(p.casefold() for piece in group for p in _phrases(piece.text) if len(p) > 3 or UNSPACED.match(p))


def _candidates(rows: Sequence[Evidence], found: Sequence[Piece]) -> list[_Candidate]:
    speech = [r for r in rows if r.kind == "speech"]
    narrated = [r for r in rows if r.kind == "narration"]
    sources = speech or narrated or [row for p in found for row in p.rows]
    candidates = []
    for row in sources:
        for first, last in sentence_spans(row.text):
            sentence = row.text[first:last]
            cuts = (
                [(0, len(sentence))] if len(sentence) <= LONGEST_SENTENCE else spans(sentence)
            )  # speech without marks
            for a, b in cuts:
                text = sentence[a:b].strip()
                if words := Counter(content_words(text)):
                    candidates.append(_Candidate(text, row, words))
    return candidates


def _best(
    candidates: Sequence[_Candidate], theme: dict[str, float], weight: dict[str, float], count: int
) -> list[_Candidate]:
    """The sentences nearest to the theme, each unlike those already taken; too short and too long ones come last."""
    fits = [c for c in candidates if SHORTEST_SENTENCE <= len(c.text) <= LONGEST_SENTENCE] or list(candidates)
    left = [(c, _weighted(c.words, weight)) for c in fits]
    taken: list[tuple[_Candidate, dict[str, float]]] = []
    while left and len(taken) < count:
        scores = [
            _cosine(vector, theme) - max((_cosine(vector, other) for _, other in taken), default=0.0)
            for _, vector in left
        ]
        best = max(range(len(left)), key=lambda k: (scores[k], -left[k][0].row.start_ms))
        taken.append(left.pop(best))
    return sorted((c for c, _ in taken), key=lambda c: (c.row.start_ms, c.row.id))


def _weighted(bag: Counter[str], weight: dict[str, float]) -> dict[str, float]:
    return {word: (1 + math.log(n)) * weight.get(word, 1.0) for word, n in bag.items()}


def _cosine(first: dict[str, float], second: dict[str, float]) -> float:
    if len(first) > len(second):
        first, second = second, first
    shared = sum(value * second[word] for word, value in first.items() if word in second)
    lengths = math.sqrt(sum(v * v for v in first.values()) * sum(v * v for v in second.values()))
    return shared / lengths if lengths else 0.0
