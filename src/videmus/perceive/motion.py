"""Which parts of a small luma picture differ, which never come to rest, and as boxes where.

Enters: luma planes some 320 wide. Leaves: masks, cells and boxes. Knows nothing of time or of what a slide is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from videmus.model import Box

Luma = NDArray[np.uint8]
Mask = NDArray[np.bool_]

CELL = 8


def differing(a: Luma, b: Luma, threshold: int) -> Mask:
    """Where two planes differ by more than `threshold`, a shift of the whole picture's brightness (a camera's exposure) aside."""
    difference = a.astype(np.int16) - b
    shift = int(np.clip(np.median(difference[::4, ::4]), -16, 16))
    if abs(shift) > 1:
        difference -= shift
    found: Mask = np.abs(difference) > threshold
    return found


def likeness(a: Luma, b: Luma) -> float:
    """Correlation of two planes, coarsely seen: 1 for one picture, about 0 for two that have nothing in common."""
    rows, columns = a.shape[0] // CELL, a.shape[1] // CELL
    one, other = (
        x[: rows * CELL, : columns * CELL]
        .reshape(rows, CELL, columns, CELL)
        .sum(axis=(1, 3), dtype=np.uint32)
        .astype(np.float64)
        for x in (a, b)
    )
    one = one - one.mean()
    other = other - other.mean()
    scale = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum() / scale) if scale > 1e-6 else float(np.abs(a.astype(int) - b).mean() < 4)


def cells(mask: Mask) -> NDArray[np.int64]:
    """How many pixels of each cell of 8 × 8 are set; the picture is padded to whole cells."""
    height, width = mask.shape
    bits = np.packbits(mask, axis=1)  # a cell is 8 wide: one byte of each of its rows
    rows = -(-height // CELL)
    if height % CELL:
        bits = np.pad(bits, ((0, rows * CELL - height), (0, 0)))
    counts = np.bitwise_count(bits).reshape(rows, CELL, -(-width // CELL)).sum(axis=1, dtype=np.int64)
    return np.asarray(counts)


@dataclass(frozen=True, slots=True)
class Region:
    """A connected group of cells: its pixels' bounds (left, top, right, bottom; right and bottom are outside) and count."""

    left: int
    top: int
    right: int
    bottom: int
    pixels: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


def regions(mask: Mask, least: int) -> list[Region]:
    """The connected groups of cells that hold at least `least` set pixels in two by two cells."""
    counts = cells(mask)
    wide = np.pad(counts, 1)
    quads = wide[:-1, :-1] + wide[1:, :-1] + wide[:-1, 1:] + wide[1:, 1:]
    strong = quads >= least
    if not strong.any():
        return []
    near = strong[:-1, :-1] | strong[1:, :-1] | strong[:-1, 1:] | strong[1:, 1:]
    occupied = near & (counts > 0)
    found = []
    for rows, columns in _connected(occupied):
        top, left = rows.min() * CELL, columns.min() * CELL
        inside = np.zeros(counts.shape, bool)
        inside[rows, columns] = True
        window = mask[top : (rows.max() + 1) * CELL, left : (columns.max() + 1) * CELL]
        cover = np.repeat(np.repeat(inside, CELL, 0), CELL, 1)[
            top : top + window.shape[0], left : left + window.shape[1]
        ]
        ys, xs = np.nonzero(window & cover)
        found.append(
            Region(
                int(left + xs.min()), int(top + ys.min()), int(left + xs.max() + 1), int(top + ys.max() + 1), len(xs)
            )
        )
    return found


def _connected(occupied: Mask) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Groups of set cells that touch, corners included."""
    left = {(int(y), int(x)) for y, x in zip(*np.nonzero(occupied), strict=True)}
    groups = []
    while left:
        stack = [left.pop()]
        group = []
        while stack:
            y, x = stack.pop()
            group.append((y, x))
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if (y + dy, x + dx) in left:
                        left.remove((y + dy, x + dx))
                        stack.append((y + dy, x + dx))
        array = np.array(sorted(group), np.int64)
        groups.append((array[:, 0], array[:, 1]))
    return sorted(groups, key=lambda g: (g[0].min(), g[1].min()))


def widened(mask: Mask, by: int) -> Mask:
    """The mask grown by `by` pixels in every direction."""
    grown = mask.copy()
    for axis in (0, 1):
        base = grown.copy()
        for step in range(1, by + 1):
            if axis == 0:
                grown[step:] |= base[:-step]
                grown[:-step] |= base[step:]
            else:
                grown[:, step:] |= base[:, :-step]
                grown[:, :-step] |= base[:, step:]
    return grown


def filled(mask: Mask, least: float) -> Mask:
    """The mask with each region that fills at least that share of its bounds made whole: a camera's picture is a rectangle,
    of which the speaker moves a part."""
    whole = mask.copy()
    for r in regions(mask, 2):
        if r.pixels >= least * r.width * r.height:
            whole[r.top : r.bottom, r.left : r.right] = True
    return whole


def boxes(mask: Mask, least: int, pad: int = 0) -> tuple[Box, ...]:
    """The mask's regions as fractions of the picture, widened by `pad` pixels, in reading order."""
    height, width = mask.shape
    return tuple(
        (
            max(0, r.left - pad) / width,
            max(0, r.top - pad) / height,
            min(width, r.right + pad) / width,
            min(height, r.bottom + pad) / height,
        )
        for r in regions(mask, least)
    )


def difference_hash(luma: Luma) -> str:
    """A perceptual hash: 64 bits, each whether brightness rises to the right in a 9 × 8 picture; 16 hexadecimal digits.
    (dHash, N. Krawetz, "Kind of Like That", 2013.)"""
    height, width = luma.shape
    ys = np.linspace(0, height, 9).astype(int)[:-1]
    xs = np.linspace(0, width, 10).astype(int)[:-1]
    sums = np.add.reduceat(np.add.reduceat(luma.astype(np.int64), ys, axis=0), xs, axis=1)
    means = sums / np.diff(np.append(ys, height))[:, None] / np.diff(np.append(xs, width))[None]
    bits = (means[:, 1:] > means[:, :-1] + 0.5).ravel()
    return f"{int(''.join('1' if b else '0' for b in bits), 2):016x}"
