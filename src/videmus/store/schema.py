"""The tables of rows, ledger, model calls and a person's marks.

Every row has a number `n` (an integer that is never given twice: full text and vectors refer to it) and an `id` (text,
follows from content). Row tables name their video by number. What made a row is kept once, in `origin`. Ids inside
`sources`, `segment`, `keyframe` and a relation's `evidence` are texts without a foreign key: a stage that is computed
anew removes its rows before the stages that depend on it are, and the same content comes back under the same id.
"""

from __future__ import annotations

import sqlite3

_ROWS = (
    # `last_ms` is where the video's last row ends, whatever `duration_ms` says: a clock scope passes over videos by it.
    """
    CREATE TABLE video (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        duration_ms INTEGER NOT NULL,
        source TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT,
        collection TEXT,
        recorded_at INTEGER,
        recording TEXT,
        language TEXT,
        has_video INTEGER NOT NULL,
        has_audio INTEGER NOT NULL,
        added_at INTEGER NOT NULL,
        options TEXT,
        last_ms INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX video_clock ON video (recorded_at)",
    "CREATE INDEX video_collection ON video (collection)",
    "CREATE INDEX video_recording ON video (recording)",
    # Every place where a video's content was seen: the file in use is video.source.
    "CREATE TABLE place (video INTEGER NOT NULL, source TEXT NOT NULL, PRIMARY KEY (video, source)) WITHOUT ROWID",
    "CREATE INDEX place_source ON place (source)",
    # `content` is the JSON of [stage, version, model, settings].
    "CREATE TABLE origin (n INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE)",
    # Names of speakers as the rows carry them; `folded` is what a scope's speaker is compared with.
    "CREATE TABLE speaker (name TEXT PRIMARY KEY, folded TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX speaker_folded ON speaker (folded)",
    """
    CREATE TABLE evidence (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        video INTEGER NOT NULL,
        start_ms INTEGER NOT NULL,
        end_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        stage TEXT NOT NULL,
        origin INTEGER NOT NULL,
        speaker TEXT,
        segment TEXT,
        text TEXT NOT NULL,
        sources TEXT,
        detail BLOB
    )
    """,
    "CREATE INDEX evidence_time ON evidence (video, start_ms, end_ms)",
    """
    CREATE TABLE segment (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        video INTEGER NOT NULL,
        start_ms INTEGER NOT NULL,
        end_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        stage TEXT NOT NULL,
        origin INTEGER NOT NULL,
        slide INTEGER,
        title TEXT,
        keyframe TEXT,
        number TEXT,
        text TEXT NOT NULL,
        states TEXT,
        sources TEXT
    )
    """,
    "CREATE INDEX segment_time ON segment (video, kind, start_ms)",
    """
    CREATE TABLE frame (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        video INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        stage TEXT NOT NULL,
        origin INTEGER NOT NULL,
        picture TEXT NOT NULL,
        hash TEXT NOT NULL,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        look TEXT
    )
    """,
    "CREATE INDEX frame_time ON frame (video, at_ms)",
    # A name as extracted, once for each kind; relations refer to it by number (their own names too, see `number_relations`).
    "CREATE TABLE name (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (name, kind))",
    """
    CREATE TABLE relation (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        video INTEGER NOT NULL,
        start_ms INTEGER NOT NULL,
        end_ms INTEGER NOT NULL,
        source INTEGER NOT NULL,
        relation TEXT NOT NULL,
        target INTEGER NOT NULL,
        evidence TEXT NOT NULL,
        confidence REAL NOT NULL,
        stage TEXT NOT NULL,
        origin INTEGER NOT NULL
    )
    """,
    "CREATE INDEX relation_time ON relation (video, start_ms)",
    """
    CREATE TABLE work (
        video INTEGER NOT NULL,
        stage TEXT NOT NULL,
        key TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT,
        rows INTEGER NOT NULL DEFAULT 0,
        seconds REAL NOT NULL DEFAULT 0,
        calls INTEGER NOT NULL DEFAULT 0,
        tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0,
        usd REAL,
        at INTEGER NOT NULL,
        PRIMARY KEY (video, stage)
    ) WITHOUT ROWID
    """,
    # What a person said about a derived row (a correction undone): it outlives the row's recomputation.
    """
    CREATE TABLE mark (
        video INTEGER NOT NULL,
        stage TEXT NOT NULL,
        subject TEXT NOT NULL,
        value TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (video, stage, subject)
    ) WITHOUT ROWID
    """,
    # Replies of models: committed before they are used. `video` is an id.
    """
    CREATE TABLE call (
        key TEXT PRIMARY KEY,
        video TEXT,
        stage TEXT,
        provider TEXT,
        model TEXT,
        tokens_in INTEGER,
        tokens_out INTEGER,
        usd REAL,
        at INTEGER NOT NULL,
        reply BLOB NOT NULL
    )
    """,
    "CREATE INDEX call_video ON call (video) WHERE video IS NOT NULL",
)


_NUMBERED = (
    "INSERT OR IGNORE INTO name (kind, name) SELECT 'relation', relation FROM relation",
    "INSERT OR IGNORE INTO name (kind, name) SELECT 'relation', relation FROM draft_relation",
    """
    CREATE TABLE relation_numbered (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        video INTEGER NOT NULL,
        start_ms INTEGER NOT NULL,
        end_ms INTEGER NOT NULL,
        source INTEGER NOT NULL,
        relation INTEGER NOT NULL,
        target INTEGER NOT NULL,
        evidence TEXT NOT NULL,
        confidence INTEGER NOT NULL,
        stage TEXT NOT NULL,
        origin INTEGER NOT NULL
    )
    """,
    """
    INSERT INTO relation_numbered
    SELECT relation.n, id, video, start_ms, end_ms, source, name.n, target, evidence,
        CAST(round(confidence * 100) AS INTEGER), stage, origin
    FROM relation JOIN name ON name.name = relation.relation AND name.kind = 'relation' ORDER BY relation.n
    """,
    """
    UPDATE draft_relation
    SET relation = (SELECT n FROM name WHERE name.name = draft_relation.relation AND name.kind = 'relation'),
        confidence = round(confidence * 100)
    """,
)
_IN_PLACE = (
    "DROP TABLE relation",
    "ALTER TABLE relation_numbered RENAME TO relation",
    "CREATE INDEX relation_time ON relation (video, start_ms)",
    "CREATE TRIGGER relation_gone AFTER DELETE ON relation BEGIN DELETE FROM relation_end WHERE relation = old.n; END",
)


def create_rows(connection: sqlite3.Connection) -> None:
    """The migration "rows"."""
    for statement in _ROWS:
        connection.execute(statement)


def number_relations(connection: sqlite3.Connection) -> None:
    """The migration "numbered relations": "TALKS_TO" stands once in `name` and in each row as a number, a confidence is a
    number of hundredths, and no index holds the ids again: nobody asks for a relation by its id, and one that is there
    already is found by its video and time. Together a quarter of the graph's bytes."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'relation'").fetchone()
    for statement in (*_NUMBERED, *_IN_PLACE):
        connection.execute(statement)
    if last is not None:  # numbers of deleted rows do not come back
        connection.execute("DELETE FROM sqlite_sequence WHERE name = 'relation'")
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('relation', ?)", last)
