"""A recording made of many files as one timeline: which file runs when, gaps and overlaps, and what stands for the whole.

Enters: the videos of one recording. Leaves: spans on the recorder's clock. A transcript beside the files was not filmed: it
has its place by the clock, and makes neither gap nor overlap. Rows above single files (an hour's summary
out of 120 clips) belong to one more video, `recording_video`: it has no file, begins where the recording begins, and its
times are counted from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from videmus.model import Video, content_id

RECORDING_SOURCE = "recording:"
"""A recording's own video has this and the recording's name as source and fingerprint."""

TRANSCRIPTS = (".srt", ".vtt", ".sbv", ".ass", ".ssa", ".txt")
"""Endings of what was written down and not filmed. An evidence file without pictures stands for footage that is elsewhere."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a recording, by the clock."""

    video: Video
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Seam:
    """Between two files: a gap (nothing was recorded) or an overlap (recorded twice), from `start` to `end`."""

    kind: Literal["gap", "overlap"]
    start: int
    end: int
    before: str
    after: str

    @property
    def length_ms(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Timeline:
    """What was filmed of a recording in order, its seams, the files that have no clock time and so no place in it, and the
    transcripts that have one.

    It goes from the first filmed part to the last; without any, over its transcripts.
    """

    name: str
    parts: tuple[Part, ...]
    seams: tuple[Seam, ...]
    unplaced: tuple[Video, ...]
    transcripts: tuple[Part, ...] = ()

    @property
    def placed(self) -> tuple[Part, ...]:
        """Parts and transcripts by the clock."""
        return tuple(sorted((*self.parts, *self.transcripts), key=_by_clock))

    @property
    def start(self) -> int:
        return min((p.start for p in self.parts or self.transcripts), default=0)

    @property
    def end(self) -> int:
        return max((p.end for p in self.parts or self.transcripts), default=0)

    @property
    def recorded_ms(self) -> int:
        """How much was filmed, overlaps counted once."""
        total, reached = 0, None
        for part in self.parts:
            start = part.start if reached is None else max(part.start, reached)
            total += max(0, part.end - start)
            reached = part.end if reached is None else max(reached, part.end)
        return total


def timeline(name: str, videos: Iterable[Video], tolerance_ms: int = 1_000) -> Timeline:
    """The timeline of a recording. Seams up to `tolerance_ms` are none: cameras cut files a few frames long or short."""
    members = [v for v in videos if not is_recording(v)]
    placed = sorted(
        (Part(v, v.recorded_at, v.recorded_at + v.duration_ms) for v in members if v.recorded_at is not None),
        key=_by_clock,
    )
    parts = [part for part in placed if not is_transcript(part.video)]
    seams = []
    reached: Part | None = None
    for part in parts:
        if reached is not None:
            if part.start - reached.end > tolerance_ms:
                seams.append(Seam("gap", reached.end, part.start, reached.video.id, part.video.id))
            elif reached.end - part.start > tolerance_ms:
                seams.append(Seam("overlap", part.start, min(reached.end, part.end), reached.video.id, part.video.id))
        if reached is None or part.end > reached.end:
            reached = part
    return Timeline(
        name,
        tuple(parts),
        tuple(seams),
        tuple(v for v in members if v.recorded_at is None),
        tuple(part for part in placed if is_transcript(part.video)),
    )


def filmed_at(line: Timeline, start: int, end: int) -> Part | None:
    """The part that shows most of [start, end) of the clock; None where nothing was filmed then."""

    def shown(part: Part) -> int:
        return min(part.end, max(end, start + 1)) - max(part.start, start)

    best = max(line.parts, key=lambda part: (shown(part), part.video.has_video), default=None)
    return best if best and shown(best) > 0 else None


def recording_video(name: str, videos: Sequence[Video]) -> Video:
    """The video that stands for a whole recording, to which its hours' and days' rows belong.

    Raises ValueError when no file of it has a clock time.
    """
    placed = timeline(name, videos).placed
    if not placed:
        raise ValueError(f"no file of recording {name!r} has a clock time")
    source = RECORDING_SOURCE + name
    collections = {p.video.collection for p in placed}
    start, end = placed[0].start, max(p.end for p in placed)
    return Video(
        content_id("v", source), source, name, end - start, source, "ready",
        collection=collections.pop() if len(collections) == 1 else None, recorded_at=start, recording=name,
        has_video=False, has_audio=False,
    )  # fmt: skip


def is_recording(video: Video) -> bool:
    """Whether a video stands for a recording and has no file of its own."""
    return video.fingerprint.startswith(RECORDING_SOURCE)


def is_transcript(video: Video) -> bool:
    """Whether a member of a recording is a transcript: written down, not filmed."""
    return not (video.has_video or video.has_audio) and video.source.lower().endswith(TRANSCRIPTS)


def _by_clock(part: Part) -> tuple[int, int, str]:
    return part.start, part.end, part.video.id
