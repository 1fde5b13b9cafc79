"""A video's knowledge as one JSON document, without the video: written by `export`, read back by `add` to the same rows.

Enters: a path, or a video and its rows. Leaves: rows, or the document. The least file is a title, a length and lists of
`speech`, `screen` and `scene` rows {start_ms, end_ms, text, speaker?}; ids, origins, details, the other kinds of evidence,
segments, frames and relations are optional, and so is `fingerprint`, by which a video is known (else by the file's own
content). `evidence_schema` describes all of it, `evidence_file.schema.json` the same for other programs.

A file is checked before anything is taken from it, and whoever wrote it is not trusted: every time, id and box.
References to rows that the file does not hold are left out, so that none can point into another video.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from videmus.errors import SubtitleError
from videmus.exports.evidence_schema import MAX_MS, VERSION, Document, EvidenceRow, SpanRow, parsed
from videmus.media.captions import READING_MS
from videmus.media.fingerprint import fingerprint
from videmus.model import (
    EVIDENCE_KINDS,
    Box,
    Evidence,
    EvidenceKind,
    Frame,
    Origin,
    Relation,
    Row,
    SceneDetail,
    ScreenDetail,
    Segment,
    SegmentKind,
    SpeechDetail,
    SummaryDetail,
    Video,
    content_id,
    evidence_id,
    frame_id,
    segment_id,
    to_plain,
)

STAGE_OF: Mapping[EvidenceKind, str] = {
    "speech": "speech",
    "screen": "screen",
    "scene": "scene",
    "vision": "vision",
    "narration": "correction",
    "consolidated": "consolidation",
    "clip": "clip",
    "caption": "captions",
    "summary": "summary",
}
"""The stage that makes evidence of a kind: rows that a file brings without an origin count as that stage's."""

STAGE_OF_SEGMENT: Mapping[SegmentKind, str] = {
    "slide": "slides",
    "clip": "clips",
    "window": "windows",
    "ten-minute": "hierarchy",
    "hour": "hierarchy",
    "day": "hierarchy",
}


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """What a file held. `pictures` maps frame ids to JPEG bytes where the file brought them; `notices` are for the user."""

    video: Video
    rows: tuple[Row, ...]
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def rows_by_stage(self) -> dict[str, list[Row]]:
        """The rows of each stage that made them, as their origins say; rows without one belong to their kind's stage."""
        stages: dict[str, list[Row]] = {}
        for row in self.rows:
            stages.setdefault(row.origin.stage, []).append(row)
        return stages


def read(path: str | Path) -> EvidenceFile:
    """The video and rows of an evidence file; `state` of the video is "ready", `source` the file itself.

    Raises SubtitleError naming the place in the document (`speech[3].start_ms`) for anything wrong with it.
    """
    path = Path(path)
    document = parsed(path)
    print_ = document.fingerprint or fingerprint(path)
    id = content_id("v", print_)
    if document.fingerprint and document.id and document.id != id:
        raise SubtitleError(
            "the id is another video's, not this fingerprint's", where=f"{path}: id", next="leave out id"
        )
    rows = list(_rows(document, id, path))
    rows, dangling = _without_dangling(_unique(rows, path))
    notices = [f"{dangling} references to rows that the file does not hold were left out"] if dangling else []
    reversed_ = sum(row.end_ms < row.start_ms for kind in EVIDENCE_KINDS for row in getattr(document, kind))
    if reversed_:
        rows_ = "1 row" if reversed_ == 1 else f"{reversed_} rows"
        notices.append(f"{rows_} ended before the beginning, and now as late as so many words take")
    video = Video(
        id=id,
        fingerprint=print_,
        title=document.title.strip() or path.stem,
        duration_ms=max([document.duration_ms, *(_end(row) for row in rows)]),
        source=document.source if document.source else str(path),
        state="ready",
        collection=document.collection,
        recorded_at=document.recorded_at,
        recording=document.recording,
        language=document.language,
        has_video=document.has_video,
        has_audio=document.has_audio,
    )
    frames = {row.id for row in rows if isinstance(row, Frame)}
    pictures = {frame.id or frame_id(id, frame.at_ms): frame.jpeg for frame in document.frames if frame.jpeg}
    return EvidenceFile(video, tuple(rows), {k: v for k, v in pictures.items() if k in frames}, tuple(notices))


