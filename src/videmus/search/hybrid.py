"""A question and a scope → ranked moments: words and meaning, streams and surroundings scored apart, merged in time.

Enters: a store, an embedder (or None), a question, a scope. Leaves: moments, best first, none overlapping another, each
with the rows that matched. Knows nothing of answers.

A span's score is the BM25 of its words (what is said in it and shown meanwhile) divided by the best span's, plus the best
cosine of its passages, plus the best cosine near it. Plain reciprocal ranks of the two lists are worse than BM25 alone on
slides (`bench/retrieval.py --baselines`), because they forget how good a match is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videmus.config import SearchSettings, Settings
from videmus.model import Moment, Scope
from videmus.models.text_embedding import TextEmbedder, suits
from videmus.search.candidates import Candidate, candidates
from videmus.search.counting import counted
from videmus.search.question import Question, Term, question
from videmus.store.protocol import Similarity, Span, Store, Text
from videmus.store.words import stem, words

Floats = NDArray[np.float64]
PRIMARY = ("speech", "screen", "scene")
"""What was heard, read and seen; every other kind was made from it."""

SPOKEN = ("speech", "narration")
"""Kinds whose text runs along with the time, so that a place in it is a time."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A moment and why it is there: the idf of its words that the question has (and which), its best cosine."""

    moment: Moment
    keyword: float
    cosine: float
    matched: tuple[str, ...]
    rows: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to a search with what it rests on. `idf` is that of each word of the question, `unknown_idf` that of
    a word which no row holds; `vector` the question's; `notices` are for the user."""

    question: Question
    results: tuple[Ranked, ...] = ()
    idf: dict[str, float] = field(default_factory=dict)
    unknown_idf: float = 1.0
    notices: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = None


def search(
    store: Store,
    embedder: TextEmbedder | None,
    text: str,
    scope: Scope,
    limit: int = 10,
    settings: Settings | None = None,
) -> list[Moment]:
    """The moments that fit `text`, best first; words in "quotes" must stand there exactly.

    Raises VectorSpaceError when the library's vectors come from another model than `embedder`.
    """
    return [r.moment for r in ranking(store, embedder, text, scope, limit, settings).results]


def ranking(
    store: Store,
    embedder: TextEmbedder | None,
    text: str,
    scope: Scope,
    limit: int = 10,
    settings: Settings | None = None,
) -> Ranking:
    """`search`, with the reasons."""
    chosen = (settings or Settings()).search
    asked = question(text, lambda terms: store.frequencies(terms)[1], store.containing)
    if not asked.terms:
        return Ranking(asked, notices=("the question has no words",))
    notices: list[str] = []
    vector = _query_vector(store, embedder, asked, notices)
    model = embedder.name if embedder is not None else ""
    rows = _without_repeats(_rows(store, model, asked, vector, scope, chosen), asked, chosen.repeated_share)
    idf, unknown = _idf(store, asked.terms)
    near = store.similarities(model, vector, [r.id for r in rows]) if vector is not None else []
    if vector is not None and not near and rows:
        notices.append(f"nothing here has vectors of {model}: found by words alone")
    pool = _Pool(rows, asked, idf, near, chosen)
    titles: dict[str, str] = {}
    results = []
    for k in pool.best(limit):
        results.append(pool.ranked(k, store, titles))
    return Ranking(asked, tuple(results), idf, unknown, tuple(notices), vector)


# ---------------------------------------------------------------- what is ranked


def _query_vector(
    store: Store, embedder: TextEmbedder | None, asked: Question, notices: list[str]
) -> NDArray[np.float32] | None:
    if embedder is None:
        notices.append("no embedding model: found by words alone")
        return None
    if not store.vector_models():
        notices.append("the library has no vectors: found by words alone")
        return None
    if not suits(embedder, None, asked.text):
        notices.append(f"{embedder.name} does not know this script: found by words alone")
        return None
    return embedder.embed_query(asked.text)


