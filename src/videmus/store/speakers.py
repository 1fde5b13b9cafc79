"""What a person says about voices: names for labels, in a video, a span of it, or a recording; with undo.

Enters: labels as rows carry them. Leaves: names. The rows stay as they were perceived, so a video that is heard anew
keeps its names, and undoing is exact. A merge names two labels alike; a split gives a span of a label another name. As with
entities, a name counts from the time it was learned: a question asked about an earlier time sees the label.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from videmus import clock
from videmus.errors import NotFoundError, UsageError
from videmus.model import Evidence, Scope
from videmus.store.scope import folded, visible

if TYPE_CHECKING:
    from videmus.store.database import Database

_CREATE = (
    # `video` is an id: what a person said outlives removing the video and adding it again.
    """
    CREATE TABLE speaker_name (
        n INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, video TEXT NOT NULL, label TEXT NOT NULL,
        start_ms INTEGER, end_ms INTEGER, name TEXT NOT NULL, folded TEXT NOT NULL, learned_at INTEGER NOT NULL,
        made_at INTEGER NOT NULL, undone INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX speaker_name_label ON speaker_name (video, label)",
    "CREATE INDEX speaker_name_folded ON speaker_name (folded)",
)


def create_speakers(connection: sqlite3.Connection) -> None:
    """The migration "speakers"."""
    for statement in _CREATE:
        connection.execute(statement)


@dataclass(frozen=True, slots=True)
class Voice:
    """What one label says in one video under one name (the label where none was given): how much, and from when on.

    A label of which a part was split off is two voices.
    """

    video: str
    label: str
    name: str
    utterances: int
    spoken_ms: int
    first_ms: int


@dataclass(frozen=True, slots=True)
class Given:
    """One decision: label → name, for a span where it has one. Decisions of one command share a `batch`."""

    n: int
    batch: int
    video: str
    label: str
    start_ms: int | None
    end_ms: int | None
    name: str
    learned_at: int
    made_at: int
    undone: bool


class SpeakerStore:
    """Made from a store's database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def voices(self, scope: Scope = Scope()) -> list[Voice]:  # noqa: B008 - frozen
        """Every speaker of the scope's videos, by video, who speaks most first."""
        clause = visible("evidence", replace(scope, stream="speech", speaker=None))
        sql = (
            "SELECT video.id, evidence.speaker, evidence.start_ms, evidence.end_ms"  # noqa: S608
            f" FROM evidence JOIN video ON video.n = evidence.video WHERE {clause.sql} AND evidence.speaker IS NOT NULL"
            " ORDER BY video.n, evidence.start_ms"
        )
        with self._db.reading() as connection:
            records = connection.execute(sql, clause.parameters).fetchall()
            given = _standing(connection, {r[0] for r in records}, scope.at)
        by_video: dict[str, dict[tuple[str, str], Voice]] = {}
        for video, label, start, end in records:
            voices = by_video.setdefault(video, {})
            name = _name(given, video, label, start) or label
            before = voices.get((label, name)) or Voice(video, label, name, 0, 0, start)
            voices[label, name] = replace(
                before, utterances=before.utterances + 1, spoken_ms=before.spoken_ms + end - start
            )
        return [v for voices in by_video.values() for v in sorted(voices.values(), key=lambda v: -v.spoken_ms)]

    def named(self, rows: Sequence[Evidence], at: int | None = None) -> list[Evidence]:
        """The rows with the names that people gave their speakers by `at`."""
        with self._db.reading() as connection:
            given = _standing(connection, {row.video for row in rows if row.speaker}, at)
        if not given:
            return list(rows)
        return [
            row
            if row.speaker is None
            else replace(row, speaker=_name(given, row.video, row.speaker, row.start_ms) or row.speaker)
            for row in rows
        ]

    def name(
        self,
        label: str,
        name: str,
        videos: Iterable[str],
        *,
        start_ms: int | None = None,
        end_ms: int | None = None,
        at: int | None = None,
    ) -> list[Given]:
        """Call a label by a name, in these videos where it speaks; with a span, only there (a split).

        Known from `at` on: unless said, from the end of the evidence of each video. Raises NotFoundError when no video
        has the label, UsageError for an empty name and for a span in which no utterance of the label begins.
        """
        return self._decide([(label, name)], videos, start_ms, end_ms, at)

    def merge(self, labels: Sequence[str], name: str, videos: Iterable[str], at: int | None = None) -> list[Given]:
        """Several labels are one voice, called `name`. Raises NotFoundError when no video has any of them."""
        return self._decide([(label, name) for label in labels], videos, None, None, at)

    def undo(self) -> list[Given]:
        """Take back what the last command that still counts said. Raises UsageError when there is none."""
        with self._db.writing() as connection:
            (batch,) = connection.execute("SELECT max(batch) FROM speaker_name WHERE undone = 0").fetchone()
            if batch is None:
                raise UsageError("there is nothing to undo", where="speakers")
            connection.execute("UPDATE speaker_name SET undone = 1 WHERE batch = ?", (batch,))
            return [given for given in _history(connection) if given.batch == batch]

    def history(self) -> list[Given]:
        with self._db.reading() as connection:
            return _history(connection)

    def _decide(
        self,
        pairs: Sequence[tuple[str, str]],
        videos: Iterable[str],
        start_ms: int | None,
        end_ms: int | None,
        at: int | None,
    ) -> list[Given]:
        if not all(name.strip() for _, name in pairs):
            raise UsageError("a speaker's name is empty")
        if start_ms is not None and end_ms is not None and end_ms <= start_ms:
            raise UsageError("the span ends before it begins")
        with self._db.writing() as connection:
            (last,) = connection.execute("SELECT coalesce(max(batch), 0) FROM speaker_name").fetchone()
            made = time.time_ns() // 1_000_000
            wanted = list(videos)
            for label, name in pairs:
                for video in _speaking(connection, label, wanted, start_ms, end_ms):
                    learned = at if at is not None else _end(connection, video)
                    connection.execute(
                        "INSERT INTO speaker_name (batch, video, label, start_ms, end_ms, name, folded, learned_at, made_at)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (
                            last + 1,
                            video,
                            label,
                            start_ms,
                            end_ms,
                            name.strip(),
                            folded(name),
                            learned,
                            made,
                        ),
                    )
            found = [given for given in _history(connection) if given.batch == last + 1]
            if not found:
                for label, _ in pairs:
                    _check_span(connection, label, wanted, start_ms, end_ms)
                raise NotFoundError(
                    f"no voice is labelled {', '.join(label for label, _ in pairs)}", next="see `videmus speakers`"
                )
        return found


