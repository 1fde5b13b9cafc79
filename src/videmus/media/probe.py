"""What a media file holds: its length, streams and clock, without decoding more than its first picture.

Enters: a path. Leaves: a `Probe`, or a MediaError that says what is wrong with the file. Also here, for the rest of
the room: `reading`, which opens a file safely and turns every FFmpeg error into a MediaError, and `milliseconds`, the
one way from a stream's timestamps to a video's time.

A file is read, never followed: playlists and other formats that make FFmpeg open more files or addresses are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import av.error
from av.container import InputContainer

from videmus.errors import MediaError

ENCODER_DELAY = Fraction(1, 10)
"""Seconds. A stream that starts this much off is taken as aligned (see `first_moment`)."""

TAIL_PACKETS = 600
"""At most so many packets are read to find the last picture's end."""

MAX_PIXELS = 100_000_000
"""Pictures larger than this are refused: a header may claim any size (8K is 33 million pixels)."""

_FOLLOWING = {"hls", "concat", "dash", "sdp", "rtsp", "rtp", "sap", "lavfi", "webm_dash_manifest", "imf", "hds"}
_DEVICES = {"alsa", "fbdev", "kmsgrab", "oss", "video4linux2,v4l2", "x11grab"}
_NO_VIDEO = {
    "tty",
    "image2",
    "image2pipe",
    "ico",
    "bin",
    "xbin",
    "adf",
    "idf",
    "ffmetadata",
    "data",
    "alias_pix",
    "brender_pix",
}
_TEXTS = {
    "aqtitle", "ass", "jacosub", "lrc", "mcc", "microdvd", "mpl2", "mpsub", "pjs", "realtext", "sami", "scc", "srt",
    "stl", "subviewer", "subviewer1", "sup", "tedcaptions", "ttml", "vobsub", "vplayer", "webvtt",
}  # fmt: skip

_OTHER_FILES = (
    (b"#EXTM3U", "it is a playlist"),
    (b"ffconcat", "it is a playlist"),
    (b"%PDF", "it is a PDF"),
    (b"PK\x03\x04", "it is an archive or an office document"),
    (b"\x89PNG", "it is a single picture"),
    (b"\xff\xd8\xff", "it is a single picture"),
    (b"<!DOCTYPE", "it is a page of the web"),
    (b"<html", "it is a page of the web"),
    (b"1\r\n0", "it is a subtitle file"),
    (b"1\n0", "it is a subtitle file"),
    (b"WEBVTT", "it is a subtitle file"),
)


@dataclass(frozen=True, slots=True)
class VideoStream:
    """`width` and `height` are the coded picture's; `shown` is the size after pixel aspect and rotation.

    `rotation` is degrees counterclockwise to turn the coded picture upright (0, 90, 180, 270); `fps` the average
    rate, for information: times come from timestamps alone.
    """

    index: int
    codec: str
    width: int
    height: int
    rotation: int
    pixel_aspect: Fraction
    fps: float | None
    time_base: Fraction

    @property
    def shown(self) -> tuple[int, int]:
        width = max(1, round(self.width * self.pixel_aspect))
        return (self.height, width) if self.rotation % 180 else (width, self.height)


@dataclass(frozen=True, slots=True)
class AudioStream:
    index: int
    codec: str
    language: str | None
    channels: int
    rate: int
    default: bool


@dataclass(frozen=True, slots=True)
class SubtitleStream:
    index: int
    codec: str
    language: str | None
    default: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """`start_ms` is the container's own time of the first moment, which everywhere else is 0.

    `recorded_at` is wall-clock milliseconds (see `videmus.model`), where the container tells. `video` is the
    stream that is shown; cover art is none. `video_streams` counts them.
    """

    path: Path
    container: str
    duration_ms: int
    start_ms: int
    video: VideoStream | None
    audio: tuple[AudioStream, ...]
    subtitles: tuple[SubtitleStream, ...]
    recorded_at: int | None = None
    video_streams: int = 0

    @property
    def has_video(self) -> bool:
        return self.video is not None

    @property
    def has_audio(self) -> bool:
        return bool(self.audio)


def probe(path: str | Path) -> Probe:
    """What the file holds. Raises MediaError for anything that is no readable video or audio file."""
    path = Path(path)
    with reading(path) as container:
        video = shown_stream(container)
        audio = tuple(_audio(s) for s in container.streams.audio if s.codec_context is not None)
        if video is None and not audio:
            raise MediaError(
                "the file holds neither pictures nor sound",
                where=str(path),
                next="check that it is a video or audio file",
            )
        origin = first_moment(container)
        described = _video(container, video) if video is not None else None
        return Probe(
            path=path,
            container=container.format.name,
            duration_ms=_duration(container, path, origin),
            start_ms=round(origin * 1000),
            video=described,
            audio=audio,
            subtitles=tuple(_subtitle(s) for s in container.streams.subtitles),
            recorded_at=_recorded_at(container.metadata),
            video_streams=sum(not _is_cover(s) for s in container.streams.video),
        )


