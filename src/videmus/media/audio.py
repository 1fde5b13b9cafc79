"""The sound of a file as one even stream: mono, 16 kHz, 32-bit floats, sample n at n / 16,000 s of the video's time.

Enters: a path, and which of several tracks. Leaves: blocks of samples, one after the other, in memory that does not
grow with the file. Time is true: what the timestamps leave out is silence, what they repeat is dropped once, and sound
that begins after the pictures begins later here too. Packets that cannot be decoded are counted and become silence.
Channels are added at equal power, so that samples may exceed 1.

Knows nothing of speech.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error
import numpy as np
from numpy.typing import NDArray

from videmus.errors import MediaError, UsageError
from videmus.media.probe import first_moment, reading

Samples = NDArray[np.float32]

SAMPLE_RATE = 16_000
"""Samples a second of every stream here: what the speech models are trained on."""

TOLERANCE = SAMPLE_RATE * 60 // 1000
"""Timestamps and sample count may disagree by 60 ms (a packet of AAC is 21 to 64 ms) before silence is put in or sound
left out; a clock that runs falsely is so held within that, however long the file."""

RESTART = SAMPLE_RATE * 10
"""Timestamps that go back by more than 10 s have started anew (joined recordings): the sound goes on without a gap."""

BEYOND = SAMPLE_RATE * 10
"""A gap that would end more than 10 s after the file's stated end is a broken timestamp, not a silence."""

LONGEST_GAP = SAMPLE_RATE * 6 * 3600
"""The longest silence that timestamps alone may claim, where the file states no length."""

_LANGUAGES = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces cze", "da": "dan", "de": "deu ger", "el": "ell gre", "en": "eng",
    "es": "spa", "et": "est", "fa": "fas per", "fi": "fin", "fr": "fra fre", "he": "heb", "hi": "hin", "hr": "hrv",
    "hu": "hun", "id": "ind", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "nl": "nld dut",
    "no": "nor nob", "pl": "pol", "pt": "por", "ro": "ron rum", "ru": "rus", "sk": "slk slo", "sl": "slv", "sr": "srp",
    "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "zho chi cmn yue",
}  # fmt: skip
"""Two-letter language codes and the three-letter ones that containers write (ISO 639-2, both forms)."""


class AudioReader:
    """Iterate over it for blocks of `block` samples (the last one is shorter).

    `track` is a stream index of the container or a language ("de", "deu"); None is the track marked default, else the
    first. Reading starts at `start_ms`, which is then sample 0. Afterwards `corrupt` counts the packets that could not
    be decoded, `filled` the samples of silence put in for gaps, `dropped` those left out because they overlapped.

    Raises MediaError where the file cannot be read, has no sound, or none of it can be decoded; UsageError for a track
    that is not there.
    """

    def __init__(
        self, path: str | Path, *, track: int | str | None = None, start_ms: int = 0, block: int = 30 * SAMPLE_RATE
    ) -> None:
        self.path = Path(path)
        self.track = track
        self.start_ms = start_ms
        self.block = block
        self.corrupt = 0
        self.filled = 0
        self.dropped = 0

    def __iter__(self) -> Iterator[Samples]:
        held: list[Samples] = []
        size = 0
        for piece in self._pieces():
            while size + len(piece) >= self.block:
                held.append(piece[: self.block - size])
                piece = piece[self.block - size :]
                yield np.concatenate(held)
                held, size = [], 0
            if len(piece):
                held.append(piece)
                size += len(piece)
        if size:
            yield np.concatenate(held)

    def _pieces(self) -> Iterator[Samples]:
        self.corrupt = self.filled = self.dropped = 0
        with reading(self.path) as container:
            stream = chosen_track(container, self.track, self.path)
            begin = first_moment(container) + Fraction(self.start_ms, 1000)
            if self.start_ms > 0:
                _seek(container, begin)
            timeline = _Timeline(self, begin, _end(container, begin))
            decoded = False
            for frame in self._frames(container, stream):
                decoded = True
                yield from timeline.place(frame)
            yield from timeline.finish()
            if not decoded and self.corrupt:
                raise MediaError(
                    f"the sound cannot be decoded ({self.corrupt} damaged packets)",
                    where=str(self.path),
                    next="play it to hear whether it is whole; the pictures may still be read",
                )

    def _frames(self, container: Any, stream: Any) -> Iterator[Any]:
        stream.thread_type = "NONE"  # sound decodes at hundreds of times its speed; threads only fight for the cores
        packets = container.demux(stream)
        while True:
            try:
                packet = next(packets, None)
            except av.error.FFmpegError:  # cut off: what came before is heard
                self.corrupt += 1
                return
            if packet is None:
                return
            try:
                yield from packet.decode()
            except av.error.FFmpegError:
                self.corrupt += 1


