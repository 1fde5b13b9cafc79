from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videmus.errors import SubtitleError
from videmus.exports import evidence_schema
from videmus.exports.evidence_file import EvidenceFile, read, write
from videmus.model import (
    Correction,
    Evidence,
    Frame,
    Look,
    NarrationDetail,
    Origin,
    Relation,
    SceneDetail,
    ScreenDetail,
    Segment,
    SlideTextDetail,
    SpeechDetail,
    State,
    SummaryDetail,
    TextLine,
    Video,
    Word,
    content_id,
    evidence_id,
)

PRINT = "0123456789abcdef0123456789abcdef"
VIDEO = Video(
    id=content_id("v", PRINT),
    fingerprint=PRINT,
    title="Tides",
    duration_ms=60_000,
    source="/home/ann/secret/tides.mp4",
    state="ready",
    collection="sea",
    recorded_at=1_700_000_000_000,
    recording="trip",
    language="en",
)
NAN = float("nan")
JPEG = b"\xff\xd8\xff\xe0 a picture"


def row(kind: Any, start: int, text: str, **more: Any) -> Evidence:
    id = evidence_id(VIDEO.id, kind, start, start + 1_000, text)
    return Evidence(id, VIDEO.id, start, start + 1_000, kind, text, Origin(kind, 2, "m", {"t": 0.5}), **more)


FRAME = Frame(
    "f1",
    VIDEO.id,
    500,
    f"{VIDEO.id}/f1.jpg",
    "00ff00ff00ff00ff",
    64,
    48,
    Origin("changes"),
    Look(0, 900, ((0.1, 0.1, 0.5, 0.5),)),
)
SPEECH = row(
    "speech",
    0,
    "Moon pulls",
    speaker="Ann",
    detail=SpeechDetail((Word(0, 400, "Moon", 0.9), Word(400, 900, "pulls")), "en", -0.25, True),
)
SCREEN = row("screen", 100, "Tides\n3.5 m", detail=ScreenDetail((TextLine("Tides", (0.0, 0.1, 1.0, 0.2), 0.99),), "f1"))
SLIDE = Segment(
    "s1",
    VIDEO.id,
    0,
    5_000,
    "slide",
    Origin("slides"),
    1,
    "Tides",
    "all",
    (State(0, 2_000, "a"),),
    "f1",
    "7",
    (SCREEN.id,),
)
NARRATION = NarrationDetail("The noon pulls", (Correction("c1", "noon", "Moon", 1, True),))
EVIDENCE = [
    SPEECH,
    SCREEN,
    row("scene", 200, "A beach", detail=SceneDetail(("f1",))),
    row("vision", 300, "A chart", segment="s1", detail=SlideTextDetail(("tide",), {"tide": "water"}, 2)),
    row("narration", 400, "The Moon pulls", segment="s1", sources=(SPEECH.id,), detail=NARRATION),
    row("summary", 500, "All about tides.", detail=SummaryDetail("video", (("All about tides.", (SPEECH.id,)),), ("tide",))),
    row("clip", 600, "no detail at all"),
    row("speech", 700, "an empty one", detail=SpeechDetail()),
]  # fmt: skip
RELATION = Relation(
    "r1", VIDEO.id, 0, 900, "Ann", "person", "MENTIONS", "Moon", "object", SPEECH.id, 0.75, Origin("graph")
)


def saved(folder: Path, document: Any) -> Path:
    path = folder / "knowledge.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def least(**more: Any) -> dict[str, Any]:
    return {"videmus_evidence": 1, "title": "t", "duration_ms": 0, **more}


def said(**more: Any) -> dict[str, Any]:
    return {"start_ms": 0, "end_ms": 1_000, "text": "a", **more}


# ---------------------------------------------------------------- there and back


def test_everything_reads_back_to_the_same_rows(tmp_path: Path):
    document = write(VIDEO, EVIDENCE, [SLIDE], [FRAME], [RELATION], {"f1": JPEG})
    found = read(saved(tmp_path, document))
    assert set(map(_key, found.rows)) == set(map(_key, [*EVIDENCE, SLIDE, FRAME, RELATION]))
    assert found.pictures == {"f1": JPEG} and found.notices == ()
    assert replace(found.video, source=VIDEO.source) == VIDEO


def _key(row: Any) -> str:
    return repr(row)


def test_the_second_writing_is_the_first(tmp_path: Path):
    document = json.loads(json.dumps(write(VIDEO, EVIDENCE, [SLIDE], [FRAME], [RELATION])))
    found = read(saved(tmp_path, document))
    rows = found.rows
    again = write(
        found.video,
        [r for r in rows if isinstance(r, Evidence)],
        [r for r in rows if isinstance(r, Segment)],
        [r for r in rows if isinstance(r, Frame)],
        [r for r in rows if isinstance(r, Relation)],
    )
    assert json.loads(json.dumps(again)) == document


