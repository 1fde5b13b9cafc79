"""Pictures at exact times: what was on screen at a moment of a video.

Enters: a path and times in milliseconds from the first moment. Leaves: upright RGB pictures with square pixels. A
frame is on screen from its own timestamp until the next frame's, whatever the frame rate claims to be.

How: seek to the keyframe before the time, check by timestamp that it truly lies before, decode forward. A frame that no
other needs and nobody asked for is not decoded. Where seeking fails or lies, the file is decoded from its start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av.error
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from videmus.errors import MediaError
from videmus.media.probe import MAX_PIXELS, first_moment, milliseconds, pixel_aspect, reading, shown_stream

LOOKAHEAD = 24
"""Packets read ahead of the decoder to know which frames can be left out; more than any codec reorders (16)."""

UNINDEXED_SEEK_MS = 5_000
"""Without an index, a time further ahead than this is sought, a nearer one decoded forward to."""

BACK_OFF_MS = (0, 2_000, 10_000, 60_000)
"""How far before the time a seek aims when the nearer one landed too late."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A frame: height × width × 3, RGB, uint8, upright. `at_ms` is when it came on screen."""

    at_ms: int
    rgb: NDArray[np.uint8]


@dataclass(slots=True)
class Damage:
    """What could not be decoded on the way: pass one in, and read it when the pictures are done."""

    packets: int = 0
    first_ms: int | None = None

    def add(self, at_ms: int | None) -> None:
        self.packets += 1
        if self.first_ms is None:
            self.first_ms = at_ms


def frames_at(
    path: str | Path,
    times_ms: Iterable[int],
    *,
    width: int | None = None,
    threads: int = 1,
    damage: Damage | None = None,
) -> Iterator[Picture]:
    """The picture on screen at each time, in the order asked; ascending times are the fast order.

    Before the first frame it is the first one, past the end the last. `width` scales to that width and keeps the
    proportions. Consecutive times on one frame give the same `Picture` object. Damaged packets are passed over and
    counted in `damage`. Raises MediaError where the file has no pictures, or none can be decoded.
    """
    with _Decoder(Path(path), threads, damage or Damage()) as decoder:
        last: tuple[Any, Picture] | None = None
        for time in times_ms:
            at_ms, frame = decoder.on_screen(time)
            if last is None or last[0] is not frame:
                last = (frame, Picture(at_ms, decoder.rgb(frame, width)))
            yield last[1]


def frame_at(path: str | Path, at_ms: int, *, width: int | None = None) -> Picture:
    """The picture on screen at one time. Raises MediaError as `frames_at` does."""
    return next(frames_at(path, [at_ms], width=width))


def frames_from(path: str | Path, start_ms: int, end_ms: int, *, threads: int = 1) -> Iterator[Picture]:
    """The picture on screen at `start_ms` and all that come before `end_ms`. Raises MediaError as `frames_at` does."""
    with _Decoder(Path(path), threads, Damage()) as decoder:
        first_ms, first = decoder.on_screen(start_ms)
        yield Picture(first_ms, decoder.rgb(first, None))
        for at_ms, frame in decoder.following(first):
            if at_ms >= end_ms:
                break
            yield Picture(at_ms, decoder.rgb(frame, None))


def every_frame(
    path: str | Path,
    *,
    keyframes_only: bool = False,
    width: int | None = None,
    threads: int = 1,
    damage: Damage | None = None,
) -> Iterator[Picture]:
    """All pictures from the first to the last, or the keyframes alone (which cost about a tenth)."""
    with _Decoder(Path(path), threads, damage or Damage()) as decoder:
        for at_ms, frame in decoder.all(keyframes_only):
            yield Picture(at_ms, decoder.rgb(frame, width))


