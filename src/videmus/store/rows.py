"""Rows in and out of their tables: evidence, segments, frames, relations, each with what made it.

Enters: a connection inside a transaction. Knows nothing of scopes or of when to write. Details and states are JSON;
a long detail (the words of an hour of speech) is deflated.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

from videmus.errors import LibraryError, NotFoundError
from videmus.model import (
    Detail,
    Evidence,
    EvidenceKind,
    Frame,
    Look,
    Origin,
    Relation,
    Row,
    Segment,
    State,
    detail_from_plain,
    to_plain,
)
from videmus.store.scope import Table, folded

TABLES: tuple[Table, ...] = ("evidence", "segment", "frame", "relation")

_DEFLATE_FROM = 256
"""Bytes of JSON from which deflating pays: shorter details hardly shrink."""


class Follower(Protocol):
    """What must never disagree with the rows (full text, vectors, names): told inside the same transaction.

    `rows` are (n, row) pairs of one table that were just inserted; `numbers` are rows of one table about to be deleted,
    still there to be read. `rebuild` makes the follower's tables anew from the rows.
    """

    def added(self, connection: sqlite3.Connection, table: Table, rows: Sequence[tuple[int, Row]]) -> None: ...
    def removing(self, connection: sqlite3.Connection, table: Table, numbers: Sequence[int]) -> None: ...
    def rebuild(self, connection: sqlite3.Connection) -> None: ...


# ---------------------------------------------------------------- reading

SELECT: Mapping[Table, str] = {
    "evidence": "SELECT video.id, evidence.origin, evidence.id, evidence.start_ms, evidence.end_ms, evidence.kind,"
    " evidence.text, evidence.speaker, evidence.segment, evidence.sources, evidence.detail"
    " FROM evidence JOIN video ON video.n = evidence.video",
    "segment": "SELECT video.id, segment.origin, segment.id, segment.start_ms, segment.end_ms, segment.kind,"
    " segment.slide, segment.title, segment.text, segment.states, segment.keyframe, segment.number, segment.sources"
    " FROM segment JOIN video ON video.n = segment.video",
    "frame": "SELECT video.id, frame.origin, frame.id, frame.at_ms, frame.picture, frame.hash, frame.width,"
    " frame.height, frame.look FROM frame JOIN video ON video.n = frame.video",
    "relation": "SELECT video.id, relation.origin, relation.id, relation.start_ms, relation.end_ms, source.name,"
    " source.kind, said.name, target.name, target.kind, relation.evidence, relation.confidence / 100.0"
    " FROM relation JOIN video ON video.n = relation.video JOIN name AS source ON source.n = relation.source"
    " JOIN name AS said ON said.n = relation.relation JOIN name AS target ON target.n = relation.target",
}
"""What `decoded` reads, for each table; a WHERE clause over the table and `video` fits behind."""

SELECT_BY_VIDEO: Mapping[Table, str] = {
    table: select.replace(
        f" FROM {table} JOIN video ON video.n = {table}.video",
        f" FROM video CROSS JOIN {table} ON {table}.video = video.n",
    )
    for table, select in SELECT.items()
}
"""The same, told to go from videos to their rows: without statistics SQLite would rather read every row of the library."""


def decoded(table: Table, record: Sequence[Any], origins: Mapping[int, Origin]) -> Row:
    """One record of `SELECT[table]` as a row."""
    video, origin = record[0], origins[record[1]]
    fields = record[2:]
    if table == "evidence":
        return _evidence(video, origin, *fields)
    if table == "segment":
        return _segment(video, origin, *fields)
    if table == "frame":
        return _frame(video, origin, *fields)
    id, start, end, source, source_kind, relation, target, target_kind, evidence, confidence = fields
    return Relation(
        id, video, start, end, source, source_kind, relation, target, target_kind, evidence, confidence, origin
    )


def all_decoded(
    connection: sqlite3.Connection, table: Table, records: Iterable[Sequence[Any]], known: dict[int, Origin]
) -> list[Row]:
    """Records as rows; origins that `known` lacks are read and added to it."""
    records = list(records)
    with intact():
        for n in {record[1] for record in records} - known.keys():
            (content,) = connection.execute("SELECT content FROM origin WHERE n = ?", (n,)).fetchone()
            stage, version, model, settings = json.loads(content)
            known[n] = Origin(stage, version, model, settings)
        return [decoded(table, record, known) for record in records]


@contextmanager
def intact() -> Iterator[None]:
    """What cannot be decoded was not written so: the file is damaged in a place that SQLite cannot know of."""
    try:
        yield
    except (ValueError, TypeError, KeyError, zlib.error) as error:
        raise LibraryError(
            f"the library is damaged: a row cannot be read ({error})",
            where="library.db",
            next="see `videmus doctor`; put a copy back, or start a new library and add the videos again",
        ) from error


def _evidence(
    video: str,
    origin: Origin,
    id: str,
    start: int,
    end: int,
    kind: EvidenceKind,
    text: str,
    speaker: str | None,
    segment: str | None,
    sources: str | None,
    detail: bytes | None,
) -> Evidence:
    plain = None if detail is None else json.loads(detail if detail[:1] == b"{" else zlib.decompress(detail))
    return Evidence(
        id, video, start, end, kind, text, origin, speaker, segment, _ids(sources), detail_from_plain(kind, plain)
    )


def _segment(
    video: str,
    origin: Origin,
    id: str,
    start: int,
    end: int,
    kind: Any,
    slide: int | None,
    title: str | None,
    text: str,
    states: str | None,
    keyframe: str | None,
    number: str | None,
    sources: str | None,
) -> Segment:
    builds = tuple(State(*state) for state in json.loads(states)) if states else ()
    return Segment(id, video, start, end, kind, origin, slide, title, text, builds, keyframe, number, _ids(sources))


def _frame(
    video: str,
    origin: Origin,
    id: str,
    at: int,
    picture: str,
    hash: str,
    width: int,
    height: int,
    look: str | None,
) -> Frame:
    shown = None
    if look is not None:
        start, end, changed, moving = json.loads(look)
        shown = Look(start, end, tuple(tuple(b) for b in changed), tuple(tuple(b) for b in moving))
    return Frame(id, video, at, picture, hash, width, height, origin, shown)


def _ids(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


# ---------------------------------------------------------------- writing


def added(connection: sqlite3.Connection, stage: str, rows: Sequence[Row], followers: Sequence[Follower]) -> int:
    """Insert the rows that are not there yet (by id) and tell the followers. Returns how many were new.

    Raises NotFoundError when a row's video is not in the library.
    """
    numbers = Numbers(connection)
    new = 0
    for table in TABLES:
        mine = {row.id: row for row in rows if isinstance(row, CLASS[table])}
        if not mine:
            continue
        for id in _present(connection, table, list(mine.values()), numbers):
            del mine[id]
        first = _last_number(connection, table) + 1
        numbered = list(enumerate(mine.values(), first))
        connection.executemany(INSERT[table], [encoded(row, n, stage, numbers) for n, row in numbered])
        for follower in followers:
            follower.added(connection, table, numbered)
        new += len(numbered)
    last: dict[int, int] = {}
    for row in rows:
        number = numbers.video(row.video)
        last[number] = max(last.get(number, 0), row.at_ms if isinstance(row, Frame) else row.end_ms)
    connection.executemany(
        "UPDATE video SET last_ms = max(last_ms, ?) WHERE n = ?", [(end, n) for n, end in last.items()]
    )
    return new


def removed(
    connection: sqlite3.Connection,
    video: int,
    stage: str | None,
    followers: Sequence[Follower],
    keeping: Mapping[Table, Sequence[int]] = {},
) -> None:
    """Delete a video's rows (of one stage, or all), those numbered in `keeping` apart, and tell the followers before."""
    for table in TABLES:
        chosen = _NUMBERS[table] if stage is None else _NUMBERS_OF_STAGE[table]
        kept = set(keeping.get(table, ()))
        numbers = [n for (n,) in connection.execute(chosen, {"video": video, "stage": stage}) if n not in kept]
        if numbers:
            for follower in followers:
                follower.removing(connection, table, numbers)
            connection.executemany(_DELETE[table], [(n,) for n in numbers])


