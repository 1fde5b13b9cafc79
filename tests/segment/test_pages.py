"""What is gone of a page, what moves, what is even: measured on drawn pages."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from slides_material import SIZE, Drawn, drawn, looked, speaker
from videmus.config import SlideSettings
from videmus.segment.identity import compare, is_page_number
from videmus.segment.pages import Page, Placed, loss, page, patch_likeness, placed
from videmus.segment.presentation import is_presentation, kind

LINES = ["A first line of some length", "A second line, which is longer", "And a third"]
FULL = drawn("The title of the page", LINES, number="3")


def paged(picture: Drawn, start_ms: int = 0, end_ms: int = 5_000, moving: tuple = ()) -> Page:
    look = looked(picture, start_ms, end_ms, moving=moving)
    return page(look.frame, look.picture, look.rows)


def test_nothing_is_gone_of_a_page_that_is_noisy_dimmed_or_inverted():
    noise = np.random.default_rng(1).normal(0, 3, (*FULL.picture.shape[:2], 1))
    noisy = Drawn((FULL.picture + noise).clip(0, 255).astype(np.uint8), FULL.lines)
    dimmed = Drawn((FULL.picture * 0.5 + 60).astype(np.uint8), FULL.lines)
    inverted = Drawn(255 - FULL.picture, FULL.lines)
    for other in (noisy, dimmed, inverted):
        assert loss(paged(FULL), paged(other)).cells == 0


def test_a_line_that_went_is_gone_and_leaves_blank_ground():
    went = loss(paged(FULL), paged(drawn("The title of the page", LINES[:2], number="3")))
    assert went.cells >= 4 and went.cells == went.blank.sum()
    rows = np.nonzero(went.gone)[0]
    assert rows.min() * 16 > 130 and rows.max() * 16 < 180


def test_what_moves_is_not_missed():
    other = drawn("The title of the page", LINES[:2], number="3")
    assert loss(paged(FULL), paged(other, moving=((0.0, 0.38, 0.6, 0.52),))).cells == 0


def test_pages_of_two_sizes_have_nothing_in_common():
    small = drawn("The title", size=(320, 180))
    look = looked(small, 0, 1_000)
    assert loss(paged(FULL), page(look.frame, look.picture, look.rows)).share == 1


def test_a_word_stands_in_its_part_of_the_line():
    line = FULL.lines[1]
    words = placed(line)
    assert [w.word for w in words] == ["a", "first", "line", "of", "some", "length"]
    assert words[0].box[0] == line.box[0] and words[-1].box[2] == pytest.approx(line.box[2])
    assert all(a.box[2] < b.box[0] for a, b in pairwise(words))


def test_a_patch_is_like_itself_and_unlike_another_word():
    box = FULL.lines[1].box
    assert patch_likeness(paged(FULL), paged(FULL), box) == (pytest.approx(1), 1)
    other = drawn("The title of the page", ["Quite other words here now", *LINES[1:]], number="3")
    likeness, kept = patch_likeness(paged(FULL), paged(other), box)
    assert likeness < 0.5 and kept < 0.95


@pytest.mark.parametrize(
    ("word", "top", "answer"), [("31", 0.94, True), ("8/21", 0.94, True), ("31", 0.4, False), ("a", 0.94, False)]
)
def test_page_numbers_are_numbers_at_an_edge(word, top, answer):
    assert is_page_number(Placed(word, (0.9, top, 0.95, top + 0.04))) is answer


def test_a_scrolled_document_is_one_page_and_a_replaced_one_is_not():
    random = np.random.default_rng(5)
    words = ["".join(random.choice(list("abcdefginorstu"), 6)) for _ in range(48)]
    text = [" ".join(words[n : n + 6]) for n in range(0, 48, 6)]
    before, after, other = (drawn("", lines) for lines in (text[:7], text[1:], text[::-1][:7]))
    settings = SlideSettings()
    assert compare(paged(before), paged(after), settings).reason == "it scrolled"
    assert compare(paged(before), paged(other), settings).verdict == "other"


def test_kinds_of_looks():
    settings = SlideSettings()
    assert kind(paged(FULL), settings) == "text"
    assert kind(paged(drawn("", figure=2)), settings) == "picture"
    assert kind(paged(Drawn(np.zeros_like(FULL.picture), ())), settings) == "none"
    assert kind(paged(Drawn(speaker(0, SIZE), ()), moving=((0, 0, 1, 1),)), settings) == "none"


def test_subtitles_over_a_film_are_no_slide():
    film = speaker(700, SIZE)
    words = tuple(line for line in drawn("", ["I will not go there, he said to her"], shift=230).lines)
    assert kind(paged(Drawn(film, words), moving=((0.2, 0.1, 0.7, 0.7),)), SlideSettings()) == "none"


def test_a_presentation_shows_slides_for_a_share_of_its_time():
    speakers = [paged(Drawn(speaker(0, SIZE), ()), 5_000, 65_000, ((0, 0, 1, 1),))]
    assert is_presentation([paged(FULL, 0, 5_000), *speakers])
    assert not is_presentation(speakers)
    assert not is_presentation(
        [paged(FULL, 0, 1_000), paged(Drawn(speaker(0, SIZE), ()), 1_000, 90_000, ((0, 0, 1, 1),))]
    )


def test_a_deck_of_few_words_a_page_is_a_presentation():
    pages = [
        paged(drawn(t), n * 9_000, n * 9_000 + 9_000)
        for n, t in enumerate(["What is it good for", "Who pays for it all"])
    ]
    assert is_presentation(pages)
