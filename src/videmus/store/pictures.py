"""The pictures of frames: files below the library's frames/ folder.

A picture is written under another name and moved into place, inside the write transaction of its row: so it is whole
when the row is committed, and whoever holds the write transaction may sweep files without a row. A file is not forced
to the disk: after a power cut `check` names pictures that are missing or empty, and `rebuild` makes them again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from videmus.errors import LibraryError


class Pictures:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, picture: str, jpeg: bytes) -> None:
        """Raises LibraryError for a path that leaves the folder, a full disk or a read-only folder."""
        file = self.path(picture)
        part = file.with_name(f".{file.name}.{os.getpid()}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(jpeg)
            part.replace(file)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise LibraryError(
                f"a picture cannot be written: {error.strerror}",
                where=str(file),
                next="free some space or check the permissions, then run the command again",
            ) from error

    def read(self, picture: str) -> bytes:
        """Raises LibraryError when the file is gone or cannot be read."""
        file = self.path(picture)
        try:
            return file.read_bytes()
        except OSError as error:
            raise LibraryError(
                f"a picture of the library cannot be read: {error.strerror}",
                where=str(file),
                next="see `videmus doctor`; `videmus rebuild` makes it again while the video file is there",
            ) from error

    def path(self, picture: str) -> Path:
        """Where a picture lies. Raises LibraryError for a name that leaves the folder."""
        parts = PurePosixPath(picture).parts
        if not parts or any(part in ("..", ".", "/") or "\\" in part or ":" in part or "\0" in part for part in parts):
            raise LibraryError("a picture's name must stay inside the library's frames folder", where=repr(picture))
        return self.folder.joinpath(*parts)

    def names(self, below: str = "") -> Iterator[str]:
        """The names of all files (half-written ones among them) below one folder of frames/."""
        start = self.folder / below if below else self.folder
        for folder, _, files in os.walk(start):
            for file in files:
                yield (Path(folder) / file).relative_to(self.folder).as_posix()

    def delete(self, picture: str) -> None:
        """Delete one file, and its folder when that is empty."""
        file = self.folder / picture
        file.unlink(missing_ok=True)
        for folder in file.relative_to(self.folder).parents:
            if folder.name:
                try:
                    (self.folder / folder).rmdir()
                except OSError:
                    return