def any_of(connection: sqlite3.Connection, video: int, stage: str) -> bool:
    """Whether the stage has rows of the video."""
    values = {"video": video, "stage": stage}
    return any(connection.execute(_NUMBERS_OF_STAGE[table] + " LIMIT 1", values).fetchone() for table in TABLES)


CLASS: Mapping[Table, type[Row]] = {
    "evidence": Evidence,
    "segment": Segment,
    "frame": Frame,
    "relation": Relation,
}
COLUMNS: Mapping[Table, str] = {
    "evidence": "n, id, video, start_ms, end_ms, kind, stage, origin, speaker, segment, text, sources, detail",
    "segment": "n, id, video, start_ms, end_ms, kind, stage, origin, slide, title, keyframe, number, text, states,"
    " sources",
    "frame": "n, id, video, at_ms, stage, origin, picture, hash, width, height, look",
    "relation": "n, id, video, start_ms, end_ms, source, relation, target, evidence, confidence, stage, origin",
}
"""The columns of each table, in the order of what `encoded` gives."""

INSERT: Mapping[Table, str] = {
    table: f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * (columns.count(',') + 1))})"  # noqa: S608
    for table, columns in COLUMNS.items()
}

_NUMBERS: Mapping[Table, str] = {
    "evidence": "SELECT n FROM evidence WHERE video = :video",
    "segment": "SELECT n FROM segment WHERE video = :video",
    "frame": "SELECT n FROM frame WHERE video = :video",
    "relation": "SELECT n FROM relation WHERE video = :video",
}
_NUMBERS_OF_STAGE: Mapping[Table, str] = {table: select + " AND stage = :stage" for table, select in _NUMBERS.items()}
_DELETE: Mapping[Table, str] = {
    "evidence": "DELETE FROM evidence WHERE n = ?",
    "segment": "DELETE FROM segment WHERE n = ?",
    "frame": "DELETE FROM frame WHERE n = ?",
    "relation": "DELETE FROM relation WHERE n = ?",
}
_PRESENT: Mapping[Table, str] = {
    "evidence": "SELECT id FROM evidence WHERE id IN (SELECT value FROM json_each(:ids))",
    "segment": "SELECT id FROM segment WHERE id IN (SELECT value FROM json_each(:ids))",
    "frame": "SELECT id FROM frame WHERE id IN (SELECT value FROM json_each(:ids))",
    "relation": "SELECT id FROM relation WHERE video IN (SELECT value FROM json_each(:videos))"
    " AND start_ms IN (SELECT value FROM json_each(:starts)) AND id IN (SELECT value FROM json_each(:ids))",
}


