from __future__ import annotations

import os
from pathlib import Path

import pytest

from videmus.errors import MediaError
from videmus.media import fingerprint as module
from videmus.media.fingerprint import content, fingerprint, wait_until_complete


def test_a_name_and_a_place_change_nothing(tmp_path: Path):
    (tmp_path / "Lecture 1.2.mp4").write_bytes(b"content")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.bin").write_bytes(b"content")
    assert fingerprint(tmp_path / "Lecture 1.2.mp4") == fingerprint(tmp_path / "other" / "x.bin")
    assert len(fingerprint(tmp_path / "other" / "x.bin")) == 32


def test_every_byte_of_a_small_file_counts(tmp_path: Path):
    path = tmp_path / "a"
    data = bytearray(100_000)
    path.write_bytes(data)
    before = fingerprint(path)
    data[54_321] = 1
    path.write_bytes(data)
    assert fingerprint(path) != before


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file above the (lowered) limit of whole reading: 3 MB of a sound without compression."""
    monkeypatch.setattr(module, "WHOLE_BYTES", 2**20)
    monkeypatch.setattr(module, "END_BYTES", 2**16)
    path = tmp_path / "raw.wav"
    path.write_bytes(os.urandom(3 * 2**20))
    return path


@pytest.mark.parametrize("at", [0, 70_000, 1_234_567, 3 * 2**20 - 70_000])
def test_a_passage_changed_in_a_large_file_of_the_same_length_is_noticed(large: Path, at: int):
    before = fingerprint(large)
    with large.open("r+b") as file:
        file.seek(at)
        file.write(bytes(module.STRIDE_BYTES))
    assert fingerprint(large) != before


def test_the_last_bytes_and_the_length_of_a_large_file_count(large: Path):
    before = fingerprint(large)
    with large.open("ab") as file:
        file.write(b"x")
    assert fingerprint(large) != before


def test_a_large_file_is_read_in_part(large: Path, monkeypatch: pytest.MonkeyPatch):
    sparse = large.with_name("sparse")
    with sparse.open("wb") as file:
        file.truncate(40 * 2**30)
    monkeypatch.setattr(module, "STRIDE_BYTES", 2**30)
    assert len(fingerprint(sparse)) == 32  # 40 GB would take minutes


@pytest.mark.parametrize("size", [1_000, 3 * 2**20])
def test_a_file_that_grew_begins_with_what_it_held(large: Path, size: int):
    path = large.with_name("grown")
    path.write_bytes(large.read_bytes()[:size])
    before = content(path)
    assert before.holds() and not before.begins_with(before.fingerprint, before.size)
    os.utime(path, (0, 0))
    assert before.holds()
    with path.open("ab") as file:
        file.write(b"more")
    assert not before.holds()
    assert content(path).begins_with(before.fingerprint, before.size)
    with path.open("r+b") as file:
        file.write(b"other")
    assert not content(path).begins_with(before.fingerprint, before.size)
    path.unlink()
    assert before.holds()  # gone is another matter


def test_a_missing_file_is_told_kindly(tmp_path: Path):
    with pytest.raises(MediaError, match="cannot be read"):
        fingerprint(tmp_path / "none")


class Clock:
    """Time passes only while somebody sleeps, and then `writer` may write."""

    def __init__(self, now: float, writer=lambda: None):
        self.now, self.writer, self.slept = now, writer, 0

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += 1
        self.writer()


def test_an_old_file_is_taken_at_once(tmp_path: Path):
    path = tmp_path / "old.mp4"
    path.write_bytes(b"x")
    clock = Clock(path.stat().st_mtime + 3600)
    wait_until_complete(path, clock=clock.time, sleep=clock.sleep)
    assert clock.slept == 0


def test_a_growing_file_is_waited_for(tmp_path: Path):
    path = tmp_path / "new.mp4"
    path.write_bytes(b"x")
    left, told = [b"y", b"z"], []

    def write() -> None:
        if left:
            with path.open("ab") as file:
                file.write(left.pop())

    clock = Clock(path.stat().st_mtime, write)
    wait_until_complete(path, clock=clock.time, sleep=clock.sleep, on_wait=lambda: told.append(1))
    assert (path.read_bytes(), clock.slept, told) == (b"xzy", 3, [1])


@pytest.mark.parametrize(("pause", "size"), [(8, 100), (10, 50)])
def test_a_copy_that_is_shorter_than_it_announces_may_pause_for_some_seconds(tmp_path: Path, pause: int, size: int):
    path = tmp_path / "new.wav"
    path.write_bytes(b"RIFF" + (92).to_bytes(4, "little") + bytes(42))
    begun = path.stat().st_mtime

    def write() -> None:
        if clock.now - begun > pause and path.stat().st_size < 100:
            path.write_bytes(path.read_bytes() + bytes(50))

    clock = Clock(begun, write)
    wait_until_complete(path, clock=clock.time, sleep=clock.sleep)
    assert path.stat().st_size == size


def test_a_file_that_never_stops_growing_is_named(tmp_path: Path):
    path = tmp_path / "live.mp4"
    path.write_bytes(b"x")

    def write() -> None:
        with path.open("ab") as file:
            file.write(b"x")

    clock = Clock(path.stat().st_mtime, write)
    with pytest.raises(MediaError, match="still being written") as caught:
        wait_until_complete(path, patience=20, clock=clock.time, sleep=clock.sleep)
    assert caught.value.where == str(path) and clock.slept == 10


def test_an_unfinished_download_is_named(tmp_path: Path):
    path = tmp_path / "lecture.mp4.crdownload"
    path.write_bytes(b"x")
    with pytest.raises(MediaError, match="unfinished"):
        wait_until_complete(path)
