"""Quiet and loud sound come out at one level; silence stays silent; blocks do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from videmus.config import SpeechSettings
from videmus.perceive.leveling import RATE, levelled

SETTINGS = SpeechSettings()


def voice(seconds: float, dbfs: float) -> np.ndarray:
    """A tone that beats like syllables, at a mean level."""
    t = np.arange(round(seconds * RATE)) / RATE
    wave = np.sin(2 * np.pi * 300 * t) * (1 + np.sin(2 * np.pi * 4 * t))
    return (wave / np.sqrt((wave**2).mean()) * 10 ** (dbfs / 20)).astype(np.float32)


def blocks(samples: np.ndarray, size: int) -> list[np.ndarray]:
    return [samples[i : i + size] for i in range(0, len(samples), size)]


def level(samples: np.ndarray) -> float:
    return float(10 * np.log10((samples.astype(float) ** 2).mean() + 1e-20))


def out(samples: np.ndarray, size: int = 30 * RATE) -> np.ndarray:
    return np.concatenate(list(levelled(blocks(samples, size), SETTINGS)))


def test_speech_forty_decibels_quieter_than_its_neighbour_comes_out_as_loud():
    samples = out(np.concatenate([voice(10, -20), voice(10, -60), voice(10, -20)]))
    loud, quiet = level(samples[: 9 * RATE]), level(samples[12 * RATE : 18 * RATE])
    assert abs(loud - quiet) < SETTINGS.level_slack + 1
    assert abs(quiet - SETTINGS.level) < SETTINGS.level_slack + 3


def test_quiet_speech_is_whole_again_two_seconds_after_loud_speech():
    samples = out(np.concatenate([voice(10, -20), voice(10, -60)]))
    assert level(samples[12 * RATE : 13 * RATE]) > -30


def test_nothing_loud_is_ever_raised_by_a_gain_meant_for_something_quiet():
    loud = voice(10, -20)
    samples = out(np.concatenate([voice(10, -60), loud]))
    onset = slice(10 * RATE, 11 * RATE)
    assert level(samples[onset]) < level(loud) + 1


def test_speech_near_the_level_is_left_as_it_is():
    speech = voice(8, SETTINGS.level)
    assert np.allclose(out(speech)[RATE:-RATE], speech[RATE:-RATE], atol=0.02)


def test_silence_stays_silent():
    assert not out(np.zeros(5 * RATE, np.float32)).any()


def test_hum_under_quiet_speech_does_not_hide_it():
    t = np.arange(10 * RATE) / RATE
    hum = (0.05 * np.sin(2 * np.pi * 30 * t)).astype(np.float32)
    speech = voice(10, -60)
    gain = level(out(hum + speech)[3 * RATE : 7 * RATE]) - level(hum)
    assert gain > 5


@pytest.mark.parametrize("size", [RATE // 3, 4 * RATE, 30 * RATE])
def test_the_size_of_blocks_does_not_matter(size):
    samples = np.concatenate([voice(7, -20), voice(9, -55), np.zeros(3 * RATE, np.float32), voice(5.003, -30)])
    assert np.allclose(out(samples, size), out(samples, 10**9), atol=1e-5)


@pytest.mark.parametrize("length", [0, 1, 159, 160, 161, 16_001])
def test_every_sample_comes_out_once(length):
    assert len(list(levelled([], SETTINGS))) == 0
    found = list(levelled([voice(1, -20)[:1].repeat(length)] if length else [np.zeros(0, np.float32)], SETTINGS))
    assert sum(map(len, found)) == length


def test_memory_does_not_grow_with_the_length():
    taken = 0
    made = 0

    def stream():
        nonlocal made
        for _ in range(20):
            made += 10 * RATE
            yield voice(10, -30)

    for block in levelled(stream(), SETTINGS):
        taken += len(block)
        assert made - taken < 25 * RATE
