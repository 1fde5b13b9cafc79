"""What a video's slides become in files, through the terminal."""

import base64
import io
import json
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from videmus import exporting
from videmus.clock import format_time
from videmus.errors import MediaError
from videmus.exports import fonts
from videmus.library import Library
from videmus.media import pictures
from videmus.model import Correction, Evidence, NarrationDetail, Origin, content_id, frame_id

PRINT = "0123456789abcdef"
ID = content_id("v", PRINT)
COLOURS = ((200, 30, 30), (30, 200, 30), (30, 30, 200))
CLIPS = ((0, 13_000), (13_000, 120_000))
STARTS = (0, 13_200, 13_800, 60_000)


def jpeg(colour):
    return pictures.encode(np.full((90, 160, 3), colour, np.uint8))


def lecture(title="Sea"):
    """Three slides, the first shown twice, two of them in one second."""
    spans = zip(STARTS, (*STARTS[1:], 120_000), (1, 2, 3, 1), strict=True)
    return {
        "videmus_evidence": 1,
        "title": title,
        "fingerprint": PRINT,
        "duration_ms": 120_000,
        "has_video": True,
        "speech": [{"start_ms": 70_000, "end_ms": 72_000, "text": "Back to the first one."}],
        "frames": [
            {"at_ms": at, "hash": "00", "width": 160, "height": 90, "jpeg": base64.b64encode(jpeg(c)).decode()}
            for at, c in zip(STARTS, COLOURS, strict=False)
        ],
        "segments": [
            {"kind": "slide", "start_ms": start, "end_ms": end, "slide": n, "title": f"Part {n}", "text": f"Part {n}"}
            | {"keyframe": frame_id(ID, STARTS[n - 1])}
            for start, end, n in spans
        ],
    }


@pytest.fixture
def slides(terminal, tmp_path):
    """The terminal over a library that holds the lecture."""
    file = tmp_path / "sea.json"
    file.write_text(json.dumps(lecture()))
    terminal.json("add", file)
    return terminal


def pictures_of(library):
    return sorted((library / "frames").rglob("*.jpg"))


def test_the_deck_is_written_with_a_page_a_slide(slides, tmp_path):
    file = tmp_path / "deck.pdf"
    assert slides.json("export", "Sea", "-f", "pdf", "-o", file)["written"] == [str(file)]
    data = file.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 3
    assert all(jpeg(colour) in data for colour in COLOURS)
    assert b"sea.json" not in data
    assert slides.json("export", "Sea", "-f", "pdf", "-o", file, status=2)["error"]["where"] == str(file)


def test_without_a_name_the_deck_is_called_like_the_video(slides, tmp_path):
    assert slides.json("export", "Sea", "-f", "pdf")["written"] == ["Sea.pdf"]
    assert (tmp_path / "Sea.pdf").exists()


