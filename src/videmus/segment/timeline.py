"""A recording made of many files as one timeline: which file runs when, gaps and overlaps, and what stands for the whole.

Enters: the videos of one recording. Leaves: spans on the recorder's clock. Rows above single files (an hour's summary
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
    """A recording's files in order, its seams, and the files that have no clock time and so no place in it."""

    name: str
    parts: tuple[Part, ...]
    seams: tuple[Seam, ...]
    unplaced: tuple[Video, ...]

    @property
    def start(self) -> int:
        return self.parts[0].start if self.parts else 0

    @property
    def end(self) -> int:
        return max((p.end for p in self.parts), default=0)

    @property
    def recorded_ms(self) -> int:
        """How much was recorded, overlaps counted once."""
        total, reached = 0, None
        for part in self.parts:
            start = part.start if reached is None else max(part.start, reached)
            total += max(0, part.end - start)
            reached = part.end if reached is None else max(reached, part.end)
        return total


def timeline(name: str, videos: Iterable[Video], tolerance_ms: int = 1_000) -> Timeline:
    """The timeline of a recording. Seams up to `tolerance_ms` are none: cameras cut files a few frames long or short."""
    members = [v for v in videos if not is_recording(v)]
    parts = sorted(
        (Part(v, v.recorded_at, v.recorded_at + v.duration_ms) for v in members if v.recorded_at is not None),
        key=lambda p: (p.start, p.end, p.video.id),
    )
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
    return Timeline(name, tuple(parts), tuple(seams), tuple(v for v in members if v.recorded_at is None))


def recording_video(name: str, videos: Sequence[Video]) -> Video:
    """The video that stands for a whole recording, to which its hours' and days' rows belong.

    Raises ValueError when no file of it has a clock time.
    """
    line = timeline(name, videos)
    if not line.parts:
        raise ValueError(f"no file of recording {name!r} has a clock time")
    source = RECORDING_SOURCE + name
    collections = {p.video.collection for p in line.parts}
    return Video(
        content_id("v", source), source, name, line.end - line.start, source, "ready",
        collection=collections.pop() if len(collections) == 1 else None, recorded_at=line.start, recording=name,
        has_video=False, has_audio=False,
    )  # fmt: skip


def is_recording(video: Video) -> bool:
    """Whether a video stands for a recording and has no file of its own."""
    return video.fingerprint.startswith(RECORDING_SOURCE)
