"""What the user typed → the things to add: files, folders, addresses.

Knows nothing of their content beyond its kind. A folder gives its files in name order; subtitle files that belong to
a video beside them are not things of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from videmus.errors import MediaError, UsageError
from videmus.exports.captions_file import ENDING
from videmus.media.subtitles import is_transcript

SourceKind = Literal["media", "subtitles", "evidence", "address"]

_VIDEO = (
    ".mp4 .m4v .mkv .webm .mov .avi .wmv .flv .mpg .mpeg .ts .m2ts .mts .3gp .ogv .vob .mxf .f4v .asf .divx .rm .gif"
)
_AUDIO = ".mp3 .wav .flac .m4a .aac .ogg .oga .opus .wma .aiff .aif .ac3 .amr .mka .m4b"
MEDIA = frozenset(f"{_VIDEO} {_AUDIO}".split())
"""Endings taken out of a folder. A file that is named is tried whatever it is called: FFmpeg decides."""

SUBTITLES = frozenset((".srt", ".vtt", ".sbv", ".ass", ".ssa"))
"""Endings taken out of a folder as transcripts when no video of that name stands beside them; and .txt, by its content."""

PARTIAL = (".part", ".crdownload", ".tmp", ".download")
"""Endings of downloads that are not finished: named, not taken."""

EVIDENCE_HEAD = 4096
"""An evidence file names itself within its first bytes: `"videmus_evidence": 1`."""


@dataclass(frozen=True, slots=True)
class Source:
    kind: SourceKind
    path: Path | None
    address: str | None = None

    def __str__(self) -> str:
        return self.address or str(self.path)


def sources(what: Sequence[str | Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[Source]:
    """Every thing to add, once, in the order typed. `include` and `exclude` are patterns on names inside folders.

    Raises UsageError when a path does not exist or a folder holds nothing to add.
    """
    found: dict[str, Source] = {}
    for item in what:
        for source in _of(str(item), include, exclude):
            found.setdefault(str(source), source)
    return list(found.values())


def source_at(place: str) -> Source:
    """The thing at a path or an address, whether or not it is there now."""
    if place.startswith(("http://", "https://")):
        return Source("address", None, place)
    path = Path(place)
    return Source(kind_of(path), path)


def _of(item: str, include: Sequence[str], exclude: Sequence[str]) -> Iterator[Source]:
    if item.startswith(("http://", "https://")):
        yield source_at(item)
        return
    if not item.strip():
        raise UsageError("an empty name is no file", next="videmus add FILE")
    if re.match(r"[a-z][a-z0-9+.-]+://", item):
        raise UsageError("only http:// and https:// addresses are fetched", where=item, next="load the file yourself")
    path = Path(item).expanduser()
    if not path.exists():
        raise UsageError("no such file or folder", where=item, next="check the path")
    if not path.is_dir():
        if not path.is_file():
            raise UsageError("a device or a pipe is no file", where=item, next="write it to a file and add that")
        yield Source(kind_of(path), path.resolve())
        return
    inside = list(in_folder(path.resolve(), include, exclude))
    if not inside:
        hint = "files are chosen by their endings; name the file itself to add it whatever it is called"
        raise UsageError("nothing to add in this folder", where=item, next=hint)
    yield from inside


def in_folder(folder: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Iterator[Source]:
    """The media, transcript and evidence files below `folder`, in name order; hidden files and folders are left out."""
    try:
        files = sorted(p for p in folder.rglob("*") if p.is_file())
    except OSError as error:
        raise MediaError(f"the folder cannot be read: {error.strerror}", where=str(folder)) from error
    stems = {(p.parent, p.stem) for p in files if p.suffix.lower() in MEDIA}
    for file in files:
        relative = file.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or file.name.lower().endswith(PARTIAL):
            continue
        if include and not _matches(relative, include):
            continue
        if _matches(relative, exclude):
            continue
        ending = file.suffix.lower()
        if ending in MEDIA:
            yield Source("media", file)
        elif (ending in SUBTITLES or (ending == ".txt" and is_transcript(file))) and not _belongs(file, stems):
            yield Source("subtitles", file)
        elif ending == ".json" and not _describes(file, stems) and is_evidence_file(file):
            yield Source("evidence", file)


def _matches(path: Path, patterns: Iterable[str]) -> bool:
    return any(fnmatch(path.name, p) or fnmatch(path.as_posix(), p) or path.match(p) for p in patterns)


def _belongs(file: Path, stems: set[tuple[Path, str]]) -> bool:
    """lecture.srt and lecture.en.srt belong to a video lecture.* beside them."""
    return (file.parent, file.stem) in stems or (file.parent, Path(file.stem).stem) in stems


def _describes(file: Path, stems: set[tuple[Path, str]]) -> bool:
    """walk.captions.json describes a video walk.* beside it."""
    return file.name.endswith(ENDING) and (file.parent, file.name.removesuffix(ENDING)) in stems


def kind_of(path: Path) -> SourceKind:
    ending = path.suffix.lower()
    if ending in SUBTITLES or ending == ".txt":
        return "subtitles"
    if ending == ".json" or (ending not in MEDIA and is_evidence_file(path)):
        return "evidence"
    return "media"


def is_evidence_file(path: Path) -> bool:
    """Whether a JSON file calls itself an evidence file near its start, or (small files) anywhere at its top level."""
    try:
        with path.open("rb") as file:
            head = file.read(EVIDENCE_HEAD)
            if b'"videmus_evidence"' in head:
                return True
            if not head.lstrip().startswith(b"{") or path.stat().st_size > 64 * 1024 * 1024:
                return False
            data = json.loads(head + file.read())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and "videmus_evidence" in data
