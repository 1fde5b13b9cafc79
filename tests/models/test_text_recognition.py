"""The contract of text recognisers, for the scripted and the bundled one, and what the bundled one reads."""

import socket
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from videmus.config import ReadingSettings, Settings
from videmus.errors import ModelError
from videmus.model import TextLine
from videmus.models import text_recognition
from videmus.models.text_recognition import RapidRecogniser, ScriptedRecogniser, TextRecogniser, inside, tidy

WIDTH, HEIGHT = 640, 360
TITLE = (40, 30, "Gradient descent")
POINT = (40, 130, "Choose a small step size")
FOOTER = (40, 310, "Lecture 12")


def drawn(*texts: tuple[int, int, str], size: int = 28, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    picture = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(picture)
    for left, top, text in texts:
        pen.text((left, top), text, fill="black", font=ImageFont.load_default(size))
    return np.asarray(picture)


def box_of(left: int, top: int, text: str) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = ImageFont.load_default(28).getbbox(text)
    return ((left + x1) / WIDTH, (top + y1) / HEIGHT, (left + x2) / WIDTH, (top + y2) / HEIGHT)


PAGE = drawn(TITLE, POINT, FOOTER)
LOWER = (0.0, 0.7, 1.0, 1.0)


@pytest.fixture(scope="module")
def rapid() -> RapidRecogniser:
    return RapidRecogniser(threads=1)


@pytest.fixture(params=["scripted", "rapid"])
def recogniser(request: pytest.FixtureRequest) -> TextRecogniser:
    if request.param == "rapid":
        return request.getfixturevalue("rapid")
    lines = [TextLine(text, box_of(left, top, text), 1.0) for left, top, text in (TITLE, POINT, FOOTER)]
    return ScriptedRecogniser(lambda image: lines if image.std() > 1 else [])


class TestContract:
    def test_a_page_gives_its_lines_with_their_spaces(self, recogniser: TextRecogniser) -> None:
        assert sorted(line.text for line in recogniser.read(PAGE)) == sorted(t for _, _, t in (TITLE, POINT, FOOTER))

    def test_boxes_are_fractions_of_the_picture_and_lie_on_the_text(self, recogniser: TextRecogniser) -> None:
        found = {line.text: line for line in recogniser.read(PAGE)}
        for left, top, text in (TITLE, POINT, FOOTER):
            assert inside(box_of(left, top, text), found[text].box) > 0.85
            assert 0.9 <= found[text].confidence <= 1

    def test_a_region_gives_its_lines_in_the_whole_pictures_fractions(self, recogniser: TextRecogniser) -> None:
        (line,) = recogniser.read(PAGE, LOWER)
        assert line.text == "Lecture 12"
        assert inside(box_of(*FOOTER), line.box) > 0.85

    def test_lines_in_skipped_boxes_are_left_out(self, recogniser: TextRecogniser) -> None:
        texts = [line.text for line in recogniser.read(PAGE, None, [box_of(*TITLE), LOWER])]
        assert texts == ["Choose a small step size"]

    def test_an_empty_page_has_no_lines(self, recogniser: TextRecogniser) -> None:
        assert recogniser.read(np.full((HEIGHT, WIDTH, 3), 240, np.uint8)) == []

    def test_pages_parts_and_lines_are_counted(self, recogniser: TextRecogniser) -> None:
        before = (recogniser.counts.pages, recogniser.counts.parts, recogniser.counts.lines)
        recogniser.read(PAGE)
        recogniser.read(PAGE, LOWER)
        counts = recogniser.counts
        assert (counts.pages - before[0], counts.parts - before[1], counts.lines - before[2]) == (1, 1, 4)

    @pytest.mark.parametrize("shape", [(10, 10), (10, 10, 4), (10, 10, 1)])
    def test_a_picture_of_another_shape_is_refused(self, recogniser: TextRecogniser, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match="height × width × 3"):
            recogniser.read(np.zeros(shape, np.uint8))

    def test_it_names_its_model(self, recogniser: TextRecogniser) -> None:
        assert recogniser.name


def test_of_more_lines_than_a_person_can_read_the_largest_are_read_and_the_rest_counted() -> None:
    recogniser = RapidRecogniser(ReadingSettings(most_lines=2), threads=1)
    assert sorted(line.text for line in recogniser.read(PAGE)) == ["Choose a small step size", "Gradient descent"]
    assert (recogniser.counts.lines, recogniser.counts.left_out) == (2, 1)


def test_a_lone_upright_digit_is_read_as_it_stands(rapid: RapidRecogniser) -> None:
    page = drawn((100, 50, "7"), (300, 250, "4"), (500, 150, "1"), size=40)
    assert sorted(line.text for line in rapid.read(page)) == ["1", "4", "7"]


@pytest.mark.parametrize("turns", [1, 3])
def test_a_line_that_runs_upwards_or_downwards_is_read(rapid: RapidRecogniser, turns: int) -> None:
    turned = np.ascontiguousarray(np.rot90(drawn((40, 150, "Accuracy in percent")), turns))
    assert [line.text for line in rapid.read(turned)] == ["Accuracy in percent"]


def test_accents_of_latin_letters_are_read(rapid: RapidRecogniser) -> None:
    font = ImageFont.load_default(40)  # it has no accents: they are drawn
    picture = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(picture)
    pen.text((40, 150), "The fur of Cafe", fill="black", font=font)
    umlaut, acute = 40 + font.getlength("The f"), 40 + font.getlength("The fur of Caf")
    for dot in (6, 14):
        pen.ellipse((umlaut + dot - 2, 156, umlaut + dot + 3, 161), fill="black")
    pen.line((acute + 9, 161, acute + 16, 154), fill="black", width=4)
    assert [line.text for line in rapid.read(np.asarray(picture))] == ["The für of Café"]


def test_numbers_keep_their_points_and_signs(rapid: RapidRecogniser) -> None:
    text = "loss = 3.5 at 1,024 steps (98%)"
    assert [line.text for line in rapid.read(drawn((20, 150, text), size=32))] == [text]


def test_small_print_of_a_large_screen_is_read(rapid: RapidRecogniser) -> None:
    page = drawn((300, 400, "the quick brown fox jumps over 13 lazy dogs"), size=20, width=1280, height=720)
    assert [line.text for line in rapid.read(page)] == ["the quick brown fox jumps over 13 lazy dogs"]


def test_white_on_black_at_the_very_border_is_read(rapid: RapidRecogniser) -> None:
    page = 255 - drawn((2, 0, "Breaking news"), size=28)
    assert [line.text for line in rapid.read(page)] == ["Breaking news"]


@pytest.mark.parametrize(
    ("height", "width", "region"),
    [(1, 1, None), (2, 900, None), (720, 3, None), (100, 100, (0.5, 0.5, 0.5, 0.5)), (50, 50, (0.9, 0.9, 1.4, 1.4))],
)
def test_odd_sizes_and_regions_are_no_fault(
    rapid: RapidRecogniser, height: int, width: int, region: tuple[float, float, float, float] | None
) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (height, width, 3), np.uint8)
    assert all(0 <= v <= 1 for line in rapid.read(noise, region) for v in line.box)


