"""The JSON documents that programs get, one function each; their keys are the contract of the README's table.

Enters: the nouns of `model`. Leaves: plain dicts. Knows nothing of terminals or HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videmus import clock
from videmus.model import Answer, Citation, Correction, Evidence, Moment, Segment, Video, to_plain
from videmus.segment.timeline import Timeline
from videmus.store.protocol import Work
from videmus.understand.summary import Chapter, summary_of, terms_of

if TYPE_CHECKING:
    from videmus.search.frames import FoundFrame

Document = dict[str, Any]

PROCESSING = "being added now, or interrupted: `videmus retry` goes on with it"
"""Programs know three states; a video that is not finished is partial, for this reason."""


def video(item: Video) -> Document:
    return {
        "id": item.id,
        "title": item.title,
        "duration_ms": item.duration_ms,
        "source": item.source,
        "collection": item.collection,
        "recorded_at": None if item.recorded_at is None else clock.format_clock(item.recorded_at, "iso"),
        "recording": item.recording,
        "language": item.language,
        "state": "partial" if item.state == "processing" else item.state,
        "reason": reason(item),
    }


def reason(item: Video) -> str | None:
    """Why it is not ready; None where it is."""
    return PROCESSING if item.state == "processing" else item.reason


def added(item: Video, work: Sequence[Work]) -> Document:
    return {**video(item), "stages": [stage(w) for w in work]}


def stage(work: Work) -> Document:
    return {
        "name": work.stage,
        "state": work.state,
        "reason": work.reason,
        "rows": work.rows,
        "seconds": round(work.seconds, 3),
        "calls": work.calls,
        "cost": work.usd,
    }


def timeline(item: Timeline) -> Document:
    return {
        "start": clock.format_clock(item.start),
        "end": clock.format_clock(item.end),
        "recorded_ms": item.recorded_ms,
        "seams": [
            {"kind": s.kind, "start": clock.format_clock(s.start), "end": clock.format_clock(s.end)} for s in item.seams
        ],
        "unplaced": [v.id for v in item.unplaced],
        "transcripts": [
            {"video": p.video.id, "start": clock.format_clock(p.start), "end": clock.format_clock(p.end)}
            for p in item.transcripts
        ],
    }


def told(summaries: Sequence[Evidence], chapters: Sequence[Chapter]) -> Document:
    """What a video's rows of kind summary say, and its chapters."""
    summary = summary_of(summaries)
    return {
        "summary": summary.text if summary else None,
        "terms": list(terms_of(summaries)),
        "chapters": [{"start_ms": c.start_ms, "end_ms": c.end_ms, "title": c.title, "text": c.text} for c in chapters],
    }


def segment(item: Segment, reason: str | None = None) -> Document:
    """`reason` says what could not be made of it, and why."""
    return {
        "id": item.id,
        "kind": item.kind,
        "slide": item.slide,
        "start_ms": item.start_ms,
        "end_ms": item.end_ms,
        "title": item.title,
        "text": item.text,
        "number": item.number,
        "states": [{"start_ms": s.start_ms, "end_ms": s.end_ms, "text": s.text} for s in item.states],
        "reason": reason,
    }


def speech(item: Video, rows: Sequence[Evidence]) -> Document:
    """Where the video's speech is from: "subtitles", "recognition" (by `models`), "evidence file", or None where nobody
    speaks; and whether the user wants recognition even where subtitles are."""
    models = sorted({row.origin.model for row in rows if row.origin.model})
    source = "recognition" if models else "evidence file" if rows else None
    if any(row.origin.settings.get("from") == "subtitles" for row in rows):
        source = "subtitles"
    return {
        "from": source,
        "models": models,
        "transcribe": bool(item.options.get("transcribe")),
    }


def correction(item: Correction, start_ms: int, end_ms: int) -> Document:
    return {
        "id": item.id,
        "original": item.original,
        "corrected": item.corrected,
        "undone": item.undone,
        "start_ms": start_ms,
        "end_ms": end_ms,
    }


def moment(item: Moment) -> Document:
    return {
        "video": item.video,
        "title": item.title,
        "start_ms": item.start_ms,
        "end_ms": item.end_ms,
        "kind": item.kind,
        "text": item.text,
        "score": round(item.score, 4),
        "evidence": list(item.evidence),
    }


def found_frame(item: FoundFrame, title: str, picture: Path) -> Document:
    return {
        "frame": item.frame.id,
        "video": item.frame.video,
        "title": title,
        "at_ms": item.frame.at_ms,
        "score": round(item.score, 4),
        "picture": str(picture),
    }


def citation(item: Citation) -> Document:
    return {
        "n": item.n,
        "evidence": item.evidence,
        "video": item.video,
        "title": item.title,
        "start_ms": item.start_ms,
        "end_ms": item.end_ms,
        "kind": item.kind,
        "quote": item.quote,
        "url": item.url,
        "footage": to_plain(item.footage) if item.footage else None,
    }


def answer(item: Answer) -> Document:
    return {
        "answer": item.text,
        "grounding": item.grounding,
        "confidence": round(item.confidence, 4),
        "citations": [citation(c) for c in item.citations],
        "steps": [to_plain(step) for step in item.steps],
        "cost": {
            "calls": item.cost.calls,
            "tokens_in": item.cost.tokens_in,
            "tokens_out": item.cost.tokens_out,
            "usd": item.cost.usd,
            "seconds": round(item.cost.seconds, 3),
        },
    }