@contextmanager
def reading(path: str | Path) -> Iterator[InputContainer]:
    """The opened container. Every FFmpeg error, here and in the `with` body, becomes a MediaError naming the file."""
    path = Path(path)
    _check_file(path)
    try:
        container = av.open(
            f"file:{path}",
            metadata_errors="replace",
            options={"protocol_whitelist": "file", "format_whitelist": _formats()},
        )
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise _unreadable(path, error) from error
    with container:
        try:
            yield container
        except av.error.FFmpegError as error:
            raise MediaError(
                f"the file is damaged: {error.strerror or error}",
                where=str(path),
                next="copy or download it again, or convert it with `ffmpeg -i FILE out.mp4`",
            ) from error


def shown_stream(container: InputContainer) -> Any | None:
    """The video stream that a player shows: the one marked default, else the first; never cover art."""
    streams = [s for s in container.streams.video if not _is_cover(s) and s.codec_context is not None]
    return next((s for s in streams if s.disposition & av.stream.Disposition.default), streams[0] if streams else None)


def first_moment(container: InputContainer) -> Fraction:
    """The container's time, in seconds, of the video's first moment: its streams' earliest start.

    Encoders begin sound a few hundredths of a second early (AAC 64 ms at 16 kHz, Opus 7 ms) or pictures late; within
    `ENCODER_DELAY` that is no start of its own: zero stays zero, and of a shifted video the first picture counts.
    """
    starts = [
        stream.start_time * stream.time_base
        for stream in (*container.streams.video, *container.streams.audio)
        if stream.start_time is not None and stream.time_base and not _is_cover(stream)
    ]
    if container.start_time is not None:
        starts.append(Fraction(container.start_time, 1_000_000))
    origin = min(starts, default=Fraction(0))
    shown = shown_stream(container)
    if shown is not None and shown.start_time is not None:
        first_picture = shown.start_time * shown.time_base
        if first_picture - origin <= ENCODER_DELAY:
            origin = first_picture
    return origin if abs(origin) > ENCODER_DELAY else Fraction(0)


def milliseconds(timestamp: int, time_base: Fraction, origin: Fraction) -> int:
    """A stream's timestamp as milliseconds from the first moment, to the nearest, never negative; exact, no floats."""
    (tick, per), (start, each) = time_base.as_integer_ratio(), origin.as_integer_ratio()
    over = per * each
    whole, rest = divmod(1000 * (timestamp * tick * each - start * per), over)
    up = 2 * rest > over or (2 * rest == over and whole % 2 == 1)  # as round() does; fractions take ten times as long
    return max(0, whole + up)


def _check_file(path: Path) -> None:
    where = str(path)
    try:
        if path.is_dir():
            raise MediaError("this is a folder, not a file", where=where, next="name a file in it")
        if not path.exists():
            raise MediaError("no such file", where=where, next="check the spelling of the path")
        if not path.is_file():
            raise MediaError("this is no regular file", where=where, next="name a video or audio file")
        if path.stat().st_size == 0:
            raise MediaError("the file is empty", where=where, next="copy or download it again")
    except OSError as error:
        raise MediaError(
            f"the file cannot be read: {error.strerror}", where=where, next="check the path and its permissions"
        ) from error
    except ValueError as error:  # a NUL in the path
        raise MediaError("no such file", where=repr(where), next="check the spelling of the path") from error
    if not os.access(path, os.R_OK):
        raise MediaError(
            "you are not allowed to read the file", where=where, next="change its permissions: chmod u+r FILE"
        )


@cache
def _formats() -> str:
    refused = _FOLLOWING | _DEVICES | _NO_VIDEO | _TEXTS
    return ",".join(sorted(n for n in av.formats_available if n not in refused and not n.endswith("_pipe")))


def _unreadable(path: Path, error: Exception) -> MediaError:
    where = str(path)
    if isinstance(error, PermissionError):
        return MediaError(
            "you are not allowed to read the file", where=where, next="change its permissions: chmod u+r FILE"
        )
    if isinstance(error, FileNotFoundError):
        return MediaError("no such file", where=where, next="check the spelling of the path")
    return MediaError(
        f"not a video or audio file that can be read: {_likely(path)}",
        where=where,
        next="play it to see whether it is whole; copy or download it again",
    )


