"""A clip or a single picture of a video as a file of its own.

Enters: a path and times. Leaves: a file, whole or not at all: it is written under another name in the same folder and
renamed when it is complete. Clips are encoded anew (H.264 and AAC), so that they begin and end where asked and not at a
keyframe.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error
import numpy as np
from av.container import OutputContainer
from numpy.typing import NDArray

from videmus.errors import MediaError
from videmus.media import pictures
from videmus.media.decode import Picture, frame_at, frames_from
from videmus.media.probe import Probe, first_moment, probe, reading
from videmus.typed import free

VIDEO_QUALITY = {"crf": "20", "preset": "veryfast"}
AUDIO_BITS_PER_SECOND = 128_000
TIME_BASE = Fraction(1, 1000)
SOUND_LEAD_MS = 1_000
"""Decoding of sound begins this much before the clip: codecs need some packets to find in."""

LARGEST_GAP_MS = 50
"""A hole in the sound longer than this is filled with silence; shorter ones are rounding of timestamps."""

SOUND_FORMATS = {".m4a": "aac", ".mp4": "aac", ".wav": "pcm_s16le", ".mp3": "libmp3lame", ".flac": "flac"}
PICTURE_FORMATS = (".png", ".jpg", ".jpeg")


def cut(path: str | Path, start_ms: int, end_ms: int, out: str | Path, *, overwrite: bool = False) -> Path:
    """Write [start_ms, end_ms) as an mp4 with pictures and sound, or of a sound file as m4a, wav, mp3 or flac.

    An end past the video's end is the video's end. Returns the file's path. Raises UsageError where the file is there
    already (unless `overwrite`), MediaError where the span holds nothing, the ending names no such format, or it cannot be
    written.
    """
    source, out = probe(path), Path(out)
    endings = (".mp4", ".m4v", ".mov", ".mkv") if source.has_video else tuple(SOUND_FORMATS)
    _check_ending(out, endings)
    if not 0 <= start_ms < end_ms:
        raise MediaError(
            f"from {start_ms} to {end_ms} ms is no span of time", where=str(path), next="give start, then end"
        )
    if start_ms >= source.duration_ms:
        raise MediaError(f"the video is over at {source.duration_ms} ms", where=str(path), next="give an earlier start")
    if out.exists() and out.samefile(source.path):
        raise MediaError("a clip cannot take the place of its own video", where=str(out), next="name another file")
    free(out, overwrite)
    end_ms = min(end_ms, source.duration_ms)
    with _replacing(out) as temporary, av.open(str(temporary), "w", format=_container(out)) as target:
        _Clip(source, start_ms, end_ms, target, SOUND_FORMATS.get(out.suffix.lower(), "aac")).write()
    return out


def save_frame(path: str | Path, at_ms: int, out: str | Path, *, overwrite: bool = False) -> Path:
    """Write the picture on screen at `at_ms` as PNG or JPEG, as the ending says. Raises as `cut` does."""
    out = Path(out)
    _check_ending(out, PICTURE_FORMATS)
    free(out, overwrite)
    picture = frame_at(path, at_ms).rgb
    data = pictures.encode_png(picture) if out.suffix.lower() == ".png" else pictures.encode(picture, quality=92)
    with _replacing(out) as temporary:
        temporary.write_bytes(data)
    return out


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A temporary path in the folder of `out`, renamed to it at the end, removed if anything fails."""
    temporary = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(out)
    except (OSError, av.error.FFmpegError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MediaError(
            f"the file cannot be written: {reason}", where=str(out), next="check the folder and its space"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _check_ending(out: Path, endings: tuple[str, ...]) -> None:
    if out.suffix.lower() not in endings:
        raise MediaError(
            f"{out.suffix or 'a name without an ending'} is no format for this",
            where=str(out),
            next=f"one of {', '.join(endings)}",
        )


def _container(out: Path) -> str:
    return {".m4a": "ipod", ".m4v": "mp4", ".mkv": "matroska"}.get(out.suffix.lower(), out.suffix.lower()[1:])


class _Clip:
    """One clip on its way into the target: pictures and sound are written side by side in order of time."""

    def __init__(self, source: Probe, start_ms: int, end_ms: int, target: OutputContainer, sound: str) -> None:
        self.source, self.start_ms, self.end_ms, self.target = source, start_ms, end_ms, target
        self.video: Any = self._video_stream() if source.has_video else None
        self.audio: Any = self._audio_stream(sound) if source.has_audio else None
        self.written = 0

    def write(self) -> None:
        lanes = []
        if self.video is not None:
            lanes.append(self._pictures())
        if self.audio is not None:
            lanes.append(self._sound())
        heads: list[Any] = [next(lane, None) for lane in lanes]
        while any(head is not None for head in heads):
            index = min((h.dts * h.time_base, n) for n, h in enumerate(heads) if h is not None)[1]
            self.target.mux(heads[index])
            self.written += 1
            heads[index] = next(lanes[index], None)
        if not self.written:
            raise MediaError(
                "there is neither picture nor sound in that span",
                where=str(self.source.path),
                next="choose another span",
            )

    def _video_stream(self) -> Any:
        assert self.source.video is not None
        width, height = self.source.video.shown
        stream: Any = self.target.add_stream("libx264", rate=30)
        stream.width, stream.height = width - width % 2 or 2, height - height % 2 or 2
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = TIME_BASE
        stream.codec_context.thread_count = 2
        stream.options = VIDEO_QUALITY
        return stream

    def _audio_stream(self, codec: str) -> Any:
        track = next((a for a in self.source.audio if a.default), self.source.audio[0])
        self.track = track
        rate = track.rate if track.rate in (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000) else 48_000
        stream: Any = self.target.add_stream(codec, rate=rate)
        stream.layout = "mono" if track.channels == 1 else "stereo"
        if codec in ("aac", "libmp3lame"):
            stream.bit_rate = AUDIO_BITS_PER_SECOND
        return stream

    def _pictures(self) -> Iterator[Any]:
        shown: Picture | None = None
        for picture in frames_from(self.source.path, self.start_ms, self.end_ms):
            if shown is not None and picture.at_ms > max(shown.at_ms, self.start_ms):
                yield from self.video.encode(self._frame(shown, picture.at_ms))
            shown = picture
        if shown is not None:
            yield from self.video.encode(self._frame(shown, self.end_ms))
        yield from self.video.encode(None)

    def _frame(self, picture: Picture, until_ms: int) -> Any:
        height, width = self.video.height, self.video.width
        rgb = picture.rgb
        if rgb.shape[0] < height or rgb.shape[1] < width:
            rgb = pictures.scaled(rgb, max(width, 2))
        frame: Any = av.VideoFrame.from_ndarray(rgb[:height, :width].copy(), format="rgb24")
        frame.pts, frame.time_base = max(picture.at_ms - self.start_ms, 0), TIME_BASE
        frame.duration = until_ms - self.start_ms - frame.pts
        return frame

    def _sound(self) -> Iterator[Any]:
        stream = self.audio
        rate, channels = stream.rate, stream.codec_context.channels
        total = (self.end_ms - self.start_ms) * rate // 1000
        written = 0
        for position, samples in self._sound_pieces():
            if position - written > rate * LARGEST_GAP_MS // 1000:
                yield from stream.encode(
                    self._sound_frame(np.zeros((position - written) * channels, np.int16), written)
                )
                written = position
            piece = samples[: (total - written) * channels]
            if len(piece):
                yield from stream.encode(self._sound_frame(piece, written))
                written += len(piece) // channels
            if written >= total:
                break
        yield from stream.encode(None)

    def _sound_frame(self, samples: NDArray[np.int16], position: int) -> Any:
        stream = self.audio
        frame: Any = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout=stream.layout.name)
        frame.sample_rate, frame.time_base, frame.pts = stream.rate, Fraction(1, stream.rate), position
        return frame

    def _sound_pieces(self) -> Iterator[tuple[int, NDArray[np.int16]]]:
        """(position in the clip, interleaved samples), from the clip's first sample on."""
        rate, channels = self.audio.rate, self.audio.codec_context.channels
        resampler = av.AudioResampler(format="s16", layout=self.audio.layout, rate=rate)
        with reading(self.source.path) as container:
            track: Any = container.streams[self.track.index]
            origin = first_moment(container)
            if self.start_ms > SOUND_LEAD_MS:
                at = Fraction(self.start_ms - SOUND_LEAD_MS, 1000) + origin
                container.seek(int(at / track.time_base), stream=track)
            for frame in _decoded(container, track):
                at_ms = (frame.pts * frame.time_base - origin) * 1000
                if at_ms >= self.end_ms:
                    break
                position = round((at_ms - self.start_ms) * rate / 1000)
                for piece in resampler.resample(frame):
                    samples = piece.to_ndarray().reshape(-1)
                    early = min(max(0, -position), piece.samples)
                    if early < piece.samples:
                        yield position + early, samples[early * channels :]
                    position += piece.samples


def _decoded(container: Any, track: Any) -> Iterator[Any]:
    """The track's frames that have a time; damaged packets are passed over."""
    packets = container.demux(track)
    while True:
        try:
            packet = next(packets, None)
        except av.error.FFmpegError:
            return
        if packet is None:
            return
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            continue
        yield from (frame for frame in frames if frame.pts is not None)
