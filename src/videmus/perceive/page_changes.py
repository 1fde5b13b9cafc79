"""Where one picture of a page differs from another, in cells of 8 × 8 pixels of a small luma plane.

Enters: pictures. Leaves: masks of changed cells, the part of the page that holds them, and whether it only moved. Knows
nothing of lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from videmus.config import ReadingSettings
from videmus.model import Box
from videmus.perceive import motion

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
    return np.asarray(total // (256 * step * step), np.uint8)


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


def flat_share(luma: Plane) -> float:
    """The share of the picture in its commonest brightness, 9 levels wide: slides and screens have a ground, camera
    pictures have none."""
    counts = np.bincount(luma.ravel(), minlength=256)
    return float(np.convolve(counts, np.ones(9, int)).max() / luma.size)


def changed_part(cells: Cells, more: Sequence[Box], luma: Plane, level: int) -> Box | None:
    """The box that holds all changed cells and the boxes of `more`, but for those where the page is blank now: a bullet that
    went leaves plain ground."""
    rows, columns = cells.shape
    boxes = [
        ((x - 1) / columns, (y - 1) / rows, (x2 + 1) / columns, (y2 + 1) / rows) for x, y, x2, y2 in _bounds(cells)
    ]
    margin = 0.01
    boxes += [(b[0] - margin, b[1] - margin, b[2] + margin, b[3] + margin) for b in more]
    boxes = [b for b in boxes if not _is_blank(luma, b, level)]
    if not boxes:
        return None
    return (
        max(0.0, min(b[0] for b in boxes)),
        max(0.0, min(b[1] for b in boxes)),
        min(1.0, max(b[2] for b in boxes)),
        min(1.0, max(b[3] for b in boxes)),
    )


def merely_moved(before: Plane, now: Plane, cells: Cells, part: Box, settings: ReadingSettings) -> bool:
    """Whether a part of the page is the camera's picture that it was, moved a little, and no more edges are where it changed:
    text is all edges, so that none came."""
    window = _window(now, part)
    old, new = before[window], now[window]
    if min(new.shape) < 2 * CELL or max(flat_share(old), flat_share(new)) > settings.flat_share:
        return False
    if motion.likeness(old, new) < settings.same_picture:
        return False
    changed = cells.repeat(CELL, 0).repeat(CELL, 1)[: now.shape[0], : now.shape[1]][window]
    edges = [int(np.count_nonzero(changed & (motion.local_range(p) > settings.change_level))) for p in (old, new)]
    return edges[1] <= settings.more_edges * edges[0]


def _is_blank(luma: Plane, box: Box, level: int) -> bool:
    piece = luma[_window(luma, box)]
    return piece.size == 0 or int(np.ptp(piece)) < level


def _window(luma: Plane, box: Box) -> tuple[slice, slice]:
    height, width = luma.shape
    left, top, right, bottom = box
    return (
        slice(max(0, int(top * height)), int(np.ceil(bottom * height))),
        slice(max(0, int(left * width)), int(np.ceil(right * width))),
    )


def _bounds(cells: Cells) -> list[tuple[int, int, int, int]]:
    """Bounds of changed cells in bands of rows, each band cut at its widest empty stretch: few boxes, whatever the noise."""
    found = []
    for top, bottom in _runs(np.asarray(cells.any(axis=1)), 1):
        for left, right in _runs(np.asarray(cells[top:bottom].any(axis=0)), 6):
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
