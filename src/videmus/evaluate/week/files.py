"""A week as evidence files, one for each hour of recording, named as EgoLife names its files.

Enters: a week in words. Leaves: JSON documents that `videmus add` reads, and the evidence rows that they stand for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videmus import clock
from videmus.evaluate.week.render import Line, Telling
from videmus.model import Evidence, Origin, Video, content_id, evidence_id

ORIGIN = Origin("imported", settings={"made": "synthetic week"})


@dataclass(frozen=True, slots=True)
class HourFile:
    """One recorded hour: its name (with its clock time), when it starts, how long it is, its recorded lines."""

    name: str
    start: int
    duration_ms: int
    lines: tuple[Line, ...]

    def document(self) -> dict[str, Any]:
        """The evidence file's content. The clock time stands in its name alone, as in EgoLife."""
        streams: dict[str, list[dict[str, Any]]] = {"speech": [], "scene": []}
        for line in self.lines:
            row: dict[str, Any] = {"start_ms": line.start - self.start, "end_ms": self._end(line), "text": line.text}
            if line.speaker:
                row["speaker"] = line.speaker
            streams[line.stream].append(row)
        return {"videmus_evidence": 1, "title": self.name, "duration_ms": self.duration_ms, **streams}

    def video(self, recording: str) -> Video:
        """The video that the file becomes."""
        fingerprint = f"week:{self.name}:{len(self.lines)}"
        return Video(
            content_id("v", fingerprint), fingerprint, self.name, self.duration_ms, f"{self.name}.json", "ready",
            recorded_at=self.start, recording=recording, has_video=False, has_audio=False,
        )  # fmt: skip

    def rows(self, video: str) -> list[Evidence]:
        return [self.row(video, line) for line in self.lines]

    def row(self, video: str, line: Line) -> Evidence:
        start, end = line.start - self.start, self._end(line)
        id = evidence_id(video, line.stream, start, end, line.text, line.speaker)
        return Evidence(id, video, start, end, line.stream, line.text, ORIGIN, line.speaker)

    def _end(self, line: Line) -> int:
        return min(line.end - self.start, self.duration_ms)


def hour_files(telling: Telling, wearer: str | None = None) -> Iterator[HourFile]:
    """The week's sessions cut at hours from their start. `wearer` names who wears the camera (in the files' names)."""
    name = wearer or telling.week.vocabulary.people[0][0].upper()
    lines = telling.seen()
    at = 0
    for begin, end in telling.week.sessions:
        for start in range(begin, end, clock.HOUR_MS):
            until = min(start + clock.HOUR_MS, end)
            inside = []
            while at < len(lines) and lines[at].start < until:
                inside.append(lines[at])
                at += 1
            day, digits = clock.format_clock(start, "egolife").split(" ")
            yield HourFile(f"{day}_A1_{name}_{digits}", start, until - start, tuple(inside))


def write(telling: Telling, folder: Path) -> list[Path]:
    """Write the week's evidence files into `folder`. Returns their paths in order of time."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in hour_files(telling):
        path = folder / f"{file.name}.json"
        path.write_text(json.dumps(file.document(), ensure_ascii=False), "utf-8")
        paths.append(path)
    return paths
