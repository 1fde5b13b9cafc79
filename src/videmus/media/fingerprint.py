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
from pathlib import Path

from videmus.errors import MediaError

WHOLE_BYTES = 256 * 2**20
END_BYTES = 4 * 2**20
STRIDE_BYTES = 64 * 2**10
SAMPLE_BYTES = 4 * 2**10

PARTIAL_NAMES = (".part", ".crdownload", ".download", ".partial", ".ytdl", ".tmp", ".!ut", ".filepart")
"""What browsers and download programs call a file that is not finished."""


def fingerprint(path: str | Path) -> str:
    """32 hexadecimal digits that follow from the content. Raises MediaError where the file cannot be read."""
    path = Path(path)
    try:
        size = path.stat().st_size
        digest = hashlib.blake2b(digest_size=16, person=b"videmus.media.1")
        digest.update(size.to_bytes(8, "big"))
        with path.open("rb") as file:
            if size <= WHOLE_BYTES:
                while block := file.read(2**20):
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
    patience: float = 60.0,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Return once nobody writes the file any more: size and time of change stay the same for `settle` seconds.

    `on_wait` is called once, before the first wait. A file that was last changed longer ago than `settle` is taken
    at once. Raises MediaError after `patience` seconds of growth, for an unfinished download by its name, and where
    the file is gone.
    """
    path = Path(path)
    if path.name.lower().endswith(PARTIAL_NAMES):
        raise MediaError("an unfinished download", where=str(path), next="add it when the download is complete")
    size, changed = _state(path)
    if clock() - changed >= settle:
        return
    on_wait()
    begun = clock()
    while True:
        sleep(settle)
        before = (size, changed)
        size, changed = _state(path)
        if (size, changed) == before:
            return
        if clock() - begun >= patience:
            raise MediaError(
                f"the file is still being written ({size:,} bytes so far)",
                where=str(path),
                next="add it again when the recording or copy is complete",
            )


def _state(path: Path) -> tuple[int, float]:
    try:
        status = path.stat()
    except OSError as error:
        raise MediaError(
            f"the file cannot be read: {error.strerror}", where=str(path), next="check the path and its permissions"
        ) from error
    return status.st_size, status.st_mtime
