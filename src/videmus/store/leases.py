"""One process at a time works on a video: a lock on a file of its own in the library's locks/ folder.

The operating system lets go of the lock when its process ends, however it ends, so nothing stays locked after kill -9
and no clock or process id is trusted. The file is deleted by whoever holds it, and the next one checks that the file it
locked is still the one in the folder. Threads of one process exclude each other as well.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from videmus.errors import LibraryError

_POLL_S = 0.05
_TRIES = 3
"""`busy` takes the lock for an instant: one refusal does not mean that somebody works."""


class Leases:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def lease(self, name: str, wait: bool = True) -> Iterator[None]:
        """Hold the lock for the block. Raises LibraryError when another holds it and `wait` is False."""
        tries = 0
        while (held := self._taken(name)) is None:
            tries += 1
            if not wait and tries == _TRIES:
                raise LibraryError(
                    "another process is working on this video",
                    where=name,
                    next="wait until it has ended, then run the command again",
                )
            time.sleep(_POLL_S)
        try:
            yield
        finally:
            if sys.platform != "win32":  # an open file cannot be deleted there; it stays, unlocked
                self._file(name).unlink(missing_ok=True)
            held.close()

    def busy(self, name: str) -> bool:
        """Whether some process, or another thread, holds the lock now. Works on a read-only library too."""
        try:
            with self._file(name).open("rb") as stream:
                return not _locked(stream)
        except OSError:  # no such file: nobody holds it; one that we may not open says nothing
            return False

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.lock"

    def _taken(self, name: str) -> BinaryIO | None:
        """The locked file, None when another holds it."""
        file = self._file(name)
        while True:
            try:
                self.folder.mkdir(exist_ok=True)
                stream = file.open("ab")
            except OSError as error:
                raise LibraryError(
                    f"the library's lock cannot be made: {error.strerror}",
                    where=str(file),
                    next="check the permissions",
                ) from error
            if not _locked(stream):
                stream.close()
                return None
            try:
                if os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                    return stream
            except FileNotFoundError:
                pass
            stream.close()  # its holder deleted the file between our opening and our locking


if sys.platform == "win32":
    import msvcrt

    def _locked(stream: BinaryIO) -> bool:
        try:
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(stream: BinaryIO) -> bool:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
