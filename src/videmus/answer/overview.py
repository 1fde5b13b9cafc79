"""Questions about whole videos without a language model: the summary's own sentences, or every sentence that names the thing.

Enters: a store, a question that `routing` recognised, a scope. Leaves: an `Answer` of verbatim sentences with checked
citations, or None where the library has nothing of the kind: then the best matches answer, as they do any question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from videmus.answer.citations import checked
from videmus.answer.routing import Route
from videmus.model import Answer, Citation, Evidence, Scope, Sentence, Step, SummaryDetail, Video
from videmus.segment.passages import sentence_spans
from videmus.store.protocol import Store
from videmus.store.words import stem
from videmus.understand.summary import Chapter, chapters_of
from videmus.understand.terms import content_words

MOST_VIDEOS = 5
MOST_SENTENCES = 12
_ASKING = frozenset(
    stem(w)
    for w in (
        "list", "name", "enumerate", "give", "show", "mentioned", "mention", "discussed", "covered", "named", "shown",
        "lecture", "video", "talk", "course", "meeting", "recording", "film", "episode", "clip", "times", "different",
        "everything", "every", "said", "complete", "full", "whole", "many", "please",
    )
)  # fmt: skip
"""Words of a question that ask for a list and say nothing of what."""


def overview(
    store: Store,
    question: str,
    kind: Route,
    scope: Scope,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer | None:
    """The answer from summaries ("about") or from all segments ("list"); None where there is none."""
    if kind == "about":
        rows = store.evidence(scope, ["summary"])
        quoted = _summaries(store, rows, scope)
    elif kind == "list":
        rows = store.evidence(scope, ["speech", "screen", "scene", "clip"])
        quoted = _naming(rows, question)
    else:
        return None
    videos = {v.id: v for v in store.videos(scope)}
    answer = _written(quoted, videos, on_sentence)
    if answer is None:
        return None
    step = Step("whole", question, f"{len(rows)} rows read", tuple(r.id for r, _ in quoted), detail={"route": kind})
    return Answer(
        " ".join(f"{s.text} [{s.citations[0]}]" for s in answer[0]),
        "supported",
        answer[0],
        answer[1],
        (step,),
        confidence=1.0 if kind == "about" else 0.6,
    )


def chapters(store: Store, video: str) -> list[Chapter]:
    """A video's chapters in order."""
    return chapters_of(store.evidence(Scope(video=video), ["summary"]))


def _summaries(store: Store, rows: Sequence[Evidence], scope: Scope) -> list[tuple[Evidence, str]]:
    """Sentences of the videos' summaries, each cited where it stands verbatim, else at the summary itself."""
    found: list[tuple[Evidence, str]] = []
    summaries = [r for r in rows if isinstance(r.detail, SummaryDetail) and r.detail.level == "video"][:MOST_VIDEOS]
    each = MOST_SENTENCES if len(summaries) == 1 else max(1, MOST_SENTENCES // max(1, len(summaries)))
    for summary in summaries:
        assert isinstance(summary.detail, SummaryDetail)
        for text, ids in summary.detail.sentences[:each]:
            basis = store.evidence_by_id(list(ids), scope)
            found.append((next((r for r in basis if text in r.text), summary), text))
    return found


def _naming(rows: Sequence[Evidence], question: str) -> list[tuple[Evidence, str]]:
    """Every sentence that holds all words of what is listed, in order of time; of more than fit, spread over the whole."""
    wanted = {stem(w) for w in content_words(question)} - _ASKING
    found: list[tuple[Evidence, str]] = []
    told: set[str] = set()
    for row in rows:
        for first, last in sentence_spans(row.text):
            text = " ".join(row.text[first:last].split())
            if wanted and wanted <= {stem(w) for w in content_words(text)} and text.casefold() not in told:
                told.add(text.casefold())
                found.append((row, text))
    if len(found) <= MOST_SENTENCES:
        return found
    return [found[k * len(found) // MOST_SENTENCES] for k in range(MOST_SENTENCES)]


def _written(
    quoted: Sequence[tuple[Evidence, str]], videos: dict[str, Video], on_sentence: Callable[[Sentence], None]
) -> tuple[tuple[Sentence, ...], tuple[Citation, ...]] | None:
    retrieved = {row.id: row for row, _ in quoted}
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    for row, text in quoted:
        passed = checked(len(citations) + 1, row.id, text, retrieved, videos)
        if isinstance(passed, Citation):
            citations.append(passed)
            sentences.append(Sentence(text, (passed.n,)))
            on_sentence(sentences[-1])
    return (tuple(sentences), tuple(citations)) if sentences else None
