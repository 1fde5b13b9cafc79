"""Clips: footage without slides, cut into pieces that follow each other; each is described once (`understand`).

Enters: a video's length. Leaves: clip segments that cover it without overlap. Source: Goldfish, section 3 (80 s; a video
up to 3 minutes is one clip).
"""

from __future__ import annotations

from collections.abc import Iterator

from videmus.config import ClipSettings
from videmus.model import Origin, Segment, segment_id

STAGE = "clips"
VERSION = 1


def clips(video: str, duration_ms: int, settings: ClipSettings | None = None) -> Iterator[Segment]:
    """The clips of one video, in order: [0, duration_ms) is covered once."""
    settings = settings or ClipSettings()
    if duration_ms <= 0:
        return
    borders = [0]
    if duration_ms > settings.single_ms:
        borders += range(settings.length_ms, duration_ms, settings.length_ms)
    for start, end in zip(borders, [*borders[1:], duration_ms], strict=True):
        yield Segment(segment_id(video, "clip", start, end), video, start, end, "clip", Origin(STAGE, VERSION))


def frame_times(start_ms: int, end_ms: int, settings: ClipSettings | None = None) -> list[int]:
    """The times of a clip's frames, at most `frames`, evenly spaced, at least a second apart, none at the very border."""
    settings = settings or ClipSettings()
    count = max(1, min(settings.frames, (end_ms - start_ms) // 1000))
    return [start_ms + (end_ms - start_ms) * (2 * k + 1) // (2 * count) for k in range(count)]
