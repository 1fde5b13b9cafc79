"""Subtitles of a video: in a file of their own, beside the video, or inside it.

Enters: paths. Leaves: `Subtitles`, cues in milliseconds from the video's first moment, or a SubtitleError. The formats
themselves are in `captions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av.error
from av.subtitles.subtitle import AssSubtitle

from videmus.errors import SubtitleError
from videmus.media.captions import Cue, from_ass_dialogues, has_bracketed_times, parse, write_srt, write_vtt
from videmus.media.probe import Probe, first_moment, milliseconds, reading
from videmus.media.text_encoding import decoded

__all__ = [
    "Cue", "Subtitles", "embedded", "find_sidecar", "is_transcript", "read", "unreadable_streams", "write_srt", "write_vtt"
]  # fmt: skip

ENDINGS = (".vtt", ".srt", ".ass", ".ssa", ".sbv", ".words.txt", ".txt")
"""Endings of subtitle files looked for beside a video, the more expressive first; a plain .txt only where its content is
a transcript (`is_transcript`)."""

VIDEO_ENDINGS = frozenset(
    {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".mpg", ".mpeg", ".ts", ".m2ts", ".mts", ".3gp"}
    | {".ogv", ".mp3", ".m4a", ".wav", ".flac", ".ogg", ".opus", ".aac"}
)
BITMAPS = frozenset({"dvd_subtitle", "dvdsub", "dvb_subtitle", "dvbsub", "hdmv_pgs_subtitle", "pgssub", "xsub"})
MAX_BYTES = 100 * 2**20
HEAD_BYTES = 16 * 2**10

_TAG = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,2}$", re.IGNORECASE)
_MARKS = frozenset(
    {"sdh", "cc", "auto", "orig", "default", "hi", "en-orig", "full", "transcript", "captions", "subtitles"}
)


@dataclass(frozen=True, slots=True)
class Subtitles:
    """Cues in order of time; `language` as the file or stream names it."""

    cues: tuple[Cue, ...]
    format: str
    language: str | None = None
    encoding: str | None = None

    def __iter__(self) -> Iterator[Cue]:
        return iter(self.cues)

    def __len__(self) -> int:
        return len(self.cues)


def read(path: str | Path) -> Subtitles:
    """The cues of a subtitle or transcript file in any of the formats and encodings.

    Raises SubtitleError where there are no times in it, it is empty, too large or cannot be read.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise SubtitleError(f"{size:,} bytes are too much for subtitles", where=str(path), next="name a text file")
        data = path.read_bytes()
    except OSError as error:
        raise SubtitleError(
            f"the file cannot be read: {error.strerror}", where=str(path), next="check the path and its permissions"
        ) from error
    text, encoding = decoded(data)
    if not text.strip():
        raise SubtitleError("the file is empty", where=str(path), next="name a subtitle file with text")
    if sum(ord(c) < 32 and c not in "\t\n\r\f\x1b" for c in text[:4096]) > 40:
        raise SubtitleError("not a text file", where=str(path), next="name an SRT, VTT, SBV or ASS file")
    cues, format_ = parse(text)
    if not cues:
        raise SubtitleError(
            "no text with times is found in it",
            where=str(path),
            next="subtitles need times: SRT, VTT, SBV, ASS, or a clock such as [12:34] before each passage",
        )
    return Subtitles(tuple(cues), format_, language_of(path), encoding)


