"""What could be read on screen, and when: looks of a video → screen rows.

Enters: the looks of one video in order of time, each with its picture. Leaves: evidence rows of kind "screen". Knows nothing
of files, and nothing of what a slide is.

A row holds the lines that appeared together and went together, in reading order: a slide's first state is one row, each
bullet added later is another, and all end where the slide goes. Rows end at a page turn, so that each page's rows have
its title even where the title stays.

Recognition costs a second a page, so it is asked for what is new alone. Each look's picture is compared, pixel by pixel,
with the page before it and with remembered pages that look like it; lines under which nothing changed are taken over, and
the rest is read: nothing, one part of the page, or the whole. Moving areas (a camera box, a video playing inside) are
not read, nor is a picture without text that only moved a little; footage, where most of the picture moves, is read once in
a while, and rows say how many looks were left out, and how many lines of a page that has more than a person can read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from videmus.config import ReadingSettings
from videmus.model import Box, Evidence, Frame, Look, Origin, ScreenDetail, TextLine, evidence_id
from videmus.models.text_recognition import Picture, TextRecogniser, inside
from videmus.perceive.page_changes import (
    Plane,
    changed_cells,
    changed_part,
    cover,
    flat_share,
    luma_of,
    mark_box,
    merely_moved,
)
from videmus.perceive.reading_order import ordered, page_text
from videmus.perceive.tables import BULLET

STAGE = "screen"
VERSION = 1


def read_screen(
    video: str,
    frames: Iterable[tuple[Frame, Picture]],
    recogniser: TextRecogniser,
    settings: ReadingSettings | None = None,
    *,
    done: Sequence[Evidence] = (),
) -> Iterator[Evidence]:
    """Screen rows of `video`, each when its lines have gone from the screen.

    `frames` are its looks in order of time with their pictures (height × width × 3, RGB, uint8). `done` are the rows that an
    interrupted run committed: what they tell is not recognised again, and they are not yielded again. Raises ValueError for a
    frame without a look.
    """
    reader = _Reader(video, recogniser, settings or ReadingSettings(), done)
    for frame, image in frames:
        yield from reader.see(frame, image)
    yield from reader.finish()


@dataclass(slots=True)
class _Shown:
    """A line on screen, since when, and the frame that it was read from."""

    line: TextLine
    since_ms: int
    frame: str


@dataclass(slots=True, eq=False)
class _Page:
    """A page as it was read: small luma, what moved on it, its lines."""

    hash: int
    luma: Plane
    moving: tuple[Box, ...]
    lines: list[TextLine]


class _Reader:
    def __init__(
        self, video: str, recogniser: TextRecogniser, settings: ReadingSettings, done: Sequence[Evidence]
    ) -> None:
        self.video = video
        self.recogniser = recogniser
        self.settings = settings
        self.done = done
        self.known = {row.id for row in done}
        self.resume_ms = _last_turn(done)
        self.shown: list[_Shown] = []
        self.ended: list[
            Evidence
        ] = []  # rows of the page on screen: they leave together, so that a kill never splits a page
        self.pages: list[_Page] = []
        self.page: _Page | None = None
        self.end_ms = 0
        self.footage_ms: int | None = None
        self.skipped = 0
        self.left_out: dict[str, int] = {}  # lines that the recogniser left out, by frame
        self.aspect = 16 / 9

    # ------------------------------------------------------------ one look

    def see(self, frame: Frame, image: Picture) -> Iterator[Evidence]:
        look = frame.look
        if look is None:
            raise ValueError(f"frame {frame.id} has no look: screen text is read from the change detector's frames")
        self.aspect = image.shape[1] / image.shape[0]
        footage = cover(look.moving) > self.settings.footage_share
        page = _Page(int(frame.hash, 16), luma_of(image, self.settings.width), () if footage else look.moving, [])
        told = look.start_ms < self.resume_ms
        if not self._due(look, page, footage):
            yield from self._turn([], look.start_ms, frame.id)
            self.skipped += not told
            return
        if told:
            shown = [x for row in self.done if row.start_ms <= look.start_ms < row.end_ms for x in _lines_of(row)]
            page.lines = ordered(shown, self.aspect)
        else:
            before = self.recogniser.counts.left_out
            self._read(page, image)
            if self.recogniser.counts.left_out > before:
                self.left_out[frame.id] = self.recogniser.counts.left_out - before
            yield from self._turn(page.lines, look.start_ms, frame.id)
        self.page = page
        self.pages.append(page)
        del self.pages[: -self.settings.pages]
        self.end_ms = look.end_ms

    def finish(self) -> Iterator[Evidence]:
        yield from self._turn([], self.end_ms, "")

    def _due(self, look: Look, page: _Page, footage: bool) -> bool:
        """Whether to read this look. Of footage, and of brief pictures without flat ground that follow a picture without text,
        only one every so often is."""
        brief = look.end_ms - look.start_ms < self.settings.brief_ms
        textless = self.page is not None and not self.page.lines
        if not footage and not (brief and textless and flat_share(page.luma) < self.settings.flat_share):
            return True
        if self.footage_ms is not None and look.start_ms - self.footage_ms < self.settings.footage_ms:
            return False
        self.footage_ms = look.start_ms
        return True

    # ------------------------------------------------------------ reading what is new

    def _read(self, page: _Page, image: Picture) -> None:
        """Fill in the page's lines: those of the nearest known page that still stand, and what is read anew."""
        base, changed = self._nearest(page)
        if base is None or changed.mean() > self.settings.whole_share:
            lines = self._clean(self.recogniser.read(image, None, page.moving))
            old = [] if base is None else base.lines
            page.lines = [_steady(line, old, self.settings.same_text, False) for line in lines]
            return
        visible = [x for x in base.lines if not any(inside(x.box, m) > 0.5 for m in page.moving)]
        kept = [x for x in visible if not _touched(x, changed, self.aspect)]
        lost = [x for x in visible if x not in kept]
        page.lines = list(kept)
        part = changed_part(changed, [x.box for x in lost], page.luma, self.settings.change_level)
        if part is not None and not self._textless(page, base, changed, part):
            for line in self._clean(self.recogniser.read(image, part, (*page.moving, *(x.box for x in kept)))):
                if not any(max(inside(line.box, x.box), inside(x.box, line.box)) > 0.5 for x in page.lines):
                    page.lines.append(_steady(line, lost, self.settings.same_text, True))
        page.lines = ordered(page.lines, self.aspect)

    def _textless(self, page: _Page, base: _Page, changed: NDArray[np.bool_], part: Box) -> bool:
        """Whether a part where no text was has none now: a camera's picture that moved a little. What moved on the base was not
        read there."""
        unknown = [*(x.box for x in base.lines), *base.moving]
        if any(inside(box, part) > 0 for box in unknown):
            return False
        return merely_moved(base.luma, page.luma, changed, part, self.settings)

    def _nearest(self, page: _Page) -> tuple[_Page | None, NDArray[np.bool_]]:
        """The page that differs least from this one, of the one before and those that look like it; and the cells that
        differ."""
        candidates = [p for p in self.pages if (p.hash ^ page.hash).bit_count() <= self.settings.page_bits]
        if self.page is not None and self.page not in candidates:
            candidates.append(self.page)
        best: _Page | None = None
        least = np.ones((1, 1), bool)
        for candidate in reversed(candidates):
            if candidate.luma.shape != page.luma.shape:
                continue
            # What moved on the remembered page was not read there: it counts as changed where it rests now.
            cells = changed_cells(candidate.luma, page.luma, self.settings)
            for box in candidate.moving:
                mark_box(cells, box, True)
            for box in page.moving:
                mark_box(cells, box, False)
            if best is None or cells.sum() < least.sum():
                best, least = candidate, cells
        return best, least

    def _clean(self, lines: Sequence[TextLine]) -> list[TextLine]:
        """Without what is no text: little confidence, no letter, digit or sign of mathematics."""
        kept = []
        for line in lines:
            letters = re.findall(r"\w", line.text)
            least = self.settings.short_confidence if len(letters) <= 2 else self.settings.least_confidence
            bare = not letters and (BULLET.match(line.text) is not None or len(line.text.strip()) < 1)
            if line.confidence >= least and not bare:
                kept.append(line)
        return ordered(kept, self.aspect)

    # ------------------------------------------------------------ rows

    def _turn(self, lines: Sequence[TextLine], at_ms: int, frame: str) -> Iterator[Evidence]:
        """Compare what is shown with what was; at a page turn, the rows of the page that went."""
        before = {(s.line.text, s.line.box): s for s in self.shown}
        kept = [before[x.text, x.box] for x in lines if (x.text, x.box) in before]
        old = sum(len(s.line.text) for s in self.shown)
        if sum(len(s.line.text) for s in kept) < self.settings.turn_share * old:
            kept = []
        standing = {(s.line.text, s.line.box): s for s in kept}
        gone = [s for s in self.shown if (s.line.text, s.line.box) not in standing]
        for start_ms in sorted({s.since_ms for s in gone}):
            self.ended.append(self._row([s for s in gone if s.since_ms == start_ms], start_ms, at_ms))
        self.shown = [standing.get((x.text, x.box)) or _Shown(x, at_ms, frame) for x in lines]
        if not kept:
            yield from sorted((r for r in self.ended if r.id not in self.known), key=lambda r: (r.start_ms, r.end_ms))
            self.ended = []

    def _row(self, together: Sequence[_Shown], start_ms: int, end_ms: int) -> Evidence:
        """Lines that came together and went together."""
        lines = [s.line for s in together]
        text = page_text(lines, self.aspect)
        skipped, self.skipped = self.skipped, 0
        counted = {"looks_not_read": skipped, "lines_not_read": self.left_out.get(together[0].frame, 0)}
        return Evidence(
            id=evidence_id(self.video, "screen", start_ms, end_ms, text),
            video=self.video,
            start_ms=start_ms,
            end_ms=end_ms,
            kind="screen",
            text=text,
            origin=Origin(STAGE, VERSION, self.recogniser.name, {k: n for k, n in counted.items() if n}),
            detail=ScreenDetail(tuple(ordered(lines, self.aspect)), together[0].frame),
        )


