import io
import re
import sys
import zlib
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from videmus.errors import MissingExtraError
from videmus.exports import fonts
from videmus.exports.slides import ROWS, SHEET_PIXELS, contact_sheet, deck, slides_of, thumbnail_width
from videmus.media import pictures
from videmus.model import Evidence, Origin, Segment, Video

VIDEO = Video("v", "f", "Tides", 600_000, "/home/ann/tides.mp4", added_at=1_700_000_000_000)
RED, GREEN, BLUE = (200, 30, 30), (30, 200, 30), (30, 30, 200)


def showing(number, start, end, title=None, text="", keyframe=None, kind="slide"):
    """Times in seconds."""
    id = f"s{start}"
    times = (start * 1000, end * 1000)
    return Segment(id, "v", *times, kind, Origin("slides"), slide=number, title=title, text=text, keyframe=keyframe)


def said(start, text, speaker=None):
    return Evidence(
        f"e{start}", "v", start * 1000, start * 1000 + 2000, "speech", text, Origin("speech"), speaker=speaker
    )


def picture(colour, width=160, height=90):
    return np.full((height, width, 3), colour, np.uint8)


PIECES = [
    showing(1, 0, 60, "Why tides?", "Why tides?", "f1"),
    showing(2, 60, 90, "Two bulges", "Two bulges\nnear", "f2"),
    showing(1, 90, 200, "Why tides?", "Why tides?\nthe Moon", "f3"),
]
KEYFRAMES = {name: pictures.encode(picture(c)) for name, c in (("f1", RED), ("f2", GREEN), ("f3", BLUE))}
SPEECH = [said(1, "Good morning.", "Ann"), said(62, "One is a surprise."), said(95, "Back to the question.", "Ann")]


@pytest.fixture(autouse=True)
def no_fonts(monkeypatch):
    """Decks are written with the font that every reader has, so that their text can be read here."""
    monkeypatch.setattr(fonts, "installed", lambda: ())


def pages(data):
    """The text of each page."""
    streams = [zlib.decompress(s) for s in re.findall(rb"stream\n(x.*?)\nendstream", data, re.S)]
    texts = [b" ".join(re.findall(rb"\(((?:\\.|[^\\)])*)\) ?Tj", s)) for s in streams]
    return [re.sub(r"\\(.)", r"\1", t.decode("latin-1")) for t in texts if t]


def test_each_slide_is_once_in_order_of_first_showing_with_its_fullest_state():
    slides = slides_of(PIECES)
    assert [(s.name, s.title, s.times) for s in slides] == [
        ("Slide 1", "Why tides?", "0:00–1:00, 1:30–3:20"),
        ("Slide 2", "Two bulges", "1:00–1:30"),
    ]
    assert slides[0].fullest.keyframe == "f3"


def test_clips_have_no_number_and_are_counted():
    clips = [showing(None, 0, 80, kind="clip"), showing(None, 80, 160, kind="clip")]
    assert [s.name for s in slides_of(clips)] == ["Clip 1", "Clip 2"]


def test_a_deck_has_a_page_a_slide_with_its_final_picture_and_the_speech_of_all_showings():
    made = deck(VIDEO, PIECES, KEYFRAMES, SPEECH)
    first, second = pages(made.data)
    assert (
        "Slide 1: Why tides? shown 2 ×: 0:00-1:00, 1:30-3:20 0:00 Ann: Good morning. 1:30 Ann: Back to the question."
        in first
    )
    assert "Slide 2: Two bulges 1:00-1:30 One is a surprise." in second
    assert first.endswith("Tides 1")
    assert second.endswith("Tides 2")
    assert KEYFRAMES["f3"] in made.data
    assert KEYFRAMES["f2"] in made.data
    assert KEYFRAMES["f1"] not in made.data


def test_a_long_speech_goes_on_on_the_next_page():
    speech = [said(n, f"Sentence number {n} of a long talk about the sea.") for n in range(200)]
    made = pages(deck(VIDEO, [showing(1, 0, 600, "Sea", keyframe="f1")], KEYFRAMES, speech).data)
    assert len(made) == 3
    assert "Sentence number 0 " in made[0]
    assert "Sentence number 199 " in made[2]


def test_the_same_rows_make_the_same_bytes_dated_when_the_video_was_added():
    made = deck(VIDEO, PIECES, KEYFRAMES, SPEECH)
    assert made == deck(VIDEO, PIECES, KEYFRAMES, SPEECH)
    assert b"D:20231114221320" in made.data


def test_a_slide_without_a_picture_that_can_be_read_shows_its_text_and_says_so():
    made = deck(VIDEO, PIECES[:2], {"f1": b"\xff\xd8\xff no picture"}, [])
    assert made.notices == ("2 of 2 pages have no picture that can be read; the slide's text stands there",)
    assert "Two bulges near" in pages(made.data)[1]


