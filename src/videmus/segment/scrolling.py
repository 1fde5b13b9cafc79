"""Whether a page was scrolled: most of what changed stands on it still, higher or lower.

Enters: two pages, the cells that changed. Leaves: a decision. Knows nothing of words.

The part that changed is compared with itself at every shift up or down (cross-correlation by Fourier transform, normalised
by what overlaps), by how their brightness rises to the right: a template's grounds and bands, and the distance of lines, tell
nothing. On the lectures that docs/slides.md names, scrolled views correlate by .77 to 1.0, other pages by .26 at most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from videmus.segment.pages import CELL, Mask, Page

LEAST_CELLS = 20
LEAST_SHIFT = 4
"""Pixels on a plane 640 wide: less is text that was set anew."""

OVERLAP = 0.35
"""How much of the changed part must still be seen, of its height; of its contrast `OVERLAP_CONTRAST`."""

OVERLAP_CONTRAST = 0.35
LIKENESS = 0.7
HEIGHT = 0.45
"""What scrolls fills so much of the picture's height: of a slide, one line of three may move up where the others change."""


def scrolled(before: Page, after: Page, changed: Mask) -> bool:
    """Whether what changed moved up or down as a whole. `changed` are cells of both pages."""
    if before.luma.shape != after.luma.shape or changed.sum() < LEAST_CELLS:
        return False
    window = _part(changed)
    if window[0].stop - window[0].start < HEIGHT * len(before.luma):
        return False
    rests = ~(before.moving | after.moving).repeat(CELL, 0).repeat(CELL, 1)[window]
    x, y = (np.diff(page.luma[window].astype(np.float32), axis=1) * rests[:, 1:] for page in (before, after))
    return _best_likeness(x, y) >= LIKENESS


def _part(changed: Mask) -> tuple[slice, slice]:
    """The pixels of the part that changed, without a stray cell at its edges."""
    rows, columns = np.nonzero(changed)
    top, bottom = (int(v) for v in np.percentile(rows, [2, 98]))
    left, right = (int(v) for v in np.percentile(columns, [2, 98]))
    return np.s_[top * CELL : (bottom + 1) * CELL, left * CELL : (right + 1) * CELL]


def _best_likeness(x: NDArray[np.float32], y: NDArray[np.float32]) -> float:
    """The correlation of two planes at the shift where it is highest."""
    height = len(x)
    spectrum = np.conj(np.fft.rfft(x, 2 * height, axis=0)) * np.fft.rfft(y, 2 * height, axis=0)
    products = np.fft.irfft(spectrum.sum(axis=1), 2 * height)
    above_x, above_y = (np.append(0.0, (p * p).sum(axis=1, dtype=np.float64).cumsum()) for p in (x, y))
    best = 0.0
    for shift in range(LEAST_SHIFT, int((1 - OVERLAP) * height) + 1):
        down = above_x[height - shift], above_y[height] - above_y[shift]
        up = above_x[height] - above_x[shift], above_y[height - shift]
        for product, (of_x, of_y) in ((products[shift], down), (products[-shift], up)):
            if (
                of_x >= OVERLAP_CONTRAST * above_x[height]
                and of_y >= OVERLAP_CONTRAST * above_y[height]
                and of_x * of_y
            ):
                best = max(best, float(product / np.sqrt(of_x * of_y)))
    return best
