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

EDGE = 60
"""From here the brightness that lies within a pixel is an edge's."""

SPREAD = 0.55
"""The share of the sixteenths of a picture with edges in which a tremor shows: more than half, which a speaker may fill."""

TREMOR = 0.25
"""A tremor's difference at most, as a share of the brightness that lies within a pixel."""


def differing(a: Luma, b: Luma, threshold: int) -> Mask:
    """Where two planes differ by more than `threshold`, a shift of the whole picture's brightness (a camera's exposure) aside."""
    shift = _brightness_shift(a, b)
    if abs(shift) <= 1:
        near: Mask = np.maximum(a, b) - np.minimum(a, b) > threshold  # eight bits wide: several times as fast
        return near
    found: Mask = np.abs(np.subtract(a, b, dtype=np.int16) - shift) > threshold
    return found


def differing_beyond_tremor(a: Luma, b: Luma, threshold: int) -> Mask:
    """Where two planes differ by more than `threshold` and by more than a camera's tremor explains, which shifts every edge by
    a fraction of a pixel: a quarter of the brightness that lies within a pixel."""
    found = differing(a, b, threshold)
    return found & ~_explained(a, b, threshold) if found.any() else found


def trembled(before: Luma, a: Luma, b: Luma, threshold: int) -> bool:
    """Whether two planes differ nearly wherever edges are and nearly nowhere by more than a tremor; and not by going on with
    what changed from `before` to the first, as a fade does."""
    found = differing(a, b, threshold)
    touched = _sixteenths(found) >= 2
    if touched.sum() < 4:
        return False
    rise = local_range(a)
    edged = _sixteenths(rise > EDGE) >= 20
    if (touched & edged).sum() < SPREAD * max(1, edged.sum()):
        return False
    last = np.subtract(b, a, dtype=np.int16)[found].astype(np.float32)
    unexplained = np.abs(last) > threshold + TREMOR * rise[found]
    if unexplained.mean() > 0.25:  # a speaker may walk before it
        return False
    first = np.subtract(a, before, dtype=np.int16)[found].astype(np.float32)
    return float((first * last).sum()) < 0.3 * float((last * last).sum())