def _rows(
    store: Store,
    model: str,
    asked: Question,
    vector: NDArray[np.float32] | None,
    scope: Scope,
    settings: SearchSettings,
) -> list[Text]:
    """The rows to rank: all that the scope sees where they are few, else those round the best hits."""
    total, _ = store.frequencies([])
    if scope.video is not None or total <= settings.whole_rows:
        rows = store.texts(scope, limit=settings.whole_rows + 1)
        if len(rows) <= settings.whole_rows:
            return rows
    return store.texts(scope, _surroundings(store, model, asked, vector, scope, settings))


def _without_repeats(rows: list[Text], asked: Question, share: float) -> list[Text]:
    """The rows without derived ones that only repeat what was said and shown: evidence is cited where it stands.

    A slide's texts, a caption or a summary stays when enough of its words are its own, or when one of the question's is
    (a corrected term).
    """
    first = {video: k for k, video in reversed(list(enumerate(r.video for r in rows)))}
    kept = []
    for row in rows:
        if row.kind in PRIMARY:
            kept.append(row)
            continue
        there: set[str] = set()
        for k in range(first[row.video], len(rows)):
            other = rows[k]
            if other.video != row.video or other.start_ms >= row.end_ms:
                break
            if other.kind in PRIMARY and other.end_ms > row.start_ms:
                there.update(_counted(other.text)[0])
        mine = _counted(row.text)[0].keys()
        added = any(t in mine and t not in there for term in asked.terms for t in term.counts_as)
        if added or len(mine & there) < share * len(mine):
            kept.append(row)
    return kept


