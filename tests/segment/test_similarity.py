"""Structural similarity, on which PreMind's two thresholds stand."""

from __future__ import annotations

import numpy as np

from videmus.segment.similarity import structural_similarity

PAGE = np.random.default_rng(3).integers(0, 255, (96, 128)).astype(np.uint8)


def test_a_picture_is_like_itself_and_unlike_its_opposite():
    assert abs(structural_similarity(PAGE, PAGE) - 1) < 1e-9
    assert structural_similarity(PAGE, 255 - PAGE) < 0


def test_likeness_falls_with_noise():
    noise = np.random.default_rng(4).normal(0, 1, PAGE.shape)
    little, much = (structural_similarity(PAGE, (PAGE + s * noise).clip(0, 255).astype(np.uint8)) for s in (5, 60))
    assert 1 > little > 0.9 > much > 0


def test_pictures_of_two_sizes_are_not_alike():
    assert structural_similarity(PAGE, PAGE[:48]) == 0
