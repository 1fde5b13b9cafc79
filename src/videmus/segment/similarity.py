"""Structural similarity of two pictures, as PreMind uses it to decide which pairs a vision model must see.

Enters: luma planes of one size. Leaves: one number. Knows nothing of slides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOW = 8
_C1 = (0.01 * 255) ** 2
_C2 = (0.03 * 255) ** 2


def structural_similarity(a: NDArray[np.uint8], b: NDArray[np.uint8], least: float = 0.0) -> float:
    """Mean SSIM over windows of 8 × 8 that overlap by half (Wang, Bovik, Sheikh, Simoncelli 2004, section III); -1 to 1.

    Only windows count in which either picture's brightness deviates by more than `least`: the blank ground of two slides
    makes any of them alike. Without any such window the pictures are alike.
    """
    if a.shape != b.shape:
        return 0.0
    x, y = a.astype(np.float64), b.astype(np.float64)
    mean_x, mean_y = _means(x), _means(y)
    var_x, var_y = _means(x * x) - mean_x**2, _means(y * y) - mean_y**2
    both = _means(x * y) - mean_x * mean_y
    luminance = (2 * mean_x * mean_y + _C1) / (mean_x**2 + mean_y**2 + _C1)
    structure = (2 * both + _C2) / (var_x + var_y + _C2)
    counts = np.maximum(var_x, var_y) >= least**2
    return float((luminance * structure)[counts].mean()) if counts.any() else 1.0


def _means(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.pad(plane.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    sums = total[WINDOW:, WINDOW:] - total[:-WINDOW, WINDOW:] - total[WINDOW:, :-WINDOW] + total[:-WINDOW, :-WINDOW]
    return np.asarray(sums[:: WINDOW // 2, :: WINDOW // 2] / WINDOW**2)
