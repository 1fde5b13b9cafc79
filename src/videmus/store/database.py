"""The file library.db: opening it, its connections, its transactions, and what SQLite's errors mean to a person.

Write-ahead log: readers see the last commit and never wait; writers come one after another (BEGIN IMMEDIATE). With
synchronous = NORMAL a commit survives the end of the process at any moment (kill -9); a power cut may lose the last
commits, never the file. Threads share one `Database`: each read takes a connection of its own from a pool, all writes
share one connection behind a lock. Knows nothing of the tables.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from videmus.config import StoreSettings
from videmus.errors import LibraryError, UsageError
from videmus.store import migrations

_HEADER = b"SQLite format 3\x00"


class Database:
    """One library.db. `read_only` where the folder or file cannot be written: reading works, writing says why not."""

    def __init__(self, file: Path, settings: StoreSettings) -> None:
        self.file = file
        self.settings = settings
        self.read_only = file.exists() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))
        self._immutable = False
        self._closed = False
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._write_lock = threading.RLock()
        self._prepare()

    # ------------------------------------------------------------ transactions

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one commit from beginning to end. Raises LibraryError."""
        with self._explained():
            connection = self._taken()
            try:
                connection.execute("BEGIN")
                yield connection
            except sqlite3.DatabaseError:
                connection.close()
                raise
            finally:
                self._given_back(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The write connection inside a transaction: committed at the end, rolled back when an error leaves the block.

        Inside another `writing` of the same thread it is part of that transaction. Raises LibraryError.
        """
        self.require_writable()
        with self._write_lock, self._explained():
            if self._closed:
                raise LibraryError("the library is closed", where=str(self.file.parent), next="open it again")
            if self._writer is None:
                self._writer = self._connected("rw")
            connection = self._writer
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def require_writable(self) -> None:
        """Raises LibraryError for a read-only library."""
        if self.read_only:
            raise LibraryError(
                "the library can be read but not changed: its folder or library.db is read-only",
                where=str(self.file.parent),
                next="give yourself the right to write there, or name another folder with --library",
            )

    def close(self) -> None:
        """Close every connection. The last process to close folds the log into the file."""
        with self._write_lock, self._idle_lock:
            self._closed = True
            connections = self._idle + ([self._writer] if self._writer else [])
            self._idle, self._writer = [], None
            for connection in connections:
                connection.close()

    def uri(self) -> str:
        """The file as a read-only address for another connection (`views`)."""
        return self._uri("ro")

    # ------------------------------------------------------------ opening

    def _prepare(self) -> None:
        """Check that the file is a library, make or migrate it, and switch it to write-ahead logging."""
        with self._explained():
            self._refuse_foreign()
            if self.read_only:
                self._open_read_only()
                return
            try:
                connection = self._connected("rwc")
            except sqlite3.OperationalError as error:
                raise _explanation(error, self.file) from error
            try:
                if self._needs_migration(connection):
                    self._write_ahead(connection)
                    connection.execute("BEGIN IMMEDIATE")
                    try:
                        self._refuse_unknown(connection)
                        migrations.apply(connection)
                        connection.execute("COMMIT")
                    except BaseException:
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
                        raise
                self._idle.append(connection)
            except BaseException:
                connection.close()
                raise

    def _open_read_only(self) -> None:
        try:
            connection = self._connected("ro")
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.OperationalError:
            # SQLite wants to make library.db-shm beside the file. Without pending log, the file alone is the library.
            log = self.file.with_name(self.file.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise
            self._immutable = True
            connection = self._connected("ro")
        try:
            if self._needs_migration(connection):
                raise LibraryError(
                    "the library was written by an older Videmus and cannot be brought up to date: it is read-only",
                    where=str(self.file.parent),
                    next="open it once from where it can be written",
                )
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _refuse_foreign(self) -> None:
        try:
            with self.file.open("rb") as stream:
                header = stream.read(100)
        except FileNotFoundError:
            return
        except OSError as error:
            raise LibraryError(
                f"library.db cannot be read: {error.strerror}", where=str(self.file), next="check its permissions"
            ) from error
        if header and not header.startswith(_HEADER):
            raise LibraryError(
                "library.db is not a Videmus library (no SQLite header), or it is damaged",
                where=str(self.file),
                next="name another folder with --library, or put a sound copy of library.db back",
            )
        if header and self._cut_off() and self._cut_off():  # twice: a checkpoint may have been under way
            raise _damaged(self.file, "library.db is cut off")

    def _cut_off(self) -> bool:
        """Whether the file is shorter than its header says, with no log that completes it."""
        with self.file.open("rb") as stream:
            header = stream.read(100)
        if len(header) < 100:
            return True
        page = int.from_bytes(header[16:18], "big")
        wanted = int.from_bytes(header[28:32], "big") * (65_536 if page == 1 else page)
        log = self.file.with_name(self.file.name + "-wal")
        return self.file.stat().st_size < wanted and not (log.exists() and log.stat().st_size)

    def _needs_migration(self, connection: sqlite3.Connection) -> bool:
        """Whether steps are missing. Raises LibraryError for another program's file or a newer library."""
        done = self._refuse_unknown(connection)
        return done != {name for name, _ in migrations.MIGRATIONS}

    def _refuse_unknown(self, connection: sqlite3.Connection) -> set[str]:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != migrations.APPLICATION_ID and (application or tables):
            raise LibraryError(
                "library.db is a database of another program, not a Videmus library",
                where=str(self.file),
                next="name another folder with --library",
            )
        done = migrations.applied(connection)
        if unknown := done - {name for name, _ in migrations.MIGRATIONS}:
            raise LibraryError(
                f"the library was written by a newer Videmus (it knows {', '.join(sorted(unknown))})",
                where=str(self.file.parent),
                next="upgrade Videmus",
            )
        return done

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Switching needs the file alone for a moment; SQLite does not wait there by itself."""
        deadline = time.monotonic() + self.settings.busy_ms / 1000
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
                continue
            if mode != "wal":
                raise LibraryError(
                    "this file system does not support SQLite's write-ahead log",
                    where=str(self.file.parent),
                    next="put the library on a local disk",
                )
            return

    # ------------------------------------------------------------ connections

    def _taken(self) -> sqlite3.Connection:
        with self._idle_lock:
            if self._closed:
                raise LibraryError("the library is closed", where=str(self.file.parent), next="open it again")
            if self._idle:
                return self._idle.pop()
        return self._connected("ro" if self.read_only else "rw")

    def _given_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.ProgrammingError:  # closed above, after an error
            return
        with self._idle_lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _connected(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._uri(mode),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=self.settings.busy_ms / 1000,
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{self.settings.cache_kb}")
            connection.execute("PRAGMA temp_store = MEMORY")
            if mode != "ro":
                connection.execute("PRAGMA journal_size_limit = 67108864")
        except BaseException:
            connection.close()
            raise
        return connection

    def _uri(self, mode: str) -> str:
        return f"{self.file.resolve().as_uri()}?mode={mode}" + ("&immutable=1" if self._immutable else "")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explanation(error, self.file) from error
        except UnicodeDecodeError as error:  # of SQLite's own message about a damaged schema
            raise _damaged(self.file, str(error)) from error
        except UnicodeEncodeError as error:
            raise UsageError(
                "a text holds half a character (a lone surrogate), which no library can keep",
                where=ascii(error.object[max(0, error.start - 20) : error.end + 20]),
                next="mend the file that it came from",
            ) from error


def _damaged(file: Path, how: str) -> LibraryError:
    return LibraryError(
        f"the library is damaged: {how}",
        where=str(file),
        next="see `videmus doctor`; put a copy back, or start a new library and add the videos again",
    )


def _explanation(error: sqlite3.Error, file: Path) -> LibraryError:
    """What an error of SQLite means to the person: see sqlite.org/rescode.html."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    folder = str(file.parent)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LibraryError("another process is writing to the library", where=folder, next="try again in a moment")
    if primary == sqlite3.SQLITE_FULL:
        return LibraryError(
            "the disk is full; everything committed so far is kept",
            where=folder,
            next="free some space and run the command again",
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return LibraryError("the library is read-only", where=folder, next="check the permissions of the folder")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
        return _damaged(file, str(error))
    if primary == sqlite3.SQLITE_CANTOPEN:
        return LibraryError(
            "library.db cannot be opened or made", where=folder, next="check that the folder exists and can be written"
        )
    if primary == sqlite3.SQLITE_IOERR:
        return LibraryError(
            f"reading or writing the library failed ({getattr(error, 'sqlite_errorname', error)}); "
            "everything committed so far is kept",
            where=folder,
            next="check the disk and its free space, then run the command again",
        )
    if "no such table" in str(error) or "no such column" in str(error):
        return _damaged(file, str(error))
    return LibraryError(f"the library refused an operation: {error}", where=folder, next="see `videmus doctor`")