def chosen_track(container: Any, track: int | str | None, path: Path) -> Any:
    """The audio stream meant by `track`. Raises MediaError for no sound at all, UsageError for no such track."""
    streams = [s for s in container.streams.audio if s.codec_context is not None]
    if not streams:
        raise MediaError(
            "the file has no sound that can be decoded", where=str(path), next="add a subtitle file beside it"
        )
    if track is None:
        return next((s for s in streams if s.disposition & av.stream.Disposition.default), streams[0])
    if isinstance(track, int):
        found = next((s for s in streams if s.index == track), None)
    else:
        found = next((s for s in streams if same_language(track, s.language)), None)
    if found is None:
        have = ", ".join(f"{s.index} ({s.language or 'no language'})" for s in streams)
        raise UsageError(f"there is no audio track {track!r}", where=str(path), next=f"the tracks are {have}")
    return found


def same_language(wanted: str, tagged: str | None) -> bool:
    """Whether a container's language tag ("ger", "de-AT") means the language `wanted` ("de", "deu")."""
    if not tagged:
        return False
    return _two_letters(wanted) == _two_letters(tagged)


def _two_letters(code: str) -> str:
    code = code.lower().split("-")[0].split("_")[0]
    return next((short for short, long in _LANGUAGES.items() if code in long.split()), code)


def _seek(container: Any, begin: Fraction) -> None:
    try:
        container.seek(max(0, int((begin - 1) * 1_000_000)))
    except av.error.FFmpegError:  # not seekable: read from the beginning and drop what comes before
        container.seek(0)


def _end(container: Any, begin: Fraction) -> int | None:
    """The sample at which the container says that it ends."""
    if container.duration is None or container.duration <= 0:
        return None
    return round((first_moment(container) + Fraction(container.duration, 1_000_000) - begin) * SAMPLE_RATE)


class _Timeline:
    """Puts decoded frames where their timestamps say. `expected` is the sample at which the next one belongs."""

    def __init__(self, reader: AudioReader, begin: Fraction, end: int | None) -> None:
        self.reader = reader
        self.begin = begin
        self.end = end
        self.shift = 0  # added to all timestamps since they started anew
        self.expected = Fraction(0)
        self.skip = 0  # samples still to drop from what comes out
        self.resampler: Any = None
        self.form: tuple[str, str, int] | None = None

    def place(self, frame: Any) -> Iterator[Samples]:
        form = (frame.format.name, frame.layout.name, frame.sample_rate)
        if frame.sample_rate <= 0 or frame.samples <= 0:
            return
        gap = self._gap(frame)
        if gap or form != self.form:
            yield from self.finish()
            self.resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
            self.form = form
            yield from self._jump(gap)
        self.expected += Fraction(frame.samples * SAMPLE_RATE, frame.sample_rate)
        frame.pts = None
        yield from self._out(self.resampler.resample(frame))

    def finish(self) -> Iterator[Samples]:
        """What the resampler still holds."""
        if self.resampler is not None:
            yield from self._out(self.resampler.resample(None))
            self.resampler = None

    def _gap(self, frame: Any) -> int:
        """How many samples later (or, negative, earlier) the frame belongs than where the stream now is."""
        if frame.pts is None or frame.time_base is None:
            return 0
        at: int = round((frame.pts * frame.time_base - self.begin) * SAMPLE_RATE) + self.shift
        gap = at - round(self.expected)
        if self.form is None:  # the first frame: exactly where it says
            return gap if self._believable(gap) else 0
        if abs(gap) <= TOLERANCE:
            return 0
        if gap < -RESTART or not self._believable(gap):
            self.shift -= gap
            return 0
        return gap

    def _believable(self, gap: int) -> bool:
        if self.end is not None:
            return round(self.expected) + gap <= self.end + BEYOND
        return gap <= LONGEST_GAP

    def _jump(self, gap: int) -> Iterator[Samples]:
        self.expected += gap
        if gap < 0:
            self.skip -= gap
        else:
            silence = max(0, gap - self.skip)
            self.skip = max(0, self.skip - gap)
            self.reader.filled += silence
            while silence:
                piece = min(silence, self.reader.block)
                yield np.zeros(piece, np.float32)
                silence -= piece

    def _out(self, frames: list[Any]) -> Iterator[Samples]:
        for frame in frames:
            samples: Samples = frame.to_ndarray().reshape(-1)
            if self.skip:
                dropped = min(self.skip, len(samples))
                self.skip -= dropped
                self.reader.dropped += dropped
                samples = samples[dropped:]
            if len(samples):
                yield samples
