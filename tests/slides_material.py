"""Slides and recordings of them that the tests draw for themselves, with exactly known lines and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from videmus.model import Evidence, Frame, Look, Origin, ScreenDetail, TextLine, evidence_id, frame_id

RGB = NDArray[np.uint8]
SIZE = (640, 360)
CAMERA = (520, 270, 630, 350)
"""Where the speaker's camera is, in pixels: left, top, right, bottom."""


@dataclass(frozen=True)
class Drawn:
    """A page as drawn: its picture and its lines with their boxes."""

    picture: RGB
    lines: tuple[TextLine, ...]


def drawn(
    title: str,
    bullets: Sequence[str] = (),
    *,
    number: str = "",
    figure: int | None = None,
    ground: tuple[int, int, int] = (255, 255, 255),
    ink: tuple[int, int, int] = (20, 20, 30),
    shift: int = 0,
    marked: int | None = None,
    size: tuple[int, int] = SIZE,
) -> Drawn:
    """A page with a title, bullets 34 pixels apart, a page number, and a figure of boxes that its seed determines."""
    image = Image.new("RGB", size, ground)
    draw = ImageDraw.Draw(image)
    lines = []

    def line(text: str, x: int, y: int, height: int, colour: tuple[int, int, int]) -> None:
        font = ImageFont.load_default(height)
        draw.text((x, y), text, fill=colour, font=font)
        left, top, right, bottom = draw.textbbox((x, y), text, font=font)
        box = (left / size[0], top / size[1], right / size[0], bottom / size[1])
        lines.append(TextLine(text, box, 0.99))

    if title:
        line(title, 30, 20 + shift, 30, ink)
    for i, bullet in enumerate(bullets):
        line(bullet, 50, 80 + 34 * i + shift, 20, (200, 30, 30) if marked == i else ink)
    if number:
        line(number, 600, 340, 14, ink)
    if figure is not None:
        random = np.random.default_rng(figure)
        for _ in range(9):
            x, y = int(random.integers(330, 470)), int(random.integers(90, 220))
            w, h = (int(v) for v in random.integers(20, 60, 2))
            draw.rectangle((x, y, x + w, y + h), outline=ink, width=3)
            draw.line((x, y, x + w, y + h), fill=ink, width=3)
    return Drawn(np.asarray(image), tuple(lines))


def speaker(at_ms: int, size: tuple[int, int]) -> RGB:
    """A speaker as a camera sees one: soft ground, a head that never rests. (width, height)."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    wall = 90 + 40 * np.sin(x / width * 3 + 1) + 30 * y / height
    phase = at_ms / 1000
    centre = width * (0.5 + 0.18 * np.sin(phase * 2.3)), height * (0.5 + 0.08 * np.sin(phase * 3.7))
    head = ((x - centre[0]) / (0.2 * width)) ** 2 + ((y - centre[1]) / (0.32 * height)) ** 2 < 1
    stripes = 170 + 40 * np.sin((y + 30 * np.sin(phase * 5)) / height * 25)
    grey = np.where(head, stripes, wall)
    return np.stack([grey, grey * 0.9, grey * 0.8], axis=2).clip(0, 255).astype(np.uint8)


def in_camera_box(picture: RGB, at_ms: int) -> RGB:
    left, top, right, bottom = CAMERA
    shown = picture.copy()
    shown[top:bottom, left:right] = speaker(at_ms, (right - left, bottom - top))
    return shown


@dataclass(frozen=True)
class Show:
    """From when a picture (or a moving one, a function of the time) is shown, and how it comes: at once, faded, pushed."""

    at_ms: int
    picture: RGB | Callable[[int], RGB]
    enter: str = "cut"
    enter_ms: int = 500

    def at(self, at_ms: int) -> RGB:
        return self.picture(at_ms) if callable(self.picture) else self.picture


def record(
    path: Path,
    shows: Sequence[Show],
    end_ms: int,
    *,
    fps: float = 10,
    times_ms: Sequence[int] | None = None,
    overlay: Callable[[RGB, int], RGB] | None = None,
    noise: float = 1.5,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    gop: int = 40,
) -> Path:
    """Encode a recording: by default H.264 as lecture sites make it (scene cuts, B-frames, a keyframe every 4 s)."""
    random = np.random.default_rng(7)
    grain = [random.normal(0, noise, (SIZE[1], SIZE[0], 1)) for _ in range(4)]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream(codec, rate=Fraction(fps).limit_denominator(1000))
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        stream.codec_context.gop_size = gop
        if codec == "libx264":
            stream.options = {"preset": "veryfast", "crf": "26", **(options or {})}
        else:
            stream.bit_rate = 900_000
            stream.options = options or {}
        for index, at_ms in enumerate(
            times_ms if times_ms is not None else (round(i * 1000 / fps) for i in range(int(end_ms * fps / 1000)))
        ):
            picture = _on_screen(shows, at_ms)
            if overlay is not None:
                picture = overlay(picture, at_ms)
            noisy = (picture + grain[index % 4]).clip(0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(noisy, format="rgb24")
            frame.pts, frame.time_base = at_ms, Fraction(1, 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def _on_screen(shows: Sequence[Show], at_ms: int) -> RGB:
    k = max(i for i, s in enumerate(shows) if s.at_ms <= at_ms)
    show = shows[k]
    share = (at_ms - show.at_ms) / show.enter_ms
    if show.enter == "cut" or share >= 1 or k == 0:
        return show.at(at_ms)
    before, after = shows[k - 1].at(at_ms), show.at(at_ms)
    if show.enter == "push":
        column = int(SIZE[0] * share)
        return np.concatenate([before[:, column:], after[:, :column]], axis=1)
    return (before * (1 - share) + after * share).astype(np.uint8)


@dataclass(frozen=True)
class Looked:
    """A look as the stages before the slides leave it: its frame row, its picture, and the rows read from it."""

    frame: Frame
    picture: RGB
    rows: tuple[Evidence, ...]


def looked(
    page: Drawn, start_ms: int, end_ms: int, *, moving: tuple[tuple[float, float, float, float], ...] = ()
) -> Looked:
    look = Look(start_ms, end_ms, (), moving)
    at_ms = (start_ms + end_ms) // 2
    frame = Frame(frame_id("v", at_ms), "v", at_ms, "", "0" * 16, *SIZE, Origin("changes"), look)
    text = "\n".join(line.text for line in page.lines)
    row = Evidence(
        evidence_id("v", "screen", start_ms, end_ms, text),
        "v",
        start_ms,
        end_ms,
        "screen",
        text,
        Origin("screen"),
        detail=ScreenDetail(page.lines, frame.id),
    )
    return Looked(frame, page.picture, (row,) if text else ())
