"""The library's schema as named steps, each applied once, in this order, in one transaction.

A new step is a function that takes the connection and runs its statements, and one line in `MIGRATIONS`; a step that
was released is never edited. Knows nothing of rows: each part of the store creates its own tables (`schema`, `fulltext`,
`vectors`). A library that holds a step of another name was written by a newer Videmus.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from videmus.store import drafts, frame_vectors, fulltext, graph, schema, speakers, vectors

APPLICATION_ID = 0x56444D53
"""In every library.db (PRAGMA application_id): "VDMS". Another SQLite file is never taken for a library."""

Migration = tuple[str, Callable[[sqlite3.Connection], None]]

MIGRATIONS: tuple[Migration, ...] = (
    ("rows", schema.create_rows),
    ("entity graph", graph.create_graph),
    ("fulltext", fulltext.create_fulltext),
    ("vectors", vectors.create_vectors),
    ("frame vectors", frame_vectors.create_frame_vectors),
    ("speakers", speakers.create_speakers),
    ("drafts", drafts.create_drafts),
    ("fulltext frequencies", fulltext.create_frequencies),
    ("numbered relations", schema.number_relations),
)


def applied(connection: sqlite3.Connection) -> set[str]:
    """The names of the steps that the library has; empty for a new file."""
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migration'").fetchone()
    return {name for (name,) in connection.execute("SELECT name FROM migration")} if table else set()


def apply(connection: sqlite3.Connection) -> None:
    """Run the steps that are missing. The caller holds the write transaction."""
    done = applied(connection)
    if not done:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) WITHOUT ROWID")
    for name, step in MIGRATIONS:
        if name not in done:
            step(connection)
            connection.execute("INSERT INTO migration (name) VALUES (?)", (name,))