def test_nothing_is_fetched_and_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    assert text_recognition.load(Settings()).read(PAGE, LOWER)[0].text == "Lecture 12"
    assert capfd.readouterr() == ("", "")


def test_missing_weights_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(text_recognition, "_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match="weights are missing") as caught:
        RapidRecogniser().read(PAGE)
    assert str(tmp_path) in caught.value.where
    assert "pip install" in caught.value.next


def test_the_runtime_is_loaded_at_the_first_reading_only() -> None:
    code = (
        "import sys; from videmus.config import Settings; from videmus.models.text_recognition import load; "
        "load(Settings()); print(sorted({'onnxruntime', 'rapidocr', 'cv2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_page_is_looked_at_no_larger_than_the_setting_says(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[float] = []

    class Network:
        def __init__(self, settings: ReadingSettings, threads: int) -> None:
            pass

        def detect(self, part: np.ndarray, scale: float) -> list[np.ndarray]:
            scales.append(scale)
            return []

        recognise: Callable[..., list[tuple[str, float]]] = staticmethod(lambda part, quads: [])

    monkeypatch.setattr(text_recognition, "_Network", Network)
    recogniser = RapidRecogniser(ReadingSettings(detection_side=960))
    recogniser.read(np.zeros((1080, 1920, 3), np.uint8))
    recogniser.read(np.zeros((1080, 1920, 3), np.uint8), (0, 0, 0.1, 0.1))  # at the page's scale, never enlarged
    recogniser.read(PAGE)
    assert scales == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        ("Minyeop Choi¹", "Minyeop Choi 1"),
        ("Byungjoo Lee1, KAIST ², DGIST³", "Byungjoo Lee 1, KAIST 2, DGIST 3"),
        ("sin² + 100²", "sin² + 100²"),
        ("x² + y²", "x² + y²"),
        ("Eunji Park1, Auejin Ham1,2, Sunjun Kim ²", "Eunji Park 1, Auejin Ham 1,2, Sunjun Kim 2"),
        ("HTML5, CSS3 and RE16", "HTML5, CSS3 and RE16"),
        ("see Figure1", "see Figure1"),
        ("Ｈｅｌｌｏ，ｗｏｒｌｄ：１", "Hello,world:1"),
        ("学习，深度：1", "学习，深度：1"),
        ("  two   spaces ", "two spaces"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_lines_are_stored_tidily(read: str, kept: str) -> None:
    assert tidy(read) == kept