def _present(connection: sqlite3.Connection, table: Table, rows: Sequence[Row], numbers: Numbers) -> list[str]:
    """The ids that are there already; a relation's is looked for at its video and time, which are part of it."""
    values = {"ids": json.dumps([row.id for row in rows])}
    if table == "relation":
        values["videos"] = json.dumps(sorted({numbers.video(row.video) for row in rows}))
        values["starts"] = json.dumps(sorted({row.start_ms for row in rows if isinstance(row, Relation)}))
    return [id for (id,) in connection.execute(_PRESENT[table], values)]


def _last_number(connection: sqlite3.Connection, table: Table) -> int:
    """The highest number ever given in this table: numbers of deleted rows do not come back."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return cast(int, found[0]) if found else 0


class Numbers:
    """Numbers of videos, origins and names, looked up once in a transaction; what is missing is inserted."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, ...], int] = {}

    def video(self, id: str) -> int:
        if ("video", id) not in self._known:
            found = self._connection.execute("SELECT n FROM video WHERE id = ?", (id,)).fetchone()
            if found is None:
                raise NotFoundError(
                    "the video of this row is not in the library",
                    where=id,
                    next="add the video first (was it removed?)",
                )
            self._known["video", id] = found[0]
        return self._known["video", id]

    def origin(self, origin: Origin) -> int:
        content = json.dumps(
            [origin.stage, origin.version, origin.model, to_plain(origin.settings)], ensure_ascii=False, sort_keys=True
        )
        return self._of(
            ("origin", content),
            "SELECT n FROM origin WHERE content = ?",
            "INSERT INTO origin (content) VALUES (?)",
        )

    def name(self, name: str, kind: str) -> int:
        return self._of(
            ("name", name, kind),
            "SELECT n FROM name WHERE name = ? AND kind = ?",
            "INSERT INTO name (name, kind) VALUES (?, ?)",
        )

    def speaker(self, name: str | None) -> str | None:
        """Registers the name; evidence carries it as text."""
        if name is not None and ("speaker", name) not in self._known:
            self._connection.execute("INSERT OR IGNORE INTO speaker (name, folded) VALUES (?, ?)", (name, folded(name)))
            self._known["speaker", name] = 0
        return name

    def _of(self, key: tuple[str, ...], select: str, insert: str) -> int:
        if key not in self._known:
            found = self._connection.execute(select, key[1:]).fetchone()
            self._known[key] = found[0] if found else cast(int, self._connection.execute(insert, key[1:]).lastrowid)
        return self._known[key]


def encoded(row: Row, n: int, stage: str, numbers: Numbers) -> tuple[Any, ...]:
    """The row as the values of `INSERT`."""
    video, origin = numbers.video(row.video), numbers.origin(row.origin)
    if isinstance(row, Frame):
        look = None
        if row.look is not None:
            look = _json([row.look.start_ms, row.look.end_ms, row.look.changed, row.look.moving])
        return (n, row.id, video, row.at_ms, stage, origin, row.picture, row.hash, row.width, row.height, look)
    head = (n, row.id, video, row.start_ms, row.end_ms)
    if isinstance(row, Relation):
        source, target = numbers.name(row.source, row.source_kind), numbers.name(row.target, row.target_kind)
        relation = numbers.name(row.relation, "relation")
        return (*head, source, relation, target, row.evidence, round(row.confidence * 100), stage, origin)
    sources = _json(row.sources) if row.sources else None
    if isinstance(row, Evidence):
        speaker = numbers.speaker(row.speaker)
        return (*head, row.kind, stage, origin, speaker, row.segment, row.text, sources, _packed(row.detail))
    states = _json([[s.start_ms, s.end_ms, s.text] for s in row.states]) if row.states else None
    return (
        *head, row.kind, stage, origin, row.slide, row.title, row.keyframe, row.number, row.text, states, sources
    )  # fmt: skip


def _packed(detail: Detail | None) -> bytes | None:
    if detail is None:
        return None
    plain = _json(to_plain(detail)).encode()
    return plain if len(plain) < _DEFLATE_FROM else zlib.compress(plain, 1)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
