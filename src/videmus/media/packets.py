"""A video as groups of packets: what the encoder tells before anything is decoded, and pictures of chosen groups alone.

Enters: a path. Leaves: groups (packet times, sizes, keyframes) in order, and on demand a group's keyframe or all its
pictures, each with a small luma plane, and in full when asked. Times are milliseconds from the first moment. One group's
packets are held at a time, so memory does not grow with length, and nothing is sought, so a file without an index is read
like any other. Knows nothing of what a change is.

A group begins at a keyframe. Keyframes that follow one another are joined to groups of `least_ms` (a stream of keyframes
alone would give a group for each picture). One longer than `most_ms` (a screen recorder that writes a single keyframe) is
cut, and its later parts, which cannot be decoded without the earlier ones, say `continues`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av.error
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from videmus.errors import MediaError
from videmus.media.probe import MAX_PIXELS, first_moment, milliseconds, pixel_aspect, reading, shown_stream

NONREF_ABOVE_FPS = 20.0
"""Above this rate pictures that no other needs are left out of dense decoding: those left are still under 0.15 s apart."""


MOST_BYTES = 64_000_000
"""A group that holds so much is cut, however short: memory is bounded at any bit rate."""


@dataclass(slots=True)
class Group:
    """Packets from one keyframe to the next, in decoding order. `times_ms` and `sizes` (bytes) are theirs, `keys` which are
    keyframes. `continues`: begins without a keyframe, the group before must have been decoded to its end; that one has an
    `open_end`. `next_ms` is where the next group begins."""

    packets: list[Any] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    marks: list[bool] = field(default_factory=list)
    continues: bool = False
    open_end: bool = False
    next_ms: int | None = None

    @property
    def start_ms(self) -> int:
        return self.times[0] if not self.continues else min(self.times)

    @property
    def times_ms(self) -> NDArray[np.int64]:
        return np.array(self.times, np.int64)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array(self.lengths, np.int64)

    @property
    def keys(self) -> NDArray[np.bool_]:
        return np.array(self.marks, np.bool_)


class Shown:
    """A decoded picture: when it came on screen, and, on demand, its small luma plane and its colours in full."""

    __slots__ = ("_frame", "_luma", "_reader", "at_ms", "key")

    def __init__(self, reader: PacketReader, frame: Any, at_ms: int) -> None:
        self._reader = reader
        self._frame = frame
        self._luma: NDArray[np.uint8] | None = None
        self.at_ms = at_ms
        self.key = bool(frame.key_frame)

    @property
    def luma(self) -> NDArray[np.uint8]:
        """Height × width, as wide as the reader's `width`."""
        if self._luma is None:
            self._luma = self._reader.luma(self._frame)
        return self._luma

    def rgb(self) -> NDArray[np.uint8]:
        """Height × width × 3, upright, square pixels."""
        return self._reader.rgb(self._frame)


