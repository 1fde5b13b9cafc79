"""An answer without a language model: the best sentences, verbatim, each with a checked citation, or that nothing is said.

Enters: a store, an embedder, a question, a scope. Leaves: an `Answer`. Whether the library says anything is a decision
with a measured confidence (`confidence`), made before a sentence is chosen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

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
    ids = list(dict.fromkeys(id for r in found.results for id in r.moment.evidence))
    retrieved = {row.id: row for row in store.evidence_by_id(ids, scope)}
    quotes = _chosen(_quotes(found, retrieved, embedder, chosen), chosen)
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


def confidence(found: Ranking, settings: AnswerSettings | None = None) -> float:
    """How sure it is that the moments found answer the question, 0 to 1: a logistic model of four measures of fit.

    `features` names them; the weights and what they were fitted on stand in `AnswerSettings`.
    """
    settings = settings or AnswerSettings()
    if not found.results:
        return 0.0
    nearness, together, anywhere, rarest = features(found)
    logit = (
        settings.bias
        + settings.nearness * nearness
        + settings.together * together
        + settings.anywhere * anywhere
        + settings.rarest * rarest
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


def features(found: Ranking) -> tuple[float, float, float, float]:
    """The best cosine; the share of the question's words (weighed by rarity) that the best moment holds, and that all
    moments together hold; whether the rarest word is held by any."""
    total = sum(found.idf.values()) or 1e-9
    held = [sum(found.idf[w] for w in r.matched) / total for r in found.results]
    union = {w for r in found.results for w in r.matched}
    rarest = max(found.idf, key=lambda w: found.idf[w])
    nearness = max(r.cosine for r in found.results)
    return nearness, max(held), sum(found.idf[w] for w in union) / total, float(rarest in union)


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
        for id in one.moment.evidence:
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
    quotes = []
    for (row, text, standing), cosine in zip(pieces, near, strict=True):
        there = {stem(w) for w in words(text)}
        held = sum(found.idf[t.word] for t in found.question.terms if there.intersection(t.counts_as)) / total
        quotes.append(_Quote(row, text, held + settings.sentence_cosine * float(cosine) + settings.standing * standing))
    return quotes


def _sentences(row: Evidence, most_words: int) -> list[str]:
    """A row's sentences, those too long cut at clauses; a short row of the screen (a slide's few lines) stays whole."""
    if row.kind != "speech" and word_count(row.text) <= most_words:
        return [row.text.strip()] if row.text.strip() else []
    found = []
    for first, last in sentence_spans(row.text):
        sentence = row.text[first:last]
        found += [sentence[a:b] for a, b in spans(sentence, most_words)]
    return found


def _chosen(quotes: Sequence[_Quote], settings: AnswerSettings) -> list[_Quote]:
    """The best sentence, then others that fit nearly as well and say something else."""
    chosen: list[_Quote] = []
    for quote in sorted(quotes, key=lambda q: (-q.fit, q.row.start_ms)):
        if len(chosen) == settings.sentences or (chosen and quote.fit < settings.nearly * chosen[0].fit):
            break
        mine = set(words(quote.text))
        if mine and all(len(mine & set(words(c.text))) < 0.7 * min(len(mine), len(set(words(c.text)))) for c in chosen):
            chosen.append(quote)
    return chosen
