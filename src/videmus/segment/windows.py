"""Windows of 45 s, one every 30 s: what was said, shown and seen together, the searchable context of a moment.

Enters: the evidence of one video. Leaves: window segments, whose text is the three streams in tagged blocks and whose
`sources` are the rows in it. A window is derived, never evidence. Source: Lecture RAG (overlapping windows, visual
carry-forward).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from videmus.config import WindowSettings
from videmus.model import Evidence, Origin, Segment, segment_id

STAGE = "windows"
VERSION = 1
Stream = Literal["speech", "screen", "scene"]
STREAMS: tuple[Stream, ...] = ("speech", "screen", "scene")
CARRIED = "(carried) "
"""Marks a line of a window that was shown before the window began."""


def windows(
    video: str, duration_ms: int, rows: Sequence[Evidence], settings: WindowSettings | None = None
) -> Iterator[Segment]:
    """The windows of one video, in order of time; a window in which nothing is said, shown or seen is left out.

    Rows that overlap a window are in it. Where the screen or the scene has no row on at the window's start, its latest
    earlier one, at most `carry_ms` old (from its end), is carried in and marked. No text is in a window twice.
    """
    settings = settings or WindowSettings()
    origin = Origin(STAGE, VERSION)
    streams = {s: sorted((r for r in rows if r.kind == s), key=lambda r: (r.start_ms, r.end_ms)) for s in STREAMS}
    for start in range(0, max(duration_ms, 1), settings.stride_ms):
        end = min(start + settings.length_ms, duration_ms)
        if start > 0 and end - start <= settings.length_ms - settings.stride_ms:
            break  # the window before it holds all of it
        blocks: list[str] = []
        sources: list[str] = []
        for stream in STREAMS:
            lines, ids = _block(streams[stream], start, end, stream != "speech", settings.carry_ms)
            if lines:
                blocks.append(f"[{stream}]\n" + "\n".join(lines))
                sources += ids
        if blocks:
            id = segment_id(video, "window", start, end)
            yield Segment(id, video, start, end, "window", origin, text="\n".join(blocks), sources=tuple(sources))


def _block(rows: Sequence[Evidence], start: int, end: int, visual: bool, carry_ms: int) -> tuple[list[str], list[str]]:
    inside = [r for r in rows if r.start_ms < end and (r.end_ms > start or start <= r.start_ms)]
    carried: list[Evidence] = []
    if visual and not any(r.start_ms <= start for r in inside):
        earlier = [r for r in rows if r.end_ms <= start and start - r.end_ms <= carry_ms and r.start_ms < start]
        carried = sorted(earlier, key=lambda r: (r.end_ms, r.start_ms))[-1:]
    lines: list[str] = []
    ids: list[str] = []
    seen: set[str] = set()
    for row in (*inside, *carried):  # what is on in the window itself is not called carried
        folded = " ".join(row.text.split()).casefold()
        if folded and folded not in seen:
            seen.add(folded)
            speaker = f"{row.speaker}: " if row.speaker else ""
            line = f"{speaker}{row.text.strip()}"
            if row in carried:
                lines.insert(0, CARRIED + line)
                ids.insert(0, row.id)
            else:
                lines.append(line)
                ids.append(row.id)
    return lines, ids
