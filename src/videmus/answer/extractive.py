"""An answer without a language model: the best sentences, verbatim, each with a checked citation, or that nothing is said.

Enters: a store, an embedder, a question, a scope. Leaves: an `Answer`. Whether the library says anything is a decision
with a measured confidence (`confidence`), made before a sentence is chosen.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, replace

from videmus.answer.lines import Line, written
from videmus.answer.quotes import ASKS_NUMBER, nearest, quotes, tells_number, told
from videmus.config import AnswerSettings, Settings
from videmus.model import Answer, Evidence, Grounding, Scope, Step
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import Ranking, ranking
from videmus.store.protocol import Store
from videmus.store.words import words

REFUSAL = "The library does not say."


def answer(
    store: Store,
    embedder: TextEmbedder | None,
    question: str,
    scope: Scope,
    limit: int | None = None,
    settings: Settings | None = None,
) -> Answer:
    """The best sentences of the best moments, verbatim; `grounding` is unsupported, without citations, where the
    confidence is too low or no quote holds a word of the question or comes near it, partial where it is in doubt, where the
    quotes hold less than half of the question's words, and where a number was asked for and none is said.

    Raises VectorSpaceError as `search` does.
    """
    settings = settings or Settings()
    chosen = settings.answer
    began = time.monotonic()
    wanted = limit or chosen.moments
    found = ranking(store, embedder, question, scope, wanted, settings)
    sure = confidence(found, chosen)
    steps = [_searched(found, sure, time.monotonic() - began, wanted, scope)]
    if sure < chosen.least_confidence:
        return Answer(REFUSAL, "unsupported", steps=tuple(steps), confidence=sure)
    ids = list(dict.fromkeys(row.id for r in found.results for row in r.rows))
    retrieved = {row.id: row for row in store.evidence_by_id(ids, scope)}
    quoted = quotes(found, retrieved, _around(store, found, scope, chosen), embedder, chosen)
    share = told(found, quoted)
    if share == 0 and nearest(found, quoted, embedder) < chosen.least_near:
        return Answer(REFUSAL, "unsupported", steps=tuple(steps), confidence=min(sure, chosen.least_confidence))
    given = written(store, [Line(q.text, q.proof) for q in quoted], scope)
    steps += given.failed
    if not given.sentences:
        return Answer(REFUSAL, "unsupported", steps=tuple(steps), confidence=sure)
    numbered = not ASKS_NUMBER.search(question) or tells_number(question, (s.text for s in given.sentences))
    certain = sure >= chosen.sure_confidence and share >= chosen.sure_told and numbered
    grounding: Grounding = "supported" if certain else "partial"
    return Answer(given.text, grounding, given.sentences, given.citations, tuple(steps), confidence=sure)


def _around(store: Store, found: Ranking, scope: Scope, settings: AnswerSettings) -> list[Evidence]:
    """What is said in the moments and next to them, as far as the scope sees it: a sentence may go on there."""
    if scope.stream not in (None, "speech") or scope.facet is not None:
        return []
    rows: dict[str, Evidence] = {}
    for one in (r.moment for r in found.results):
        start = max(scope.start or 0, one.start_ms - settings.around_ms)
        end = min(scope.end or one.end_ms + settings.around_ms, one.end_ms + settings.around_ms)
        near = replace(scope, video=one.video, start=start, end=end)
        rows.update((row.id, row) for row in store.evidence(near, ["speech"]))
    return list(rows.values())


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


def _searched(found: Ranking, sure: float, seconds: float, limit: int, scope: Scope) -> Step:
    missing = [w for w in found.idf if not any(w in r.matched for r in found.results)]
    return Step(
        "search",
        found.question.text,
        f"{len(found.results)} moments, confidence {sure:.2f}",
        tuple(dict.fromkeys(id for r in found.results for id in r.moment.evidence)),
        seconds,
        detail={
            "notices": list(found.notices),
            "words not found": missing,
            "limit": limit,
            "scope": scope.narrowed(),
        },
    )