def _sixteenths(mask: Mask) -> NDArray[np.int64]:
    height, width = mask.shape
    lines = mask[: height // 4 * 4].reshape(4, height // 4, width).sum(axis=1, dtype=np.uint16)
    counts: NDArray[np.int64] = lines[:, : width // 4 * 4].reshape(4, 4, width // 4).sum(axis=2, dtype=np.int64)
    return counts


def _explained(a: Luma, b: Luma, threshold: int) -> Mask:
    near: Mask = np.maximum(a, b) - np.minimum(a, b) <= threshold + TREMOR * local_range(a)
    return near


def local_range(plane: Luma) -> NDArray[np.uint8]:
    """Largest less smallest value within a pixel."""
    high, low = plane.copy(), plane.copy()
    for out, pick in ((high, np.maximum), (low, np.minimum)):
        pick(out[1:], plane[:-1], out=out[1:])
        pick(out[:-1], plane[1:], out=out[:-1])
        row = out.copy()
        pick(out[:, 1:], row[:, :-1], out=out[:, 1:])
        pick(out[:, :-1], row[:, 1:], out=out[:, :-1])
    return high - low


def _brightness_shift(a: Luma, b: Luma) -> int:
    """The median difference, at most 16 levels up or down; of every fourth pixel across and down."""
    few = np.subtract(a[::4, ::4], b[::4, ::4], dtype=np.int16)
    if 2 * np.count_nonzero(np.abs(few) <= 1) > few.size:
        return 0  # so is the median, but for one level, which counts as none
    return int(np.clip(np.median(few), -16, 16))


def share(mask: Mask) -> float:
    """The share of a mask that is set."""
    return float(np.count_nonzero(mask)) / mask.size


def likeness(a: Luma, b: Luma) -> float:
    """Correlation of two planes, coarsely seen: 1 for one picture, about 0 for two that have nothing in common."""
    one, other = _cell_sums(a), _cell_sums(b)
    one = one - one.mean()
    other = other - other.mean()
    scale = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum() / scale) if scale > 1e-6 else float(np.abs(a.astype(int) - b).mean() < 4)


def _cell_sums(plane: Luma) -> NDArray[np.float64]:
    rows, columns = plane.shape[0] // CELL, plane.shape[1] // CELL
    lines = plane[: rows * CELL].reshape(rows, CELL, -1).sum(axis=1, dtype=np.uint16)
    sums: NDArray[np.float64] = (
        lines[:, : columns * CELL].reshape(rows, columns, CELL).sum(axis=2, dtype=np.uint32).astype(np.float64)
    )
    return sums


def cells(mask: Mask) -> NDArray[np.uint16]:
    """How many pixels of each cell of 8 × 8 are set; the picture is padded to whole cells."""
    height, width = mask.shape
    rows = -(-height // CELL)
    bits = np.zeros((rows * CELL, -(-width // CELL)), np.uint8)
    bits[:height] = np.packbits(mask, axis=1)  # a cell is 8 wide: one byte of each of its rows
    counts: NDArray[np.uint16] = np.bitwise_count(bits).reshape(rows, CELL, -1).sum(axis=1, dtype=np.uint16)
    return counts


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
    if np.count_nonzero(mask) < least:
        return []
    counts = cells(mask)
    rows, columns = counts.shape
    wide = np.zeros((rows + 2, columns + 2), np.uint16)
    wide[1:-1, 1:-1] = counts
    quads = wide[:-1, :-1] + wide[1:, :-1] + wide[:-1, 1:] + wide[1:, 1:]
    strong = quads >= least
    if not strong.any():
        return []
    near = strong[:-1, :-1] | strong[1:, :-1] | strong[:-1, 1:] | strong[1:, 1:]
    return [_region(mask, group) for group in _connected(near & (counts > 0))]


def _region(mask: Mask, group: Mask) -> Region:
    """The bounds of the pixels set in a group of cells, and their count."""
    downs, acrosses = np.flatnonzero(group.any(axis=1)), np.flatnonzero(group.any(axis=0))
    inner = np.s_[downs[0] : downs[-1] + 1, acrosses[0] : acrosses[-1] + 1]
    top, left = int(downs[0]) * CELL, int(acrosses[0]) * CELL
    window = mask[top : (int(downs[-1]) + 1) * CELL, left : (int(acrosses[-1]) + 1) * CELL]
    cover = group[inner].repeat(CELL, 0).repeat(CELL, 1)[: window.shape[0], : window.shape[1]]
    inside = window & cover
    ys, xs = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    return Region(left + int(xs[0]), top + int(ys[0]), left + int(xs[-1]) + 1, top + int(ys[-1]) + 1, int(inside.sum()))


def _connected(occupied: Mask) -> list[Mask]:
    """Groups of set cells that touch, corners included, in reading order of their bounds. All rows are the bits of one number,
    with a blank column between them: a group grows in every direction at once."""
    rows, columns = occupied.shape
    stride = columns // 8 * 8 + 8
    spaced = np.zeros((rows, stride), bool)
    spaced[:, :columns] = occupied
    left = int.from_bytes(np.packbits(spaced, bitorder="little").tobytes(), "little")
    groups = []
    while left:
        group, grown = 0, left & -left
        while grown != group:
            group = grown
            line = group | group << 1 | group >> 1
            grown = (line | line << stride | line >> stride) & left
        left ^= group
        octets = np.frombuffer(group.to_bytes(rows * stride // 8, "little"), np.uint8)
        groups.append(np.unpackbits(octets, bitorder="little").reshape(rows, stride)[:, :columns].astype(bool))
    return sorted(groups, key=lambda g: (int(g.any(axis=1).argmax()), int(g.any(axis=0).argmax())))


def widened(mask: Mask, by: int) -> Mask:
    """The mask grown by `by` pixels in every direction."""
    grown = mask.copy()
    if not mask.any():
        return grown
    reach = 0
    while reach < by:
        step = min(reach + 1, by - reach)  # further, and gaps would be left beside the borders
        base = grown.copy()
        base[step:] |= grown[:-step]
        base[:-step] |= grown[step:]
        grown = base.copy()
        grown[:, step:] |= base[:, :-step]
        grown[:, :-step] |= base[:, step:]
        reach += step
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
