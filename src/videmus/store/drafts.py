"""Drafts: the rows of a stage that is computed anew, kept out of sight until they are complete.

While rows of an earlier key are there, those of a new key go into tables of the same shape that no query reads. When the
work is done they take the earlier ones' place in one transaction, and what is the same in both stays where it is, with
all that follows it. Until then, and where the work fails or is killed, everybody sees the earlier rows, whole; the same
key goes on from its draft.

Enters: a connection inside a transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from videmus.model import Origin, Row
from videmus.store import rows as row_tables
from videmus.store.rows import CLASS, COLUMNS, INSERT, SELECT, TABLES, Follower, Numbers
from videmus.store.scope import Table


def create_drafts(connection: sqlite3.Connection) -> None:
    """The migration "drafts"."""
    connection.execute(
        "CREATE TABLE draft (video INTEGER NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL,"
        " PRIMARY KEY (video, stage)) WITHOUT ROWID"
    )
    for table in TABLES:
        connection.execute(f"CREATE TABLE draft_{table} AS SELECT {COLUMNS[table]} FROM {table} WHERE 0")  # noqa: S608 - names of our own
        connection.execute(f"CREATE INDEX draft_{table}_of ON draft_{table} (video, stage)")
        connection.execute(f"CREATE INDEX draft_{table}_id ON draft_{table} (id)")


def key_of(connection: sqlite3.Connection, video: int, stage: str) -> str | None:
    """The key whose rows the stage's draft holds; None where it has none."""
    found = connection.execute("SELECT key FROM draft WHERE video = ? AND stage = ?", (video, stage)).fetchone()
    return None if found is None else str(found[0])


def videos(connection: sqlite3.Connection, stage: str) -> set[str]:
    """The ids of the videos that have a draft of this stage."""
    sql = "SELECT video.id FROM draft JOIN video ON video.n = draft.video WHERE draft.stage = ?"
    return {id for (id,) in connection.execute(sql, (stage,))}


def open_draft(connection: sqlite3.Connection, video: int, stage: str, key: str) -> None:
    connection.execute("INSERT INTO draft (video, stage, key) VALUES (?, ?, ?)", (video, stage, key))


def drop(connection: sqlite3.Connection, video: int, stage: str | None = None) -> bool:
    """Forget the draft of a stage, or all of a video. Returns whether it held frames, whose pictures are orphans now."""
    frames = connection.execute(_DELETE["frame"], {"video": video, "stage": stage}).rowcount
    for table in TABLES:
        connection.execute(_DELETE[table], {"video": video, "stage": stage})
    connection.execute(
        "DELETE FROM draft WHERE video = :video AND (:stage IS NULL OR stage = :stage)",
        {"video": video, "stage": stage},
    )
    return frames > 0


def added(connection: sqlite3.Connection, stage: str, rows: Sequence[Row]) -> int:
    """Put rows that are not there yet (by id) into the drafts of their videos. Returns how many were new."""
    numbers = Numbers(connection)
    new = 0
    for table in TABLES:
        mine = {row.id: row for row in rows if isinstance(row, CLASS[table])}
        if not mine:
            continue
        known = {id for (id,) in connection.execute(_KNOWN[table], (stage, json.dumps(list(mine))))}
        fresh = {id: row for id, row in mine.items() if id not in known}
        (last,) = connection.execute(f"SELECT coalesce(max(n), 0) FROM draft_{table}").fetchone()  # noqa: S608 - ours
        values = [row_tables.encoded(row, n, stage, numbers) for n, row in enumerate(fresh.values(), last + 1)]
        connection.executemany(_INSERT[table], values)
        new += len(fresh)
    return new


def held(connection: sqlite3.Connection, video: int, stage: str, origins: dict[int, Origin]) -> list[Row]:
    """The rows of a stage's draft, by time; `origins` as in `rows.all_decoded`."""
    found: list[Row] = []
    for table in TABLES:
        records = connection.execute(_HELD[table], (video, stage))
        found += row_tables.all_decoded(connection, table, records, origins)
    return found


def publish(
    connection: sqlite3.Connection, video: int, stage: str, followers: Sequence[Follower], origins: dict[int, Origin]
) -> bool:
    """The draft's rows become the stage's rows. A row that was there with the same content stays, with its number.

    Returns whether there were frames before, whose pictures may be orphans now.
    """
    frames = "SELECT 1 FROM frame WHERE video = ? AND stage = ? LIMIT 1"
    had_frames = connection.execute(frames, (video, stage)).fetchone() is not None
    same: dict[Table, list[int]] = {}
    for table in TABLES:
        pairs = connection.execute(_SAME[table], (video, stage)).fetchall()
        connection.executemany(_MADE_BY[table], [(origin, n) for n, origin in pairs])
        same[table] = [n for n, _ in pairs]
    row_tables.removed(connection, video, stage, followers, keeping=same)
    row_tables.added(connection, stage, held(connection, video, stage, origins), followers)
    drop(connection, video, stage)
    return had_frames


def pictures(connection: sqlite3.Connection) -> set[str]:
    """The pictures of all drafts' frames."""
    return {name for (name,) in connection.execute("SELECT picture FROM draft_frame")}


_INSERT: Mapping[Table, str] = {
    table: INSERT[table].replace(f"INTO {table}", f"INTO draft_{table}") for table in TABLES
}
_KNOWN: Mapping[Table, str] = {
    table: f"SELECT id FROM draft_{table} WHERE stage = ? AND id IN (SELECT value FROM json_each(?))"  # noqa: S608 - names of our own
    for table in TABLES
}
_DELETE: Mapping[Table, str] = {
    table: f"DELETE FROM draft_{table} WHERE video = :video AND (:stage IS NULL OR stage = :stage)"  # noqa: S608 - as above
    for table in TABLES
}
_HELD: Mapping[Table, str] = {
    table: SELECT[table].replace(f" FROM {table} ", f" FROM draft_{table} AS {table} ")
    + f" WHERE {table}.video = ? AND {table}.stage = ? ORDER BY {'at_ms' if table == 'frame' else 'start_ms'}, {table}.n"
    for table in TABLES
}
_SAME: Mapping[Table, str] = {
    table: f"SELECT old.n, new.origin FROM draft_{table} AS new JOIN {table} AS old ON old.id = new.id"  # noqa: S608 - as above
    " WHERE new.video = ? AND new.stage = ? AND "
    + " AND ".join(f"old.{name} IS new.{name}" for name in COLUMNS[table].split(", ") if name not in ("n", "origin"))
    for table in TABLES
}
_MADE_BY: Mapping[Table, str] = {
    table: f"UPDATE {table} SET origin = ? WHERE n = ?"  # noqa: S608 - as above
    for table in TABLES
}
