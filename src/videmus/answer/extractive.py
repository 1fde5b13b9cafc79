"""An answer without a language model: the best sentences, verbatim, each with a checked citation, or that nothing is said.

Enters: a store, an embedder, a question, a scope. Leaves: an `Answer`. Whether the library says anything is a decision
with a measured confidence (`confidence`), made before a sentence is chosen.
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from videmus.answer.citations import checked
from videmus.config import AnswerSettings, Settings
from videmus.model import Answer, Citation, Evidence, Grounding, Scope, Sentence, Step
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import Ranking, ranking
from videmus.segment.passages import sentence_spans, spans, word_count
from videmus.store.protocol import Store
from videmus.store.words import stem, words

REFUSAL = "The library does not say."


@dataclass(frozen=True, slots=True)
class _Quote:
    """A sentence of one row and how well it fits."""

    row: Evidence
    text: str
    fit: float


def answer(
    store: Store,
    embedder: TextEmbedder | None,
    question: str,
    scope: Scope,
    limit: int | None = None,
    settings: Settings | None = None,
) -> Answer:
    """The best sentences of the best moments, verbatim; `grounding` is unsupported, without citations, where the
    confidence is too low, partial where it is in doubt.

    Raises VectorSpaceError as `search` does.
    """
    settings = settings or Settings()
    chosen = settings.answer
    began = time.monotonic()
    found = ranking(store, embedder, question, scope, limit or chosen.moments, settings)
    sure = confidence(found, chosen)
    steps = [_searched(found, sure, time.monotonic() - began)]
    if sure < chosen.least_confidence:
        return Answer(REFUSAL, "unsupported", steps=tuple(steps), confidence=sure)
    ids = list(dict.fromkeys(row.id for r in found.results for row in r.rows))
    retrieved = {row.id: row for row in store.evidence_by_id(ids, scope)}
    fitting = _quotes(found, retrieved, embedder, chosen)
    quotes = [_matching_lines(quote, found, embedder, chosen) for quote in _chosen(fitting, chosen)]
    quotes = _explained(quotes, fitting, found, chosen)
    videos = {v.id: v for v in (store.video(id) for id in {q.row.video for q in quotes}) if v is not None}
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    for one in quotes:
        passed = checked(len(citations) + 1, one.row.id, one.text, retrieved, videos)
        if isinstance(passed, str):
            steps.append(Step("citation check", one.text, error=passed))
            continue
        citations.append(passed)
        sentences.append(Sentence(one.text, (passed.n,)))
    if not sentences:
        return Answer(REFUSAL, "unsupported", steps=tuple(steps), confidence=sure)
    text = " ".join(f"{' '.join(s.text.split())} [{s.citations[0]}]" for s in sentences)
    grounding: Grounding = "supported" if sure >= chosen.sure_confidence else "partial"
    return Answer(text, grounding, tuple(sentences), tuple(citations), tuple(steps), confidence=sure)


def _explained(
    quotes: list[_Quote], fitting: Sequence[_Quote], found: Ranking, settings: AnswerSettings
) -> list[_Quote]:
    """A label that says hardly more than the question was put up to be explained: what is said over it comes with it."""
    asked: set[str] = set().union(*(t.counts_as for t in found.question.terms))
    label = quotes[0] if quotes else None
    if label is None or label.row.kind == "speech" or any(q.row.kind == "speech" for q in quotes):
        return quotes
    if len({stem(w) for w in words(label.text)} - asked) > settings.label_words:
        return quotes
    over = [
        q
        for q in fitting
        if q.row.kind == "speech" and q.row.video == label.row.video
        and q.row.start_ms < label.row.end_ms and q.row.end_ms > label.row.start_ms
    ]  # fmt: skip
    best = sorted(over, key=lambda q: -q.fit)[: settings.explaining]
    return [*quotes, *sorted(best, key=lambda q: q.row.start_ms)]


def confidence(found: Ranking, settings: AnswerSettings | None = None) -> float:
    """How sure it is that the moments found answer the question, 0 to 1: a logistic model of four measures of fit.

    `features` names them; the weights and what they were fitted on stand in `AnswerSettings`.
    """
    settings = settings or AnswerSettings()
    if not found.results:
        return 0.0
    measured = features(found)
    if found.vector is None or measured.nearness <= 0:
        bias, nearness, keyword = settings.words_bias, 0.0, settings.words_keyword
        missing, missing_names = settings.words_missing, settings.words_missing_names
    else:
        bias, nearness, keyword = settings.bias, settings.nearness, settings.keyword
        missing, missing_names = settings.missing, settings.missing_names
    logit = (
        bias
        + nearness * measured.nearness
        + keyword * measured.keyword
        + missing * measured.missing
        + missing_names * measured.missing_names
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


@dataclass(frozen=True, slots=True)
class Features:
    """What the confidence is made of.

    `nearness`: the best cosine. `keyword`: the best BM25, `missing`: the rarity of the words that no moment holds, both in
    units of a word that no row of the library holds, so that they mean the same in a large library and in a small one.
    `missing_names`: how many names and numbers of the question no moment holds.
    """

    nearness: float
    keyword: float
    missing: float
    missing_names: int


def features(found: Ranking) -> Features:
    """The measures of fit of a ranking with results."""
    held = {w for r in found.results for w in r.matched}
    absent = [w for w in found.idf if w not in held]
    names = set(_named(found.question.text))
    return Features(
        max(r.cosine for r in found.results),
        max(r.keyword for r in found.results) / found.unknown_idf,
        sum(found.idf[w] for w in absent) / found.unknown_idf,
        sum(w in names for w in absent),
    )


_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w'’-]+|\b\d[\d.,:]*")


def _named(question: str) -> list[str]:
    """The words of a question that are names or numbers: capitalised inside a sentence that is not all capitals."""
    capitals = sum(w[0].isupper() for w in question.split())
    if capitals > 0.6 * len(question.split()):
        return [w for n in re.findall(r"\b\d[\d.,:]*", question) for w in words(n)]
    return [w for name in _NAME.findall(question) for w in words(name)]


def _searched(found: Ranking, sure: float, seconds: float) -> Step:
    missing = [w for w in found.idf if not any(w in r.matched for r in found.results)]
    return Step(
        "search",
        found.question.text,
        f"{len(found.results)} moments, confidence {sure:.2f}",
        tuple(dict.fromkeys(id for r in found.results for id in r.moment.evidence)),
        seconds,
        detail={"notices": list(found.notices), "words not found": missing},
    )


def _quotes(
    found: Ranking, retrieved: dict[str, Evidence], embedder: TextEmbedder | None, settings: AnswerSettings
) -> list[_Quote]:
    """The sentences of the moments' rows, each with its fit: its words, its nearness, and its moment's rank."""
    pieces: list[tuple[Evidence, str, float]] = []
    seen: set[tuple[str, str]] = set()
    best = max(r.moment.score for r in found.results)
    for one in found.results:
        standing = one.moment.score / best if best > 0 else 0.0
        for id in (row.id for row in one.rows):  # a moment's rows that did not match may hold the reply
            row = retrieved.get(id)
            for text in _sentences(row, settings.quote_words) if row else ():
                if row and (row.id, text) not in seen:
                    seen.add((row.id, text))
                    pieces.append((row, text, standing))
    pieces = pieces[: settings.sentences_read]
    if not pieces:
        return []
    near: NDArray[np.floating] = np.zeros(len(pieces))
    if embedder is not None and found.vector is not None:
        near = embedder.embed([text for _, text, _ in pieces]) @ found.vector
    total = sum(found.idf.values()) or 1e-9
    counting = bool(_ASKS_NUMBER.search(found.question.text))
    quotes = []
    for (row, text, standing), cosine in zip(pieces, near, strict=True):
        there = {stem(w) for w in words(f"{row.speaker} {text}" if row.speaker else text)}
        held = sum(found.idf[t.word] for t in found.question.terms if there.intersection(t.counts_as)) / total
        fit = held + settings.sentence_cosine * float(cosine) + settings.standing * standing
        if counting and _NUMBER.search(text):
            fit += settings.number_asked
        quotes.append(_Quote(row, text, fit))
    return _answered(quotes, settings) if not _ASKS_QUESTION.search(found.question.text) else quotes


_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|old|far|large|big|high|fast)\b|\bwhen\b|\bwhat (?:year|time|date)", re.I
)
_ASKS_QUESTION = re.compile(r"\b(?:ask|asks|asked|question|questions)\b", re.I)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|million|billion|once|twice|half|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|(?:to|yester)day|tomorrow|daily|weekly|monthly|yearly)\b",
    re.I,
)


def _answered(quotes: Sequence[_Quote], settings: AnswerSettings) -> list[_Quote]:
    """A question is no answer: what fits it as well is the sentence that follows it."""
    by_time = sorted(range(len(quotes)), key=lambda k: (quotes[k].row.video, quotes[k].row.start_ms, k))
    fits = [q.fit for q in quotes]
    for k, following in itertools.pairwise(by_time):
        asked, reply = quotes[k], quotes[following]
        if asked.row.kind != "speech" or not asked.text.rstrip().endswith("?"):
            continue
        fits[k] -= settings.is_question
        if reply.row.kind == "speech" and reply.row.video == asked.row.video:
            fits[following] = max(fits[following], settings.follows_question * asked.fit)
    return [replace(q, fit=fit) for q, fit in zip(quotes, fits, strict=True)]


def _sentences(row: Evidence, most_words: int) -> list[str]:
    """A row's sentences, those too long cut at clauses; a short row of the screen (a slide's few lines) stays whole."""
    if row.kind != "speech" and word_count(row.text) <= most_words:
        return [row.text.strip()] if row.text.strip() else []
    found = []
    for first, last in sentence_spans(row.text):
        sentence = row.text[first:last]
        found += [sentence[a:b] for a, b in spans(sentence, most_words)]
    return found


def _matching_lines(quote: _Quote, found: Ranking, embedder: TextEmbedder | None, settings: AnswerSettings) -> _Quote:
    """Of a slide, the line that fits best, as far as one that holds another rare word of the question.

    The first line, and one that says no more than the question does, are headings: the answer stands below, and all of it
    is quoted.
    """
    lines = quote.text.split("\n")
    if quote.row.kind == "speech" or len(lines) < 3:
        return quote
    near: NDArray[np.floating] = np.zeros(len(lines))
    if embedder is not None and found.vector is not None:
        near = embedder.embed(lines) @ found.vector
    total = sum(found.idf.values()) or 1e-9
    there = [{stem(w) for w in words(line)} for line in lines]
    shares = {
        t.word: (found.idf[t.word] / total, {k for k, stems in enumerate(there) if stems.intersection(t.counts_as)})
        for t in found.question.terms
    }
    fits = settings.sentence_cosine * near
    for share, holding in shares.values():
        fits[list(holding)] += share
    if _ASKS_NUMBER.search(found.question.text):
        fits += settings.number_asked * np.array([bool(_NUMBER.search(line)) for line in lines])
    best = int(fits.argmax())
    asked: set[str] = set().union(*(t.counts_as for t in found.question.terms))
    if best == 0:
        return quote
    if there[best] <= asked:
        return replace(quote, text="\n".join(lines[best:]).strip())
    rare = [holding for share, holding in shares.values() if holding and share >= settings.line_word]
    below = [holding - {0} for holding in rare if best not in holding and holding != {0}]
    reached = [best, *(min(holding, key=lambda k: abs(k - best)) for holding in below)]
    first, last = min(reached), max(reached)
    if first == 1 and any(0 in holding and best not in holding for holding in rare):
        first = 0  # the title stands next to it
    return replace(quote, text="\n".join(lines[first : last + 1]).strip())


def _chosen(quotes: Sequence[_Quote], settings: AnswerSettings) -> list[_Quote]:
    """The best sentence, then others that fit nearly as well and say something else."""
    chosen: list[_Quote] = []
    for quote in sorted(quotes, key=lambda q: (-q.fit, q.row.start_ms)):
        if len(chosen) == settings.sentences or (chosen and quote.fit < settings.nearly * chosen[0].fit):
            break
        mine, others = set(words(quote.text)), [set(words(c.text)) for c in chosen]
        if mine and all(len(mine & there) < settings.repeating * min(len(mine), len(there)) for there in others):
            chosen.append(quote)
    return chosen
