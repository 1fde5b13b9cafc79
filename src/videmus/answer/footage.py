"""Where what a transcript says can be seen: the clip of its recording that ran at that time of the clock.

A transcript of an hour beside clips of 30 seconds names who said what, and has nothing to show. Enters: citations, or a
moment of a transcript. Leaves: the same with the clip and the time inside it. Knows nothing of how answers are made.
"""

from __future__ import annotations

from dataclasses import replace

from videmus.answer.citations import moment_url
from videmus.model import Answer, Citation, Footage, Scope, Video
from videmus.segment.timeline import Timeline, filmed_at, is_transcript, timeline
from videmus.store.protocol import Store


def shown(answer: Answer, store: Store) -> Answer:
    """The answer, its citations of transcripts with the footage of their moments; their addresses lead there."""
    lines: dict[str, Timeline] = {}
    citations = [_with_footage(citation, store, lines) for citation in answer.citations]
    return replace(answer, citations=tuple(citations))


def footage(video: Video, start_ms: int, end_ms: int, store: Store) -> Footage | None:
    """The clip that ran while a span of a transcript was said; None for what is no transcript, and where none ran."""
    return _footage(video, start_ms, end_ms, store, {})


def _with_footage(citation: Citation, store: Store, lines: dict[str, Timeline]) -> Citation:
    video = store.video(citation.video)
    found = _footage(video, citation.start_ms, citation.end_ms, store, lines) if video else None
    return replace(citation, footage=found, url=found.url) if found else citation


def _footage(video: Video, start_ms: int, end_ms: int, store: Store, lines: dict[str, Timeline]) -> Footage | None:
    name, began = video.recording, video.recorded_at
    if name is None or began is None or not is_transcript(video):
        return None
    if name not in lines:
        lines[name] = timeline(name, store.videos(Scope(recording=name)))
    part = filmed_at(lines[name], began + start_ms, began + end_ms)
    if part is None:
        return None
    start = max(0, began + start_ms - part.start)
    end = min(part.video.duration_ms, max(began + end_ms - part.start, start))
    return Footage(part.video.id, part.video.title, start, end, moment_url(part.video, start))
