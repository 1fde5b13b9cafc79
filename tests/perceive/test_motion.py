"""Masks, regions and boxes of what differs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from videmus.perceive import motion

FLAT = np.full((90, 160), 120, np.uint8)


def with_block(top: int, left: int, height: int, width: int, level: int = 200) -> np.ndarray:
    plane = FLAT.copy()
    plane[top : top + height, left : left + width] = level
    return plane


def test_a_shift_of_the_whole_picture_is_no_difference_and_a_block_is():
    brighter = with_block(10, 20, 6, 30, 190) + np.uint8(8)
    differing = motion.differing(FLAT, brighter, 20)
    assert differing.sum() == 6 * 30 and differing[10:16, 20:50].all()


def test_regions_are_connected_and_bounded_exactly():
    mask = np.zeros((90, 160), bool)
    mask[10:16, 20:50] = True
    mask[60:70, 100:104] = True
    found = motion.regions(mask, 10)
    assert [(r.left, r.top, r.right, r.bottom, r.pixels) for r in found] == [
        (20, 10, 50, 16, 180),
        (100, 60, 104, 70, 40),
    ]


def test_specks_are_no_region():
    mask = np.zeros((90, 160), bool)
    mask[::20, ::20] = True
    assert motion.regions(mask, 10) == []


@given(arrays(bool, (37, 53)))
@settings(max_examples=40, deadline=None)
def test_cells_count_every_pixel_once(mask):
    counts = motion.cells(mask)
    assert counts.shape == (5, 7) and counts.sum() == mask.sum()
    assert counts[0, 0] == mask[:8, :8].sum() and counts[-1, -1] == mask[32:, 48:].sum()


@given(arrays(bool, (20, 30)), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_widening_reaches_so_far_and_no_farther(mask, by):
    ys, xs = np.nonzero(mask)
    expected = np.zeros_like(mask)
    for y, x in zip(ys, xs, strict=True):
        expected[max(0, y - by) : y + by + 1, max(0, x - by) : x + by + 1] = True
    assert (motion.widened(mask, by) == expected).all()


def test_a_region_that_fills_its_bounds_is_made_whole_and_a_sparse_one_is_not():
    mask = np.zeros((90, 160), bool)
    mask[10:40:2, 10:40] = True
    diagonal = np.arange(40)
    mask[45 + diagonal, 100 + diagonal] = True
    whole = motion.filled(mask, 0.3)
    assert whole[10:39, 10:40].all()
    assert whole[45:85, 100:140].sum() == 40


def test_likeness_tells_one_picture_from_another():
    one = with_block(10, 20, 40, 60)
    assert motion.likeness(one, one) == 1
    assert motion.likeness(one, np.clip(one.astype(int) + 9, 0, 255).astype(np.uint8)) > 0.99
    assert motion.likeness(one, with_block(50, 100, 30, 50)) < 0.1


def test_boxes_are_fractions_with_a_margin_inside_the_picture():
    mask = np.zeros((90, 160), bool)
    mask[0:9, 144:160] = True
    assert motion.boxes(mask, 10) == ((0.9, 0.0, 1.0, 0.1),)
    assert motion.boxes(mask, 10, pad=4) == ((140 / 160, 0.0, 1.0, 13 / 90),)


def test_the_hash_follows_the_picture_and_not_its_size():
    small = with_block(10, 20, 40, 60)
    large = np.repeat(np.repeat(small, 2, 0), 2, 1)
    assert motion.difference_hash(small) == motion.difference_hash(large)
    assert len(motion.difference_hash(FLAT)) == 16
    assert motion.difference_hash(small) != motion.difference_hash(with_block(10, 100, 40, 40))


def filmed(shift):
    """Stripes and a ramp, `shift` pixels further right, as a camera shows them."""
    y, x = np.mgrid[0:180, 0:320]
    return np.clip(128 + 100 * np.sin((x - shift) / 1.6) + 20 * np.sin(y / 9), 0, 255).astype(np.uint8)


def test_a_tremor_changes_edges_all_over_and_explains_them():
    still, trembling = filmed(0), filmed(0.4)
    assert motion.share(motion.differing(still, trembling, 14)) > 0.2
    assert not motion.differing_beyond_tremor(still, trembling, 14).any()
    written = trembling.copy()
    written[80:90, 100:160:2] = 255
    assert motion.differing_beyond_tremor(still, written, 14)[80:90, 100:160].mean() > 0.3


def test_a_tremor_is_told_from_a_fade_and_from_something_that_moves():
    assert motion.trembled(filmed(0), filmed(0.4), filmed(0), 14)
    assert not motion.trembled(filmed(0), filmed(0.4), filmed(0.8), 14), "it goes on, as a pan or a fade"
    assert not motion.trembled(filmed(0), filmed(0), filmed(3), 14), "more than a tremor"
    walking = filmed(0)
    walking[:90, :100] = filmed(0.4)[:90, :100]
    assert not motion.trembled(filmed(0), walking, filmed(0), 14)
