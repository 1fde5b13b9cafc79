"""What belongs to one slide: the lines recognised on it and the sentences said over it.

Enters: slide segments, screen and speech rows of a video. Leaves: one `Material` a showing, in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from videmus.model import Evidence, ScreenDetail, Segment

FOOTER = 0.92
"""A line that begins below this share of the picture's height is a footer: page number, date, venue."""

SURE = 0.5
"""Recognised lines with less confidence are not held against a description."""


@dataclass(frozen=True, slots=True)
class Material:
    """One showing of a slide. `number` counts showings from 1; `lines` are recognised, without footers."""

    segment: Segment
    number: int
    lines: tuple[str, ...]
    screen: tuple[Evidence, ...]
    speech: tuple[Evidence, ...]

    @property
    def transcript(self) -> str:
        return " ".join(row.text.strip() for row in self.speech if row.text.strip())

    @property
    def title(self) -> str:
        return (self.segment.title or "").strip()


def materials(slides: Sequence[Segment], speech: Sequence[Evidence], screen: Sequence[Evidence]) -> list[Material]:
    """One material for each slide segment. A sentence belongs to the slide that is shown at its middle (PreMind, A.1)."""
    ordered = sorted((s for s in slides if s.kind == "slide"), key=lambda s: (s.start_ms, s.id))
    found = []
    for number, segment in enumerate(ordered, 1):
        said = tuple(row for row in speech if segment.start_ms <= (row.start_ms + row.end_ms) // 2 < segment.end_ms)
        shown = tuple(row for row in screen if _mostly_within(row, segment))
        found.append(Material(segment, number, _lines(segment, shown), shown, said))
    return found


def _mostly_within(row: Evidence, segment: Segment) -> bool:
    shared = min(row.end_ms, segment.end_ms) - max(row.start_ms, segment.start_ms)
    return shared > 0 and shared * 2 >= min(row.end_ms - row.start_ms, segment.end_ms - segment.start_ms)


def _lines(segment: Segment, shown: Sequence[Evidence]) -> tuple[str, ...]:
    """The final state's lines; where recognised lines with boxes are known, without footers and unsure ones."""
    unwanted = {
        line.text.strip()
        for row in shown
        if isinstance(row.detail, ScreenDetail)
        for line in row.detail.lines
        if line.box[1] >= FOOTER or line.confidence < SURE
    }
    text = segment.text or "\n".join(dict.fromkeys(line for row in shown for line in row.text.splitlines()))
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and line not in unwanted)
