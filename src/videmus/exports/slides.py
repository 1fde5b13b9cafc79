"""The slides of a video to look at: a deck (PDF) with what was said as notes, and a contact sheet (picture).

Enters: segments, their keyframes, speech. Leaves: bytes. A video without slides shows its clips the same way.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from videmus import clock
from videmus.errors import MediaError, MissingExtraError
from videmus.exports.chapters import titled
from videmus.exports.fonts import Lettering, opened, own_of_pillow
from videmus.exports.notes import paragraphs, shares
from videmus.media import pictures
from videmus.model import Evidence, Segment, Video

if TYPE_CHECKING:
    from fpdf import FPDF

Colour = tuple[int, int, int]

INK: Colour = (25, 28, 33)
FAINT: Colour = (105, 110, 118)
RULE: Colour = (205, 208, 213)
PAPER: Colour = (255, 255, 255)
GROUND: Colour = (236, 238, 241)


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide (or clip) with all its showings, in order of time."""

    name: str
    showings: tuple[Segment, ...]

    @property
    def fullest(self) -> Segment:
        """The showing whose final state holds most text; of equal ones the last."""
        return max(self.showings, key=lambda s: (s.keyframe is not None, len(s.text), s.start_ms))

    @property
    def title(self) -> str:
        """On one line, of bearable length; empty where no showing has one."""
        return next((titled(s.title, "") for s in (self.fullest, *self.showings) if s.title), "")

    @property
    def times(self) -> str:
        return ", ".join(f"{clock.format_time(s.start_ms)}–{clock.format_time(s.end_ms)}" for s in self.showings)


def slides_of(pieces: Sequence[Segment]) -> list[Slide]:
    """Each slide once, in order of first showing."""
    groups: dict[object, list[Segment]] = {}
    for segment in pieces:
        groups.setdefault(segment.id if segment.slide is None else segment.slide, []).append(segment)
    return [
        Slide(f"{s[0].kind.capitalize()} {n if s[0].slide is None else s[0].slide}", tuple(s))
        for n, s in enumerate(groups.values(), 1)
    ]


# ---------------------------------------------------------------- the deck

PAGE_WIDTH, PAGE_HEIGHT = 210.0, 297.0
MARGIN = 14.0
PICTURE_HEIGHT = 0.55 * PAGE_HEIGHT
"""Millimetres: A4 upright, so that a 16:9 picture across the page leaves half of it for notes."""


@dataclass(frozen=True, slots=True)
class Deck:
    """A PDF file, and what its reader should know."""

    data: bytes
    notices: tuple[str, ...] = ()


def deck(
    video: Video,
    pieces: Sequence[Segment],
    keyframes: Mapping[str, bytes],
    speech: Sequence[Evidence],
    links: Mapping[int, str] | None = None,
) -> Deck:
    """A page for each slide in its final state: picture, title, when it was shown, and what was said over all its showings.

    `keyframes` are JPEG bytes by frame id; `links` maps the showings' starts in ms to addresses that open the moment. The
    same rows make the same bytes on one machine. Raises MissingExtraError without fpdf2.
    """
    slides = slides_of(pieces)
    said = dict(zip((s.id for s in pieces), map(paragraphs, shares(pieces, speech)), strict=True))
    lettering = Lettering(_texts(video, slides, said), _in_latin_1)
    page = _Pages(video, lettering, links or {})
    notices, without = [], 0
    for slide in slides:
        picture = _sound(keyframes.get(slide.fullest.keyframe or ""))
        without += picture is None
        page.slide(slide, picture, [(s, said[s.id]) for s in slide.showings])
    if without:
        notices.append(
            f"{without} of {len(slides)} pages have no picture that can be read; the slide's text stands there"
        )
    if lettering.missing:
        notices.append(_lacking(lettering.missing))
        page.remark(notices[-1])
    return Deck(page.output(), tuple(notices))


def _texts(video: Video, slides: Sequence[Slide], said: Mapping[str, Sequence[tuple[str | None, str]]]) -> list[str]:
    texts = [video.title, "–·0123456789"]
    for slide in slides:
        texts += [slide.name, slide.title, slide.fullest.text]
    for rows in said.values():
        texts += [part for speaker, text in rows for part in (speaker or "", text)]
    return texts


def _in_latin_1(character: str) -> bool:
    """What the font inside every PDF reader has."""
    return character.isprintable() and ord(character) < 256


def _lacking(missing: str) -> str:
    some = " ".join(missing[:12]) + (" …" if len(missing) > 12 else "")
    return (
        f"no font of this machine has {len(missing)} of the characters ({some}): □, ? or the nearest letter stands for"
        " them; install a font of that script, such as Noto Sans"
    )