class _Decoder:
    """One open file and where decoding stands: `here` is the newest frame not after the time, `ahead` the next one."""

    def __init__(self, path: Path, threads: int, damage: Damage) -> None:
        self.path = path
        self.threads = threads
        self.damage = damage
        self.reformatter = VideoReformatter()
        self.stack = ExitStack()
        self.here: tuple[int, Any] | None = None
        self.ahead: tuple[int, Any] | None = None
        self.target: int | None = 0
        self.by_dts = False

    def __enter__(self) -> _Decoder:
        self._restart()
        if self.container.format.name == "avi":
            self.by_dts = not self._display_times_ascend()
            self._restart()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stack.close()

    # ------------------------------------------------------------ which frame

    def on_screen(self, time: int) -> tuple[int, Any]:
        if not self._forward_is_best(time):
            self._seek(time)
        self._advance(time)
        found = self.here or self.ahead
        if found is None and not self.from_start:
            self._restart()
            self._advance(time)
            found = self.here or self.ahead
        if found is None:
            raise MediaError(
                "no picture of the video can be decoded", where=str(self.path), next="copy or download the file again"
            )
        return found

    def all(self, keyframes_only: bool) -> Iterator[tuple[int, Any]]:
        self.stream.codec_context.skip_frame = "NONKEY" if keyframes_only else "DEFAULT"
        self.target = None
        found = False
        for pair in self.frames:
            found = True
            yield pair
        if not found:
            self._restart()
            self.on_screen(0)

    def following(self, frame: Any) -> Iterator[tuple[int, Any]]:
        """The frames after the one on screen."""
        self.target = None
        self.stream.codec_context.skip_frame = "DEFAULT"
        if self.ahead is not None and self.ahead[1] is not frame:
            yield self.ahead
        yield from self.frames

    def _forward_is_best(self, time: int) -> bool:
        """Whether decoding on from here costs less than a seek: no keyframe lies between."""
        if self.here is None:
            return self.ahead is not None and time < self.ahead[0] and self.from_start
        if time < self.here[0]:
            return False
        if self.ahead is not None and time < self.ahead[0]:
            return True
        entries = self.stream.index_entries
        if len(entries) > 1:
            position = self.ahead[0] if self.ahead else self.here[0]
            between = entries.search_timestamp(self._timestamp(time))
            return bool(between <= entries.search_timestamp(self._timestamp(position)))
        return time - self.here[0] <= UNINDEXED_SEEK_MS

    def _seek(self, time: int) -> None:
        for back in BACK_OFF_MS:
            if time - back <= 0:
                break
            try:
                self.container.seek(self._timestamp(time - back), stream=self.stream)
            except av.error.FFmpegError:
                break
            self._begin(after_seek=True)
            self.target = time
            self.here = next(self.frames, None)
            if self.here is not None and self.here[0] <= time:
                return
        self._restart()

    def _advance(self, time: int) -> None:
        self.target = time
        while self.ahead is None or self.ahead[0] <= time:
            if self.ahead is not None:
                self.here = self.ahead
            self.ahead = next(self.frames, None)
            if self.ahead is None:
                return

    # ------------------------------------------------------------ reading

    def _restart(self) -> None:
        """Open the file anew: the one way to its start that every container allows."""
        self.stack.close()
        self.container = self.stack.enter_context(reading(self.path))
        stream = shown_stream(self.container)
        if stream is None:
            raise MediaError("the file has no pictures", where=str(self.path), next="use it as an audio file")
        self.stream: Any = stream
        context = self.stream.codec_context
        if context.width * context.height > MAX_PIXELS:
            raise MediaError(
                f"pictures of {context.width} × {context.height} are too large",
                where=str(self.path),
                next="scale the video down first",
            )
        context.thread_count = self.threads
        context.thread_type = "AUTO" if self.threads > 1 else "SLICE"
        self.origin = first_moment(self.container)
        self.aspect = pixel_aspect(self.stream)
        self._begin(after_seek=False)

    def _begin(self, *, after_seek: bool) -> None:
        self.from_start = not after_seek
        self.target = 0
        self.here = self.ahead = None
        self.frames = self._decoded(after_seek)

    def _decoded(self, after_seek: bool) -> Iterator[tuple[int, Any]]:
        """(time, frame) in order of display. After a seek, all before the keyframe landed on is left out."""
        context = self.stream.codec_context
        first: int | None = None
        last_ms = -1
        for packet, needed in self._packets():
            if after_seek and first is None:
                if not packet.is_keyframe:
                    continue
                first = packet.dts if self.by_dts else packet.pts
            if self.target is not None:
                context.skip_frame = "DEFAULT" if needed else "NONREF"
            try:
                frames = packet.decode()
            except av.error.FFmpegError:
                self.damage.add(self._ms(packet.pts))
                continue
            for frame in frames:
                timestamp = frame.dts if self.by_dts else frame.pts
                if after_seek and first is not None and timestamp is not None and timestamp < first:
                    continue
                at_ms = self._ms(timestamp)
                if at_ms is None or at_ms <= last_ms:  # no time, or an impossible one: here alone the rate must serve
                    at_ms = last_ms + max(1, round(1000 / (self.stream.average_rate or 25)))
                last_ms = at_ms
                yield at_ms, frame

    def _packets(self) -> Iterator[tuple[Any, bool]]:
        """Packets with whether their frame may be wanted: not when a later frame is on screen at the time already."""
        queue: deque[Any] = deque()
        source = self.container.demux(self.stream)
        reading_on = True
        while reading_on or queue:
            while reading_on and len(queue) < LOOKAHEAD:
                try:
                    packet = next(source, None)
                except av.error.FFmpegError:
                    self.damage.add(None)
                    packet = None
                if packet is None:
                    reading_on = False
                else:
                    queue.append(packet)
            if queue:
                packet = queue.popleft()
                yield packet, self._needed(packet, queue)

    def _needed(self, packet: Any, queue: deque[Any]) -> bool:
        if self.target is None or self.by_dts or packet.pts is None:
            return True
        limit = self._timestamp(self.target)
        return not any(later.pts is not None and packet.pts < later.pts <= limit for later in queue)

    def _display_times_ascend(self) -> bool:
        """AVI stores no display times; for packed B-frames FFmpeg's guesses come out of order, decode times do not."""
        last = None
        for _ in range(LOOKAHEAD):
            _, frame = next(self.frames, (0, None))
            if frame is None:
                break
            if frame.pts is None or (last is not None and frame.pts <= last):
                return False
            last = frame.pts
        return True

    def _timestamp(self, time_ms: int) -> int:
        """The stream's timestamp of a time, rounded down so that a frame at that very millisecond is not passed."""
        return int((Fraction(time_ms, 1000) + self.origin) / self.stream.time_base)

    def _ms(self, timestamp: int | None) -> int | None:
        return None if timestamp is None else milliseconds(timestamp, self.stream.time_base, self.origin)

    # ------------------------------------------------------------ picture

    def rgb(self, frame: Any, width: int | None) -> NDArray[np.uint8]:
        turns = round(frame.rotation / 90) % 4
        across, down = max(1, round(frame.width * self.aspect)), frame.height
        if width is not None:
            scale = Fraction(width, down if turns % 2 else across)
            across, down = max(1, round(across * scale)), max(1, round(down * scale))
        picture = self.reformatter.reformat(
            frame,
            width=across,
            height=down,
            format="rgb24",
            interpolation="AREA" if across < frame.width else "BICUBIC",
        )
        array = np.asarray(picture.to_ndarray(), dtype=np.uint8)
        return np.ascontiguousarray(np.rot90(array, turns)) if turns else array
