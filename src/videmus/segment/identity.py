"""Whether two pages are one slide: what went, what came, and what only moved or changed its colour.

Enters: pages. Leaves: a verdict with its reason. Knows nothing of time.

A page that only adds to, or recolours, another is a state of the same slide; so is one from which something only went,
while its title or half of its words stay. A word or number replaced by another is another slide, but for a page number; so
is a figure replaced. A word is lost only where its pixels changed: recognition alone errs too often to split a slide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

import numpy as np

from videmus.config import SlideSettings
from videmus.model import Box
from videmus.segment.pages import Loss, Mask, Page, Placed, cells_of, loss, patch_likeness
from videmus.segment.scrolling import scrolled
from videmus.segment.titles import title_line

Verdict = Literal["same", "removed", "other", "undecided"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`verdict` of a later page against an earlier: "same" (it adds, recolours, or changes nothing), "removed" (something
    only went), "other", or "undecided"; `reason` says why, for people who look into it. `lost` are the words that went,
    `replaced` is whether others stand in the place of any."""

    verdict: Verdict
    reason: str
    lost: tuple[str, ...] = ()
    share: float = 0.0
    replaced: bool = False


def compare(before: Page, after: Page, settings: SlideSettings, ignore: Mask | None = None) -> Comparison:
    """Is `after` a state of the slide that `before` shows? `ignore` are cells of which nothing is concluded."""
    went = loss(before, after, ignore)
    if went.of == 0:
        return Comparison("other" if after.words else "same", "nothing stood on the page before")
    lost = _lost_words(before, after, went)
    if not lost and went.cells <= settings.stray_cells:
        return Comparison("same", "all of it stays", share=went.share)
    came = loss(after, before, ignore)
    if lost:
        found = _with_lost_words(before, after, went, came, lost, settings)
    else:
        found = _without_lost_words(before, went, came, settings)
    if found.verdict in ("other", "undecided") and scrolled(before, after, went.gone | came.gone):
        return Comparison("same", "it scrolled", share=went.share)
    return found


def _with_lost_words(
    before: Page, after: Page, went: Loss, came: Loss, lost: list[Placed], settings: SlideSettings
) -> Comparison:
    texts = tuple(w.word for w in lost)
    kept = 1 - len(texts) / max(1, len(before.words))
    replaced = any(_overlap(word.box, other.box) for word in lost for other in after.words)
    known = kept >= 0.5 or not any(w in lost for w in title_words(before))
    if known and not replaced and _only_went(went, came, settings):
        return Comparison("removed", "words only went", texts, went.share)
    return Comparison("other", "words were replaced", texts, went.share, replaced)


def _without_lost_words(before: Page, went: Loss, came: Loss, settings: SlideSettings) -> Comparison:
    """No word is lost: a figure went or changed, or the recogniser saw what it had not seen."""
    figure = went.gone & ~cells_of([w.box for w in before.words], before.luma.shape)
    cells = int(figure.sum())
    share = cells / max(1, went.of)
    if cells <= settings.figure_cells or share <= settings.figure_share:
        return Comparison("same", "little of a figure changed", share=went.share)
    if _only_went(went, came, settings):
        return Comparison("removed", "a figure only went", share=went.share)
    if share >= settings.figure_gone or not before.words:
        return Comparison("other", "a figure was replaced", share=went.share)
    return Comparison("undecided", "a part of a figure changed", share=went.share)


def _only_went(went: Loss, came: Loss, settings: SlideSettings) -> bool:
    """What is gone left blank ground, and nothing came."""
    return int((went.gone & ~went.blank).sum()) <= settings.stray_cells + 0.1 * went.cells and (
        came.cells <= settings.stray_cells + 0.1 * went.cells
    )


# ---------------------------------------------------------------- words


def _lost_words(before: Page, after: Page, went: Loss) -> list[Placed]:
    """The words whose pixels changed and that stand nowhere near."""
    places: dict[str, list[Placed]] = defaultdict(list)
    for word in after.words:
        places[word.word].append(word)
    lost = []
    moving = before.moving | after.moving if before.moving.shape == after.moving.shape else before.moving
    for word, following in zip_longest(before.words, before.words[1:]):
        if _covered(word.box, moving):
            continue
        near = [_shift(word, other) for other in places[word.word]]
        gone = _is_gone(word.box, went)
        if not gone and any(abs(across) + abs(down) < HERE for across, down in near):
            continue
        if is_page_number(word) or not (gone or _is_replaced(word, before, after)):
            continue
        if near:
            if min(max(abs(across), abs(down)) for across, down in near) > NEAR:
                lost.append(word)
        elif not _like_one_of(word, after) and not _joined(word, following, places):
            lost.append(word)
    return lost


