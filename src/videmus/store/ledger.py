"""The ledger: which stage did what for a video, under which key. Also a person's marks, and the digest of both.

Enters: a connection inside a transaction. A key is the caller's digest of (video, stage, version, model, settings,
`digest` of the rows that the stage reads).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from videmus.store.protocol import Work
from videmus.store.rows import TABLES, intact
from videmus.store.scope import Table


def state_of(connection: sqlite3.Connection, video: int, stage: str) -> tuple[str, str] | None:
    """The (key, state) of a stage's latest work, None when it never ran."""
    found = connection.execute("SELECT key, state FROM work WHERE video = ? AND stage = ?", (video, stage)).fetchone()
    return None if found is None else (found[0], found[1])


def start(connection: sqlite3.Connection, video: int, stage: str, key: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO work (video, stage, key, state, at) VALUES (?, ?, ?, 'running', ?)",
        (video, stage, key, _now()),
    )


def record(connection: sqlite3.Connection, video: int, work: Work) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO work (video, stage, key, state, reason, rows, seconds, calls, tokens_in, tokens_out,"
        " usd, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            video,
            work.stage,
            work.key,
            work.state,
            work.reason,
            work.rows,
            work.seconds,
            work.calls,
            work.tokens_in,
            work.tokens_out,
            work.usd,
            _now(),
        ),
    )


def all_work(connection: sqlite3.Connection, video: str) -> list[Work]:
    """In the order in which the stages last changed state."""
    records = connection.execute(
        "SELECT video.id, work.stage, work.key, work.state, work.reason, work.rows, work.seconds, work.calls,"
        " work.tokens_in, work.tokens_out, work.usd FROM work JOIN video ON video.n = work.video"
        " WHERE video.id = ? ORDER BY work.at, work.stage",
        (video,),
    )
    return [Work(*record) for record in records]


# ---------------------------------------------------------------- marks: what a person said of a derived row


def set_mark(connection: sqlite3.Connection, video: int, stage: str, subject: str, value: Any) -> None:
    """`value` is plain data; None takes the mark back."""
    if value is None:
        connection.execute("DELETE FROM mark WHERE video = ? AND stage = ? AND subject = ?", (video, stage, subject))
        return
    connection.execute(
        "INSERT OR REPLACE INTO mark (video, stage, subject, value, at) VALUES (?, ?, ?, ?, ?)",
        (video, stage, subject, json.dumps(value, ensure_ascii=False, sort_keys=True), _now()),
    )


def marks(connection: sqlite3.Connection, video: int, stage: str) -> dict[str, Any]:
    records = connection.execute(
        "SELECT subject, value FROM mark WHERE video = ? AND stage = ? ORDER BY subject", (video, stage)
    )
    with intact():
        return {subject: json.loads(value) for subject, value in records}


# ---------------------------------------------------------------- the digest

_CONTENT: Mapping[Table, str] = {
    "evidence": "SELECT id, start_ms, end_ms, kind, text, speaker, segment, sources, detail FROM evidence"
    " WHERE video = ? AND stage = ? ORDER BY id",
    "segment": "SELECT id, start_ms, end_ms, kind, slide, title, keyframe, number, text, states, sources FROM segment"
    " WHERE video = ? AND stage = ? ORDER BY id",
    "frame": "SELECT id, at_ms, picture, hash, width, height, look FROM frame"
    " WHERE video = ? AND stage = ? ORDER BY id",
    "relation": "SELECT relation.id, start_ms, end_ms, source.name, source.kind, said.name, target.name, target.kind,"
    " evidence, confidence / 100.0 FROM relation JOIN name AS source ON source.n = relation.source"
    " JOIN name AS said ON said.n = relation.relation JOIN name AS target ON target.n = relation.target"
    " WHERE video = ? AND stage = ? ORDER BY relation.id",
}


def digest(connection: sqlite3.Connection, video: int, stages: Sequence[str], marks_of: Sequence[str]) -> str:
    """Of the content of the rows (not of what made them) and of the marks on them and on `marks_of`."""
    hash = hashlib.blake2b(digest_size=16)
    for stage in sorted(set(stages)):
        hash.update(f"\x1d{stage}".encode())
        for table in TABLES:
            for record in connection.execute(_CONTENT[table], (video, stage)):
                with intact():
                    values = [zlib.decompress(v) if isinstance(v, bytes) and v[:1] != b"{" else v for v in record]
                hash.update(repr(values).encode("utf-8", "surrogatepass"))
                hash.update(b"\x1e")
    for stage in sorted({*stages, *marks_of}):
        if said := marks(connection, video, stage):
            hash.update(f"\x1c{stage}{json.dumps(said, sort_keys=True)}".encode())
    return hash.hexdigest()


def _now() -> int:
    return time.time_ns() // 1_000_000