def _surroundings(
    store: Store,
    model: str,
    asked: Question,
    vector: NDArray[np.float32] | None,
    scope: Scope,
    settings: SearchSettings,
) -> list[Span]:
    """Spans round the best hits of both indexes, and round every phrase."""
    spans: dict[str, Span] = {}
    scores: dict[str, float] = {}
    found = store.keyword_hits([t.counts_as for t in asked.terms], scope, settings.hits)
    best = found[0].score if found else 1.0
    cosines: dict[str, float] = {}
    if vector is not None:
        for similar in store.similarities(model, vector, [hit.id for hit in found]):
            cosines[similar.evidence] = max(cosines.get(similar.evidence, 0.0), similar.cosine)
    for hit in found:
        scores[hit.id] = hit.score / max(best, 1e-9) + settings.cosine_weight * cosines.get(hit.id, 0.0)
        spans[hit.id] = Span(hit.video, hit.start_ms, hit.end_ms)
    if vector is not None:  # of rows without the words, no more can be chosen; a row may be near with two passages
        for hit in store.vector_hits(model, vector, scope, 2 * settings.anchors):
            scores.setdefault(hit.id, settings.cosine_weight * hit.score)
            spans[hit.id] = Span(hit.video, hit.start_ms, hit.end_ms)
    for phrase in asked.phrases:
        for hit in store.phrase_hits([stem(w) for w in phrase], scope, settings.hits):
            scores[hit.id] = scores.get(hit.id, 0.0) + 10  # above every other: it must stand there
            spans[hit.id] = Span(hit.video, hit.start_ms, hit.end_ms)
    margin = max(settings.length_ms, settings.context_ms // 2)
    chosen = [spans[id] for id in sorted(scores, key=lambda id: (-scores[id], id))[: settings.anchors]]
    return [Span(s.video, s.start_ms - margin, s.end_ms + margin) for s in chosen]


def _idf(store: Store, terms: Sequence[Term]) -> tuple[dict[str, float], float]:
    """The weight of each word: its rarity among the library's rows (Robertson and Zaragoza 2009) times its own weight;
    and the rarity of a word that no row holds."""
    total, counts = store.frequencies([t for term in terms for t in term.counts_as])
    idf = {}
    for term in terms:
        count = min(total, sum(counts.get(t, 0) for t in term.counts_as))
        idf[term.word] = term.weight * math.log(1 + (total - count + 0.5) / (count + 0.5))
    return idf, math.log(1 + (total + 0.5) / 0.5)


# ---------------------------------------------------------------- how it is ranked


class _Pool:
    """Rows, the spans made of them, and their scores."""

    def __init__(
        self,
        rows: Sequence[Text],
        asked: Question,
        idf: dict[str, float],
        near: Sequence[Similarity],
        settings: SearchSettings,
    ) -> None:
        self.rows = rows
        self.settings = settings
        self.asked = asked
        self.spans = candidates(rows, settings.length_ms)
        if asked.phrases:
            self.spans = [s for s in self.spans if all(_stands(p, s, rows) for p in asked.phrases)]
        self.weights = np.array([idf[t.word] for t in asked.terms])
        self.counts, self.lengths = counted(rows, asked.terms)
        words_there = ((self.counts > 0) * self.weights).sum(1) / max(self.weights.sum(), 1e-9)
        self.passages: dict[int, list[Similarity]] = {}
        at = {row.id: k for k, row in enumerate(rows)}
        cosines = [0.0] * len(rows)
        for similar in near:
            k = at[similar.evidence]
            self.passages.setdefault(k, []).append(similar)
            cosines[k] = max(cosines[k], similar.cosine)
        self.cosines = np.array(cosines)
        self.worth = words_there + settings.cosine_weight * self.cosines  # of each row, for which of a span's matched
        self._score()

    def _score(self) -> None:
        if not self.spans:
            self.keyword = self.cosine = self.score = np.zeros(0)
            self.span_counts = np.zeros((0, len(self.weights)))
            return
        flat = np.array([k for span in self.spans for k in span.rows])
        firsts = np.cumsum([0] + [len(s.rows) for s in self.spans[:-1]])
        self.span_counts = np.add.reduceat(self.counts[flat], firsts)
        lengths = np.add.reduceat(self.lengths[flat], firsts)
        k1, b = self.settings.k1, self.settings.b
        norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1.0))
        self.keyword = (self.span_counts * (k1 + 1) / (self.span_counts + norm[:, None])) @ self.weights
        self.cosine = np.maximum.reduceat(self.cosines[flat], firsts)
        self.score = (
            self.keyword / max(float(self.keyword.max()), 1e-9)
            + self.settings.cosine_weight * self.cosine
            + self.settings.context_weight * self._context()
        )

    def _context(self) -> Floats:
        """The best cosine within half of `context_ms` round the middle of each span."""
        half = self.settings.context_ms / 2
        # One axis of time for all videos, which come one after the other: each begins far behind the end of the one before.
        apart = max(row.end_ms for row in self.rows) + self.settings.context_ms
        begins: dict[str, int] = {}
        for row in self.rows:
            begins.setdefault(row.video, len(begins) * apart)
        starts = np.array([begins[row.video] + row.start_ms for row in self.rows])
        reach = np.maximum.accumulate([begins[row.video] + row.end_ms for row in self.rows])
        middles = np.array([begins[s.video] + (s.start_ms + s.end_ms) / 2 for s in self.spans])
        low = np.searchsorted(reach, middles - half, "right")
        high = np.maximum(np.searchsorted(starts, middles + half, "left"), low + 1)
        cosines = np.append(self.cosines, [0.0, 0.0])
        return np.maximum.reduceat(cosines, np.stack([low, high], 1).ravel())[::2]

    def best(self, limit: int) -> list[int]:
        """Positions of the best spans, none overlapping another in its video."""
        chosen: list[int] = []
        taken: dict[str, list[Candidate]] = {}
        for k in np.argsort(-self.score, kind="stable"):
            span = self.spans[k]
            if len(chosen) >= limit:
                break
            if not self.keyword[k] and self.cosine[k] < self.settings.least_cosine and not self.asked.phrases:
                continue
            others = taken.setdefault(span.video, [])
            if all(span.start_ms >= o.end_ms or o.start_ms >= span.end_ms for o in others):
                others.append(span)
                chosen.append(int(k))
        return chosen

    def ranked(self, k: int, store: Store, titles: dict[str, str]) -> Ranked:
        span = self.spans[k]
        start, end = self._trimmed(span)
        rows = [r for r in span.rows if self.rows[r].start_ms < end and self.rows[r].end_ms > start] or list(span.rows)
        rows_best_first = sorted(rows, key=lambda r: (-self.worth[r], self.rows[r].start_ms))
        best = rows_best_first[0]
        matched = [r for r in rows_best_first if self.worth[r] >= self.settings.matched_share * self.worth[best]]
        kind = self.rows[best].kind
        text = " ".join(self._within(r, start, end) for r in span.rows if r in rows and self.rows[r].kind == kind)
        if span.video not in titles:
            video = store.video(span.video)
            titles[span.video] = video.title if video else span.video
        moment = Moment(
            span.video,
            titles[span.video],
            start,
            end,
            kind,
            text,
            round(float(self.score[k]), 4),
            tuple(self.rows[r].id for r in matched),
        )
        words_matched = tuple(t.word for t, n in zip(self.asked.terms, self.span_counts[k], strict=True) if n)
        return Ranked(
            moment,
            float(self.keyword[k]),
            float(self.cosine[k]),
            words_matched,
            tuple(self.rows[r] for r in rows_best_first),
        )

    def _trimmed(self, span: Candidate) -> tuple[int, int]:
        """A long span cut to `trim_ms` round its best passage; what is shown all the time is cut from its beginning."""
        limit = self.settings.trim_ms
        if span.end_ms - span.start_ms <= limit:
            return span.start_ms, span.end_ms
        row = max(span.rows, key=lambda r: (self.rows[r].kind in SPOKEN, self.worth[r]))
        middle = span.start_ms + limit // 2
        if self.rows[row].kind in SPOKEN:
            middle = self._best_time(row)
        start = max(span.start_ms, min(middle - limit // 2, span.end_ms - limit))
        return start, start + limit

    def _best_time(self, row: int) -> int:
        """When what fits best is said: the words of the question in the best passage, by their place in the row's text."""
        text = self.rows[row]
        pieces = [(p.first, p.last, p.cosine) for p in self.passages.get(row, [])] or _pieces(text.text)
        counts_as = {t for term in self.asked.terms for t in term.counts_as}

        def worth(piece: tuple[int, int, float]) -> float:
            there = _counted(text.text[piece[0] : piece[1]])[0]
            found = [any(t in there for t in term.counts_as) for term in self.asked.terms]
            words_there = float((np.array(found) * self.weights).sum() / max(self.weights.sum(), 1e-9))
            return words_there + self.settings.cosine_weight * piece[2]

        first, last, _ = max(pieces, key=worth)
        places = [
            first + (m.start() + m.end()) // 2
            for m in re.finditer(r"\S+", text.text[first:last])
            if counts_as.intersection(stem(w) for w in words(m.group()))
        ] or [(first + last) // 2]
        middle = sum(places) // len(places)
        return text.start_ms + (text.end_ms - text.start_ms) * middle // max(len(text.text), 1)

    def _within(self, row: int, start: int, end: int) -> str:
        """The part of a row's text that is said between `start` and `end`."""
        text = self.rows[row]
        if text.kind not in SPOKEN or (text.start_ms >= start and text.end_ms <= end):
            return text.text
        length = max(text.end_ms - text.start_ms, 1)
        pieces = [
            text.text[first:last]
            for first, last, _ in _pieces(text.text)
            if text.start_ms + length * last // max(len(text.text), 1) > start
            and text.start_ms + length * first // max(len(text.text), 1) < end
        ]
        return " ".join(pieces)


def _stands(phrase: Sequence[str], span: Candidate, rows: Sequence[Text]) -> bool:
    """Whether the words stand one after the other in what is said in the span, or in one row of it."""
    spoken = [w for k in span.rows if rows[k].kind == "speech" for w in _words(rows[k].text)]
    return _holds(spoken, phrase) or any(_holds(_words(rows[k].text), phrase) for k in span.rows)


def _holds(text: Sequence[str], phrase: Sequence[str]) -> bool:
    n = len(phrase)
    return any(tuple(text[k : k + n]) == tuple(phrase) for k in range(len(text) - n + 1) if text[k] == phrase[0])


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


@lru_cache(maxsize=20_000)
def _counted(text: str) -> tuple[dict[str, int], int]:
    """The terms of a text with their counts, and how many there are. Kept: rows are asked again and again."""
    counts = Counter(map(stem, words(text)))
    return dict(counts), sum(counts.values())


def _pieces(text: str) -> list[tuple[int, int, Any]]:
    from videmus.segment.passages import spans

    return [(first, last, 0.0) for first, last in spans(text)] or [(0, len(text), 0.0)]