def _sound(jpeg: bytes | None) -> bytes | None:
    """The JPEG as it is where it is RGB or grey and upright, else made again; None where it cannot be read."""
    if not jpeg:
        return None
    try:
        decoded = pictures.decode(jpeg)
    except MediaError:
        return None
    with Image.open(io.BytesIO(jpeg)) as image:
        plain = image.format == "JPEG" and image.mode in ("RGB", "L") and not image.getexif()
    return jpeg if plain else pictures.encode(decoded)


class _Pages:
    """The PDF as it grows."""

    def __init__(self, video: Video, lettering: Lettering, links: Mapping[int, str]) -> None:
        self._pdf = pdf = _new_pdf(self._foot)
        self._lettering, self._links = lettering, links
        self._title = lettering.written(titled(video.title, "Video"))
        pdf.set_creation_date(datetime.fromtimestamp(video.added_at / 1000, UTC))
        pdf.set_title(self._title)
        pdf.set_creator("Videmus")
        pdf.set_margins(MARGIN, MARGIN)
        pdf.set_auto_page_break(True, 2 * MARGIN)
        self._family = "Helvetica"
        for n, path in enumerate(lettering.paths):
            pdf.add_font(f"letters{n}", fname=str(path))
            self._family = "letters0"
        if len(lettering.paths) > 1:
            pdf.set_fallback_fonts([f"letters{n}" for n in range(1, len(lettering.paths))], exact_match=False)

    def slide(
        self, slide: Slide, jpeg: bytes | None, said: Sequence[tuple[Segment, Sequence[tuple[str | None, str]]]]
    ) -> None:
        pdf = self._pdf
        pdf.add_page()
        title = f"{slide.name}: {slide.title}" if slide.title else slide.name
        pdf.start_section(self._lettering.written(title))
        if jpeg:
            self._put(jpeg)
        else:
            pdf.set_y(MARGIN)
        self._text(title, 15, INK, 7)
        shown = f"shown {len(slide.showings)} ×: " if len(slide.showings) > 1 else ""
        self._text(f"{shown}{slide.times}", 9, FAINT, 5, link=self._links.get(slide.showings[0].start_ms))
        if not jpeg:
            pdf.ln(3)
            for line in filter(str.strip, slide.fullest.text.splitlines()):
                self._text(line, 12, INK, 6.5)
        for segment, rows in said:
            if rows and len(said) > 1:
                pdf.ln(2.5)
                self._text(clock.format_time(segment.start_ms), 9, FAINT, 5, link=self._links.get(segment.start_ms))
            for speaker, text in rows:
                pdf.ln(1.5)
                self._text(f"{speaker}: {text}" if speaker else text, 10.5, INK, 5.2)

    def remark(self, text: str) -> None:
        self._pdf.ln(4)
        self._text(text, 8, FAINT, 4)

    def output(self) -> bytes:
        return bytes(self._pdf.output())

    def _foot(self) -> None:
        pdf = self._pdf
        self._style(8, FAINT)
        pdf.set_xy(MARGIN, PAGE_HEIGHT - MARGIN)
        pdf.cell(0, 4, self._title)
        pdf.set_x(MARGIN)
        pdf.cell(0, 4, str(pdf.page_no()), align="R")

    def _put(self, jpeg: bytes) -> None:
        """The picture across the page, or as high as it may be."""
        with Image.open(io.BytesIO(jpeg)) as image:
            ratio = image.height / image.width
        width = min(PAGE_WIDTH, PICTURE_HEIGHT / ratio)
        height, left = width * ratio, (PAGE_WIDTH - width) / 2
        self._pdf.image(io.BytesIO(jpeg), left, 0, width, height)
        self._pdf.set_draw_color(*RULE)
        self._pdf.rect(left, 0, width, height)
        self._pdf.set_xy(MARGIN, height + 5)

    def _text(self, text: str, size: float, colour: Colour, height: float, link: str | None = None) -> None:
        self._style(size, colour)
        self._pdf.multi_cell(
            0, height, self._lettering.written(text), align="L", link=link or "", new_x="LMARGIN", new_y="NEXT"
        )

    def _style(self, size: float, colour: Colour) -> None:
        self._pdf.set_font(self._family, size=size)
        self._pdf.set_text_color(*colour)


def _new_pdf(foot: Callable[[], None]) -> FPDF:
    try:
        from fpdf import FPDF
    except ImportError as error:
        raise MissingExtraError("a deck is written by fpdf2", next='pip install "videmus[pdf]"') from error
    pdf = FPDF(orientation="portrait", unit="mm", format=(PAGE_WIDTH, PAGE_HEIGHT))
    pdf.footer = foot
    return pdf


