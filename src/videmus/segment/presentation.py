"""Is a look a slide, and is the video a presentation at all?

Enters: pages. Leaves: decisions. Knows nothing of which slide it is.

A slide stands still, but for a camera's box, ink or a video on it, and is mostly even ground with text on it. A speaker, an
audience or a film fills the picture with motion and texture, and its few words are signs, captions and logos. What is
undecided by itself (a picture without words) is decided by the company it keeps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from videmus.config import SlideSettings
from videmus.segment.pages import Page, coarse_likeness, loss

Kind = Literal["text", "picture", "none"]


def kind(page: Page, settings: SlideSettings, before: Page | None = None) -> Kind:
    """ "text": a slide by its words. "picture": still and nearly wordless, a slide where slides are about. "none": no slide.
    `before` is the page of the look before: what stands in the surroundings of a slide is one too."""
    share = float(page.moving.mean())
    if int(page.edges.sum()) < 200 and not page.words:
        return "none"  # black, or one colour
    if share > settings.most_moving:
        return "none"
    words = real_words(page)
    if len(words) >= settings.few_words and not _is_overlay(page):
        return "text" if share <= settings.part_moving or len(words) >= settings.many_words else "none"
    if share > settings.still or (before is not None and _rests_in(page, before, settings)):
        return "none"
    if _in_same_surroundings(page, before, settings):
        return "picture"
    start, end = _span(page)
    if end - start < settings.lasting_ms:
        return "none"  # too brief to know that nothing moves on it
    return "picture" if page.flat >= settings.flat or not page.moving.any() else "none"


def is_presentation(pages: Sequence[Page], settings: SlideSettings | None = None) -> bool:
    """Whether slides carry the video: pages with many words on even ground that stand still for seconds, over a share of its
    time; or pages of few words, over more of it. A film's title cards and captions are brief, few, or lie over motion."""
    settings = settings or SlideSettings()
    end_ms = max((_span(p)[1] for p in pages), default=0)
    rich = terse = 0
    for page in pages:
        start, end = _span(page)
        if end - start < settings.lasting_ms or kind(page, settings) != "text":
            continue
        if len(real_words(page)) >= settings.many_words and page.flat >= settings.flat_least:
            rich += end - start
        elif page.flat >= settings.flat_terse and page.moving.mean() <= settings.still:
            terse += end - start
    enough = rich >= max(settings.lasting_ms, settings.presented * end_ms)
    return enough or rich + terse >= max(2 * settings.lasting_ms, settings.presented_terse * end_ms)


def real_words(page: Page) -> list[str]:
    """Words of at least two letters, or numbers: specks on a photograph are read as single marks."""
    return [w.word for w in page.words if re.search(r"[^\W\d_]{2}|\d", w.word)]


def _is_overlay(page: Page) -> bool:
    """All words stand in a band at the lower edge: subtitles, a ticker, a watermark."""
    return bool(page.words) and all(w.box[1] > 0.72 for w in page.words)


def _rests_in(page: Page, before: Page, settings: SlideSettings) -> bool:
    """Whether a wordless page goes on with a picture that moved all over: a speaker who keeps still for a while."""
    if (
        before.kind != "none"
        or before.moving.mean() <= settings.most_moving
        or before.coarse.shape != page.coarse.shape
    ):
        return False
    return coarse_likeness(page, before) > settings.same_shot


def _in_same_surroundings(page: Page, before: Page | None, settings: SlideSettings) -> bool:
    """Whether the page before was a slide and a good part of what stood around it still does: the hall that a projection is
    filmed in. A cut to a speaker or a film leaves nothing."""
    if before is None or before.kind == "none":
        return False
    came = loss(page, before)
    stays = came.of - came.cells
    return stays >= settings.surroundings_cells and stays >= settings.surroundings * came.of


def _span(page: Page) -> tuple[int, int]:
    look = page.frame.look
    return (look.start_ms, look.end_ms) if look else (page.frame.at_ms, page.frame.at_ms + 1)
