"""Markdown notes of a video: summary, chapters, then each slide or clip with its picture, its text and what was said.

Texts come from files that others wrote: they are escaped, so that a slide cannot put links or HTML into the notes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from videmus import clock
from videmus.exports.chapters import chapters
from videmus.model import Evidence, Segment, Video
from videmus.understand.summary import chapters_of, summary_of, terms_of

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~&$])")
_AT_THE_START = re.compile(r"^(\d{1,9})?((?<=\d)[.)](?=\s|$)|(?<!\d)[-+=])")
"""A list's mark or a heading's underline, when a line begins with it."""


def notes(
    video: Video,
    segments: Sequence[Segment],
    speech: Sequence[Evidence],
    summaries: Sequence[Evidence] = (),
    pictures: Mapping[str, str] | None = None,
    links: Mapping[int, str] | None = None,
) -> str:
    """The notes. `segments` are slides or clips in order of time; `pictures` maps keyframes to paths beside the notes;
    `links` maps times in ms to addresses that open the moment."""
    lines = [f"# {escaped(video.title)}", ""]
    about = [clock.format_time(video.duration_ms), escaped(video.source)]
    if video.recorded_at is not None:
        about.insert(1, clock.format_clock(video.recorded_at))
    lines += [" · ".join(about), ""]
    lines += _summary(summaries)
    if chapters_of(summaries):
        lines += ["## Chapters", ""]
        lines += [f"- {clock.format_time(c.start_ms)} {escaped(c.title)}" for c in chapters(video, segments, summaries)]
        lines += [""]
    rest = sorted(speech, key=lambda row: (row.start_ms, row.end_ms))
    if not segments:
        lines += ["## What was said", "", *_said(rest), ""]
    for segment, said in zip(segments, shares(segments, rest), strict=True):
        lines += _section(segment, said, pictures or {}, links or {})
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """The text on one line, meaning nothing but itself in Markdown."""
    return _AT_THE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", " ".join(text.split())))


def _summary(summaries: Sequence[Evidence]) -> list[str]:
    lines: list[str] = []
    if summary := summary_of(summaries):
        terms = terms_of(summaries)
        lines += ["## Summary", "", escaped(summary.text), ""]
        lines += [f"**Key terms:** {', '.join(map(escaped, terms))}", ""] if terms else []
    return lines


def shares(segments: Sequence[Segment], speech: Sequence[Evidence]) -> list[list[Evidence]]:
    """What was said over each segment (in order of time): a row of speech goes to the segment that names it as its source,
    else to the last one that began before its middle."""
    if not segments:
        return []
    said: list[list[Evidence]] = [[] for _ in segments]
    owner = {source: n for n, segment in enumerate(segments) for source in segment.sources}
    starts = [segment.start_ms for segment in segments]
    for row in speech:
        began = bisect_right(starts, (row.start_ms + row.end_ms) // 2)
        said[owner.get(row.id, max(0, began - 1))].append(row)
    return said


def paragraphs(rows: Sequence[Evidence]) -> list[tuple[str | None, str]]:
    """Sentences of one speaker run on in one paragraph; another speaker begins a new one: (speaker, text)."""
    found: list[tuple[str | None, str]] = []
    for row in rows:
        text = " ".join(row.text.split())
        if found and row.speaker == found[-1][0]:
            found[-1] = (row.speaker, f"{found[-1][1]} {text}")
        elif text:
            found.append((row.speaker, text))
    return found


def _section(
    segment: Segment, said: Sequence[Evidence], pictures: Mapping[str, str], links: Mapping[int, str]
) -> list[str]:
    moment = f"{clock.format_time(segment.start_ms)}–{clock.format_time(segment.end_ms)}"
    if link := links.get(segment.start_ms):
        moment = f"[{moment}](<{link.replace('>', '%3E')}>)"
    name = f"Slide {segment.slide}" if segment.slide is not None else segment.kind.capitalize()
    title = f": {escaped(segment.title)}" if segment.title else ""
    lines = [f"## {name}{title}", "", moment, ""]
    if segment.keyframe and (path := pictures.get(segment.keyframe)):
        lines += [f"![{name}](<{_address(path)}>)", ""]
    shown = [line for line in segment.text.splitlines() if line.strip()]
    lines += [*(f"> {escaped(line)}  " for line in shown), *([""] if shown else [])]
    said_lines = _said(said)
    return [*lines, *said_lines, *([""] if said_lines else [])]


def _address(path: str) -> str:
    return path.replace("%", "%25").replace("<", "%3C").replace(">", "%3E")


def _said(rows: Sequence[Evidence]) -> list[str]:
    lines: list[str] = []
    for speaker, text in paragraphs(rows):
        lines += [""] if lines else []
        lines.append(f"**{escaped(speaker)}:** {escaped(text)}" if speaker else escaped(text))
    return lines
