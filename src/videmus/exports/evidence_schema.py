"""The shape of an evidence file, as pydantic checks it; its JSON schema is `evidence_file.schema.json`.

Enters: a file. Leaves: a checked `Document`, or a SubtitleError that names the place in it (`speech[3].start_ms`). What the
rows mean, and that they belong together, is seen to in `evidence_file`. Unknown keys are ignored.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from videmus.errors import SubtitleError
from videmus.model import (
    EntityKind,
    Look,
    NarrationDetail,
    Origin,
    SceneDetail,
    ScreenDetail,
    SegmentKind,
    SlideTextDetail,
    SpeechDetail,
    State,
    SummaryDetail,
)

VERSION = 1
MAX_BYTES = 512 * 2**20
MAX_MS = 10_000 * 3_600_000
"""No video is longer than 10,000 hours; a time beyond is a slip or an attack."""

MAX_WALL_CLOCK_MS = 253_402_300_800_000  # the year 10000


def parsed(path: Path) -> Document:
    """The checked document of a file. Raises SubtitleError."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise SubtitleError(f"{size:,} bytes are too much for an evidence file", where=str(path), next="split it")
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise SubtitleError(
            f"the file cannot be read: {error.strerror}", where=str(path), next="check the path and its permissions"
        ) from error
    try:
        document = Document.model_validate_json(data)
    except ValidationError as error:
        raise _readable(error, path) from error
    if document.videmus_evidence > VERSION:
        raise SubtitleError(
            f"the file is of version {document.videmus_evidence}, newer than this program reads",
            where=f"{path}: videmus_evidence",
            next="install a newer Videmus",
        )
    return document


def _readable(error: ValidationError, path: Path) -> SubtitleError:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ""
    for step in first["loc"]:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else str(step)
    more = f", and {error.error_count() - 1} more faults" if error.error_count() > 1 else ""
    message = first["msg"].removeprefix("Value error, ")
    return SubtitleError(
        f"not a sound evidence file: {message[:1].lower()}{message[1:]}{more}",
        where=f"{path}: {place}" if place else str(path),
        next="mend that place; the format is in evidence_file.schema.json",
    )


def schema() -> dict[str, Any]:
    """The JSON schema of evidence files."""
    return Document.model_json_schema(by_alias=True)


def _integral(value: object) -> object:
    """1000.0 is 1000: some programs write every number with a point."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _storable(text: str) -> str:
    """Text that every database takes: no NUL, no half of a character."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _jpeg(value: object) -> object:
    if isinstance(value, str):
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError("not base64") from error
        if not data.startswith(b"\xff\xd8\xff"):
            raise ValueError("not a JPEG picture")
        return data
    return value


Ms = Annotated[int, BeforeValidator(_integral), Field(ge=0, le=MAX_MS)]
Whole = Annotated[int, BeforeValidator(_integral), Field(ge=0, le=2**53)]
Text = Annotated[str, AfterValidator(_storable)]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,80}$")]
Web = Annotated[str, Field(pattern=r"^https?://[^\s\x00-\x1f]{1,2000}$")]


class _Base(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False, regex_engine="rust-regex")


class OriginRow(_Base):
    stage: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    version: Whole = 1
    model: Text | None = None
    settings: dict[str, Any] = {}

    def origin(self) -> Origin:
        return Origin(self.stage, self.version, self.model, self.settings)


class SpanRow(_Base):
    start_ms: Ms
    end_ms: Ms
    id: Id | None = None
    video: Id | None = None
    origin: Whole | None = None
    sources: tuple[Id, ...] = ()


class EvidenceRow(SpanRow):
    """One thing said, shown, seen or concluded over [start_ms, end_ms)."""

    text: Text
    speaker: Text | None = None
    segment: Id | None = None


class SpeechRow(EvidenceRow):
    detail: SpeechDetail | None = None


class ScreenRow(EvidenceRow):
    detail: ScreenDetail | None = None


class SceneRow(EvidenceRow):
    detail: SceneDetail | None = None


class SlideTextRow(EvidenceRow):
    detail: SlideTextDetail | None = None


class NarrationRow(EvidenceRow):
    detail: NarrationDetail | None = None


class SummaryRow(EvidenceRow):
    detail: SummaryDetail | None = None


class SegmentRow(SpanRow):
    kind: SegmentKind
    slide: Whole | None = None
    title: Text | None = None
    text: Text = ""
    states: tuple[State, ...] = ()
    keyframe: Id | None = None
    number: Text | None = None


class FrameRow(_Base):
    at_ms: Ms
    hash: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{0,64}$")]
    width: Annotated[int, Field(ge=1, le=100_000)]
    height: Annotated[int, Field(ge=1, le=100_000)]
    id: Id | None = None
    video: Id | None = None
    origin: Whole | None = None
    picture: Annotated[str, Field(max_length=200)] = ""
    look: Look | None = None
    jpeg: Annotated[bytes | None, BeforeValidator(_jpeg)] = Field(None, description="The picture, JPEG in base64.")


class RelationRow(SpanRow):
    source: Text
    source_kind: EntityKind
    relation: Text
    target: Text
    target_kind: EntityKind
    evidence: Id
    confidence: Annotated[float, Field(ge=0, le=1)]


class Document(_Base):
    """A Videmus evidence file: what is known of one video, without the video. Times are milliseconds from its start."""

    model_config = ConfigDict(title="Videmus evidence file")

    videmus_evidence: Annotated[int, Field(ge=1)]
    title: Text
    duration_ms: Ms = 0
    id: Id | None = None
    fingerprint: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{8,128}$")] | None = None
    source: Web | None = None
    collection: Text | None = None
    recorded_at: Annotated[int, BeforeValidator(_integral), Field(ge=0, le=MAX_WALL_CLOCK_MS)] | None = None
    recording: Text | None = None
    language: Text | None = None
    has_video: bool = False
    has_audio: bool = False
    origins: tuple[OriginRow, ...] = ()
    speech: tuple[SpeechRow, ...] = ()
    screen: tuple[ScreenRow, ...] = ()
    scene: tuple[SceneRow, ...] = ()
    vision: tuple[SlideTextRow, ...] = ()
    narration: tuple[NarrationRow, ...] = ()
    consolidated: tuple[SlideTextRow, ...] = ()
    clip: tuple[SceneRow, ...] = ()
    caption: tuple[SceneRow, ...] = ()
    summary: tuple[SummaryRow, ...] = ()
    segments: tuple[SegmentRow, ...] = ()
    frames: tuple[FrameRow, ...] = ()
    relations: tuple[RelationRow, ...] = ()
