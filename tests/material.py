"""Material that the tests make for themselves: small videos with exactly known times, pictures and sounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

TIME_BASE = Fraction(1, 1000)
RGB = NDArray[np.uint8]
Sound = NDArray[np.int16]


def grey(level: int, size: tuple[int, int] = (64, 48)) -> RGB:
    """A picture (width, height) all of one grey, so that a decoded frame tells which one it was."""
    return np.full((size[1], size[0], 3), level, np.uint8)


def tone(seconds: float, hertz: float = 440.0, rate: int = 16_000) -> Sound:
    """A sine, mono, int16."""
    at = np.arange(round(seconds * rate)) / rate
    return (12_000 * np.sin(2 * np.pi * hertz * at)).astype(np.int16)


def make_video(
    path: Path,
    pictures: Iterable[tuple[int, RGB]] = (),
    *,
    end_ms: int | None = None,
    audio: Sequence[Sound] = (),
    languages: Sequence[str] = (),
    rate: int = 16_000,
    codec: str = "libx264",
    audio_codec: str | None = None,
    gop: int = 12,
    b_frames: int = 2,
    start_ms: int = 0,
    rotation: int = 0,
    pixel_aspect: Fraction | None = None,
    metadata: dict[str, str] | None = None,
    subtitles: Sequence[tuple[str, str, Sequence[tuple[int, int, str]]]] = (),
    options: dict[str, str] | None = None,
) -> Path:
    """Encode `pictures`, each (at_ms, height × width × 3 RGB), into the container that the name's ending says.

    Any times make a variable frame rate. `audio` are int16 mono tracks. `start_ms` shifts all timestamps.
    `subtitles` are (codec, language, [(start_ms, end_ms, text)]). Nearly lossless: a grey comes back within 3.
    """
    frames = list(pictures)
    with av.open(str(path), "w", options=options or {}) as out:
        out.metadata.update(metadata or {})
        video: Any = None
        if frames:
            video = out.add_stream(codec, rate=30)
            video.height, video.width = frames[0][1].shape[:2]
            video.pix_fmt = "yuv420p" if video.height % 2 == 0 and video.width % 2 == 0 else "yuv444p"
            video.time_base = video.codec_context.time_base = TIME_BASE
            video.codec_context.gop_size = gop
            video.codec_context.max_b_frames = b_frames
            if codec == "libx264":
                video.options = {"crf": "8", "preset": "ultrafast", "bf": str(b_frames), "sc_threshold": "0"}
            else:
                video.bit_rate = 2_000_000
            if pixel_aspect is not None:
                video.codec_context.sample_aspect_ratio = pixel_aspect
            if rotation:
                video.set_display_rotation(rotation)
        tracks: list[Any] = []
        for index in range(len(audio)):
            track: Any = out.add_stream(audio_codec or ("libopus" if path.suffix == ".webm" else "aac"), rate=rate)
            track.layout = "mono"
            if index < len(languages):
                track.metadata["language"] = languages[index]
            tracks.append(track)
        texts: list[Any] = []
        for name, language, _ in subtitles:
            text: Any = out.add_stream(name)
            text.codec_context.subtitle_header = ASS_HEADER
            text.metadata["language"] = language
            texts.append(text)
        packets: list[Any] = []
        for number, (at_ms, picture) in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = start_ms + at_ms, TIME_BASE
            until = frames[number + 1][0] if number + 1 < len(frames) else end_ms
            if until is not None:
                frame.duration = until - at_ms
            packets += video.encode(frame)
        if video is not None:
            packets += video.encode(None)
        for track, samples in zip(tracks, audio, strict=True):
            packets += _encoded_sound(track, samples, rate, start_ms)
        for text, (_, _, cues) in zip(texts, subtitles, strict=True):
            packets += [_encoded_cue(text, start_ms, *cue) for cue in cues]
        for packet in sorted(packets, key=lambda p: (p.dts or 0) * p.time_base):
            out.mux(packet)
    return path


ASS_HEADER = (
    b"[Script Info]\r\nScriptType: v4.00+\r\n\r\n[V4+ Styles]\r\nFormat: Name\r\nStyle: Default\r\n\r\n"
    b"[Events]\r\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\r\n"
)


def _encoded_sound(track: Any, samples: Sound, rate: int, start_ms: int) -> list[Any]:
    packets = []
    for first in range(0, len(samples), 960):
        frame = av.AudioFrame.from_ndarray(samples[None, first : first + 960], format="s16", layout="mono")
        frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
        frame.pts = first + start_ms * rate // 1000
        packets += track.encode(frame)
    return [*packets, *track.encode(None)]


def _encoded_cue(stream: Any, shift_ms: int, start_ms: int, end_ms: int, text: str) -> Any:
    from av.subtitles.subtitle import SubtitleSet

    line = f"0,0,Default,,0,0,0,,{text}".encode()
    packet = stream.codec_context.encode_subtitle(SubtitleSet.create(line, 0, end_ms - start_ms, pts=0))
    packet.stream, packet.time_base = stream, TIME_BASE
    packet.pts = packet.dts = shift_ms + start_ms
    packet.duration = end_ms - start_ms
    return packet