HERE = 0.01
"""A word read so near to where it stood, of the picture's side, stands there still."""

NEAR = 0.03
"""How far a word may have moved, of the picture's side, and still be a state's: text that is centred anew as it grows."""


def _shift(a: Placed, b: Placed) -> tuple[float, float]:
    return b.box[0] - a.box[0], b.box[1] - a.box[1]


def _window(box: Box, cells: Mask) -> tuple[slice, slice]:
    """The cells that a box touches."""
    rows, columns = cells.shape
    return np.s_[
        int(box[1] * rows) : int(np.ceil(box[3] * rows)), int(box[0] * columns) : int(np.ceil(box[2] * columns))
    ]


def _covered(box: Box, moving: Mask) -> bool:
    """Whether most of a box lies under what moves: a person may stand before it."""
    under = moving[_window(box, moving)]
    return bool(2 * under.sum() > under.size)


def _is_gone(box: Box, went: Loss) -> bool:
    """Whether half of the structure in a box is gone."""
    window = _window(box, went.gone)
    return bool(2 * went.gone[window].sum() >= max(1, went.structured[window].sum()))


def _is_replaced(word: Placed, before: Page, after: Page) -> bool:
    """Whether another word was read at its place and its pixels bear that out: one letter of it suffices. Ink over a word
    keeps its edges, ink that is wiped off it leaves no new ones."""
    others = [w for w in after.words if _overlap(word.box, w.box)]
    if not others or any(w.word == word.word for w in others):
        return False
    likeness, kept = patch_likeness(before, after, word.box)
    if likeness < 0.5:
        return True
    if likeness >= 0.9 or kept >= 0.98:
        return False
    return patch_likeness(after, before, word.box)[1] < 0.98


def _like_one_of(word: Placed, page: Page) -> bool:
    """Whether a word was read a little differently at its place: one letter in five, or run together with its neighbours.
    Digits must agree."""
    digits = re.sub(r"\D", "", word.word)
    for other in page.words:
        if not _overlap(word.box, other.box) or digits != re.sub(r"\D", "", other.word):
            continue
        if len(word.word) >= 4 and word.word in other.word:
            return True
        if len(word.word) >= 5 and SequenceMatcher(None, word.word, other.word).ratio() >= 0.8:
            return True
    return not digits and len(word.word) >= 4 and word.word in _run_together(word, page)


def _joined(word: Placed, following: Placed | None, places: dict[str, list[Placed]]) -> bool:
    """Whether a word was read as one with the word after it, near its place."""
    if following is None:
        return False
    return any(
        max(abs(v) for v in _shift(word, other)) <= NEAR
        for text in places
        if text.startswith(word.word + following.word)
        for other in places[text]
    )


def _run_together(word: Placed, page: Page) -> str:
    """The letters of the words at a word's height that reach near it."""
    left, top, right, bottom = word.box
    near = sorted(
        (w.box[0], w.word)
        for w in page.words
        if abs(w.box[1] + w.box[3] - top - bottom) < bottom - top and w.box[0] < right + NEAR and w.box[2] > left - NEAR
    )
    return "".join(w for _, w in near)


def _overlap(a: Box, b: Box) -> bool:
    down = min(a[3], b[3]) - max(a[1], b[1])
    if down <= 0:
        return False
    across = min(a[2], b[2]) - max(a[0], b[0])
    return across > 0.5 * min(a[2] - a[0], b[2] - b[0]) and down > 0.5 * min(a[3] - a[1], b[3] - b[1])


PAGE_NUMBER = re.compile(r"\d{1,4}([/|]\d{1,4})?")


def is_page_number(word: Placed) -> bool:
    """A number alone at the lower or upper edge of the page."""
    _, top, _, bottom = word.box
    middle = (top + bottom) / 2
    return bool(PAGE_NUMBER.fullmatch(word.word)) and (middle > 0.88 or middle < 0.06) and bottom - top < 0.08


def title_words(page: Page) -> list[Placed]:
    """The words of the page's first large line (see `titles.title`)."""
    line = title_line(page.lines)
    if line is None:
        return []
    return [w for w in page.words if w.box[1] == line.box[1] and w.box[3] == line.box[3]]
