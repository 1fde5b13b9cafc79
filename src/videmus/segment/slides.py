"""Which slide is on screen when: looks and what was read on them → slide segments, one for each showing.

Enters: frame rows of one video with their pictures, its screen rows. Leaves: slide segments in order of time, each with its
states, title, text, keyframe and printed number. Knows nothing of files, speech recognition or the store.

The looks already end where the picture changes, to a tenth of a second. Here each is compared with the slide on screen:
nothing of it lost, it is a state of that slide; something replaced, another one; no slide at all, the showing ends. A
slide that comes back is found among the earlier ones, by its last, first or fullest state. Where nobody can say, and only
there, a vision model is asked, if one is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.config import SlideSettings
from videmus.model import Evidence, Frame, Look, Origin, Segment, State, TextLine, Video, segment_id
from videmus.perceive.reading_order import ordered, page_text
from videmus.segment.identity import Comparison, compare
from videmus.segment.pages import Page, coarse_likeness, page
from videmus.segment.presentation import is_presentation, kind
from videmus.segment.similarity import structural_similarity
from videmus.segment.titles import printed_number, running, title

STAGE = "slides"
VERSION = 1

Picture = NDArray[np.uint8]


class SameSlide(Protocol):
    """Asks a vision model whether two pictures (height × width × 3, RGB) show the same slide; None: it could not tell."""

    def __call__(self, one: Picture, other: Picture, /) -> bool | None: ...


@dataclass(slots=True)
class Asked:
    """How often the vision model was asked."""

    calls: int = 0


def slides(
    video: Video,
    frames: Sequence[Frame],
    picture: Callable[[Frame], Picture],
    screen: Sequence[Evidence],
    settings: SlideSettings | None = None,
    *,
    same_slide: SameSlide | None = None,
    asked: Asked | None = None,
) -> Iterator[Segment]:
    """The showings of slides, in order of time; none where the video is no presentation.

    `frames` are the video's looks (frames without a look are passed over), `picture` gives a frame's picture (height × width ×
    3, RGB, uint8), `screen` the rows read from them. `slide` numbers count from 1 and are equal for showings of one slide.
    `same_slide` is asked only for pairs that the comparison leaves undecided and whose structural similarity lies between
    PreMind's two thresholds; `asked` counts.
    """
    settings = settings or SlideSettings()
    looks = sorted((f for f in frames if f.look is not None), key=lambda f: _look(f).start_ms)
    moving = _often_moving(looks)
    deck = _Deck(video, settings, picture, same_slide, asked or Asked())
    pages: list[Page] = []
    before: Page | None = None
    for frame, rows in _with_rows(looks, screen):
        if _look(frame).end_ms - _look(frame).start_ms < settings.brief_ms:
            continue
        found = page(frame, picture(frame), rows, also_moving=moving)
        found.kind = kind(found, settings, before)
        deck.see(found)
        before = found
        pages.append(found.summary())
    if is_presentation(pages, settings):
        yield from deck.segments()


def _look(frame: Frame) -> Look:
    assert frame.look is not None
    return frame.look


def _with_rows(frames: Sequence[Frame], screen: Sequence[Evidence]) -> Iterator[tuple[Frame, list[Evidence]]]:
    """Each frame with the rows on screen for the better part of its look."""
    rows = sorted((r for r in screen if r.kind == "screen"), key=lambda r: (r.start_ms, r.end_ms))
    first = 0
    for frame in frames:
        look = _look(frame)
        while first < len(rows) and rows[first].end_ms <= look.start_ms:
            first += 1
        half = (look.end_ms - look.start_ms) / 2
        on = []
        for row in rows[first:]:
            if row.start_ms >= look.end_ms:
                break
            if min(row.end_ms, look.end_ms) - max(row.start_ms, look.start_ms) >= half:
                on.append(row)
        yield frame, on


def _often_moving(frames: Sequence[Frame]) -> list[tuple[float, float, float, float]]:
    """Boxes that move in a quarter of the time in which not most of the picture does: the speaker's camera, which may rest
    just while a look lasts."""
    time = np.zeros((90, 160))
    whole = 0
    for frame in frames:
        look = _look(frame)
        mask = np.zeros((90, 160), bool)
        for left, top, right, bottom in look.moving:
            mask[int(top * 90) : int(np.ceil(bottom * 90)), int(left * 160) : int(np.ceil(right * 160))] = True
        if mask.mean() < 0.3:
            time += mask * (look.end_ms - look.start_ms)
            whole += look.end_ms - look.start_ms
    often = time >= max(1, 0.25 * whole)
    return [(x / 160, y / 90, (x + 1) / 160, (y + 1) / 90) for y, x in zip(*np.nonzero(often), strict=True)]


# ---------------------------------------------------------------- the deck so far


@dataclass(slots=True)
class _Slide:
    """One slide: the pages it is known again by (first, fullest, last)."""

    number: int
    first: Page
    fullest: Page
    last: Page

    def known_by(self) -> list[Page]:
        return list(dict.fromkeys((self.last, self.fullest, self.first)))


@dataclass(slots=True)
class _Showing:
    slide: _Slide
    start_ms: int
    end_ms: int
    states: list[tuple[int, int, str]] = field(default_factory=list)
    opened: tuple[TextLine, ...] = ()
    final: Page | None = None
    sources: list[str] = field(default_factory=list)


class _Deck:
    def __init__(
        self,
        video: Video,
        settings: SlideSettings,
        picture: Callable[[Frame], Picture],
        same_slide: SameSlide | None,
        asked: Asked,
    ) -> None:
        self.video = video
        self.settings = settings
        self.picture = picture
        self.same_slide = same_slide
        self.asked = asked
        self.slides: list[_Slide] = []
        self.showings: list[_Showing] = []
        self.current: _Showing | None = None
        self.removed = False

    def see(self, found: Page) -> None:
        """Take the next look's page."""
        if found.kind == "none":
            self.current = None
            return
        look = _look(found.frame)
        if self.current is not None and self._belongs(found):
            self._add(found)
            return
        slide = self._known(found) or self._new(found)
        if self.current is not None and slide is self.current.slide:
            self._add(found)  # unlike its last state, a person before it, but like another of its states: it never went
            return
        self.current = _Showing(slide, look.start_ms, look.end_ms)
        self.showings.append(self.current)
        self.removed = False
        self._add(found)

    def _belongs(self, found: Page) -> bool:
        """Is the page a state of the slide on screen?"""
        assert self.current is not None
        slide = self.current.slide
        result = compare(slide.last, found, self.settings)
        if result.verdict == "undecided":
            if slide.first is not slide.last and compare(slide.first, found, self.settings).verdict == "same":
                return True  # what went had come to the slide: ink, a callout
            return self._ask(slide.last, found)
        if result.verdict == "removed":
            self.removed = True
            return True
        if result.verdict == "same" and self.removed and slide.last is not slide.fullest:
            again = compare(slide.fullest, found, self.settings)
            if again.verdict in ("same", "removed") or self._ink_went(slide, again):
                return True
            return compare(found, slide.last, self.settings).verdict == "same"  # nothing new came
        return result.verdict == "same"

    def _ink_went(self, slide: _Slide, again: Comparison) -> bool:
        """Whether what the fullest state had and this page has not was hardly any words, in whose place nothing came: ink, wiped
        off before the slide grew on."""
        return not again.replaced and 0 < len(again.lost) <= self.settings.ink_words * len(slide.fullest.words)

    def _ask(self, one: Page, other: Page) -> bool:
        if self.same_slide is None:
            return False
        similar = structural_similarity(one.luma, other.luma, self.settings.structure)
        if not self.settings.other_below <= similar <= self.settings.same_above:
            return similar > self.settings.same_above
        self.asked.calls += 1
        return bool(self.same_slide(self.picture(one.frame), self.picture(other.frame)))

    def _known(self, found: Page) -> _Slide | None:
        """The earlier slide that this page shows again: nothing of one is lost in the other, one way or the other."""
        for slide in reversed(self.slides):
            for known in slide.known_by():
                if not _may_be(known, found):
                    continue
                if self._same_again(found, known):
                    return slide
                if self._same_again(known, found) and self._goes_with(slide, known, found):
                    return slide
        return None

    def _goes_with(self, slide: _Slide, known: Page, found: Page) -> bool:
        """Whether a page that adds to one state of a slide goes with its fullest too: two slides may begin alike."""
        if known is slide.fullest:
            return True
        return any(
            compare(*pair, self.settings).verdict in ("same", "removed")
            for pair in ((slide.fullest, found), (found, slide.fullest))
        )

    def _same_again(self, part: Page, whole: Page) -> bool:
        if len(part.words) < self.settings.few_words and len(whole.words) > 2 * len(part.words) + 3:
            return False  # a title alone stands on many pages
        return compare(part, whole, self.settings).verdict == "same"

    def _new(self, found: Page) -> _Slide:
        slide = _Slide(len(self.slides) + 1, found, found, found)
        self.slides.append(slide)
        return slide

    def _add(self, found: Page) -> None:
        showing = self.current
        assert showing is not None
        look = _look(found.frame)
        showing.end_ms = look.end_ms
        aspect = found.frame.width / max(1, found.frame.height)
        text = page_text(found.lines, aspect)
        if showing.states and showing.states[-1][2] == text:
            showing.states[-1] = (showing.states[-1][0], look.end_ms, text)
        else:
            showing.states.append((look.start_ms, look.end_ms, text))
        slide = showing.slide
        if found.content >= slide.fullest.content:
            slide.fullest = found
        slide.last = found
        if not showing.sources and showing.final is None:
            showing.opened = found.lines
        if not self.removed or showing.final is None or found.content >= showing.final.content:
            showing.final = found
        showing.sources.extend(s for s in found.sources if s not in showing.sources)

    # ------------------------------------------------------------ rows

    def segments(self) -> Iterator[Segment]:
        along = running([slide.last.lines for slide in self.slides])
        for showing in self.showings:
            final = showing.final
            assert final is not None
            aspect = final.frame.width / max(1, final.frame.height)
            lines = ordered(final.lines, aspect)
            printed = [line for line in lines if line in showing.opened]  # what came later may be ink
            yield Segment(
                id=segment_id(self.video.id, "slide", showing.start_ms, showing.end_ms),
                video=self.video.id,
                start_ms=showing.start_ms,
                end_ms=showing.end_ms,
                kind="slide",
                origin=Origin(STAGE, VERSION),
                slide=showing.slide.number,
                title=title(printed, along) or title(lines, along) or title(lines),
                text=page_text(final.lines, aspect),
                states=tuple(State(*s) for s in showing.states),
                keyframe=final.frame.id,
                number=printed_number(lines),
                sources=tuple(showing.sources),
            )


def _may_be(one: Page, other: Page) -> bool:
    """A cheap look before the comparison: most of the poorer page's words stand on the other, or, without words, their coarse
    pictures correlate."""
    if one.coarse.shape != other.coarse.shape:
        return False
    words, others = {w.word for w in one.words}, {w.word for w in other.words}
    if min(len(words), len(others)) >= 4:
        return len(words & others) >= 0.6 * min(len(words), len(others))
    return coarse_likeness(one, other) > 0.5
