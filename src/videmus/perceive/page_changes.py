"""Where one picture of a page differs from another, in cells of 8 × 8 pixels of a small luma plane.

Enters: pictures. Leaves: masks of changed cells, and the few parts of the page that hold them. Knows nothing of text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from videmus.config import ReadingSettings
from videmus.model import Box

CELL = 8

Plane = NDArray[np.uint8]
Cells = NDArray[np.bool_]


def luma_of(image: NDArray[np.uint8], width: int) -> Plane:
    """Rec. 601 luma, reduced by whole steps to about `width` columns; each pixel is the mean of what it covers."""
    step = max(1, round(image.shape[1] / width))
    rows, columns = image.shape[0] // step, image.shape[1] // step
    if rows == 0 or columns == 0:
        step, rows, columns = 1, image.shape[0], image.shape[1]
    cut = image[: rows * step, : columns * step]
    total = np.zeros((rows, columns), np.uint32)
    for y in range(step):
        for x in range(step):
            pixel = cut[y::step, x::step].astype(np.uint32)
            total += 77 * pixel[..., 0] + 150 * pixel[..., 1] + 29 * pixel[..., 2]
    return (total // (256 * step * step)).astype(np.uint8)


def changed_cells(a: Plane, b: Plane, settings: ReadingSettings) -> Cells:
    """The cells in which two planes of one size differ."""
    height, width = a.shape
    differs = np.abs(a.astype(np.int16) - b) > settings.change_level
    padded = np.zeros((-(-height // CELL) * CELL, -(-width // CELL) * CELL), np.uint8)
    padded[:height, :width] = differs
    rows, columns = padded.shape[0] // CELL, padded.shape[1] // CELL
    cells: Cells = padded.reshape(rows, CELL, columns, CELL).sum(axis=(1, 3)) >= settings.change_pixels
    return cells


def mark_box(cells: Cells, box: Box, value: bool) -> None:
    rows, columns = cells.shape
    left, top, right, bottom = box
    cells[int(top * rows) : int(np.ceil(bottom * rows)), int(left * columns) : int(np.ceil(right * columns))] = value


def cover(boxes: Sequence[Box]) -> float:
    """The share of the picture under the boxes, overlaps counted once."""
    if not boxes:
        return 0.0
    cells = np.zeros((90, 160), bool)
    for box in boxes:
        mark_box(cells, box, True)
    return float(cells.mean())


def changed_parts(cells: Cells, more: Sequence[Box], most: int) -> list[Box]:
    """At most `most` boxes that together hold all changed cells and the boxes of `more`, small in sum; none overlap."""
    rows, columns = cells.shape
    boxes = [
        (max(0.0, (x - 1) / columns), max(0.0, (y - 1) / rows), min(1.0, (x2 + 1) / columns), min(1.0, (y2 + 1) / rows))
        for x, y, x2, y2 in _bounds(cells)
    ]
    boxes += [
        (max(0.0, b[0] - 0.01), max(0.0, b[1] - 0.01), min(1.0, b[2] + 0.01), min(1.0, b[3] + 0.01)) for b in more
    ]
    while len(boxes) > 1:
        cost, i, j = min(
            (_area(_union(boxes[i], boxes[j])) - _area(boxes[i]) - _area(boxes[j]), i, j)
            for i in range(len(boxes))
            for j in range(i + 1, len(boxes))
        )
        if (
            cost > 0
            and len(boxes) <= most
            and not any(_overlap(a, b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])
        ):
            break
        merged = _union(boxes[i], boxes[j])
        boxes = [b for k, b in enumerate(boxes) if k not in (i, j)] + [merged]
    return sorted(boxes, key=lambda b: (b[1], b[0]))


def _bounds(cells: Cells) -> list[tuple[int, int, int, int]]:
    """Bounds of changed cells in bands of rows, each band cut at its widest empty stretch: few boxes, whatever the noise."""
    found = []
    for top, bottom in _runs(cells.any(axis=1), 1):
        for left, right in _runs(cells[top:bottom].any(axis=0), 6):
            inner = np.flatnonzero(cells[top:bottom, left:right].any(axis=1))
            found.append((left, top + int(inner[0]), right, top + int(inner[-1]) + 1))
    return found


def _runs(marked: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Runs of true, those no more than `gap` apart taken together."""
    runs: list[tuple[int, int]] = []
    for i in np.flatnonzero(marked):
        if runs and i - runs[-1][1] <= gap:
            runs[-1] = (runs[-1][0], int(i) + 1)
        else:
            runs.append((int(i), int(i) + 1))
    return runs


def _union(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
