"""How many bytes a file's own header says that it has: what is shorter is a copy or a recording that is not whole.

Enters: a path. Leaves: a number, or None where the format does not tell. Read are RIFF (WAV, AVI), RF64 and the boxes of
MP4 and MOV; Matroska and the streams of MPEG tell nothing before their end.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

UNKNOWN_FROM = 0x7FFF0000
"""Who writes a RIFF into a pipe does not know its length yet: FFmpeg says 4 GB, SoX and arecord say 2 GB less some pages."""

MOST_BOXES = 100_000


def announced_bytes(path: str | Path) -> int | None:
    """The length that the header announces, None where none is told or the file cannot be read."""
    try:
        size = Path(path).stat().st_size
        with Path(path).open("rb") as file:
            head = file.read(32)
            if head[:4] == b"RIFF":
                told = int.from_bytes(head[4:8], "little")
                return told + 8 if 0 < told < UNKNOWN_FROM else None
            if head[:4] == b"RF64" and head[12:16] == b"ds64":
                return int.from_bytes(head[20:28], "little") + 8
            return _end_of_boxes(file, size) if head[4:8] == b"ftyp" else None
    except OSError:
        return None


def _end_of_boxes(file: BinaryIO, size: int) -> int | None:
    at = 0
    for _ in range(MOST_BOXES):
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if len(head) < 8 or length < 8 or not head[4:8].isascii():
            return None  # the end, a box that goes on to it, or no box
        at += length
        if at >= size:
            return at
    return None
