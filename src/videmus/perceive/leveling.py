"""Quiet speech beside loud speech is brought to one level before anything listens: voice detection drops it otherwise.

Enters: blocks of samples (mono, 16 kHz). Leaves: the same number of samples in the same order, later by the look-ahead.

The gain at a time follows the loudest 400 ms within a second to either side, averaged over as much again (a look-ahead
limiter: the maximum first and the mean of the same span after it, so that nothing loud is ever met by a gain that was
meant for something quiet). Pauses shorter than that keep the gain of the speech around them; in longer ones noise is
raised too, by at most `level_up`, and it is the voice detection's to refuse it. The level is that of sound above
100 Hz: hum is not speech.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from videmus.config import SpeechSettings

Samples = NDArray[np.float32]

RATE = 16_000
HOP = 160
"""Loudness is measured every 10 ms."""

SHORT = 20
"""Hops to either side of the 400 ms over which loudness is measured (the momentary loudness of EBU R 128)."""

SILENCE = 1e-9
"""Power below which there is nothing to raise (-90 dBFS: under the last bit of 16)."""


def levelled(blocks: Iterable[Samples], settings: SpeechSettings) -> Iterator[Samples]:
    """The samples of `blocks`, each multiplied by its gain and held to ±1; blocks of whole hops, the last one shorter."""
    span = settings.level_span_ms * RATE // 1000 // HOP
    ahead = SHORT + 2 * span  # hops to either side that a gain depends on
    held = np.zeros(0, np.float32)  # from the first hop that the next gains depend on
    before = 0  # hops at the start of `held` that are already out
    for block in blocks:
        held = np.concatenate([held, block])
        ready = len(held) // HOP - ahead
        if ready - before < ahead:  # a block shorter than its surroundings would be measured over and over
            continue
        gains = _gains(held, span, settings)
        yield _amplified(held, gains, before, ready)
        first = max(0, ready - ahead)
        held, before = held[first * HOP :], ready - first
    if len(held) > before * HOP:
        yield _amplified(held, _gains(held, span, settings), before, None)


def _gains(samples: Samples, span: int, settings: SpeechSettings) -> NDArray[np.float64]:
    """The gain in dB of each hop, the last one possibly short."""
    power = _hops(samples)
    momentary = _over(power, SHORT, "mean")
    loudest = _over(momentary, span, "max")
    wanted = settings.level - 10 * np.log10(np.maximum(loudest, SILENCE))
    wanted = np.sign(wanted) * np.maximum(np.abs(wanted) - settings.level_slack, 0)
    wanted = np.where(loudest > SILENCE, np.clip(wanted, -settings.level_down, settings.level_up), 0.0)
    return _over(wanted, span, "mean")


def _hops(samples: Samples) -> NDArray[np.float64]:
    """The mean power of each hop, without what is slower than 100 Hz (a moving mean of 10 ms)."""
    padded = np.pad(samples.astype(np.float64), (HOP // 2, HOP // 2), mode="edge" if len(samples) else "constant")
    sums = np.concatenate([[0.0], np.cumsum(padded)])
    quick = samples - (sums[HOP:] - sums[:-HOP])[: len(samples)] / HOP
    hops = -(-len(samples) // HOP)
    return np.asarray(np.pad(quick**2, (0, hops * HOP - len(samples))).reshape(hops, HOP).mean(1))


def _over(values: NDArray[np.float64], reach: int, what: str) -> NDArray[np.float64]:
    """The mean or the maximum over `reach` values to either side of each."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, (reach, reach), mode="edge"), 2 * reach + 1)
    return np.asarray(windows.mean(1) if what == "mean" else windows.max(1))


def _amplified(samples: Samples, gains: NDArray[np.float64], first: int, last: int | None) -> Samples:
    """The hops from `first` to `last`, with the gain going evenly from the middle of one hop to the next."""
    begin, end = first * HOP, len(samples) if last is None else last * HOP
    middles = np.arange(len(gains)) * HOP + HOP // 2
    factors = 10 ** (np.interp(np.arange(begin, end), middles, gains) / 20)
    return np.clip(samples[begin:end] * factors, -1, 1).astype(np.float32)