def test_chapters_go_to_standard_output_and_to_a_file(slides, tmp_path):
    status, out, _ = slides("export", "Sea", "-f", "chapters")
    assert (status, out) == (0, "0:00 Part 1\n0:13 Part 3\n1:00 Part 1\n")
    slides.json("export", "Sea", "-f", "chapters", "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == out


def test_show_notes_and_export_have_one_list_of_chapters(slides):
    lines = slides("export", "Sea", "-f", "chapters")[1].splitlines()
    assert (
        slides("export", "Sea", "-f", "md")[1]
        .split("## Chapters\n\n")[1]
        .startswith("- " + "\n- ".join(lines) + "\n\n")
    )
    shown = slides.json("show", "Sea")["chapters"]
    assert [f"{format_time(c['start_ms'])} {c['title']}" for c in shown] == lines
    assert shown[-1]["end_ms"] == 120_000
    assert "chapters" not in slides("show", "Sea")[1], "the slides that are listed below are the chapters"


def test_notes_bring_the_picture_of_every_slide(slides, tmp_path):
    file = tmp_path / "my notes.md"
    written = slides.json("export", "Sea", "-f", "md", "-o", file)["written"]
    names = ["000000000.jpg", "000013200.jpg", "000013800.jpg"]
    assert written == [str(file), *(str(tmp_path / "my notes_pictures" / name) for name in names)]
    text = file.read_text()
    for number, (name, colour) in enumerate(zip(names, COLOURS, strict=True), 1):
        assert f"![Slide {number}](<my notes_pictures/{name}>)" in text
        assert (tmp_path / "my notes_pictures" / name).read_bytes() == jpeg(colour)
    assert "Back to the first one." in text


def test_exports_hold_what_was_meant_where_it_was_corrected_and_the_evidence_file_what_was_heard(
    slides, tmp_path, monkeypatch
):
    monkeypatch.setattr(fonts, "installed", lambda: ())  # so that the deck's text can be read here
    with Library(slides.library) as library:
        (row,) = library.evidence("Sea", "speech")
        (slide,) = [s for s in library.segments("Sea", "slide") if s.start_ms <= row.start_ms < s.end_ms]
        corrections = (Correction("c1", "first", "fjord", 2), Correction("c2", "back", "bay", 2, undone=True))
        detail = NarrationDetail(row.text, corrections)
        text = "Back to the fjord one."
        narration = Evidence(
            "narrated", row.video, slide.start_ms, slide.end_ms, "narration", text, Origin("correction"), segment=slide.id,
            sources=(row.id,), detail=detail,
        )  # fmt: skip
        library.store.add("slide-texts", [narration])
    for format in ("srt", "vtt", "md"):
        _, out, _ = slides("export", "Sea", "--format", format)
        assert "Back to the fjord one." in out
    _, out, _ = slides("export", "Sea", "--format", "json")
    assert "Back to the first one." in out
    slides("export", "Sea", "--format", "pdf", "-o", tmp_path / "sea.pdf")
    streams = re.findall(rb"stream\n(.*?)\nendstream", (tmp_path / "sea.pdf").read_bytes(), re.S)
    assert any(b"fjord" in zlib.decompress(s) for s in streams if s[:1] == b"x")


def test_pictures_that_look_like_a_moment_are_found_most_alike_first(slides, tmp_path):
    other = lecture("Shore") | {"fingerprint": "fedcba9876543210"}
    for frame, hash in zip(other["frames"], ("01", "ff", "0f"), strict=True):
        frame["hash"] = hash
    other["segments"] = []
    (tmp_path / "shore.json").write_text(json.dumps(other))
    slides.json("add", tmp_path / "shore.json", "--collection", "coast")
    given = slides.json("frame", "Sea", "0:05", "--like", "--collection", "coast")
    assert (given["of"]["title"], given["of"]["at_ms"]) == ("Sea", 0)
    assert [(f["title"], f["at_ms"], f["score"]) for f in given["frames"]] == [
        ("Shore", 0, 0.875),
        ("Shore", 13_800, 0.5),
    ], "of two pictures within two seconds the better one"
    assert Path(given["frames"][0]["picture"]).read_bytes() == jpeg(COLOURS[0])
    status, out, _ = slides("frame", "Sea", "0:05", "--like", "--limit", "1", "--video", "Shore")
    assert (status, len(out.splitlines())) == (0, 1) and "Shore · 0:00" in out
    assert "belong to --like" in slides("frame", "Sea", "0:05", "--collection", "coast")[2]
    assert "--like saves no picture" in slides("frame", "Sea", "0:05", "--like", "-o", "x.png")[2]


def test_a_video_without_kept_pictures_has_none_to_compare(library):
    assert library.json("frame", "Rivers", "0:05", "--like", status=2)["error"]["what"] == "no picture of it is kept"


def test_the_contact_sheet_is_png_or_jpeg_by_its_name(slides, tmp_path):
    for name, format in (("a.png", "PNG"), ("a.jpg", "JPEG"), ("a.JPEG", "JPEG")):
        slides.json("show", "Sea", "--sheet", tmp_path / name)
        image = Image.open(io.BytesIO((tmp_path / name).read_bytes()))
        assert (image.format, image.width) == (format, 16 + 2 * 336)
    assert "picture" in slides.json("show", "Sea", "--sheet", tmp_path / "a.mp4", status=2)["error"]["what"]
    assert not (tmp_path / "a.mp4").exists()


def test_a_video_without_slides_shows_the_picture_that_is_on_screen_in_the_middle_of_each_clip(terminal, tmp_path):
    film = lecture("Film") | {"segments": [{"kind": "clip", "start_ms": a, "end_ms": b} for a, b in CLIPS]}
    (tmp_path / "film.json").write_text(json.dumps(film))
    terminal.json("add", tmp_path / "film.json")
    terminal.json("show", "Film", "--sheet", tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png").convert("RGB")).astype(int)
    seen = [(abs(sheet - colour).max(2) < 12).any() for colour in COLOURS]
    assert seen == [True, False, True]
    written = [Path(p) for p in terminal.json("export", "Film", "-f", "md", "-o", tmp_path / "notes.md")["written"]]
    assert [p.read_bytes() for p in written[1:]] == [jpeg(COLOURS[0]), jpeg(COLOURS[2])]
    status, _, err = terminal("export", "Film", "-f", "pdf", "-o", tmp_path / "deck.pdf")
    assert (status, err) == (0, "")


def test_a_film_of_which_no_picture_is_kept_says_so(terminal, tmp_path, steps_video, monkeypatch):
    def looks(*given, **options):
        raise MediaError("damaged")

    monkeypatch.setattr("videmus.perceive.changes.looks", looks)
    shutil.copy2(steps_video, tmp_path / "film.mp4")
    terminal.json("add", tmp_path / "film.mp4")
    for arguments in (["export", "film", "-f", "pdf"], ["show", "film", "--sheet", tmp_path / "a.png"]):
        error = terminal.json(*arguments, status=2)["error"]
        assert error["what"] == "no picture of it is kept" and "retry" in error["next"]


def test_pictures_that_are_gone_are_told_and_cost_only_themselves(slides, tmp_path):
    gone, damaged, *_ = pictures_of(slides.library)
    gone.unlink()
    damaged.write_bytes(b"no picture")
    status, _, err = slides("export", "Sea", "-f", "pdf", "-o", tmp_path / "deck.pdf")
    assert status == 0
    assert "2 of 3 pages have no picture" in " ".join(err.split())
    status, _, err = slides("export", "Sea", "-f", "md", "-o", tmp_path / "notes.md")
    assert status == 0
    assert "is gone from the library" in " ".join(err.split())
    assert len(list((tmp_path / "notes_pictures").iterdir())) == 2
    assert slides("show", "Sea", "--sheet", tmp_path / "sheet.png")[0] == 0


def test_a_talk_without_slides_has_no_deck_and_says_what_it_has(library, tmp_path):
    for arguments in (["export", "Rivers", "-f", "pdf"], ["show", "Rivers", "--sheet", tmp_path / "a.png"]):
        error = library.json(*arguments, status=2)["error"]
        assert error["what"] == "the video has no slides and no pictures"
        assert error["where"] == "Rivers"
    assert library("export", "Rivers", "-f", "chapters")[1] == "0:00 Rivers carry sand\n"
    assert "Rivers carry sand" in library("export", "Rivers", "-f", "md")[1]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/b: c?", "a_b_ c_"),
        ("  ..", "video"),
        ("", "video"),
        ("con", "con_"),
        ("COM1", "COM1_"),
        ("学" * 100, "学" * 50),
        ("\ud800x\x00", "_x_"),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(title, name):
    assert exporting.file_name(title) == name


def test_a_title_of_a_hundred_characters_in_any_script_is_written(terminal, tmp_path):
    file = tmp_path / "long.json"
    file.write_text(json.dumps(lecture("潮" * 100)))
    terminal.json("add", file)
    for format in ("pdf", "md", "chapters", "json"):
        written = terminal.json("export", "潮" * 100, "-f", format, "-o", tmp_path)["written"]
        assert (tmp_path / written[0]).exists()