def _likely(path: Path) -> str:
    """What such a file probably is instead, by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        return "another kind of file, or damaged"
    for start, name in _OTHER_FILES:
        if head.startswith(start):
            return name
    if len(head) < 512 and len(head) == path.stat().st_size:
        return f"it has {len(head)} bytes and is cut off"
    if sum(byte < 9 or 13 < byte < 32 for byte in head) == 0:
        return "it is text"
    return "another kind of file, cut off, or damaged"


def _is_cover(stream: Any) -> bool:
    return bool(stream.disposition & (av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails))


def _video(container: InputContainer, stream: Any) -> VideoStream:
    context = stream.codec_context
    width, height, rotation = context.width, context.height, 0
    frame = _first_frame(container, stream)
    if frame is not None:
        width, height, rotation = frame.width, frame.height, frame.rotation % 360
    rate = stream.average_rate or stream.guessed_rate
    return VideoStream(
        index=stream.index,
        codec=context.name,
        width=width,
        height=height,
        rotation=round(rotation / 90) * 90 % 360,
        pixel_aspect=pixel_aspect(stream),
        fps=float(rate) if rate else None,
        time_base=stream.time_base,
    )


def pixel_aspect(stream: Any) -> Fraction:
    """Width of a pixel over its height; 1 where the stream says nothing or nonsense (outside 1/4 to 4)."""
    ratio = stream.sample_aspect_ratio
    return Fraction(ratio) if ratio and Fraction(1, 4) <= ratio <= 4 else Fraction(1)


def _first_frame(container: InputContainer, stream: Any) -> Any | None:
    if stream.codec_context.width * stream.codec_context.height > MAX_PIXELS:
        raise MediaError(
            f"pictures of {stream.codec_context.width} × {stream.codec_context.height} are too large",
            where=container.name.removeprefix("file:"),
            next="scale the video down first",
        )
    try:
        for count, packet in enumerate(container.demux(stream)):
            try:
                for frame in packet.decode():
                    return frame
            except av.error.FFmpegError:
                pass
            if count > 100:
                break
    except av.error.FFmpegError:
        pass
    return None


def _audio(stream: Any) -> AudioStream:
    context = stream.codec_context
    return AudioStream(
        index=stream.index,
        codec=context.name,
        language=_language(stream),
        channels=context.channels or 0,
        rate=context.sample_rate or 0,
        default=bool(stream.disposition & av.stream.Disposition.default),
    )


def _subtitle(stream: Any) -> SubtitleStream:
    return SubtitleStream(
        index=stream.index,
        codec=stream.codec_context.name if stream.codec_context is not None else "unknown",
        language=_language(stream),
        default=bool(stream.disposition & av.stream.Disposition.default),
    )


def _language(stream: Any) -> str | None:
    language = stream.language
    return language if language and language != "und" else None


def _duration(container: InputContainer, path: Path, origin: Fraction) -> int:
    if container.duration is not None and container.duration > 0:
        seconds = Fraction(container.duration, 1_000_000)
        if "matroska" in container.format.name and origin > 0:
            seconds -= origin  # Matroska counts its length from zero, not from the first moment
        if seconds > 0:
            return round(max(seconds, _last_picture_end(container, seconds, origin)) * 1000)
    streams = [s for s in (*container.streams.video, *container.streams.audio) if not _is_cover(s)]
    ends = [
        (s.start_time or 0) * s.time_base + s.duration * s.time_base - origin
        for s in streams
        if s.duration and s.duration > 0 and s.time_base
    ]
    return round(max(ends) * 1000) if ends else _last_packet_end(path)


def _last_picture_end(container: InputContainer, seconds: Fraction, origin: Fraction) -> Fraction:
    """The end of the last group of pictures, where an index finds it: of a slide show with few frames, and B-frames among
    them, headers tell the time of decoding, which may be seconds short."""
    stream = shown_stream(container)
    end = Fraction(0)
    if stream is None or len(stream.index_entries) < 2 or container.format.name == "avi":
        return end
    try:
        container.seek(int((seconds + origin) / stream.time_base), stream=stream)
        for count, packet in enumerate(container.demux(stream)):
            if packet.pts is not None and not packet.is_discard:
                end = max(end, (packet.pts + (packet.duration or 0)) * stream.time_base - origin)
            if count >= TAIL_PACKETS:
                break
    except av.error.FFmpegError:
        pass
    return end


def _last_packet_end(path: Path) -> int:
    """The end of the last packet: all are read, none is decoded."""
    end = Fraction(0)
    with reading(path) as container:
        origin = first_moment(container)
        streams = [s for s in (*container.streams.video, *container.streams.audio) if not _is_cover(s)]
        try:
            for packet in container.demux(streams):
                at = packet.pts if packet.pts is not None else packet.dts
                if at is not None:
                    end = max(end, (at + (packet.duration or 0)) * packet.time_base - origin)
        except av.error.FFmpegError:
            if end == 0:
                raise
    return max(1, round(end * 1000))


def _recorded_at(metadata: dict[str, str]) -> int | None:
    """The recorder's clock at the start: Apple's local time where given, else creation_time as it is written."""
    for key in ("com.apple.quicktime.creationdate", "creation_time"):
        text = metadata.get(key)
        if not text:
            continue
        try:
            moment = datetime.fromisoformat(text.strip()).replace(tzinfo=UTC)
        except ValueError:
            continue
        if moment.year >= 1980:  # unset clocks write 1904 or 1970
            return round(moment.timestamp() * 1000)
    return None