# ---------------------------------------------------------------- lines, old and new


def _touched(line: TextLine, changed: NDArray[np.bool_], aspect: float) -> bool:
    """Whether a pixel under the line, or where it would go on, changed."""
    rows, columns = changed.shape
    left, top, right, bottom = line.box
    more = (bottom - top) / aspect
    window = changed[
        int(top * rows) : max(int(top * rows) + 1, int(np.ceil(bottom * rows))),
        max(0, int((left - more) * columns)) : max(1, int(np.ceil((right + more) * columns))),
    ]
    return bool(window.any())


def _steady(line: TextLine, old: Sequence[TextLine], least: float, same_place: bool) -> TextLine:
    """The old reading of the same line, where the new one differs by the recogniser's noise alone."""
    for before in old:
        common = min(inside(line.box, before.box), inside(before.box, line.box))
        if common < 0.5:
            continue
        if line.text == before.text and (same_place or common > 0.85):
            return before
        if re.findall(r"\d", line.text) == re.findall(r"\d", before.text) and _alike(line.text, before.text) >= least:
            return before if before.confidence >= line.confidence else replace(line, box=before.box)
    return line


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()


# ---------------------------------------------------------------- going on


def _last_turn(done: Sequence[Evidence]) -> int:
    """Where the last page turn of the committed rows is: no row before it reaches past it. From there on it is read again."""
    turn = reach = 0
    for row in sorted(done, key=lambda r: r.start_ms):
        if row.start_ms >= reach:
            turn = row.start_ms
        reach = max(reach, row.end_ms)
    return turn


def _lines_of(row: Evidence) -> tuple[TextLine, ...]:
    return row.detail.lines if isinstance(row.detail, ScreenDetail) else ()
