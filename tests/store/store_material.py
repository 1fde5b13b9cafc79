"""Rows that the store's tests put in: small, of every kind, with ids that follow from content."""

from __future__ import annotations

from videmus.model import (
    Evidence,
    EvidenceKind,
    Frame,
    Look,
    Origin,
    Relation,
    Row,
    Segment,
    SegmentKind,
    SpeechDetail,
    State,
    Video,
    Word,
    content_id,
    evidence_id,
    frame_id,
    segment_id,
)

HOUR = 3_600_000
JPEG = b"\xff\xd8 a picture \xff\xd9"


def video(id: str = "v1", **fields) -> Video:
    given = {
        "fingerprint": f"print of {id}",
        "title": f"Title of {id}",
        "duration_ms": HOUR,
        "source": f"/films/{id}.mp4",
    }
    return Video(id=id, **{**given, "state": "ready", **fields})


def said(text: str, start: int = 0, end: int | None = None, *, of: str = "v1", kind: EvidenceKind = "speech", **fields):
    end = start + 1000 if end is None else end
    speaker = fields.get("speaker")
    origin = fields.pop("origin", Origin("hear", 2, "tiny.en", {"beam": 1}))
    return Evidence(evidence_id(of, kind, start, end, text, speaker), of, start, end, kind, text, origin, **fields)


def words(text: str, start: int = 0) -> SpeechDetail:
    spoken = tuple(Word(start + 100 * i, start + 100 * i + 80, w, 0.5) for i, w in enumerate(text.split()))
    return SpeechDetail(spoken, "en", -0.25)


def piece(start: int, end: int, kind: SegmentKind = "slide", *, of: str = "v1", **fields) -> Segment:
    return Segment(segment_id(of, kind, start, end), of, start, end, kind, Origin("slides"), **fields)


def picture_row(at: int, *, of: str = "v1", end: int | None = None) -> Frame:
    look = None if end is None else Look(at, end, ((0.0, 0.0, 0.5, 0.5),), ((0.75, 0.0, 1.0, 0.25),))
    return Frame(frame_id(of, at), of, at, f"{of}/{at:09d}.jpg", f"{at:016x}", 640, 360, Origin("see"), look)


def related(source: str, relation: str, target: str, start: int = 0, end: int | None = None, *, of: str = "v1"):
    end = start + 1000 if end is None else end
    return Relation(
        content_id("r", of, source, relation, target, start, end), of, start, end, source, "person", relation, target, "object",
        evidence="e0123456789abcdef", confidence=0.75, origin=Origin("relations", 1, "rules"),
    )  # fmt: skip


def one_of_each(of: str = "v1", start: int = 0) -> list[Row]:
    """In the order in which `stage_rows` gives them back."""
    return [
        said("we begin here", start, of=of, speaker="Zoë", detail=words("we begin here", start), segment="s1"),
        said("a slide text", start + 500, of=of, kind="screen", sources=("a", "b")),
        piece(
            start,
            start + 900,
            of=of,
            slide=1,
            title="Begin",
            text="x",
            states=(State(0, 9, "é"),),
            keyframe="f",
            number="3",
        ),
        picture_row(start, of=of, end=start + 700),
        related("Zoë", "USES", "red mug", start, of=of),
    ]
