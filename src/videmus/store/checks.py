"""Is the library sound, and how large is it: what `videmus doctor` asks of the store.

Enters: a connection inside a read transaction, the library's folder. Looks, and changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path

from videmus.store.pictures import Pictures


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `next` says what to do where it is not `ok`."""

    name: str
    ok: bool
    detail: str
    next: str = ""


def file_is_sound(connection: sqlite3.Connection) -> Check:
    """SQLite's own quick check of every page."""
    problems = [line for (line,) in connection.execute("PRAGMA quick_check(5)") if line != "ok"]
    if problems:
        return Check(
            "library file",
            False,
            "; ".join(problems),
            "put a copy of library.db back, or start a new library and add the videos again",
        )
    (count,) = connection.execute("SELECT count(*) FROM video").fetchone()
    return Check("library file", True, f"sound; {count} video{'' if count == 1 else 's'}")


def pictures_are_there(connection: sqlite3.Connection, pictures: Pictures, drafted: Set[str] = frozenset()) -> Check:
    """Every frame has its picture, and every picture its frame, here or in a draft (`drafted`)."""
    named = {name for (name,) in connection.execute("SELECT picture FROM frame")}
    present = {name: (pictures.folder / name).stat().st_size for name in pictures.names()}
    missing = sorted(name for name in named if not present.get(name))
    orphans = len(present.keys() - named - drafted)
    unused = f"; {orphans} files without a row" if orphans else ""
    if missing:
        return Check(
            "pictures",
            False,
            f"{len(missing)} of {len(named)} are missing or empty, such as {missing[0]}{unused}",
            "`videmus rebuild` makes them again while the video files are there",
        )
    return Check("pictures", True, f"{len(named)} there{unused}")


def nothing_is_interrupted(connection: sqlite3.Connection, busy: Callable[[str], bool]) -> Check:
    """No video waits for a run that was killed."""
    waiting = connection.execute("SELECT id, title FROM video WHERE state = 'processing' ORDER BY n").fetchall()
    interrupted = [f"{title} ({id})" for id, title in waiting if not busy(id)]
    if interrupted:
        return Check("runs", False, f"interrupted: {', '.join(interrupted)}", "`videmus retry` goes on from there")
    return Check("runs", True, f"{len(waiting)} at work" if waiting else "none waiting")


def sizes(connection: sqlite3.Connection, folder: Path) -> dict[str, int]:
    """Bytes by folder and, inside library.db, by table with its indexes (where SQLite was built to tell)."""
    found = {
        name: _bytes_below(folder / name) for name in ("library.db", "library.db-wal", "frames", "vectors", "media")
    }
    tables = []
    if connection.execute(
        "SELECT 1 FROM pragma_compile_options WHERE compile_options = 'ENABLE_DBSTAT_VTAB'"
    ).fetchone():
        tables = connection.execute(
            "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name"
            " WHERE s.aggregate = 1 GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
    return {**found, **{f"library.db: {table}": size for table, size in tables}}


def _bytes_below(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
