"""The chapters of a video, as everything that lists them shows them, and as lines (`M:SS Title`) that video sites read out of
a description.

Enters: segments and summary rows. Leaves: chapters, text. YouTube's rules hold ("Video chapters", YouTube Help): the first
line is 0:00, there are at least three, each lasts 10 seconds or more; a description has at most 5,000 characters and no < or
>.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from videmus import clock
from videmus.model import Evidence, Segment, Video
from videmus.understand.summary import Chapter, chapters_of

LEAST_MS = 10_000
LEAST_LINES = 3
MOST_CHARACTERS = 5_000
MOST_LINES = 100
"""YouTube shows more, nobody reads more."""

TITLE_CHARACTERS = 80
_DOTS = re.compile(r"[.…]{2,}")
RETURN_MS = 30_000
"""A slide that comes back is a chapter again when it stays this long; shorter, it is looked up."""


@dataclass(frozen=True, slots=True)
class Line:
    start_ms: int
    end_ms: int
    title: str
    text: str = ""


def chapter_lines(video: Video, pieces: Sequence[Segment], summaries: Sequence[Evidence]) -> str:
    """`chapters` a line each."""
    return "".join(f"{clock.format_time(c.start_ms)} {c.title}\n" for c in chapters(video, pieces, summaries))


def chapters(video: Video, pieces: Sequence[Segment], summaries: Sequence[Evidence]) -> list[Chapter]:
    """The chapters, from the video's beginning to its end.

    Those that a model made where there are some, else slides, else those made of the video's own sentences, else clips
    that have a title; what comes later in this order only where there would be less than three without. A video of which
    nothing is known is one chapter with its own title.
    """
    slides = [s for s in pieces if s.kind == "slide"]
    sources = [
        _of_summary(summaries, by_model=True),
        _of_slides(slides),
        _of_summary(summaries, by_model=False),
        _of_pieces([s for s in pieces if s.kind == "slide" or titled(s.title, "")]),
    ]
    least_ms = LEAST_MS
    while True:
        lines = _chosen(video, sources, least_ms)
        characters = sum(len(f"{clock.format_time(line.start_ms)} {line.title}\n") for line in lines)
        if len(lines) <= LEAST_LINES or (len(lines) <= MOST_LINES and characters <= MOST_CHARACTERS):
            ends = [*(line.start_ms for line in lines[1:]), max(video.duration_ms, lines[-1].start_ms)]
            return [Chapter(x.title, x.start_ms, end, x.text) for x, end in zip(lines, ends, strict=True)]
        least_ms += least_ms // 2


def _chosen(video: Video, sources: Sequence[Sequence[Line]], least_ms: int) -> list[Line]:
    """Of lines that stand too close, the longer chapter's stays. The first one begins the video."""
    latest = max(video.duration_ms - LEAST_MS, 0) if video.duration_ms else None  # None: the length is not known
    lines: list[Line] = []
    for source in sources:
        whole = not lines
        for line in sorted(source, key=lambda x: (x.start_ms - x.end_ms, x.start_ms)):
            if not whole and len(_from_zero(video, lines, least_ms)) >= LEAST_LINES:
                break
            near = any(abs(x.start_ms // 1000 - line.start_ms // 1000) * 1000 < least_ms for x in lines)
            late = latest is not None and line.start_ms > latest
            if not near and not late:
                lines.append(line)
    return _from_zero(video, lines, least_ms)


def _from_zero(video: Video, lines: Sequence[Line], least_ms: int) -> list[Line]:
    ordered = sorted(lines, key=lambda x: x.start_ms)
    if ordered and ordered[0].start_ms // 1000 * 1000 < least_ms:
        return [replace(ordered[0], start_ms=0), *ordered[1:]]
    return [Line(0, ordered[0].start_ms if ordered else video.duration_ms, titled(video.title, "Start")), *ordered]


def _of_summary(summaries: Sequence[Evidence], *, by_model: bool) -> list[Line]:
    rows = [row for row in summaries if (row.origin.model is not None) == by_model]
    found = enumerate(chapters_of(rows), 1)
    return [Line(c.start_ms, c.end_ms, titled(c.title, f"Part {n}"), c.text) for n, c in found]


def _of_slides(slides: Sequence[Segment]) -> list[Line]:
    """A line for each slide, and for each return that lasts; neighbours of one title are one."""
    shown: set[int | None] = set()
    lines: list[Line] = []
    for segment, line in zip(slides, _of_pieces(slides), strict=True):
        returns = segment.slide is not None and segment.slide in shown
        shown.add(segment.slide)
        if lines and lines[-1].title == line.title:
            lines[-1] = replace(lines[-1], end_ms=line.end_ms)
        elif not returns or line.end_ms - line.start_ms >= RETURN_MS:
            lines.append(line)
    return lines


def _of_pieces(pieces: Sequence[Segment]) -> list[Line]:
    return [
        Line(s.start_ms, s.end_ms, titled(s.title, f"{s.kind.capitalize()} {n if s.slide is None else s.slide}"))
        for n, s in enumerate(pieces, 1)
    ]


def titled(title: str | None, without: str) -> str:
    """A title on one line, cut at a word where it is long, its dots an ellipsis; `without` where it is empty."""
    visible = (" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in (title or ""))
    text = " ".join("".join(visible).replace("<", "‹").replace(">", "›").split())
    text = _DOTS.sub("…", text)
    if len(text) > TITLE_CHARACTERS:
        cut = text[:TITLE_CHARACTERS]
        text = (cut.rpartition(" ")[0] if " " in cut[TITLE_CHARACTERS // 2 :] else cut).rstrip(" .…,;:–-") + "…"
    return text or without