def test_the_path_of_the_file_stays_private_and_an_address_does_not(tmp_path: Path):
    assert "secret" not in json.dumps(write(VIDEO, EVIDENCE))
    public = replace(VIDEO, source="https://example.org/tides.mp4")
    assert read(saved(tmp_path, write(public, EVIDENCE))).video.source == public.source


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["speech", "screen", "scene"]),
            st.integers(0, 10**9),
            st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=20),
            st.one_of(st.none(), st.text("abc Ö学", min_size=1, max_size=5)),
        ),
        max_size=6,
        unique=True,
    )
)
def test_any_rows_read_back(tmp_path_factory: pytest.TempPathFactory, given_rows: list[Any]):
    rows = [
        replace(
            row(kind, start, text), speaker=speaker, id=evidence_id(VIDEO.id, kind, start, start + 1_000, text, speaker)
        )
        for kind, start, text, speaker in given_rows
    ]
    found = read(saved(tmp_path_factory.mktemp("e"), write(VIDEO, rows)))
    assert sorted(found.rows, key=_key) == sorted(rows, key=_key)


# ---------------------------------------------------------------- the least file


def test_the_least_file_is_a_video_of_its_own(tmp_path: Path):
    document = least(
        duration_ms=90_000,
        speech=[said(speaker="Ann"), said(start_ms=2_000, end_ms=3_000.0)],
        screen=[said(text="3.5")],
        scene=[],
    )
    found = read(saved(tmp_path, document))
    assert (found.video.title, found.video.duration_ms, found.video.has_video, found.video.state) == (
        "t",
        90_000,
        False,
        "ready",
    )
    assert found.video.id == content_id("v", found.video.fingerprint)
    assert [(r.kind, r.start_ms, r.end_ms, r.text, r.speaker) for r in found.rows if isinstance(r, Evidence)] == [
        ("speech", 0, 1_000, "a", "Ann"),
        ("speech", 2_000, 3_000, "a", None),
        ("screen", 0, 1_000, "3.5", None),
    ]
    assert {stage: len(rows) for stage, rows in found.rows_by_stage().items()} == {"speech": 2, "screen": 1}


def test_the_same_file_again_gives_the_same_ids_and_another_content_another_video(tmp_path: Path):
    a = read(saved(tmp_path, least(speech=[said()])))
    b = read(saved(tmp_path, least(speech=[said()])))
    c = read(saved(tmp_path, least(speech=[said(text="b")])))
    assert a.rows == b.rows and a.video.id == b.video.id != c.video.id


def test_rows_without_an_origin_belong_to_the_stage_that_makes_their_kind(tmp_path: Path):
    span = {"start_ms": 0, "end_ms": 1}
    document = least(
        narration=[said()], caption=[said()], segments=[{**span, "kind": "slide"}, {**span, "kind": "hour"}]
    )
    assert set(read(saved(tmp_path, document)).rows_by_stage()) == {"correction", "captions", "slides", "hierarchy"}


def test_unknown_keys_and_a_byte_order_mark_are_no_fault(tmp_path: Path):
    path = tmp_path / "k.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(least(speech=[said(mood="calm")], author={"x": [1]})).encode())
    assert len(read(path).rows) == 1


def test_a_length_that_is_too_short_is_that_of_the_rows(tmp_path: Path):
    assert read(saved(tmp_path, least(duration_ms=10, speech=[said()]))).video.duration_ms == 1_000


def test_a_row_that_ends_before_it_begins_is_mended_and_told(tmp_path: Path):
    """Published transcripts hold such rows: the rest of the file is sound."""
    found = read(saved(tmp_path, least(speech=[said(start_ms=9_000, end_ms=2_000, text="five words are in here")])))
    assert [(r.start_ms, r.end_ms) for r in found.rows if isinstance(r, Evidence)] == [(9_000, 11_000)]
    assert "1 row ended before" in found.notices[0]


def test_the_same_row_twice_is_one(tmp_path: Path):
    assert len(read(saved(tmp_path, least(speech=[said(), said()]))).rows) == 1


