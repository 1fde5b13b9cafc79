"""A look as a page: what stands on it, as words with places and as cells of structure that can be compared.

Enters: a frame row with its picture, the screen rows read from it. Leaves: pages, and what of one is gone in another. Knows
nothing of time, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from videmus.model import Box, Evidence, Frame, ScreenDetail, TextLine

CELL = 16
"""Pixels of a cell's side, on a luma plane 640 wide: a letter or two of body text."""

WIDTH = 640
EDGE = 24
"""Rise of brightness over two pixels that is structure; codec noise and photographs' texture stay under it mostly."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Placed:
    """A word (folded: lower case, without marks at its ends) and its box."""

    word: str
    box: Box


@dataclass(eq=False, slots=True)
class Page:
    """One look's content. `moving` are the cells that never come to rest; `edges` counts structure per cell, `coarse` is the
    mean brightness of each; `flat` the share of cells at rest that are one even colour."""

    frame: Frame
    luma: NDArray[np.uint8]
    edge: Mask
    edges: NDArray[np.int64]
    coarse: NDArray[np.float32]
    moving: Mask
    lines: tuple[TextLine, ...]
    words: tuple[Placed, ...]
    flat: float
    sources: tuple[str, ...] = ()
    kind: Literal["text", "picture", "none"] = "none"

    @property
    def content(self) -> int:
        """How much stands on it: cells with structure."""
        return int(((self.edges >= 6) & ~self.moving).sum())

    def summary(self) -> Page:
        """The page without its picture, for decisions over the whole video."""
        empty = np.zeros((0, 0), np.uint8)
        return replace(self, luma=empty, edge=empty.astype(bool))


def page(frame: Frame, image: NDArray[np.uint8], rows: Sequence[Evidence], also_moving: Sequence[Box] = ()) -> Page:
    """The page that a frame shows. `image` is height × width × 3, RGB; `rows` are the screen rows on screen at its time;
    `also_moving` boxes that move in other looks."""
    exact = reduced(image)
    luma = exact.astype(np.uint8)
    edge = _edges(luma)
    lines = tuple(line for row in rows for line in _lines(row))
    moving = cells_of(frame.look.moving if frame.look else (), luma.shape)
    if moving.mean() < 0.5:
        moving = moving | cells_of(also_moving, luma.shape)
    rows_, columns = moving.shape
    coarse = exact[: rows_ * CELL, : columns * CELL].reshape(rows_, CELL, columns, CELL).mean(axis=(1, 3))
    return Page(
        frame=frame,
        luma=luma,
        edge=edge,
        edges=_per_cell(edge),
        coarse=np.asarray(coarse, np.float32),
        moving=moving,
        lines=lines,
        words=tuple(w for line in lines for w in placed(line)),
        flat=flatness(exact, moving),
        sources=tuple(row.id for row in rows),
    )


def reduced(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Brightness some 640 wide: (red + 2 green + blue) / 4, each pixel the mean of what it covers."""
    step = max(1, round(image.shape[1] / WIDTH))
    height, width = image.shape[0] // step * step, image.shape[1] // step * step
    total = np.zeros((height // step, width), np.uint16 if step < 8 else np.uint32)
    for y in range(step):
        line = image[y:height:step, :width]
        total += line[..., 0]
        total += line[..., 1]
        total += line[..., 1]
        total += line[..., 2]
    across = total[:, ::step].astype(np.float32)
    for x in range(1, step):
        across += total[:, x::step]
    return across / np.float32(4 * step * step)


def _edges(luma: NDArray[np.uint8]) -> Mask:
    return np.asarray(_rise(luma) > EDGE)


def _rise(luma: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """How much brightness changes from the pixel before, across or down."""
    rise = np.zeros_like(luma)
    rise[:, 1:] = np.maximum(luma[:, 1:], luma[:, :-1]) - np.minimum(luma[:, 1:], luma[:, :-1])
    down = np.maximum(luma[1:], luma[:-1]) - np.minimum(luma[1:], luma[:-1])
    rise[1:] = np.maximum(rise[1:], down)
    return rise


def _per_cell(mask: Mask) -> NDArray[np.int64]:
    rows, columns = mask.shape[0] // CELL, mask.shape[1] // CELL
    counts: NDArray[np.int64] = (
        mask[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL).sum(axis=(1, 3), dtype=np.int64)
    )
    return counts


def cells_of(boxes: Sequence[Box], shape: tuple[int, ...]) -> Mask:
    """The cells that any of the boxes touches."""
    rows, columns = shape[0] // CELL, shape[1] // CELL
    cells = np.zeros((rows, columns), bool)
    for left, top, right, bottom in boxes:
        cells[int(top * rows) : int(np.ceil(bottom * rows)), int(left * columns) : int(np.ceil(right * columns))] = True
    return cells


def flatness(luma: NDArray[np.float32], moving: Mask) -> float:
    """The share of cells at rest that are one even colour: most of a slide, little of what a camera films."""
    rows, columns = moving.shape
    cells = luma[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL)
    even = cells.std(axis=(1, 3)) < 4
    return float(even[~moving].mean()) if (~moving).any() else 0.0


# ---------------------------------------------------------------- words


def _lines(row: Evidence) -> tuple[TextLine, ...]:
    if isinstance(row.detail, ScreenDetail) and row.detail.lines:
        return row.detail.lines
    return ()


def fold(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word.casefold())


def placed(line: TextLine) -> list[Placed]:
    """The line's words, each with its part of the line's box by the number of letters."""
    left, top, right, bottom = line.box
    across = max(1, len(line.text))
    found = []
    for match in re.finditer(r"\S+", line.text):
        word = fold(match.group())
        if word:
            start, end = match.start() / across, match.end() / across
            found.append(Placed(word, (left + (right - left) * start, top, left + (right - left) * end, bottom)))
    return found


# ---------------------------------------------------------------- what is gone


@dataclass(frozen=True, slots=True)
class Loss:
    """What stands on one page and not, there, on another: of the cells with structure, those where it is gone, and of these
    the ones that are blank now."""

    structured: Mask
    gone: Mask
    blank: Mask

    @property
    def of(self) -> int:
        return int(self.structured.sum())

    @property
    def cells(self) -> int:
        return int(self.gone.sum())

    @property
    def share(self) -> float:
        return self.cells / max(1, self.of)


def loss(a: Page, b: Page, ignore: Mask | None = None) -> Loss:
    """What of `a` is gone in `b`, outside what moves on either and `ignore`. Structure that was only recoloured, dimmed or
    written over is not gone: its edges persist, or its cells still correlate (an inversion included)."""
    if a.luma.shape != b.luma.shape:
        everything = a.edges >= 6
        return Loss(everything, everything, np.zeros_like(everything))
    rest = ~(a.moving | b.moving)
    if ignore is not None:
        rest &= ~ignore
    structured = (a.edges >= 6) & rest
    reach = _reach(_rise(b.luma))
    strength = np.maximum(_rise(a.luma) // 4, 6)
    kept = _per_cell(a.edge & (reach >= strength)) / np.maximum(1, a.edges)
    like, even = _pair(*sorted((a, b), key=id))
    under = (kept >= 0.95) & (
        b.edges <= CELL * CELL // 2
    )  # ink beside or over it: too little of it to cover edges by chance
    gone = structured & (like < 0.6) & ~((kept >= 0.85) & ((like > 0.2) | even)) & ~under
    return Loss(structured, gone, gone & (b.edges < 3))


@lru_cache(maxsize=1)
def _pair(a: Page, b: Page) -> tuple[NDArray[np.float32], Mask]:
    """The correlation of two pages, which are compared both ways one after the other."""
    return _correlation(a.luma, b.luma)


def _correlation(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> tuple[NDArray[np.float32], Mask]:
    """Cell by cell: how like they are but for their brightness, 0 to 1 (an inverted cell is like), and whether both are even."""
    rows, columns = a.shape[0] // CELL, a.shape[1] // CELL
    x, y = (
        p[: rows * CELL, : columns * CELL]
        .astype(np.float32)
        .reshape(rows, CELL, columns, CELL)
        .transpose(0, 2, 1, 3)
        .reshape(rows, columns, -1)
        for p in (a, b)
    )
    x = x - x.mean(axis=2, keepdims=True)
    y = y - y.mean(axis=2, keepdims=True)
    x2, y2 = (x * x).sum(axis=2), (y * y).sum(axis=2)
    even = (x2 < 16 * CELL * CELL) & (y2 < 16 * CELL * CELL)
    return np.abs((x * y).sum(axis=2)) / np.maximum(np.sqrt(x2 * y2), 1e-3), even


def coarse_likeness(a: Page, b: Page) -> float:
    """The correlation of two pages' coarse pictures; 0 where either is one even colour."""
    x, y = a.coarse - a.coarse.mean(), b.coarse - b.coarse.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / scale if scale > 0 else 0.0


def patch_likeness(a: Page, b: Page, box: Box) -> tuple[float, float]:
    """In one box of both pages: their correlation, and the share of the first's edges that the second has within a pixel."""
    height, width = a.luma.shape
    if a.luma.shape != b.luma.shape:
        return 0.0, 0.0
    window = np.s_[
        int(box[1] * height) : int(np.ceil(box[3] * height)), int(box[0] * width) : int(np.ceil(box[2] * width))
    ]
    x, y = a.luma[window].astype(np.float32), b.luma[window].astype(np.float32)
    if x.size < 16:
        return 1.0, 1.0
    rise, edge = _reach(_rise(b.luma[window])), a.edge[window]
    kept = float((rise[edge] >= EDGE / 2).mean()) if edge.any() else 1.0
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return (abs(float((x * y).sum())) / scale if scale > 1 else 1.0), kept


def _reach(rise: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The largest rise within a pixel."""
    reach = rise.copy()
    reach[1:] = np.maximum(reach[1:], rise[:-1])
    reach[:-1] = np.maximum(reach[:-1], rise[1:])
    across = reach.copy()
    across[:, 1:] = np.maximum(across[:, 1:], reach[:, :-1])
    across[:, :-1] = np.maximum(across[:, :-1], reach[:, 1:])
    return across
