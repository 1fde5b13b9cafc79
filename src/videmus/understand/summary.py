"""Chapters, summary and key terms of a video, each sentence pointing to its evidence.

Map: statements about each part of the video's pieces. Reduce: chapters, summary and terms out of the statements. What a model
writes is kept only as far as code can trace it: labels that exist, numbers that stand in the pieces, terms that occur.
Without a model the same rows are made from the video's own sentences (`extractive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.config import SummarySettings
from videmus.model import Evidence, Origin, SummaryDetail, Video, evidence_id
from videmus.models.language import Data, LanguageModel, Prompt, ask_each
from videmus.understand.agents import instructions
from videmus.understand.extractive import Outline, outlined
from videmus.understand.numbers import numbers, values
from videmus.understand.pieces import Piece, pieces
from videmus.understand.terms import content_words

VERSION = 1
REPLY_TOKENS = 3_000

Sentence = tuple[str, tuple[str, ...]]
Line = Annotated[str, Field(min_length=1, max_length=1_000)]
Label = Annotated[str, Field(max_length=20)]


class Statement(BaseModel):
    text: Line
    pieces: list[Label] = Field(default=[], max_length=50)


class MapReply(BaseModel):
    statements: list[Statement] = Field(max_length=200)
    terms: list[Line] = Field(default=[], max_length=200)


class ChapterReply(BaseModel):
    title: Line
    begins: Label


class SummaryLine(BaseModel):
    text: Line
    statements: list[Label] = Field(default=[], max_length=50)


class ReduceReply(BaseModel):
    chapters: list[ChapterReply] = Field(max_length=200)
    summary: list[SummaryLine] = Field(max_length=100)
    terms: list[Line] = Field(default=[], max_length=200)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter as people see it: a title, its span, and what it says."""

    title: str
    start_ms: int
    end_ms: int
    text: str


def summarised(
    video: Video, rows: Sequence[Evidence], model: LanguageModel | None, settings: SummarySettings
) -> Iterator[Evidence]:
    """Rows of kind summary: the chapters in order (level "chapter", the title is the text's first line), then the video's
    summary with its key terms (level "video"). None for a video without words.

    Raises CallError, BudgetError or ReplayError when a call ends so; replies received are in the cache by then.
    """
    found = [piece for piece in pieces(rows) if content_words(piece.text)]
    if not found:
        return
    outline, dropped = (None, 0) if model is None else _by_model(video, found, model, settings)
    if outline and model:
        origin = Origin("summary", VERSION, model.name, {"dropped": dropped} if dropped else {})
    else:
        remarks = {"untraceable": dropped} if model else {"not_run": ["map", "reduce"]}
        outline, origin = outlined(found, rows, settings), Origin("summary", VERSION, None, remarks)
    starts = [start for _, start, _ in outline.chapters]
    ends = [*starts[1:], max(video.duration_ms, found[-1].end_ms)]
    for (title, start, sentences), end in zip(outline.chapters, ends, strict=True):
        text = "\n".join([title, " ".join(text for text, _ in sentences)]).strip()
        yield _row(video.id, start, end, text, origin, SummaryDetail("chapter", sentences))
    text = " ".join(text for text, _ in outline.summary)
    if text:
        yield _row(video.id, 0, ends[-1], text, origin, SummaryDetail("video", outline.summary, outline.terms))


def chapters_of(rows: Sequence[Evidence]) -> list[Chapter]:
    """The chapters among a video's summary rows, in order."""
    chapters = [r for r in rows if isinstance(r.detail, SummaryDetail) and r.detail.level == "chapter"]
    return [
        Chapter(row.text.partition("\n")[0], row.start_ms, row.end_ms, row.text.partition("\n")[2])
        for row in sorted(chapters, key=lambda r: r.start_ms)
    ]


def summary_of(rows: Sequence[Evidence]) -> Evidence | None:
    """The video's own summary among its rows."""
    return next((r for r in rows if isinstance(r.detail, SummaryDetail) and r.detail.level == "video"), None)


def terms_of(rows: Sequence[Evidence]) -> tuple[str, ...]:
    """The key terms of the video's summary."""
    summary = summary_of(rows)
    return summary.detail.terms if summary and isinstance(summary.detail, SummaryDetail) else ()


# ---------------------------------------------------------------- map and reduce


