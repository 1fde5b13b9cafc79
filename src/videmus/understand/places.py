"""How a piece of a video is named where something went wrong with it, and what went wrong with each piece.

A stage's reason names its pieces one after another: `slide 2 at 1:20: …; slide 5 at 4:03: …`. Here it is written, and taken
apart again for those who look at one slide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from videmus import clock
from videmus.model import Segment


def place(segment: Segment, number: int | None = None) -> str:
    """`slide 2 at 1:20`, `clip at 1:20`; `number` is used for a slide that has none of its own."""
    at = clock.format_time(segment.start_ms)
    slide = segment.slide or number
    return f"{segment.kind} {slide} at {at}" if slide else f"{segment.kind} at {at}"


def reasons(segments: Sequence[Segment], told: Iterable[str | None]) -> dict[str, str]:
    """Segment id → what the reasons that stages told say of it; segments that none speaks of are left out."""
    found: dict[str, list[str]] = {}
    for reason in filter(None, told):
        starts = sorted(
            (at, segment.id, f"{place(segment)}: ")
            for segment in segments
            if (at := _begins(reason, f"{place(segment)}: ")) is not None
        )
        ends = [*(at for at, _, _ in starts[1:]), len(reason)]
        for (at, id, name), end in zip(starts, ends, strict=False):
            found.setdefault(id, []).append(reason[at + len(name) : end].rstrip("; "))
    return {id: "; ".join(texts) for id, texts in found.items()}


def _begins(reason: str, name: str) -> int | None:
    """Where an entry of this name begins: at the reason's start, or behind another entry."""
    if reason.startswith(name):
        return 0
    at = reason.find(f"; {name}")
    return at + 2 if at >= 0 else None
