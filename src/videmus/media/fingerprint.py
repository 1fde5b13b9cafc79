"""A file's content as a short name: the same wherever it lies and whatever it is called.

Up to `WHOLE_BYTES` every byte is hashed. Above, the length, both ends and the first 4 KB of every 64 KB are: a sixteenth of
the reading. Two encodings of one lecture differ in all of that. The hard case is an uncompressed file of the same
length with a passage changed: any change of 64 KB or more (a third of a second of CD sound, a tenth of a raw picture) is
seen for certain; compressed files change far more than what was edited.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from videmus.errors import MediaError
from videmus.media.announced import announced_bytes

WHOLE_BYTES = 256 * 2**20
END_BYTES = 4 * 2**20
STRIDE_BYTES = 64 * 2**10
SAMPLE_BYTES = 4 * 2**10

PARTIAL_NAMES = (".part", ".crdownload", ".download", ".partial", ".ytdl", ".tmp", ".!ut", ".filepart")
"""What browsers and download programs call a file that is not finished."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a file held when it was looked at; `changed` is the time of its last change in seconds."""

    path: Path
    fingerprint: str
    size: int
    changed: float

    def holds(self) -> bool:
        """Whether the file still holds that, or is gone. It is read anew only where its length or its time is another."""
        try:
            return _state(self.path) == (self.size, self.changed) or fingerprint(self.path) == self.fingerprint
        except MediaError:
            return True

    def begins_with(self, other: str, size: int) -> bool:
        """Whether the file is longer than `size` bytes, and these have the fingerprint `other`."""
        return 0 < size < self.size and fingerprint(self.path, size) == other


def content(path: str | Path) -> Content:
    """The file's content as it is now. Raises MediaError as `fingerprint` does."""
    path = Path(path)
    size, changed = _state(path)
    return Content(path, fingerprint(path), size, changed)


def unread(path: str | Path, known: str) -> Content:
    """A file whose fingerprint is `known`, without reading it. Raises MediaError as `fingerprint` does."""
    size, changed = _state(Path(path))
    return Content(Path(path), known, size, changed)


def fingerprint(path: str | Path, size: int | None = None) -> str:
    """32 hexadecimal digits that follow from the content, or from its first `size` bytes alone.

    Raises MediaError where the file cannot be read.
    """
    path = Path(path)
    try:
        size = path.stat().st_size if size is None else size
        digest = hashlib.blake2b(digest_size=16, person=b"videmus.media.1")
        digest.update(size.to_bytes(8, "big"))
        with path.open("rb") as file:
            if size <= WHOLE_BYTES:
                while block := file.read(min(2**20, size - file.tell())):
                    digest.update(block)
            else:
                digest.update(file.read(END_BYTES))
                for at in range(END_BYTES, size - END_BYTES, STRIDE_BYTES):
                    file.seek(at)
                    digest.update(file.read(SAMPLE_BYTES))
                file.seek(size - END_BYTES)
                digest.update(file.read(END_BYTES))
    except OSError as error:
        raise MediaError(
            f"the file cannot be read: {error.strerror}", where=str(path), next="check the path and its permissions"
        ) from error
    return digest.hexdigest()


def wait_until_complete(
    path: str | Path,
    *,
    settle: float = 2.0,
    settle_short: float = 10.0,
    patience: float = 60.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Return once nobody writes the file any more: size and time of change stay the same for `settle` seconds, or
    `settle_short` where it is shorter than its own header announces (a copy that pauses).

    `on_wait` is called once, before the first wait. A file that was last changed longer ago than that is taken
    at once. Raises MediaError after `patience` seconds of growth, for an unfinished download by its name, and where
    the file is gone.
    """
    path = Path(path)
    if path.name.lower().endswith(PARTIAL_NAMES):
        raise MediaError("an unfinished download", where=str(path), next="add it when the download is complete")
    size, changed = _state(path)
    quiet = clock() - changed
    if quiet >= _needed(path, size, settle, settle_short):
        return
    on_wait()
    begun = clock()
    quiet = 0.0
    while True:
        sleep(settle)
        before = (size, changed)
        size, changed = _state(path)
        quiet = quiet + settle if (size, changed) == before else 0.0
        if quiet and quiet >= _needed(path, size, settle, settle_short):
            return
        if clock() - begun >= patience:
            raise MediaError(
                f"the file is still being written ({size:,} bytes so far)",
                where=str(path),
                next="add it again when the recording or copy is complete",
            )


def _needed(path: Path, size: int, settle: float, settle_short: float) -> float:
    """How long the file must have been quiet, in seconds."""
    return settle_short if (announced_bytes(path) or 0) > size else settle


def _state(path: Path) -> tuple[int, float]:
    try:
        status = path.stat()
    except OSError as error:
        raise MediaError(
            f"the file cannot be read: {error.strerror}", where=str(path), next="check the path and its permissions"
        ) from error
    return status.st_size, status.st_mtime