def write(
    video: Video,
    evidence: Sequence[Evidence],
    segments: Sequence[Segment] = (),
    frames: Sequence[Frame] = (),
    relations: Sequence[Relation] = (),
    pictures: Mapping[str, bytes] | None = None,
) -> dict[str, Any]:
    """The document of a video. `pictures` (frame id → JPEG) are put into it where given.

    The path of the video's file is not: it is of no use elsewhere, and nobody else's business.
    """
    origins: list[dict[str, Any]] = []
    known: dict[str, int] = {}

    def origin(row: Row) -> int:
        plain = to_plain(row.origin)
        number = known.setdefault(repr(plain), len(origins))
        if number == len(origins):
            origins.append(plain)
        return number

    document: dict[str, Any] = {
        "videmus_evidence": VERSION,
        "title": video.title,
        "duration_ms": video.duration_ms,
        "id": video.id,
        "fingerprint": video.fingerprint,
        "source": video.source if video.source.startswith(("http://", "https://")) else None,
        "collection": video.collection,
        "recorded_at": video.recorded_at,
        "recording": video.recording,
        "language": video.language,
        "has_video": video.has_video,
        "has_audio": video.has_audio,
        "origins": origins,
    }
    document = {key: value for key, value in document.items() if value is not None}
    for kind in EVIDENCE_KINDS:
        rows = [_row_plain(row, ("kind",), origin(row)) for row in evidence if row.kind == kind]
        if rows or kind in ("speech", "screen", "scene"):
            document[kind] = rows
    if segments:
        document["segments"] = [_row_plain(row, (), origin(row)) for row in segments]
    if frames:
        document["frames"] = [_row_plain(row, (), origin(row)) for row in frames]
        for plain in document["frames"]:
            if pictures and plain["id"] in pictures:
                plain["jpeg"] = base64.b64encode(pictures[plain["id"]]).decode("ascii")
    if relations:
        document["relations"] = [_row_plain(row, (), origin(row)) for row in relations]
    return document


def _row_plain(row: Row, without: tuple[str, ...], origin: int) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(row)
    for key in ("video", "origin", *without):
        plain.pop(key, None)
    if isinstance(row, Evidence) and row.detail is not None:
        plain["detail"] = to_plain(row.detail)
    if isinstance(row, Frame) and row.look is not None:
        plain["look"] = to_plain(row.look)
    return {**plain, "origin": origin}


# ---------------------------------------------------------------- rows


def _rows(document: Document, video: str, path: Path) -> Iterator[Row]:
    for kind in EVIDENCE_KINDS:
        rows: tuple[EvidenceRow, ...] = getattr(document, kind)
        for number, row in enumerate(rows):
            place = f"{kind}[{number}]"
            _check_video(row.video, video, path, place)
            yield _evidence(row, kind, _origin(document, row.origin, STAGE_OF[kind], path, place), video, path, place)
    for number, segment in enumerate(document.segments):
        place = f"segments[{number}]"
        _check_span(segment, video, path, place)
        for n, state in enumerate(segment.states):
            _check_times(state.start_ms, state.end_ms, path, f"{place}.states[{n}]")
        yield Segment(
            id=segment.id or segment_id(video, segment.kind, segment.start_ms, segment.end_ms),
            video=video,
            start_ms=segment.start_ms,
            end_ms=segment.end_ms,
            kind=segment.kind,
            origin=_origin(document, segment.origin, STAGE_OF_SEGMENT[segment.kind], path, place),
            slide=segment.slide,
            title=segment.title,
            text=segment.text,
            states=segment.states,
            keyframe=segment.keyframe,
            number=segment.number,
            sources=segment.sources,
        )
    for number, frame in enumerate(document.frames):
        place = f"frames[{number}]"
        _check_video(frame.video, video, path, place)
        if frame.look is not None:
            _check_times(frame.look.start_ms, frame.look.end_ms, path, f"{place}.look")
            _check_boxes((*frame.look.changed, *frame.look.moving), path, f"{place}.look")
        id = frame.id or frame_id(video, frame.at_ms)
        yield Frame(
            id=id,
            video=video,
            at_ms=frame.at_ms,
            picture=_picture(frame.picture, video, id),
            hash=frame.hash.lower(),
            width=frame.width,
            height=frame.height,
            origin=_origin(document, frame.origin, "changes", path, place),
            look=frame.look,
        )
    for number, relation in enumerate(document.relations):
        place = f"relations[{number}]"
        _check_span(relation, video, path, place)
        parts = (relation.source, relation.relation, relation.target, relation.start_ms, relation.end_ms)
        yield Relation(
            id=relation.id or content_id("r", video, *parts),
            video=video,
            start_ms=relation.start_ms,
            end_ms=relation.end_ms,
            source=relation.source,
            source_kind=relation.source_kind,
            relation=relation.relation,
            target=relation.target,
            target_kind=relation.target_kind,
            evidence=relation.evidence,
            confidence=round(relation.confidence, 2),
            origin=_origin(document, relation.origin, "graph", path, place),
        )


