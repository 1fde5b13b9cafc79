"""Descriptions of what is seen in a video, in a file that somebody or another program made: `kitchen.captions.json`.

Enters: a path and the video's pictures a second. Leaves: captions in milliseconds. Three forms are read:

    {"videmus_evidence": 1, "title": "…", "scene": [{"start_ms": 0, "end_ms": 2000, "text": "…"}]}      an evidence file
    [[0.0, 2.0, "…"], {"start": 2.0, "end": 4.0, "text": "…"}]                                          seconds
    {"0_30": "…", "30_60": "…"}                                        numbers of pictures, from the first to before the last

Pictures are counted at the video's average rate. Whoever wrote the file is not trusted: every time and text is checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from videmus.errors import SubtitleError
from videmus.exports import evidence_schema
from videmus.exports.evidence_schema import MAX_BYTES, MAX_MS

ENDING = ".captions.json"
"""Behind the video's own name without its ending."""

FORMS = "an evidence file, a list of [seconds, seconds, text], or texts by numbers of pictures (0_30)"

Seconds = Annotated[float, Field(ge=0, le=MAX_MS / 1000, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]


@dataclass(frozen=True, slots=True)
class Caption:
    start_ms: int
    end_ms: int
    text: str


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    start: Seconds
    end: Seconds
    text: Text


_ROWS = TypeAdapter(list[tuple[Seconds, Seconds, Text] | _Row])
_PICTURES = TypeAdapter(dict[Annotated[str, Field(pattern=r"^\d{1,9}_\d{1,9}$")], Text])


def beside(video: Path) -> Path | None:
    """The captions file of a video: `kitchen.captions.json` beside `kitchen.mp4`; None where there is none."""
    file = video.with_name(video.stem + ENDING)
    return file if file.is_file() else None


def read(path: Path, fps: float) -> list[Caption]:
    """The captions, by time. Raises SubtitleError naming the place for anything wrong with the file."""
    found = [Caption(c.start_ms, c.end_ms, " ".join(c.text.split())) for c in _captions(path, fps)]
    kept = sorted((c for c in found if c.text), key=lambda c: (c.start_ms, c.end_ms, c.text))
    if not kept:
        raise SubtitleError("there are no captions in it", where=str(path), next=f"give {FORMS}")
    if reversed_ := next((c for c in kept if c.end_ms < c.start_ms), None):
        raise SubtitleError(f"{reversed_.text[:40]!r} ends before it begins", where=str(path), next="mend that caption")
    return kept


def _captions(path: Path, fps: float) -> Iterator[Caption]:
    data = _json(path)
    if isinstance(data, dict) and "videmus_evidence" in data:
        for row in evidence_schema.parsed(path).scene:
            yield Caption(row.start_ms, row.end_ms, row.text)
        return
    try:
        if isinstance(data, dict):
            for name, text in _PICTURES.validate_python(data).items():
                first, last = (int(number) for number in name.split("_"))
                yield Caption(_at(first, fps, path), _at(last, fps, path), text)
        else:
            for item in _ROWS.validate_python(data):
                start, end, text = item if isinstance(item, tuple) else (item.start, item.end, item.text)
                yield Caption(round(1000 * start), round(1000 * end), text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = str(fault["loc"][0]) if fault["loc"] else "the whole"
        raise SubtitleError(f"no captions: {fault['msg']}", where=f"{path}: {place}", next=f"give {FORMS}") from None


def _at(picture: int, fps: float, path: Path) -> int:
    if fps <= 0:
        raise SubtitleError(
            "it counts pictures, and the video does not tell how many a second has",
            where=str(path),
            next="give the times in seconds",
        )
    return round(1000 * picture / fps)


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SubtitleError("the file is too large for captions", where=str(path), next="split it")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise SubtitleError(f"the file cannot be read: {error.strerror}", where=str(path), next="check it") from error
    except (ValueError, RecursionError) as error:
        raise SubtitleError("the file is no JSON", where=str(path), next=f"give {FORMS}") from error