class PacketReader:
    """One pass over a file's packets, with two decoders beside it: one for keyframes alone, one for whole groups.

    Use as a context manager. Raises MediaError where the file has no pictures.
    """

    def __init__(self, path: Path, *, width: int = 320, least_ms: int = 2_000, most_ms: int = 12_000) -> None:
        self.path = path
        self.least_ms = least_ms
        self.most_ms = most_ms
        self.width = width
        self.damaged = 0
        self.decoded = 0
        self._stack = ExitStack()
        self._small = VideoReformatter()
        self._full = VideoReformatter()

    def __enter__(self) -> PacketReader:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def _open(self) -> None:
        self._container = self._stack.enter_context(reading(self.path))
        stream = shown_stream(self._container)
        if stream is None:
            raise MediaError("the file has no pictures", where=str(self.path), next="use it as an audio file")
        self._stream: Any = stream
        coded = stream.codec_context
        if coded.width * coded.height > MAX_PIXELS:
            raise MediaError(
                f"pictures of {coded.width} × {coded.height} are too large",
                where=str(self.path),
                next="scale the video down first",
            )
        self._origin = first_moment(self._container)
        self._aspect = pixel_aspect(stream)
        self._base: Fraction = stream.time_base
        self.fps = float(stream.average_rate or stream.guessed_rate or 25)
        self._keyframes = self._readied(coded)
        self._dense = self._readied(self._stack.enter_context(reading(self.path)).streams[stream.index].codec_context)
        if self.fps > NONREF_ABOVE_FPS:
            self._dense.skip_frame = "NONREF"

    @staticmethod
    def _readied(context: Any) -> Any:
        """A decoder of the shown stream (the second has its parameters from a second opening of the file).

        One thread: starting a pool for single keyframes costs more than it saves. The loop filter is left out where nothing
        depends on the picture's exact values; text stays as legible (14 to 32 % of the time).
        """
        context.thread_count = 1
        context.thread_type = "SLICE"
        context.options = {"skip_loop_filter": "all"}
        return context

    # ------------------------------------------------------------ packets

    def groups(self) -> Iterator[Group]:
        """All groups in order. A damaged packet is passed over and counted in `damaged`."""
        group = Group()
        last_ms, held = -1, 0
        for packet in self._packets():
            at_ms = self._ms(packet.pts if packet.pts is not None else packet.dts)
            if at_ms is None:
                at_ms = last_ms + max(1, round(1000 / self.fps))
            last_ms = at_ms
            if group.packets:
                length = at_ms - group.start_ms
                joined = length < self.least_ms and all(group.marks)
                full = length >= self.most_ms or held >= MOST_BYTES
                if (packet.is_keyframe and not joined) or full:
                    group.next_ms = at_ms
                    group.open_end = not packet.is_keyframe
                    yield group
                    group = Group(continues=not packet.is_keyframe)
                    held = 0
            elif not packet.is_keyframe and not group.continues:
                continue  # nothing before the first keyframe can be decoded
            held += packet.size
            group.packets.append(packet)
            group.times.append(at_ms)
            group.lengths.append(packet.size)
            group.marks.append(packet.is_keyframe)
        if group.packets:
            yield group

    def _packets(self) -> Iterator[Any]:
        source = self._container.demux(self._stream)
        while True:
            try:
                packet = next(source, None)
            except av.error.FFmpegError:
                self.damaged += 1
                return
            if packet is None:
                return
            if packet.size:
                yield packet

    def _ms(self, timestamp: int | None) -> int | None:
        return None if timestamp is None else milliseconds(timestamp, self._base, self._origin)

    def nothing(self) -> MediaError:
        return MediaError(
            "no picture of the video can be decoded", where=str(self.path), next="copy or download the file again"
        )

    # ------------------------------------------------------------ pictures

    def keyframe(self, group: Group) -> Shown | None:
        """The group's first picture; None where it continues another, or is damaged."""
        if group.continues:
            return None
        for frame in self._through(self._keyframes, group.packets[:1], drain=True):
            return self._shown(frame)
        return None

    def final(self, group: Group) -> Shown | None:
        """The group's last picture that others refer to; None where it continues another, or is damaged."""
        last = None
        if not group.continues:
            for frame in self._through(
                self._dense,
                group.packets[-1:] if all(group.marks) else group.packets,
                drain=True,
                whole=lambda _: False,
            ):
                last = frame
        return None if last is None else self._shown(last)

    def pictures(
        self,
        group: Group,
        *,
        from_ms: int = 0,
        until_ms: int | None = None,
        spacing_ms: int = 100,
        whole: Callable[[int], bool] = lambda at_ms: True,
    ) -> Generator[Shown]:
        """The group's pictures from `from_ms` to `until_ms`, at least `spacing_ms` apart (what lies before is decoded and
        not shown). Where every packet is a keyframe only those wanted are decoded. At times that are not `whole`, pictures
        that no later one refers to are left out."""
        ends_here = until_ms is not None
        packets = group.packets
        if ends_here:
            packets = [p for p, t in zip(packets, group.times, strict=True) if t <= (until_ms or 0)]
        if all(group.marks):
            packets = self._spaced(group, packets, from_ms, spacing_ms)
        due = from_ms
        first = None if group.continues else group.start_ms
        drain = ends_here or not group.open_end
        for frame in self._through(
            self._dense, packets, drain=drain, whole=lambda at_ms: at_ms >= from_ms and whole(at_ms)
        ):
            at_ms = self._ms(frame.pts if frame.pts is not None else frame.dts)
            if at_ms is None or at_ms < due or (first is not None and at_ms < first):
                continue
            if until_ms is not None and at_ms > until_ms:
                break
            due = at_ms + spacing_ms
            yield self._shown(frame)

    def _spaced(self, group: Group, packets: list[Any], from_ms: int, spacing_ms: int) -> list[Any]:
        chosen, due = [], from_ms
        for packet, at_ms in zip(packets, group.times, strict=False):
            if at_ms >= due:
                chosen.append(packet)
                due = at_ms + spacing_ms
        return chosen

    def _through(
        self, decoder: Any, packets: list[Any], *, drain: bool, whole: Callable[[int], bool] | None = None
    ) -> Iterator[Any]:
        """Frames of the packets in order of display. `drain` gives the delayed ones too, and readies the decoder anew. Where
        not `whole`, only what later frames refer to is decoded."""
        sparse = self.fps > NONREF_ABOVE_FPS
        try:
            for packet in [*packets, None] if drain else packets:
                if whole is not None and not sparse and packet is not None:
                    at_ms = self._ms(packet.pts)
                    decoder.skip_frame = "DEFAULT" if at_ms is None or whole(at_ms) else "NONREF"
                try:
                    frames = decoder.decode(packet)
                except av.error.EOFError:
                    continue
                except av.error.FFmpegError:
                    self.damaged += 1
                    continue
                self.decoded += len(frames)
                yield from frames
        finally:
            if drain:
                decoder.flush_buffers()

    def _shown(self, frame: Any) -> Shown:
        at_ms = self._ms(frame.pts if frame.pts is not None else frame.dts)
        return Shown(self, frame, at_ms or 0)

    def luma(self, frame: Any) -> NDArray[np.uint8]:
        height = max(2, round(self.width * frame.height / max(1, frame.width)))
        small = self._small.reformat(
            frame, width=self.width, height=height, format="gray", interpolation="AREA", threads=1
        )
        plane: NDArray[Any] = small.to_ndarray()
        return plane

    def rgb(self, frame: Any) -> NDArray[np.uint8]:
        turns = round(frame.rotation / 90) % 4
        across = max(1, round(frame.width * self._aspect))
        picture = self._full.reformat(
            frame, width=across, height=frame.height, format="rgb24", interpolation="BICUBIC", threads=1
        )
        array: NDArray[Any] = picture.to_ndarray()
        return np.ascontiguousarray(np.rot90(array, turns)) if turns else array
