"""Questions about whole videos without a language model: what it is about, or every sentence that names the thing.

Enters: a store, a question that `routing` recognised, a scope. Leaves: an `Answer` of verbatim sentences, titles and terms with
checked citations, or None where the library has nothing of the kind: then the best matches answer, as they do any question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from videmus import clock
from videmus.answer.at_time import central_lines, cited, proof_of, titled
from videmus.answer.lines import Line, written
from videmus.answer.quotes import ASKS_NUMBER, says_something
from videmus.answer.routing import Route
from videmus.exports.chapters import chapters
from videmus.model import Answer, Evidence, Grounding, Scope, Sentence, Step, SummaryDetail
from videmus.segment.sentences import whole_sentences
from videmus.store.protocol import Store
from videmus.store.words import stem
from videmus.understand.terms import content_words

MOST_VIDEOS = 5
MOST_SENTENCES = 12
MOST_TERMS = 5
_ASKING = frozenset(
    stem(w)
    for w in (
        "list", "name", "enumerate", "give", "show", "mentioned", "mention", "discussed", "covered", "named", "shown",
        "lecture", "video", "talk", "course", "meeting", "recording", "film", "episode", "clip", "times", "different",
        "everything", "every", "said", "complete", "full", "whole", "many", "please",
        "liste", "nenne", "alle", "vortrag", "genannt", "erwähnt", "cite", "nomme", "tous", "toutes", "lista", "nombra",
        "todos", "todas", "列出", "所有", "全部",
    )
)  # fmt: skip
"""Words of a question that ask for a list and say nothing of what."""

_BULLET = re.compile(r"^\s*(?:[•▪➢❖*–-]|\d{1,2}[.)])\s*")


def overview(
    store: Store,
    question: str,
    kind: Route,
    scope: Scope,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer | None:
    """The answer from summaries ("about") or from all segments ("list"); None where there is none.

    A list is partial: that all which belongs to it was named in these words, nobody has checked. So is one that was asked
    to count.
    """
    grounding: Grounding = "supported"
    if kind == "about":
        lines, whole = _about(store, scope)
        grounding = "supported" if whole else "partial"
    elif kind == "list":
        lines, grounding = _naming(store.evidence(scope, ["speech", "screen", "scene", "clip"]), question), "partial"
    else:
        return None
    given = written(store, lines, scope, on_sentence)
    if not given.sentences:
        return None
    read = tuple(dict.fromkeys(c.evidence for c in given.citations))
    step = Step("whole", question, f"{len(read)} rows quoted", read, detail={"route": kind})
    confidence = 1.0 if kind == "about" else 0.5 if ASKS_NUMBER.search(question) else 0.6
    return Answer(given.text, grounding, given.sentences, given.citations, (step, *given.failed), confidence=confidence)


# ---------------------------------------------------------------- what it is about


def _about(store: Store, scope: Scope) -> tuple[list[Line], bool]:
    """Of each video its summary's sentences, its key terms, of one its chapters too; and whether all videos are told of."""
    if scope.start is not None or scope.end is not None:  # a summary speaks of all of it, not of a span
        return central_lines(store.evidence(scope, ["speech"]), MOST_SENTENCES // 2), True
    rows = store.evidence(scope, ["summary"])
    summaries = [r for r in rows if isinstance(r.detail, SummaryDetail) and r.detail.level == "video"]
    told = summaries[:MOST_VIDEOS]
    each = MOST_SENTENCES if len(told) == 1 else max(1, MOST_SENTENCES // 2 // max(1, len(told)))
    lines: list[Line] = []
    for summary in told:
        video = store.video(summary.video)
        name = f"{video.title}: " if video and len(told) > 1 else ""
        lines += [replace(line, text=name + line.text) for line in _sentences(store, summary, each, scope)]
        if summary.origin.model is None:
            if len(told) == 1:
                lines += _chapter_lines(store, [r for r in rows if r.video == summary.video], scope)
            lines += _terms(store, summary, name, scope)
    return lines, len(told) == len(summaries)


def _terms(store: Store, summary: Evidence, name: str, scope: Scope) -> list[Line]:
    """The first key terms of a summary, each proved by the first row that it stands in."""
    assert isinstance(summary.detail, SummaryDetail)
    rows = store.evidence(replace(scope, video=summary.video), ["speech", "screen"])
    proved = [(term, proof_of(term, rows)) for term in summary.detail.terms[:MOST_TERMS]]
    proved = [(term, proof) for term, proof in proved if proof and proof[0][1] == term]
    if len(proved) < 2:
        return []
    return [
        Line(
            f"{name}Key terms: {', '.join(term for term, _ in proved)}.", tuple(p for _, proof in proved for p in proof)
        )
    ]


def _sentences(store: Store, summary: Evidence, most: int, scope: Scope) -> list[Line]:
    """A summary's sentences, each cited where it stands verbatim, else at the summary itself."""
    assert isinstance(summary.detail, SummaryDetail)
    if len(summary.detail.sentences) > most and summary.origin.model is None:
        basis = [id for _, ids in summary.detail.sentences for id in ids]
        return central_lines(store.evidence_by_id(basis, scope), most)
    lines = []
    for text, ids in summary.detail.sentences[:most]:
        line = cited(text, store.evidence_by_id(list(ids), scope))
        lines.append(line if line.proof else Line(text, ((summary, text),)))
    return lines


def _chapter_lines(store: Store, summaries: Sequence[Evidence], scope: Scope) -> list[Line]:
    """`1:04 Title` of each chapter, the same as in every list of them, where there are several; cited at the slide that
    bears the title, else at the row of the summary that does."""
    video = store.video(summaries[0].video)
    if video is None or scope.at is not None:  # chapters are of a whole video, and its end may not be seen yet
        return []
    mine = replace(scope, video=video.id)
    pieces = store.segments(mine, "slide") or store.segments(mine, "clip")
    found = chapters(video, pieces, summaries)
    if len(found) < 2:
        return []
    at = {piece.start_ms: piece for piece in reversed(pieces)}
    lines = []
    for chapter in found[:MOST_SENTENCES]:
        piece = at.get(chapter.start_ms)
        of_slide = titled(store, piece, mine) if piece is not None else None
        rows = [r for r in summaries if r.start_ms == chapter.start_ms]
        proof = of_slide.proof if of_slide is not None else proof_of(chapter.title, rows)
        if proof:
            lines.append(Line(f"{clock.format_time(chapter.start_ms)} {chapter.title}", proof))
    return lines


# ---------------------------------------------------------------- everything of a kind


def _naming(rows: Sequence[Evidence], question: str) -> list[Line]:
    """Every sentence, and every list of a slide, that names what is listed, in order of time; of more than fit, spread over
    the whole. What a slide shows again or somebody says in the same words is told once."""
    wanted = {stem(w) for w in content_words(question)} - _ASKING
    if not wanted:
        return []
    found: list[tuple[int, Line]] = []
    for sentence in whole_sentences(rows):
        if wanted <= _stems(sentence.text) and not sentence.asks:
            proof = tuple((p.row, p.text) for p in sentence.places)
            found.append((sentence.row.start_ms, Line(sentence.text, proof)))
    for row in rows:
        if row.kind != "speech":
            found += [(row.start_ms, Line(text, ((row, text),))) for text in _listed(row, wanted)]
    fullest = sorted(found, key=lambda one: -len(one[1].text))
    kept: list[tuple[int, Line]] = []
    for at, line in fullest:
        mine = _stems(line.text)
        if says_something(line.text) and all(len(mine & _stems(other.text)) < len(mine) for _, other in kept):
            kept.append((at, line))
    kept.sort(key=lambda one: one[0])
    if len(kept) > MOST_SENTENCES:
        kept = [kept[k * len(kept) // MOST_SENTENCES] for k in range(MOST_SENTENCES)]
    return [line for _, line in kept]


def _listed(row: Evidence, wanted: set[str]) -> list[str]:
    """The lines of a page that name what is listed; a heading that does comes with the points below it."""
    lines = row.text.split("\n")
    found = []
    for k, line in enumerate(lines):
        if not wanted <= _stems(line) or "?" in line:
            continue
        points = lines[k + 1 :]
        heading = k == 0 or line.rstrip().endswith((":", "："))
        below = 0
        while heading and below < len(points) and (_BULLET.match(points[below]) or k == 0):
            below += 1
        found.append("\n".join(lines[k : k + 1 + below]).strip())
        if k == 0 and below:
            break
    return found


def _stems(text: str) -> set[str]:
    return {stem(w) for w in content_words(text)}