def _by_model(
    video: Video, found: Sequence[Piece], model: LanguageModel, settings: SummarySettings
) -> tuple[Outline | None, int]:
    """The outline (None where nothing that the model wrote could be traced), and how many sentences were dropped."""
    stated, terms, dropped = _mapped(video, found, model, settings)
    while (
        sum(len(s.text) for s in stated) > 2 * settings.part_characters
    ):  # hours of video: statements about statements
        shorter, terms, lost = _mapped(video, stated, model, settings)
        dropped += lost
        if len(shorter) >= len(stated):
            break
        stated = shorter
    if not stated:
        return None, dropped
    labelled = {f"S{n}": statement for n, statement in enumerate(stated, 1)}
    parts = [_listed("statements", labelled), Data("terms so far", ", ".join(terms))]
    prompt = Prompt("summary-reduce", instructions("reduce"), tuple(parts), video.id, REPLY_TOKENS)
    reply = model.ask(prompt, ReduceReply).value
    summary, lost = _traced(((s.text, s.statements) for s in reply.summary[: settings.sentences]), labelled)
    wanted = [*reply.terms, *terms]
    sentences = tuple((s.text, s.ids) for s in summary)
    return Outline(_chapters(reply, labelled, settings), sentences, _occurring(wanted, found, settings)), dropped + lost


def _mapped(
    video: Video, found: Sequence[Piece], model: LanguageModel, settings: SummarySettings
) -> tuple[list[Piece], list[str], int]:
    """Statements as pieces (text, span and evidence of what they rest on), terms, and how many were dropped."""
    labelled = {f"P{n}": piece for n, piece in enumerate(found, 1)}
    parts: list[dict[str, Piece]] = [{}]
    for label, piece in labelled.items():
        if parts[-1] and sum(len(p.text) for p in parts[-1].values()) + len(piece.text) > settings.part_characters:
            parts.append({})
        parts[-1][label] = piece
    prompts = (
        (n, Prompt("summary-map", instructions("map"), (_listed("pieces", part),), video.id, REPLY_TOKENS))
        for n, part in enumerate(parts)
    )
    stated: list[Piece] = []
    terms: list[str] = []
    dropped = 0
    for n, reply in ask_each(model, prompts, MapReply):
        if isinstance(reply, Exception):
            raise reply
        kept, lost = _traced(((s.text, s.pieces) for s in reply.value.statements), parts[n])
        stated += kept
        terms += [t for t in reply.value.terms if t not in terms]
        dropped += lost
    return sorted(stated, key=lambda s: (s.start_ms, s.end_ms)), terms, dropped


def _listed(label: str, labelled: dict[str, Piece]) -> Data:
    lines = [f"[{name}] {clock.format_time(p.start_ms)} {' '.join(p.text.split())}" for name, p in labelled.items()]
    return Data(label, "\n".join(lines))


def _traced(sentences: Iterator[tuple[str, list[str]]], labelled: dict[str, Piece]) -> tuple[list[Piece], int]:
    """The sentences that name existing labels and state no number that those pieces do not; and how many do not."""
    kept: list[Piece] = []
    dropped = 0
    for text, names in sentences:
        basis = [labelled[n] for n in dict.fromkeys(n.strip(" []") for n in names) if n in labelled]
        stated = values(" ".join(row.text for piece in basis for row in piece.rows)) if basis else set()
        if not basis or any(not number.readings & stated for number in numbers(text)):
            dropped += 1
            continue
        rows = {row.id: row for piece in basis for row in piece.rows}
        start, end = min(p.start_ms for p in basis), max(p.end_ms for p in basis)
        kept.append(Piece(start, end, " ".join(text.split()), tuple(rows.values())))
    return kept, dropped


def _chapters(
    reply: ReduceReply, labelled: dict[str, Piece], settings: SummarySettings
) -> tuple[tuple[str, int, tuple[Sentence, ...]], ...]:
    """Chapters that begin at an existing statement, in order of time, at most so many; the first one begins the video."""
    begins: dict[int, str] = {}
    for chapter in reply.chapters:
        statement = labelled.get(chapter.begins.strip(" []"))
        title = " ".join(chapter.title.split())
        if statement and title:
            begins.setdefault(statement.start_ms, title)
    statements = list(labelled.values())
    if not begins:
        begins = {statements[0].start_ms: statements[0].text}
    starts = sorted(begins)[: settings.chapters]
    found = []
    for k, start in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else None
        first = 0 if k == 0 else start
        inside = [s for s in statements if first <= s.start_ms and (end is None or s.start_ms < end)]
        found.append((begins[start], first, tuple((s.text, s.ids) for s in inside)))
    return tuple(found)


def _occurring(terms: Sequence[str], found: Sequence[Piece], settings: SummarySettings) -> tuple[str, ...]:
    """The terms that are written somewhere in the video, each once."""
    whole = " ".join(" ".join(row.text.split()) for p in found for row in p.rows).casefold()
    folded = {" ".join(t.split()).casefold(): " ".join(t.split()) for t in terms}
    return tuple(term for key, term in folded.items() if key and key in whole)[: settings.terms]


def _row(video: str, start_ms: int, end_ms: int, text: str, origin: Origin, detail: SummaryDetail) -> Evidence:
    ids = tuple(dict.fromkeys(i for _, ids in detail.sentences for i in ids))
    return Evidence(
        evidence_id(video, "summary", start_ms, end_ms, text),
        video,
        start_ms,
        end_ms,
        "summary",
        text,
        origin,
        sources=ids,
        detail=detail,
    )