def _evidence(row: EvidenceRow, kind: EvidenceKind, origin: Origin, video: str, path: Path, place: str) -> Evidence:
    detail = getattr(row, "detail", None)
    end_ms = row.end_ms
    if end_ms < row.start_ms:  # met in published transcripts
        end_ms = row.start_ms + READING_MS * max(1, len(row.text.split()))
    if isinstance(detail, SpeechDetail):
        for n, word in enumerate(detail.words):
            _check_times(word.start_ms, word.end_ms, path, f"{place}.detail.words[{n}]")
    elif isinstance(detail, ScreenDetail):
        _check_boxes([line.box for line in detail.lines], path, f"{place}.detail.lines")
    return Evidence(
        id=row.id or evidence_id(video, kind, row.start_ms, end_ms, row.text, row.speaker),
        video=video,
        start_ms=row.start_ms,
        end_ms=end_ms,
        kind=kind,
        text=row.text,
        origin=origin,
        speaker=row.speaker,
        segment=row.segment,
        sources=row.sources,
        detail=detail,
    )


def _origin(document: Document, number: int | None, stage: str, path: Path, place: str) -> Origin:
    """The origin that a row names by its number in `origins`; a row without one was brought by the file."""
    if number is None:
        return Origin(stage, 1, None, {"from": "evidence file"})
    if number >= len(document.origins):
        raise SubtitleError(f"there is no origin {number}", where=f"{path}: {place}.origin", next="see origins")
    return document.origins[number].origin()


def _picture(given: str, video: str, frame: str) -> str:
    """The picture's path below the library's frames: the file's word only where it stays in this video's own folder."""
    parts = given.split("/")
    plain = all(part and part not in (".", "..") and part.isprintable() and "\\" not in part for part in parts)
    return given if plain and len(parts) > 1 and parts[0] == video else f"{video}/{frame}.jpg"


def _check_span(row: SpanRow, video: str, path: Path, place: str) -> None:
    _check_video(row.video, video, path, place)
    _check_times(row.start_ms, row.end_ms, path, place)


def _check_video(named: str | None, video: str, path: Path, place: str) -> None:
    if named is not None and named != video:
        raise SubtitleError("the row is of another video", where=f"{path}: {place}.video", next="leave out video")


def _check_times(start_ms: int, end_ms: int, path: Path, place: str) -> None:
    if not 0 <= start_ms <= end_ms <= MAX_MS:
        raise SubtitleError(
            f"from {start_ms} to {end_ms} ms is no span of time",
            where=f"{path}: {place}",
            next="end_ms follows start_ms",
        )


def _check_boxes(boxes: Sequence[Box], path: Path, place: str) -> None:
    for n, (left, top, right, bottom) in enumerate(boxes):
        if not (-0.01 <= left <= right <= 1.01 and -0.01 <= top <= bottom <= 1.01):
            raise SubtitleError(
                "a box is left, top, right, bottom as fractions of the picture", where=f"{path}: {place}[{n}]"
            )


def _unique(rows: list[Row], path: Path) -> list[Row]:
    """Each id once. The same row twice is one; two different rows of one id are a fault."""
    known: dict[str, Row] = {}
    for row in rows:
        if known.setdefault(row.id, row) != row:
            raise SubtitleError(
                f"two different rows have the id {row.id}", where=str(path), next="give each row its own id"
            )
    return list(known.values())


_R = TypeVar("_R", bound=Row)


def _without_dangling(rows: list[Row]) -> tuple[list[Row], int]:
    """Rows whose references all lead to rows of this file, and how many references did not."""
    ids = {row.id for row in rows}
    lost = 0

    def held(references: tuple[str, ...]) -> tuple[str, ...]:
        nonlocal lost
        kept = tuple(r for r in references if r in ids)
        lost += len(references) - len(kept)
        return kept

    def one(reference: str | None) -> str | None:
        return (held((reference,)) or (None,))[0] if reference is not None else None

    result: list[Row] = []
    for row in rows:
        if isinstance(row, Evidence):
            detail = row.detail
            if isinstance(detail, ScreenDetail):
                detail = replace(detail, frame=one(detail.frame))
            elif isinstance(detail, SceneDetail):
                detail = replace(detail, frames=held(detail.frames))
            elif isinstance(detail, SummaryDetail):
                detail = replace(detail, sentences=tuple((text, held(ids_)) for text, ids_ in detail.sentences))
            row = replace(row, segment=one(row.segment), sources=held(row.sources), detail=detail)
        elif isinstance(row, Segment):
            row = replace(row, keyframe=one(row.keyframe), sources=held(row.sources))
        elif isinstance(row, Relation) and row.evidence not in ids:
            lost += 1
            continue
        result.append(row)
    return result, lost


def _end(row: Row) -> int:
    return row.at_ms if isinstance(row, Frame) else row.end_ms
