from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from videmus.media.announced import announced_bytes

WAVE = b"WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data"


@pytest.mark.parametrize(("told", "expected"), [(1000, 1008), (0, None), (0xFFFFFFFF, None), (0x7FFFF024, None)])
def test_a_wav_tells_its_length_where_its_writer_knew_it(tmp_path: Path, told: int, expected: int | None):
    file = tmp_path / "talk.wav"
    file.write_bytes(b"RIFF" + told.to_bytes(4, "little") + WAVE + bytes(300))
    assert announced_bytes(file) == expected


def test_a_long_wav_tells_its_length_in_a_chunk_of_its_own(tmp_path: Path):
    file = tmp_path / "talk.wav"
    sizes = (5 * 2**30).to_bytes(8, "little") + bytes(16)
    file.write_bytes(b"RF64\xff\xff\xff\xffWAVEds64\x1c\x00\x00\x00" + sizes + bytes(300))
    assert announced_bytes(file) == 5 * 2**30 + 8


def test_the_boxes_of_an_mp4_end_with_the_file_or_after_what_is_there_of_it(tmp_path: Path, steps_video: Path):
    size = steps_video.stat().st_size
    assert announced_bytes(steps_video) == size
    part = tmp_path / "part.mp4"
    shutil.copy2(steps_video, part)
    with part.open("r+b") as file:
        file.truncate(size - 10)
    assert announced_bytes(part) == size


@pytest.mark.parametrize("content", [b"", b"RI", b"RIFF", b"1\n00:00", b"\x00\x00\x00\x18ftyp", bytes(100)])
def test_what_tells_no_length_announces_none(tmp_path: Path, content: bytes):
    file = tmp_path / "file"
    file.write_bytes(content)
    assert (announced_bytes(file) or 0) <= 24
    assert announced_bytes(tmp_path / "none") is None