_Names = dict[tuple[str, str], list[tuple[int | None, int | None, str]]]


def _standing(connection: sqlite3.Connection, videos: set[str], at: int | None) -> _Names:
    """(video, label) → (start, end, name), the latest decision first."""
    found: _Names = {}
    for video, label, start, end, name in connection.execute(
        "SELECT video, label, start_ms, end_ms, name FROM speaker_name WHERE undone = 0"
        " AND video IN (SELECT value FROM json_each(:videos)) AND (:at IS NULL OR learned_at <= :at) ORDER BY n DESC",
        {"videos": json.dumps(sorted(videos)), "at": at},
    ):
        found.setdefault((video, label), []).append((start, end, name))
    return found


def _name(given: _Names, video: str, label: str, start_ms: int) -> str | None:
    """The name of what begins at a time."""
    for start, end, name in given.get((video, label), []):
        if (start is None or start_ms >= start) and (end is None or start_ms < end):
            return name
    return None


def _speaking(
    connection: sqlite3.Connection, label: str, videos: Sequence[str], start_ms: int | None, end_ms: int | None
) -> list[str]:
    """The videos in which an utterance of the label begins within the span."""
    records = connection.execute(
        "SELECT DISTINCT video.id FROM evidence JOIN video ON video.n = evidence.video"
        " WHERE evidence.speaker = :label AND video.id IN (SELECT value FROM json_each(:videos))"
        " AND (:start IS NULL OR evidence.start_ms >= :start) AND (:end IS NULL OR evidence.start_ms < :end)"
        " ORDER BY video.n",
        {"label": label, "videos": json.dumps(list(videos)), "start": start_ms, "end": end_ms},
    )
    return [video for (video,) in records]


def _check_span(
    connection: sqlite3.Connection, label: str, videos: Sequence[str], start_ms: int | None, end_ms: int | None
) -> None:
    """Raises UsageError where the label speaks in these videos, and nothing of it begins within the span."""
    beginnings = connection.execute(
        "SELECT evidence.start_ms, video.id FROM evidence JOIN video ON video.n = evidence.video"
        " WHERE evidence.speaker = ? AND video.id IN (SELECT value FROM json_each(?))",
        (label, json.dumps(list(videos))),
    ).fetchall()
    if beginnings:
        border = start_ms if start_ms is not None else end_ms or 0
        at, video = min(beginnings, key=lambda record: abs(record[0] - border))
        raise UsageError(
            f"no utterance of {label} begins in that span, so no name was given",
            next=f"the nearest begins at {clock.format_time(at)} in {video}: give a span that holds it",
        )


def _end(connection: sqlite3.Connection, video: str) -> int:
    (end,) = connection.execute(
        "SELECT max(coalesce(video.recorded_at, 0) + evidence.end_ms) FROM evidence"
        " JOIN video ON video.n = evidence.video WHERE video.id = ?",
        (video,),
    ).fetchone()
    return int(end or 0)


def _history(connection: sqlite3.Connection) -> list[Given]:
    records = connection.execute(
        "SELECT n, batch, video, label, start_ms, end_ms, name, learned_at, made_at, undone FROM speaker_name ORDER BY n"
    )
    return [
        Given(n, batch, video, label, start, end, name, learned, made, bool(undone))
        for n, batch, video, label, start, end, name, learned, made, undone in records
    ]
