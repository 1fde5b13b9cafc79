"""Evidence for questions about whole videos: summaries, and all segments instead of the best matches (Goldfish's global mode).

"What is this lecture about" reads summaries and chapters, with the segments as far as they fit. "List all …" reads every
segment; where they do not fit into one call, a first pass over all of them chooses those that the answer needs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.answer.chat import instructions
from videmus.answer.routing import Route
from videmus.config import Settings
from videmus.model import Evidence, EvidenceKind, Scope, Step, SummaryDetail
from videmus.models.language import CallError, Data, LanguageModel, Prompt, ask_each
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import search
from videmus.store.protocol import Store
from videmus.understand.pieces import Piece, pieces

GATHER_CALLS = 20
"""Passes over segments at most; of a larger library the segments nearest to the question are read."""

FEW_VIDEOS = 3
"""Beside their summaries the segments of so many videos are read too; of more, the summaries alone."""

PIECES: tuple[EvidenceKind, ...] = ("consolidated", "clip", "speech", "screen", "scene")
REPLY_TOKENS = 800


class GatherReply(BaseModel):
    pieces: list[Annotated[str, Field(max_length=20)]] = Field(max_length=500)


def whole_evidence(
    store: Store,
    embedder: TextEmbedder | None,
    model: LanguageModel,
    question: str,
    kind: Route,
    scope: Scope,
    settings: Settings,
) -> tuple[list[Evidence], Step]:
    """The rows to read, and the step that found them. Raises CallError, BudgetError or ReplayError."""
    began = time.monotonic()
    limit = settings.read.whole_characters
    whole = scope.start is None and scope.end is None  # a summary speaks of all of it, not of a span
    summaries = store.evidence(scope, ["summary"]) if kind == "about" and whole else []
    calls = 0
    if summaries:
        chosen = _fitting(_broadest_first(summaries), limit)
        if len({r.video for r in summaries}) <= FEW_VIDEOS:
            left = limit - _length(chosen)
            chosen += _fitting([row for p in segments(store.evidence(scope, PIECES)) for row in p.rows], left)
    else:
        found = segments(store.evidence(scope, PIECES))
        if _length([row for p in found for row in p.rows]) > limit:
            found = _near(store, embedder, question, scope, found, GATHER_CALLS * limit, settings)
            found, calls = _gathered(model, question, found, limit)
        chosen = _fitting([row for p in found for row in p.rows], limit)
    said = f"{len(chosen)} rows of {len({r.video for r in chosen})} videos"
    if calls:
        said += f", chosen from all segments in {calls} calls"
    step = Step("whole", question, said, tuple(r.id for r in chosen), time.monotonic() - began, detail={"route": kind})
    return chosen, step


def segments(rows: Sequence[Evidence]) -> list[Piece]:
    """The pieces of several videos, one video after another."""
    by_video: dict[str, list[Evidence]] = {}
    for row in rows:
        by_video.setdefault(row.video, []).append(row)
    return [piece for own in by_video.values() for piece in pieces(own)]


def _broadest_first(summaries: Sequence[Evidence]) -> list[Evidence]:
    """Whole videos before chapters before the levels of a timeline, each in its order."""

    def breadth(row: Evidence) -> int:
        level = row.detail.level if isinstance(row.detail, SummaryDetail) else ""
        return {"video": 0, "day": 1, "chapter": 2, "hour": 3}.get(level, 4)

    return sorted(summaries, key=breadth)


def _fitting(rows: Sequence[Evidence], characters: int) -> list[Evidence]:
    chosen: list[Evidence] = []
    left = characters
    for row in rows:
        if len(row.text) <= left:
            chosen.append(row)
            left -= len(row.text)
    return chosen


def _length(rows: Sequence[Evidence]) -> int:
    return sum(len(row.text) for row in rows)


def _near(
    store: Store,
    embedder: TextEmbedder | None,
    question: str,
    scope: Scope,
    found: list[Piece],
    characters: int,
    settings: Settings,
) -> list[Piece]:
    """All pieces, or of too many those that the search for the question finds, in their order."""
    if _length([row for p in found for row in p.rows]) <= characters:
        return found
    spans = [(m.video, m.start_ms, m.end_ms) for m in search(store, embedder, question, scope, 500, settings)]
    near = [p for p in found if any(v == p.rows[0].video and s < p.end_ms and e > p.start_ms for v, s, e in spans)]
    kept: list[Piece] = []
    for piece in near:
        if sum(len(p.text) for p in kept) + len(piece.text) <= characters:
            kept.append(piece)
    return kept


def _gathered(model: LanguageModel, question: str, found: Sequence[Piece], characters: int) -> tuple[list[Piece], int]:
    """The pieces that the model says the answer needs, and how many calls it took."""
    parts: list[dict[str, Piece]] = [{}]
    for n, piece in enumerate(found, 1):
        if parts[-1] and sum(len(p.text) for p in parts[-1].values()) + len(piece.text) > characters:
            parts.append({})
        parts[-1][f"P{n}"] = piece
    needed: list[Piece] = []
    for number, reply in ask_each(model, ((k, _prompt(question, p)) for k, p in enumerate(parts)), GatherReply):
        if isinstance(reply, CallError):
            raise reply
        labels = dict.fromkeys(label.strip(" []") for label in reply.value.pieces)
        needed += [parts[number][label] for label in labels if label in parts[number]]
    return needed, len(parts)


def _prompt(question: str, part: dict[str, Piece]) -> Prompt:
    lines = [f"[{name}] {clock.format_time(p.start_ms)} {' '.join(p.text.split())}" for name, p in part.items()]
    parts = (Data("pieces", "\n".join(lines)), Data("question", question))
    return Prompt("gather", instructions("gather"), parts, max_tokens=REPLY_TOKENS)