# ---------------------------------------------------------------- the contact sheet

THUMBNAIL = 320
SMALLEST_THUMBNAIL = 96
COLUMNS = 10
ROWS = 100
SHEET_PIXELS = 32_000_000
"""Pixels across of a picture where there are few, and where there are thousands: a sheet stays near so many in all."""


def thumbnail_width(count: int) -> int:
    """Pixels across of each of `count` pictures on a sheet."""
    return max(SMALLEST_THUMBNAIL, min(THUMBNAIL, math.isqrt(SHEET_PIXELS * 4 // (3 * max(count, 1)))))


def contact_sheet(shown: Sequence[tuple[Slide, NDArray[np.uint8] | None]], png: bool = True) -> bytes:
    """The slides in a grid, each with its name, first time, how often it was shown, and its title; PNG, or else JPEG.

    A slide without a picture shows its text in its place.
    """
    width = thumbnail_width(len(shown))
    columns = max(min(COLUMNS, math.ceil(math.sqrt(len(shown)))), math.ceil(len(shown) / ROWS), 1)
    gap = max(4, width // 20)
    sizes = max(9, width // 20), max(9, width // 23)
    thumbnails = [None if rgb is None else pictures.scaled(rgb, width) for _, rgb in shown]
    heights = [min(t.shape[0], width * 3 // 2) for t in thumbnails if t is not None]
    height = max(heights, default=width * 9 // 16)
    cell_height = height + gap // 2 + 3 * sizes[0]
    texts = [text for slide, _ in shown for text in (slide.name, slide.title, slide.fullest.text)]
    lettering = Lettering([*texts, "·×…"], own_of_pillow)
    rows = math.ceil(len(shown) / columns)
    sheet = Image.new("RGB", (gap + columns * (width + gap), gap + rows * (cell_height + gap)), GROUND)
    pen = _Pen(ImageDraw.Draw(sheet), lettering)
    for n, ((slide, _), thumbnail) in enumerate(zip(shown, thumbnails, strict=True)):
        left = gap + n % columns * (width + gap)
        top = gap + n // columns * (cell_height + gap)
        box = (left, top, left + width - 1, top + height - 1)
        pen.draw.rectangle(box, PAPER if thumbnail is None else RULE)
        if thumbnail is not None:
            small = Image.fromarray(thumbnail)
            small.thumbnail((width, height))
            sheet.paste(small, (left + (width - small.width) // 2, top + (height - small.height) // 2))
        else:
            lines = [line for line in slide.fullest.text.splitlines() if line.strip()]
            for k, line in enumerate(lines[: height // (2 * sizes[1])]):
                pen.line((left + gap, top + gap + k * 3 * sizes[1] // 2), line, sizes[1], INK, width - 2 * gap)
        pen.draw.rectangle((left - 1, top - 1, left + width, top + height), outline=RULE)
        below = top + height + gap // 2
        times = f" · {len(slide.showings)} ×" if len(slide.showings) > 1 else ""
        about = f"{slide.name} · {clock.format_time(slide.showings[0].start_ms)}{times}"
        pen.line((left, below), about, sizes[1], FAINT, width)
        pen.line((left, below + 3 * sizes[0] // 2), slide.title, sizes[0], INK, width)
    target = io.BytesIO()
    sheet.save(target, **({"format": "PNG"} if png else {"format": "JPEG", "quality": 88, "subsampling": 0}))
    return target.getvalue()


class _Pen:
    def __init__(self, draw: ImageDraw.ImageDraw, lettering: Lettering) -> None:
        self.draw = draw
        self._lettering = lettering
        self._fonts: dict[tuple[int, int], Any] = {}

    def line(self, at: tuple[int, int], text: str, size: int, colour: Colour, room: int) -> None:
        """One line, cut with … where it is longer than `room` pixels."""
        whole = written = self._lettering.written(text[:500])
        ellipsis = self._lettering.written("…")
        while written and self._length(written, size) > room:
            whole = whole[:-1].rstrip()
            written = whole + ellipsis if whole else ""
        left = float(at[0])
        for font, piece in self._lettering.runs(written):
            self.draw.text((left, at[1] + size), piece, colour, self._font(font, size), anchor="ls")
            left += self._font(font, size).getlength(piece)

    def _length(self, text: str, size: int) -> float:
        return sum(float(self._font(n, size).getlength(piece)) for n, piece in self._lettering.runs(text))

    def _font(self, number: int, size: int) -> Any:
        if (number, size) not in self._fonts:
            paths = self._lettering.paths
            font = opened(paths[number], size) if paths else ImageFont.load_default(size)
            self._fonts[number, size] = font
        return self._fonts[number, size]
