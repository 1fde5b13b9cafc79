"""Which slide each sentence of speech explains.

Enters: slide segments and speech rows of one video. Leaves: a segment id for each row that a slide was on screen for. Knows
nothing of pictures: boundaries are exact, so the clock decides.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace

from videmus.model import Evidence, Segment


def assigned(speech: Sequence[Evidence], segments: Sequence[Segment]) -> Mapping[str, str]:
    """{speech row id: segment id}: the slide that was on screen for the longest part of the row; of two alike, the one on
    screen at its middle (PreMind, Step B: the frame at the middle of the sentence). Rows spoken while no slide was shown are
    left out."""
    slides = sorted((s for s in segments if s.kind == "slide"), key=lambda s: (s.start_ms, s.end_ms))
    starts = [s.start_ms for s in slides]
    found: dict[str, str] = {}
    for row in speech:
        middle = (row.start_ms + row.end_ms) / 2
        best: tuple[int, bool] = (0, False)
        for slide in slides[
            max(0, bisect.bisect_right(starts, row.start_ms) - 1) : bisect.bisect_left(starts, row.end_ms + 1)
        ]:
            shared = min(slide.end_ms, row.end_ms) - max(slide.start_ms, row.start_ms)
            rank = (shared, slide.start_ms <= middle < slide.end_ms)
            if shared > 0 and rank > best:
                best, found[row.id] = rank, slide.id
    return found


def placed(rows: Sequence[Evidence], segments: Sequence[Segment]) -> list[Evidence]:
    """The rows, each sentence of speech naming the showing of the slide that it explains as its segment."""
    owner = assigned([row for row in rows if row.kind == "speech"], segments)
    return [replace(row, segment=owner.get(row.id, row.segment)) for row in rows]
