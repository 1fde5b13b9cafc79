"""Where somebody speaks, and the pieces of sound that are worth recognising.

Enters: levelled sound, block by block. Leaves: chunks of at most 28 s, each a few utterances laid end to end without the
long pauses between them, which know where in the video each of their moments was. Silence costs the voice detection
alone. Memory does not grow with the length: what is held is one chunk and one block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from videmus.config import SpeechSettings
from videmus.models.speech import RATE, VOICE_HOP, VoiceDetector

Samples = NDArray[np.float32]

LEAD = 32
"""Hops before a block that the detector hears again: it remembers nothing from call to call (about a second)."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Sound from `start` (a sample of the video) on; `voice` is the probability of a voice in each 32 ms of it."""

    start: int
    samples: Samples
    voice: NDArray[np.float32]

    @property
    def end(self) -> int:
        return self.start + len(self.samples)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Utterances laid end to end. Times inside a chunk are seconds, times in the video milliseconds."""

    utterances: tuple[Utterance, ...]

    @property
    def samples(self) -> Samples:
        return np.concatenate([u.samples for u in self.utterances])

    @property
    def start_ms(self) -> int:
        return round(self.utterances[0].start * 1000 / RATE)

    @property
    def end_ms(self) -> int:
        return round(self.utterances[-1].end * 1000 / RATE)

    @property
    def voice(self) -> float:
        """The mean probability of a voice in it."""
        return float(np.concatenate([u.voice for u in self.utterances]).mean())

    def at_ms(self, seconds: float, *, end: bool = False) -> int:
        """Where a time inside the chunk is in the video. At a seam, an `end` belongs to the utterance before it."""
        sample = max(0, round(seconds * RATE))
        for utterance in self.utterances:
            length = len(utterance.samples)
            if sample < length or (end and sample == length) or utterance is self.utterances[-1]:
                return round((utterance.start + min(sample, length)) * 1000 / RATE)
            sample -= length
        raise ValueError("a chunk has at least one utterance")

    def part(self, start: float, end: float) -> Chunk:
        """What lies between two times inside the chunk, in whole hops of 32 ms; at least one hop."""
        first, last = int(start * RATE) // VOICE_HOP, max(1, round(end * RATE) // VOICE_HOP)
        kept = []
        for utterance in self.utterances:
            hops = len(utterance.voice)
            begin, stop = max(0, first), min(hops, last)
            if begin < stop:
                samples = utterance.samples[begin * VOICE_HOP : stop * VOICE_HOP]
                kept.append(Utterance(utterance.start + begin * VOICE_HOP, samples, utterance.voice[begin:stop]))
            first, last = first - hops, last - hops
        return Chunk(tuple(kept))

    def voice_between(self, start_ms: int, end_ms: int) -> float:
        """The highest probability of a voice within a span of the video; 0 where the chunk has nothing of it."""
        best = 0.0
        for utterance in self.utterances:
            first = (start_ms * RATE // 1000 - utterance.start) // VOICE_HOP
            last = -(-(end_ms * RATE // 1000 - utterance.start) // VOICE_HOP)
            if last > 0 and first < len(utterance.voice):
                best = max(best, float(utterance.voice[max(0, first) : max(last, 1)].max(initial=0)))
        return best


def chunks(blocks: Iterable[Samples], detector: VoiceDetector, settings: SpeechSettings) -> Iterator[Chunk]:
    """Utterances packed together as long as they fit and follow each other within `longest_pause_ms`.

    Where the next one does not fit, the chunk is cut at the longest pause in its last two fifths, so that sentences stay
    whole more often; what comes after that pause begins the next chunk.
    """
    longest = settings.chunk_ms * RATE // 1000
    pause = settings.longest_pause_ms * RATE // 1000
    held: list[Utterance] = []
    for utterance in utterances(blocks, detector, settings):
        if held and utterance.start - held[-1].end > pause:
            yield Chunk(tuple(held))
            held = []
        while held and sum(len(u.samples) for u in held) + len(utterance.samples) > longest:
            cut = _longest_pause([*held, utterance], longest)
            yield Chunk(tuple(held[:cut]))
            held = held[cut:]
        held.append(utterance)
    if held:
        yield Chunk(tuple(held))


def _longest_pause(row: list[Utterance], longest: int) -> int:
    """How many of the utterances the chunk keeps: never the last one, which does not fit."""
    filled = np.cumsum([len(u.samples) for u in row[:-1]])
    candidates = [i for i in range(1, len(row)) if filled[i - 1] >= 0.6 * longest] or [len(row) - 1]
    return max(candidates, key=lambda i: (row[i].start - row[i - 1].end, i))


def utterances(blocks: Iterable[Samples], detector: VoiceDetector, settings: SpeechSettings) -> Iterator[Utterance]:
    """Stretches of voice, parted by pauses of at least `pause_ms`, with `pad_ms` (at most half a pause) around each.

    A stretch longer than a chunk is cut where the voice is least in its second half.
    """
    pause = max(1, settings.pause_ms * RATE // 1000 // VOICE_HOP)
    pad = settings.pad_ms * RATE // 1000 // VOICE_HOP
    shortest = settings.shortest_ms * RATE // 1000 // VOICE_HOP
    longest = settings.chunk_ms * RATE // 1000 // VOICE_HOP
    sound = _Tape()
    begun: int | None = None  # the first hop of the stretch under way
    last = 0  # the hop after the last voiced one
    floor = 0  # nothing before this hop may be used again
    hop = 0

    def cut(first: int, end: int) -> Utterance:
        return Utterance(first * VOICE_HOP, sound.samples(first, end), sound.voice(first, end))

    for samples, voice in _listened(blocks, detector):
        sound.add(samples, voice)
        for probability in voice.tolist():
            if probability >= (settings.voiced if begun is None else settings.unvoiced):
                if begun is None:
                    begun = hop
                last = hop + 1
            hop += 1
            if begun is not None and hop - last >= pause:
                if last - begun >= shortest:
                    first, end = max(floor, begun - pad), min(last + pad, last + pause // 2)
                    yield cut(first, end)
                    floor = end
                begun = None
            elif begun is not None and hop - max(floor, begun - pad) >= longest:
                first = max(floor, begun - pad)
                middle = first + longest // 2
                floor = middle + int(sound.voice(middle, hop).argmin()) + 1
                yield cut(first, floor)
                begun = floor
        sound.forget((begun if begun is not None else hop) - pad - pause)
    if begun is not None and last - begun >= shortest:
        yield cut(max(floor, begun - pad), min(last + pad, hop))


def _listened(blocks: Iterable[Samples], detector: VoiceDetector) -> Iterator[tuple[Samples, NDArray[np.float32]]]:
    """Each block in whole hops of 32 ms, the last one filled up with silence, with its voice probabilities."""
    lead = np.zeros(0, np.float32)
    rest = np.zeros(0, np.float32)

    def heard(samples: Samples) -> NDArray[np.float32]:
        return detector(np.concatenate([lead, samples]))[len(lead) // VOICE_HOP :]

    for block in blocks:
        joined = np.concatenate([rest, block])
        whole = len(joined) // VOICE_HOP * VOICE_HOP
        samples, rest = joined[:whole], joined[whole:]
        if whole:
            yield samples, heard(samples)
            lead = np.concatenate([lead, samples])[-LEAD * VOICE_HOP :]
    if len(rest):
        samples = np.pad(rest, (0, VOICE_HOP - len(rest)))
        yield samples, heard(samples)


class _Tape:
    """The sound and its voice probabilities from one hop on; hops count from the beginning of the video."""

    def __init__(self) -> None:
        self._first = 0
        self._samples = np.zeros(0, np.float32)
        self._voice = np.zeros(0, np.float32)

    def add(self, samples: Samples, voice: NDArray[np.float32]) -> None:
        self._samples = np.concatenate([self._samples, samples])
        self._voice = np.concatenate([self._voice, voice])

    def forget(self, before: int) -> None:
        """Let go of what comes before a hop."""
        gone = min(max(0, before - self._first), len(self._voice))
        self._samples = self._samples[gone * VOICE_HOP :].copy()
        self._voice = self._voice[gone:].copy()
        self._first += gone

    def samples(self, first: int, end: int) -> Samples:
        return self._samples[(first - self._first) * VOICE_HOP : (end - self._first) * VOICE_HOP].copy()

    def voice(self, first: int, end: int) -> NDArray[np.float32]:
        return self._voice[first - self._first : end - self._first].copy()