# ---------------------------------------------------------------- files that are not to be trusted


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ("{", ""),
        ("", ""),
        ("[]", ""),
        ("[" * 100_000, ""),
        ('{"title": "t"}', "videmus_evidence"),
        ({"videmus_evidence": 2, "title": "t"}, "videmus_evidence"),
        ({"videmus_evidence": 1}, "title"),
        (least(title=5), "title"),
        (least(duration_ms=-1), "duration_ms"),
        (least(speech=5), "speech"),
        (least(speech=[said(), {"start_ms": 0, "text": "a"}]), "speech[1].end_ms"),
        (least(speech=[said(start_ms=-1)]), "speech[0].start_ms"),
        (least(speech=[said(end_ms=10**18)]), "speech[0].end_ms"),
        (least(speech=[said(end_ms=True)]), "speech[0].end_ms"),
        (least(speech=[said(end_ms="5")]), "speech[0].end_ms"),
        (least(speech=[said(end_ms=1.5)]), "speech[0].end_ms"),
        (json.dumps(least(speech=[said(end_ms=NAN)])), "speech[0].end_ms"),
        ('{"videmus_evidence": 1, "title": "t", "speech": [{"start_ms": 1e999, "end_ms": 1, "text": ""}]}', "speech[0].start_ms"),
        ('{"videmus_evidence": 1, "title": "\\ud800"}', ""),
        (least(speech=[said(text=None)]), "speech[0].text"),
        (least(speech=[said(video="v0000000000000000")]), "speech[0].video"),
        (least(speech=[said(id="../../x")]), "speech[0].id"),
        (least(speech=[said(id="a"), said(id="a", text="b")]), "knowledge.json"),
        (least(speech=[said(origin=0)]), "speech[0].origin"),
        (least(origins=[{"stage": "DROP TABLE"}]), "origins[0].stage"),
        (least(speech=[said(detail={"words": [{"start_ms": 5, "end_ms": 1, "text": "a"}]})]), "speech[0].detail.words[0]"),
        (least(screen=[said(detail={"lines": [{"text": "a", "box": [0, 0, 9, 1], "confidence": 1}]})]), "screen[0].detail.lines"),
        (json.dumps(least(screen=[said(detail={"lines": [{"text": "a", "box": [0, 0, NAN, 1], "confidence": 1}]})])), "box[2]"),
        (least(segments=[{"start_ms": 5, "end_ms": 1, "kind": "slide"}]), "segments[0]"),
        (least(segments=[{"start_ms": 0, "end_ms": 1, "kind": "page"}]), "segments[0].kind"),
        (least(frames=[{"at_ms": 0, "hash": "xyz", "width": 1, "height": 1}]), "frames[0].hash"),
        (least(frames=[{"at_ms": 0, "hash": "00", "width": 1, "height": 1, "jpeg": "AAAA"}]), "frames[0].jpeg"),
        (least(source="file:///etc/passwd"), "source"),
        (least(fingerprint="../x"), "fingerprint"),
        (least(fingerprint=PRINT, id="v0000000000000000"), "id"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(tmp_path: Path, document: Any, place: str):
    with pytest.raises(SubtitleError) as caught:
        read(saved(tmp_path, document))
    assert caught.value.where.startswith(str(tmp_path)) and place in caught.value.where
    assert caught.value.what and "\n" not in caught.value.what


def test_references_to_rows_of_other_videos_are_left_out_and_told(tmp_path: Path):
    document = least(
        speech=[said(sources=["e0000000000000001"], segment="s0000000000000001")],
        segments=[{"start_ms": 0, "end_ms": 1, "kind": "slide", "keyframe": "f0000000000000001"}],
        summary=[said(text="b", detail={"sentences": [["b", ["e0000000000000001"]]]})],
    )
    found = read(saved(tmp_path, document))
    assert "e0000000000000001" not in repr(found.rows) and "f0000000000000001" not in repr(found.rows)
    assert "4 references" in found.notices[0]


@pytest.mark.parametrize(
    "picture", ["../../etc/passwd", "/etc/passwd", "v0000000000000000/f1.jpg", "", "x", "..\\x\\y"]
)
def test_a_picture_cannot_lie_outside_the_videos_own_folder(tmp_path: Path, picture: str):
    frame = {"id": "f1", "at_ms": 0, "hash": "00", "width": 1, "height": 1, "picture": picture}
    found = read(saved(tmp_path, least(frames=[frame])))
    assert [r.picture for r in found.rows if isinstance(r, Frame)] == [f"{found.video.id}/f1.jpg"]


def test_a_missing_and_a_giant_file_are_told_kindly(tmp_path: Path):
    with (tmp_path / "giant.json").open("wb") as file:
        file.truncate(evidence_schema.MAX_BYTES + 1)
    for name, what in (("none.json", "cannot be read"), ("giant.json", "too much")):
        with pytest.raises(SubtitleError, match=what):
            read(tmp_path / name)


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
KEYS = st.sampled_from(["start_ms", "end_ms", "text", "detail", "words", "box"])
ANYTHING = st.recursive(
    SCALARS, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(KEYS, v, max_size=4)), max_leaves=12
)


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_any_json_in_place_of_rows_is_read_or_told_kindly(tmp_path_factory: pytest.TempPathFactory, value: Any):
    path = tmp_path_factory.mktemp("e") / "k.json"
    path.write_text(json.dumps(least(speech=value, segments=[value], frames=[value])), "utf-8", errors="replace")
    try:
        assert isinstance(read(path), EvidenceFile)
    except SubtitleError as error:
        assert error.where


def test_the_published_schema_is_that_of_the_code():
    published = Path(evidence_schema.__file__).with_name("evidence_file.schema.json")
    assert json.loads(published.read_text("utf-8")) == evidence_schema.schema()