def test_a_picture_that_is_no_plain_jpeg_is_made_one():
    target = io.BytesIO()
    Image.new("CMYK", (40, 30)).save(target, "JPEG")
    made = deck(VIDEO, PIECES[:1], {"f1": target.getvalue()}, [])
    assert made.notices == ()
    assert target.getvalue() not in made.data
    assert b"/DeviceRGB" in made.data


@pytest.mark.parametrize(("width", "height"), [(90, 160), (4, 400), (400, 4)])
def test_a_picture_of_any_shape_fits_the_page_above_its_title(width, height):
    keyframes = {"f1": pictures.encode(picture(RED, width, height))}
    made = deck(VIDEO, PIECES[:1], keyframes, [said(1, "Words.")])
    assert len(pages(made.data)) == 1
    assert keyframes["f1"] in made.data


def test_letters_that_no_font_has_are_replaced_and_told_in_the_deck():
    made = deck(
        replace(VIDEO, title="学习"), [showing(1, 0, 60, "Größe – 学习 😀\ud800")], {}, [said(1, "Привет, “naïve”")]
    )
    (page,) = pages(made.data)
    assert "Slide 1: Größe - ?? ?" in page
    assert '??????, "naïve"' in page
    assert "no font of this machine has" in page
    assert "学" in made.notices[-1]


def test_times_open_the_moment_where_there_is_an_address():
    made = deck(
        VIDEO, PIECES, KEYFRAMES, SPEECH, {0: "https://talks.example/t#t=0", 90_000: "https://talks.example/t#t=90"}
    )
    assert b"https://talks.example/t#t=0" in made.data
    assert b"https://talks.example/t#t=90" in made.data
    assert b"ann" not in made.data


def test_without_fpdf2_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpdf", None)
    with pytest.raises(MissingExtraError, match=r"pip install .videmus\[pdf\]"):
        deck(VIDEO, PIECES, KEYFRAMES, SPEECH)


# ---------------------------------------------------------------- the contact sheet


def sheet(pieces, colour=RED, png=True, width=160, height=90):
    shown = [(s, picture(colour, width, height)) for s in slides_of(pieces)]
    data = contact_sheet(shown, png)
    return Image.open(io.BytesIO(data))


def test_a_sheet_shows_each_slide_with_writing_below():
    image = sheet([showing(n, 10 * n, 10 * n + 10, f"Slide about {n}") for n in range(1, 5)])
    assert image.format == "PNG"
    pixels = np.asarray(image).astype(int)
    red = np.all(np.abs(pixels - RED) < 12, axis=2)
    assert red.sum() == 4 * 320 * 180
    below = pixels[16 + 180 + 2 : 16 + 180 + 60, 16 : 16 + 320]
    assert (below.sum(axis=2) < 300).sum() > 100
    assert not red[:, 16 + 320 : 16 + 330].any()


def test_a_sheet_is_jpeg_where_asked():
    assert sheet(PIECES, png=False).format == "JPEG"


def test_a_slide_without_a_picture_shows_its_text_on_the_sheet():
    (slide,) = slides_of([showing(1, 0, 9, "Sea", "Sea\nTwo bulges of water")])
    with_text = np.asarray(Image.open(io.BytesIO(contact_sheet([(slide, None)]))))
    blank = replace(slide.showings[0], text="")
    without = np.asarray(Image.open(io.BytesIO(contact_sheet([(slides_of([blank])[0], None)]))))
    inside = (slice(20, 190), slice(20, 330))
    assert (with_text[inside] < 100).any()
    assert not (without[inside] < 100).any()


def test_titles_of_any_script_and_length_never_break_a_sheet():
    titles = ["学习" * 200, "مرحبا بالعالم", "हिन्दी", "😀", "\x00\ud800", "W" * 10_000, "", "a\nb"]
    image = sheet([showing(n, 10 * n, 10 * n + 10, t) for n, t in enumerate(titles, 1)])
    assert image.size == (16 + 3 * 336, 16 + 3 * (180 + 8 + 48 + 16))


@pytest.mark.parametrize("count", [400, 1_200])
def test_a_sheet_of_hundreds_of_slides_stays_bounded(count):
    pieces = [showing(n, n, n + 1, keyframe="f1") for n in range(1, count + 1)]
    width = thumbnail_width(count)
    thumbnail = picture(RED, width, width * 9 // 16)
    image = Image.open(io.BytesIO(contact_sheet([(s, thumbnail) for s in slides_of(pieces)], png=False)))
    assert image.width * image.height < 1.6 * SHEET_PIXELS
    assert image.height < ROWS * 2 * width