def is_transcript(path: str | Path) -> bool:
    """Whether a .txt file holds `[00:00:00.500 --> 00:00:02.000] words`, as whisper.cpp prints them; any other holds prose."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return has_bracketed_times(decoded(head)[0])


def language_of(path: Path) -> str | None:
    """The language in a name such as `lecture.en.vtt` or `lecture.pt-BR.sdh.srt`."""
    for tag in reversed(_stem(path).split(".")[1:]):
        if _is_mark(tag):
            continue
        return tag if _TAG.match(tag) else None
    return None


def find_sidecar(path: str | Path, language: str | None = None) -> Path | None:
    """The subtitle file that belongs to the video: `lecture.srt`, `lecture.en.vtt`, `lecture.mp4.srt` beside `lecture.mp4`.

    Between the video's stem and the ending only a language, a media ending and marks such as "sdh" may stand, so
    "Lecture 1.2.srt" is not of "Lecture 1.mp4"; nor is a file whose own longer stem is another video's. With `language`,
    its file or one that names none; without, one that names none, else English, else the first by name. Forced subtitles
    (foreign passages alone) are never taken.
    """
    path = Path(path)
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return None
    videos = [Path(name.lower()) for name in names if Path(name).suffix.lower() in VIDEO_ENDINGS]
    others = {name for video in videos for name in (video.stem, video.name)} - {path.stem.lower(), path.name.lower()}
    found: list[tuple[int, int, str]] = []
    for name in names:
        ending = next((e for e in ENDINGS if name.lower().endswith(e)), None)
        if ending is None:
            continue
        stem = name[: -len(ending)]
        if not stem.lower().startswith(path.stem.lower()) or stem.lower() in others:
            continue
        tags = stem[len(path.stem) :].split(".")
        if tags[0] or "forced" in tags:
            continue
        own = [tag for tag in tags[1:] if not _is_mark(tag) and f".{tag.lower()}" != path.suffix.lower()]
        if len(own) > 1 or any(not _TAG.match(tag) for tag in own):
            continue
        rank = _rank(own[0] if own else None, language)
        if rank is None or not (path.parent / name).is_file():
            continue
        if ending != ".txt" or is_transcript(path.parent / name):
            found.append((rank, ENDINGS.index(ending), name))
    return path.parent / min(found)[2] if found else None


def _is_mark(tag: str) -> bool:
    """Whether a part of a name is no language: what the subtitles are for, or the ending of the file that they were made of."""
    return tag.lower() in _MARKS or f".{tag.lower()}" in VIDEO_ENDINGS


def _rank(tag: str | None, wanted: str | None) -> int | None:
    if tag is None:
        return 1 if wanted else 0
    if wanted:
        return 0 if same_language(tag, wanted) else None
    return 2 if same_language(tag, "en") else 3


def _stem(path: Path) -> str:
    ending = next((e for e in ENDINGS if path.name.lower().endswith(e)), path.suffix)
    return path.name[: len(path.name) - len(ending)]


# ---------------------------------------------------------------- inside a container


def embedded(path: str | Path, language: str | None = None) -> Subtitles | None:
    """The cues of the text subtitle stream inside a container, None where there is none (`unreadable_streams` tells why).

    Of several the one in `language`, else the one marked default, else the first; forced ones last. Raises MediaError
    where the file cannot be read.
    """
    with reading(path) as container:
        streams = [
            s
            for s in container.streams.subtitles
            if s.codec_context is not None and s.codec_context.name not in BITMAPS
        ]
        if language:
            spoken = [s for s in streams if s.language and same_language(s.language, language)]
            streams = spoken or [s for s in streams if not s.language or s.language == "und"]
        if not streams:
            return None
        marks = av.stream.Disposition
        stream = min(
            streams, key=lambda s: (bool(s.disposition & marks.forced), not s.disposition & marks.default, s.index)
        )
        origin = first_moment(container)
        dialogues: list[tuple[int, int, str]] = []
        for packet in container.demux(stream):
            if packet.pts is None:
                continue
            start = milliseconds(packet.pts, packet.time_base, origin)
            end = milliseconds(packet.pts + (packet.duration or 0), packet.time_base, origin)
            try:
                decoded_set = stream.codec_context.decode2(packet)
            except av.error.FFmpegError:
                continue
            for rect in decoded_set or ():
                if isinstance(rect, AssSubtitle):
                    dialogues.append((start, end, _ass_text(rect)))
        cues = from_ass_dialogues(dialogues)
        if not cues:
            return None
        name = stream.language if stream.language != "und" else None
        return Subtitles(tuple(cues), stream.codec_context.name, name)


def _ass_text(rect: AssSubtitle) -> str:
    """The text field of `ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text`."""
    fields = rect.ass.decode("utf-8", errors="replace").split(",", 8)
    return fields[8] if len(fields) == 9 else rect.text.decode("utf-8", errors="replace")


def unreadable_streams(probe: Probe) -> tuple[str, ...]:
    """Codecs of subtitle streams that hold pictures of text, which are not read as subtitles."""
    return tuple(stream.codec for stream in probe.subtitles if stream.codec in BITMAPS)


_LANGUAGES = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces cze", "cy": "cym wel", "da": "dan", "de": "deu ger", "el": "ell gre",
    "en": "eng", "es": "spa", "et": "est", "eu": "eus baq", "fa": "fas per", "fi": "fin", "fr": "fra fre", "ga": "gle",
    "gl": "glg", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "hy": "hye arm", "id": "ind", "is": "isl ice",
    "it": "ita", "ja": "jpn", "ka": "kat geo", "ko": "kor", "lt": "lit", "lv": "lav", "mk": "mkd mac", "ms": "msa may",
    "nl": "nld dut", "no": "nor nob nno nb nn", "pl": "pol", "pt": "por", "ro": "ron rum", "ru": "rus", "sk": "slk slo",
    "sl": "slv", "sq": "sqi alb", "sr": "srp", "sv": "swe", "sw": "swa", "ta": "tam", "te": "tel", "th": "tha", "tr": "tur",
    "uk": "ukr", "ur": "urd", "vi": "vie", "zh": "zho chi yue cmn",
}  # fmt: skip
_SHORT = {long: short for short, longs in _LANGUAGES.items() for long in longs.split()}


def same_language(one: str, other: str) -> bool:
    """Whether two tags mean one language: en, eng, en-US."""
    a, b = (re.split(r"[-_]", tag.lower())[0] for tag in (one, other))
    return _SHORT.get(a, a) == _SHORT.get(b, b)
