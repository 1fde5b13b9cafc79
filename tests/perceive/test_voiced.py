"""Stretches of voice are found, packed into chunks, and every moment of a chunk knows where in the video it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videmus.config import SpeechSettings
from videmus.models.speech import RATE, VOICE_HOP
from videmus.perceive.voiced import Chunk, Utterance, chunks, utterances

SETTINGS = SpeechSettings()


def detector(samples: np.ndarray) -> np.ndarray:
    """A voice wherever there is sound: the test's own sounds are 0.5 where somebody 'speaks'."""
    return (np.abs(samples.reshape(-1, VOICE_HOP)).max(1) > 0.1).astype(np.float32)


def sound(seconds: float, *spans: tuple[float, float]) -> np.ndarray:
    samples = np.zeros(round(seconds * RATE), np.float32)
    for start, end in spans:
        samples[round(start * RATE) : round(end * RATE)] = 0.5
    return samples


def blocks(samples: np.ndarray, size: int = 30 * RATE) -> list[np.ndarray]:
    return [samples[i : i + size] for i in range(0, len(samples), size)]


def found(samples: np.ndarray, size: int = 30 * RATE) -> list[tuple[float, float]]:
    return [
        (round(u.start / RATE, 1), round(u.end / RATE, 1))
        for u in utterances(blocks(samples, size), detector, SETTINGS)
    ]


def test_a_stretch_is_cut_out_with_a_little_around_it():
    [(start, end)] = found(sound(10, (3, 5)))
    assert 2.7 <= start <= 2.9
    assert 5.1 <= end <= 5.3


def test_a_short_pause_is_a_part_of_the_utterance_and_a_long_one_parts_two():
    assert len(found(sound(10, (1, 2), (2.2, 3)))) == 1
    assert len(found(sound(10, (1, 2), (2.6, 3)))) == 2


def test_a_click_is_no_utterance():
    assert found(sound(10, (3, 3.03))) == []


def test_silence_gives_nothing():
    assert found(sound(100)) == []
    assert list(chunks([], detector, SETTINGS)) == []


@pytest.mark.parametrize("size", [1000, RATE, 7 * RATE])
def test_the_size_of_blocks_does_not_matter(size):
    samples = sound(40, (1, 4), (5, 5.5), (9, 21), (22, 39.7))
    assert found(samples, size) == found(samples, 10**9)


def test_utterances_never_overlap_and_hold_the_sound_of_their_time():
    samples = sound(60, (1, 4), (4.5, 5), (5.4, 38), (38.4, 59)) + np.linspace(0, 0.05, 60 * RATE, dtype=np.float32)
    last = 0
    for utterance in utterances(blocks(samples), detector, SETTINGS):
        assert utterance.start >= last
        assert np.array_equal(utterance.samples, samples[utterance.start : utterance.end])
        last = utterance.end


def test_speech_without_a_pause_is_cut_before_it_fills_a_chunk():
    lengths = [end - start for start, end in found(sound(100, (0, 100)))]
    assert max(lengths) <= SETTINGS.chunk_ms / 1000 + 0.1
    assert sum(lengths) > 99


def test_chunks_are_full_but_never_longer_than_allowed():
    spans = [(3 * i, 3 * i + 2) for i in range(60)]
    made = list(chunks(blocks(sound(180, *spans)), detector, SETTINGS))
    lengths = [len(c.samples) / RATE for c in made]
    assert max(lengths) <= SETTINGS.chunk_ms / 1000
    assert min(lengths[:-1]) > 0.5 * SETTINGS.chunk_ms / 1000
    assert sum(len(c.utterances) for c in made) == 60


def test_a_chunk_is_cut_at_its_longest_late_pause():
    spans = [(3 * i, 3 * i + 2) for i in range(9)] + [(31 + 3 * i, 33 + 3 * i) for i in range(9)]
    first, *_ = chunks(blocks(sound(60, *spans)), detector, SETTINGS)
    assert 26_000 <= first.end_ms <= 26_500


def test_a_long_silence_ends_a_chunk():
    made = list(chunks(blocks(sound(60, (1, 3), (40, 43))), detector, SETTINGS))
    assert [(round(c.start_ms, -3), round(c.end_ms, -3)) for c in made] == [(1000, 3000), (40_000, 43_000)]


def test_a_time_in_a_chunk_is_found_in_the_video_across_the_pauses_left_out():
    chunk = Chunk((Utterance(RATE, np.zeros(2 * RATE), np.ones(63)), Utterance(10 * RATE, np.zeros(RATE), np.ones(32))))
    assert [chunk.at_ms(t) for t in (0, 1.5, 2.0, 2.5)] == [1000, 2500, 10_000, 10_500]
    assert chunk.at_ms(2.0, end=True) == 3000
    assert chunk.at_ms(99.0) == 11_000


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=6), st.floats(0, 20))
@settings(max_examples=100)
def test_times_in_the_video_grow_with_times_in_the_chunk(parts, seconds):
    row, at = [], 0
    for pause, length in parts:
        at += pause * 1600
        row.append(Utterance(at, np.zeros(length * 1600, np.float32), np.ones(length * 4, np.float32)))
        at += length * 1600
    chunk = Chunk(tuple(row))
    assert chunk.start_ms <= chunk.at_ms(seconds) <= chunk.at_ms(seconds + 0.1) <= chunk.end_ms
    assert chunk.at_ms(seconds, end=True) <= chunk.at_ms(seconds)


def test_the_voice_between_two_times_is_what_the_detector_said_there():
    voice = np.array([0.1] * 31 + [0.9] + [0.1] * 31, np.float32)
    chunk = Chunk((Utterance(10 * RATE, np.zeros(63 * VOICE_HOP, np.float32), voice),))
    assert chunk.voice_between(10_000, 10_900) == pytest.approx(0.1)
    assert chunk.voice_between(10_900, 11_100) == pytest.approx(0.9)
    assert chunk.voice_between(1_000, 2_000) == 0.0


def test_a_part_of_a_chunk_keeps_the_times_of_the_video():
    row = tuple(
        Utterance(at * RATE, np.full(32 * VOICE_HOP, at, np.float32), np.ones(32, np.float32)) for at in (1, 10, 20)
    )
    chunk = Chunk(row)
    second = 32 * VOICE_HOP / RATE
    part = chunk.part(second * 0.5, second * 2)
    assert part.at_ms(0) == 1000 + round(second * 500)
    assert part.at_ms(second * 0.5) == 10_000
    assert len(part.samples) == 48 * VOICE_HOP
    assert chunk.part(0, second * 3).samples.tolist() == chunk.samples.tolist()
    assert len(chunk.part(0, 0).samples) == VOICE_HOP
