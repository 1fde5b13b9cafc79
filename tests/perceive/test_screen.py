"""Screen rows: what was on screen, when, and how little is recognised for it. Pages are read by a scripted recogniser."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from videmus.config import ReadingSettings
from videmus.model import Box, Evidence, Frame, Look, Origin, ScreenDetail, TextLine, frame_id
from videmus.models.text_recognition import Picture, RapidRecogniser, ScriptedRecogniser
from videmus.perceive.screen import read_screen

WIDTH, HEIGHT = 640, 360
CAMERA: Box = (0.8, 0.7, 1.0, 1.0)


class Talk:
    """Pictures whose text the recogniser knows, and the looks that show them."""

    def __init__(self) -> None:
        self.texts: dict[bytes, list[TextLine]] = {}
        self.looks: list[tuple[Frame, Picture]] = []
        self.recogniser = ScriptedRecogniser(lambda image: self.texts[image.tobytes()])
        self.at_ms = 0

    def picture(self, *texts: str | tuple[str, float], ground: int = 240) -> Picture:
        """A page with one line below the other; each is drawn as a pattern of its own. ("text", 0.5) is read so surely."""
        image = np.full((HEIGHT, WIDTH, 3), ground, np.uint8)
        lines = []
        for row, entry in enumerate(texts):
            text, confidence = entry if isinstance(entry, tuple) else (entry, 0.99)
            if not text:
                continue
            top, width = 30 + 40 * row, min(560, 12 * len(text))
            seed = sum(ord(c) * (i + 1) for i, c in enumerate(text))
            pattern = np.random.default_rng(seed).integers(0, 2, (5, -(-width // 4))) * 200
            block = np.repeat(np.repeat(pattern, 4, 0), 4, 1)[:, :width]
            image[top : top + 20, 40 : 40 + width] = block[..., None]
            lines.append(
                TextLine(text, (40 / WIDTH, top / HEIGHT, (40 + width) / WIDTH, (top + 20) / HEIGHT), confidence)
            )
        self.texts[image.tobytes()] = lines
        return image

    def like(self, image: Picture, changed: Picture) -> Picture:
        """`changed` is another picture of what `image` shows."""
        self.texts[changed.tobytes()] = self.texts[image.tobytes()]
        return changed

    def show(self, image: Picture, ms: int = 10_000, moving: tuple[Box, ...] = ()) -> None:
        look = Look(self.at_ms, self.at_ms + ms, (), moving)
        small = image[:: HEIGHT // 8, :: WIDTH // 9, 0][:8, :9].astype(int)
        bits = (small[:, 1:] > small[:, :-1]).ravel()
        code = f"{int(''.join('01'[int(b)] for b in bits), 2):016x}"
        at = self.at_ms + ms // 2
        self.looks.append((Frame(frame_id("v", at), "v", at, "", code, WIDTH, HEIGHT, Origin("changes"), look), image))
        self.at_ms += ms

    def rows(self, done: list[Evidence] | None = None, **settings: float) -> list[Evidence]:
        return list(
            read_screen("v", self.looks, self.recogniser, replace(ReadingSettings(), **settings), done=done or ())
        )

    def told(self) -> list[tuple[int, int, str]]:
        return [(r.start_ms // 1000, r.end_ms // 1000, r.text) for r in self.rows()]

    @property
    def readings(self) -> tuple[int, int, int]:
        return self.recogniser.counts.pages, self.recogniser.counts.parts, self.recogniser.counts.lines


@pytest.fixture
def talk() -> Talk:
    return Talk()


class TestRows:
    def test_a_page_is_one_row_from_appearing_to_going(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", "• merge", "• quick"))
        talk.show(talk.picture("Searching", "• binary"), 5_000)
        assert talk.told() == [(0, 10, "Sorting\n• merge\n• quick"), (10, 15, "Searching\n• binary")]

    def test_a_bullet_added_is_a_row_of_its_own_and_the_page_goes_on(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", "• merge"))
        talk.show(talk.picture("Sorting", "• merge", "• quick"))
        talk.show(talk.picture("Searching"))
        assert talk.told() == [(0, 20, "Sorting\n• merge"), (10, 20, "• quick"), (20, 30, "Searching")]

    def test_a_bullet_that_goes_ends_alone(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting by comparison", "• merge", "• quick"))
        talk.show(talk.picture("Sorting by comparison", "• merge"))
        assert talk.told() == [(0, 10, "• quick"), (0, 20, "Sorting by comparison\n• merge")]

    def test_a_title_that_stays_over_a_page_turn_is_in_both_pages_rows(self, talk: Talk) -> None:
        talk.show(talk.picture("Proof", "Let A be any adversary", "It asks no queries"))
        talk.show(talk.picture("Proof", "Then B is one for G too", "So nothing was won"))
        assert [text.splitlines()[0] for _, _, text in talk.told()] == ["Proof", "Proof"]

    def test_rows_carry_boxes_confidence_frame_and_origin(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", ("merge", 0.9)))
        (row,) = talk.rows()
        assert isinstance(row.detail, ScreenDetail)
        assert [(x.text, x.confidence) for x in row.detail.lines] == [("Sorting", 0.99), ("merge", 0.9)]
        assert row.detail.lines[0].box == pytest.approx((40 / 640, 30 / 360, 124 / 640, 50 / 360))
        assert row.detail.frame == talk.looks[0][0].id
        assert (row.kind, row.origin.stage, row.origin.model) == ("screen", "screen", "scripted")

    def test_what_no_one_could_read_for_sure_is_left_out(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", ("blurred noise", 0.5), ("H", 0.7), "•", "x"))
        assert talk.told() == [(0, 10, "Sorting\nx")]

    def test_a_video_without_text_has_no_rows(self, talk: Talk) -> None:
        talk.show(talk.picture())
        assert talk.told() == []

    def test_the_same_video_gives_the_same_ids(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting"))
        assert [r.id for r in talk.rows()] == [r.id for r in talk.rows()]

    def test_a_frame_without_a_look_is_refused(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting"))
        frame, image = talk.looks[0]
        with pytest.raises(ValueError, match="no look"):
            list(read_screen("v", [(replace(frame, look=None), image)], talk.recogniser))


class TestCost:
    def test_a_bullet_costs_a_part_and_one_line(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", "• merge"))
        talk.show(talk.picture("Sorting", "• merge", "• quick"))
        talk.rows()
        assert talk.readings == (1, 1, 3)
        region, _ = talk.recogniser.asked[1]
        assert region is not None and (region[2] - region[0]) * (region[3] - region[1]) < 0.1

    def test_a_page_that_returns_costs_nothing(self, talk: Talk) -> None:
        first = talk.picture("Sorting", "• merge", "• quick")
        talk.show(first)
        talk.show(talk.picture("Searching in a sorted list", "• binary", "• by interpolation", "• hashing"))
        talk.show(first)
        assert talk.told()[2] == (20, 30, "Sorting\n• merge\n• quick")
        assert talk.readings[0] + talk.readings[1] == 2

    def test_a_page_that_returns_with_one_more_line_costs_that_line(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", "• merge", "• quick"))
        talk.show(talk.picture("Searching in a sorted list", "• binary", "• by interpolation", "• hashing"))
        talk.show(talk.picture("Sorting", "• merge", "• quick", "• heap"))
        before = talk.told()
        assert before[2] == (20, 30, "Sorting\n• merge\n• quick\n• heap")
        assert talk.readings[2] == 3 + 4 + 1

    def test_the_same_page_with_noise_costs_nothing_and_stays_one_row(self, talk: Talk) -> None:
        page = talk.picture("Sorting", "• merge")
        noise = np.random.default_rng(3).integers(-8, 8, page.shape)
        talk.show(page)
        talk.show(talk.like(page, (page.astype(int) + noise).clip(0, 255).astype(np.uint8)))
        assert talk.told() == [(0, 20, "Sorting\n• merge")]
        assert talk.readings[0] + talk.readings[1] == 1

    def test_a_line_that_went_is_not_looked_for(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting", "• merge"))
        talk.show(talk.picture("Sorting"))
        talk.rows()
        assert talk.readings == (1, 0, 2)

    def test_pages_beyond_memory_are_read_again(self, talk: Talk) -> None:
        first = talk.picture("Sorting", "• merge", "• quick")
        talk.show(first)
        talk.show(talk.picture("Searching in a sorted list", "• binary", "• by interpolation", "• hashing"))
        talk.show(first)
        talk.rows(pages=1)
        assert talk.readings[0] + talk.readings[1] == 3


class TestNoise:
    def test_two_readings_of_one_line_are_one_line(self, talk: Talk) -> None:
        page = talk.picture("Stream ciphers are semantically secure")
        inked = page.copy()
        inked[46:52, 60:200] = 128  # a stroke of ink over the line: it is read again, a little otherwise
        talk.show(page)
        talk.texts[inked.tobytes()] = [
            replace(talk.texts[page.tobytes()][0], text="Stream ciphers are semantlcally secure")
        ]
        talk.show(inked)
        assert talk.told() == [(0, 20, "Stream ciphers are semantically secure")]

    def test_a_changed_number_is_another_line(self, talk: Talk) -> None:
        talk.show(talk.picture("The learning rate is 0.15 here", "Loss falls"))
        talk.show(talk.picture("The learning rate is 0.85 here", "Loss falls"))
        texts = [text for _, _, text in talk.told()]
        assert any("0.15" in t for t in texts) and any("0.85" in t for t in texts)


class TestMotion:
    def test_moving_areas_are_not_read(self, talk: Talk) -> None:
        talk.show(talk.picture("Sorting"), moving=(CAMERA,))
        talk.rows()
        assert talk.recogniser.asked == [(None, (CAMERA,))]

    def test_a_moving_area_that_comes_to_rest_is_read(self, talk: Talk) -> None:
        below: Box = (0.0, 0.3, 1.0, 0.6)
        page = talk.picture("Sorting", "", "shown in the film")
        talk.show(page, moving=(below,))
        talk.show(page)
        assert talk.told() == [(0, 20, "Sorting"), (10, 20, "shown in the film")]

    def test_a_slide_beside_a_speaker_who_fills_half_of_the_picture_is_read_each_time(self, talk: Talk) -> None:
        for n in range(3):
            talk.show(talk.picture(f"Page {n}"), 4_000, moving=((0.47, 0.0, 1.0, 1.0),))
        assert [r.start_ms for r in talk.rows(footage_ms=10_000)] == [0, 4_000, 8_000]

    def test_a_camera_picture_without_text_is_not_read_again_where_it_moved_a_little(self, talk: Talk) -> None:
        def beside(shift: int, *captions: str) -> Picture:
            page = talk.picture("Sorting")
            y, x = np.mgrid[0:160, 0:200]
            seen = 120 + 50 * np.sin((x - shift) / 5) * np.sin(y / 7) + 60 * np.sin((x - shift) / 60 + y / 40)
            view = talk.like(page, page.copy())
            view[180:340, 420:620] = seen.clip(0, 255).astype(np.uint8)[..., None]
            lines = list(talk.texts[page.tobytes()])
            for text in captions:
                strokes = np.random.default_rng(1).integers(0, 2, (20, 120)) * 255
                view[250:270, 460:580] = strokes[..., None]
                lines.append(TextLine(text, (460 / WIDTH, 250 / HEIGHT, 580 / WIDTH, 270 / HEIGHT), 0.99))
            talk.texts[view.tobytes()] = lines
            return view

        talk.show(beside(0))
        talk.show(beside(4))
        talk.show(beside(8, "On the air"))
        assert talk.told() == [(0, 30, "Sorting"), (20, 30, "On the air")]
        assert talk.readings == (1, 1, 2)

    def test_footage_is_read_once_in_a_while_and_says_what_was_not_read(self, talk: Talk) -> None:
        for n in range(6):
            talk.show(talk.picture(f"street sign number {n} of the long road"), 4_000, moving=((0, 0, 1, 1),))
        rows = talk.rows(footage_ms=10_000)
        assert [(r.start_ms, r.end_ms) for r in rows] == [(0, 4_000), (12_000, 16_000)]
        assert rows[1].origin.settings == {"looks_not_read": 2}

    def test_rows_of_a_page_with_more_lines_than_are_read_say_so(
        self, talk: Talk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full, usual = talk.picture("A sheet of numbers", "and more"), talk.picture("Another page", "of two lines")
        read = talk.recogniser.read

        def with_limit(image: Picture, region: Box | None = None, skip: Sequence[Box] = ()) -> list[TextLine]:
            talk.recogniser.counts.left_out += 700 if image is full else 0
            return read(image, region, skip)

        monkeypatch.setattr(talk.recogniser, "read", with_limit)
        talk.show(full)
        talk.show(usual)
        assert [r.origin.settings for r in talk.rows()] == [{"lines_not_read": 700}, {}]
        assert talk.readings[0] + talk.readings[1] == 2

    def test_brief_camera_pictures_after_one_without_text_are_left_out_but_a_brief_slide_is_not(
        self, talk: Talk
    ) -> None:
        for n in range(3):
            street = np.random.default_rng(n).integers(0, 255, (HEIGHT, WIDTH, 3), np.uint8).astype(np.uint8)
            talk.texts[street.tobytes()] = []
            talk.show(street, 1_000)
        talk.show(talk.picture("Sorting"), 1_000)
        assert talk.told() == [(3, 4, "Sorting")]
        assert talk.readings[0] + talk.readings[1] == 3


def test_the_bundled_recogniser_reads_a_growing_slide_by_parts() -> None:
    """The real one, on drawn type: a page, then the added point alone, then nothing for the page that returns."""

    def slide(*texts: str) -> Picture:
        picture = Image.new("RGB", (WIDTH, HEIGHT), "white")
        pen = ImageDraw.Draw(picture)
        for row, text in enumerate(texts):
            pen.text((40, 30 + 55 * row), text, fill="black", font=ImageFont.load_default(36 if row == 0 else 26))
        return np.asarray(picture)

    talk = Talk()
    first = slide("Sorting by comparison", "Merge sort takes n log n steps")
    talk.show(first)
    talk.show(slide("Sorting by comparison", "Merge sort takes n log n steps", "Quick sort: 3.5 times faster"))
    talk.show(
        slide(
            "Searching", "Binary search halves the list", "It needs a sorted list", "And 20 steps for 1,000,000 items"
        )
    )
    talk.show(first)
    recogniser = RapidRecogniser(threads=1)
    rows = list(read_screen("v", talk.looks, recogniser))
    assert [(r.start_ms // 1000, r.end_ms // 1000, r.text) for r in rows] == [
        (0, 20, "Sorting by comparison\nMerge sort takes n log n steps"),
        (10, 20, "Quick sort: 3.5 times faster"),
        (20, 30, "Searching\nBinary search halves the list\nIt needs a sorted list\nAnd 20 steps for 1,000,000 items"),
        (30, 40, "Sorting by comparison\nMerge sort takes n log n steps"),
    ]
    assert recogniser.counts.pages + recogniser.counts.parts == 3
    assert recogniser.counts.lines == 2 + 1 + 4


class TestGoingOn:
    def long_talk(self, talk: Talk) -> None:
        for n in range(4):
            title = f"Chapter {n} of the whole story"
            talk.show(talk.picture(title, f"• first of {n}"))
            talk.show(talk.picture(title, f"• first of {n}", f"• second of {n}"))
        talk.show(talk.picture("Chapter 1 of the whole story", "• first of 1"))
        talk.show(talk.picture("Chapter 3 of the whole story", "• first of 3", "• second of 3"))

    def test_after_any_number_of_committed_rows_the_rest_is_the_same(self, talk: Talk) -> None:
        self.long_talk(talk)
        whole = talk.rows()
        assert len(whole) == 10
        for cut in range(len(whole) + 1):
            rest = talk.rows(done=whole[:cut])
            assert [r.id for r in whole[:cut]] + [r.id for r in rest] == [r.id for r in whole]

    def test_what_committed_rows_tell_is_not_recognised_again(self, talk: Talk) -> None:
        self.long_talk(talk)
        whole = talk.rows()
        talk.recogniser.asked.clear()
        talk.rows(done=whole[:-1])
        assert len(talk.recogniser.asked) <= 1

    def test_rows_leave_at_page_turns_so_that_no_page_is_split(self, talk: Talk) -> None:
        self.long_talk(talk)
        seen: list[int] = []
        stream = read_screen("v", (seen.append(i) or look for i, look in enumerate(talk.looks)), talk.recogniser)
        assert next(stream).start_ms == 0
        assert seen == [0, 1, 2]
