"""The table of videos: what is known of each, and every place where its content was seen.

Enters: a connection inside a transaction.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from videmus.errors import LibraryError, NotFoundError, UsageError
from videmus.model import Frame, Scope, Video, to_plain
from videmus.store.rows import intact
from videmus.store.scope import visible_videos

_ID = re.compile(r"\w[\w-]{0,63}")

_SELECT = (
    "SELECT video.id, video.fingerprint, video.title, video.duration_ms, video.source, video.state, video.reason,"
    " video.collection, video.recorded_at, video.recording, video.language, video.has_video, video.has_audio,"
    " video.added_at, video.options FROM video"
)


def put(connection: sqlite3.Connection, video: Video) -> None:
    """Insert or replace by id. Raises LibraryError when another video has the same fingerprint, UsageError for a bad id."""
    if not _ID.fullmatch(video.id):  # it names files: a picture's folder, a lock
        raise UsageError(
            f"{video.id!r} cannot be a video's id: letters, digits, _ and - only, at most 64",
            where=video.source,
            next="mend the file that it came from",
        )
    try:
        connection.execute(
            "INSERT INTO video (id, fingerprint, title, duration_ms, source, state, reason, collection, recorded_at,"
            " recording, language, has_video, has_audio, added_at, options)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, title = excluded.title,"
            " duration_ms = excluded.duration_ms, source = excluded.source, state = excluded.state,"
            " reason = excluded.reason, collection = excluded.collection, recorded_at = excluded.recorded_at,"
            " recording = excluded.recording, language = excluded.language, has_video = excluded.has_video,"
            " has_audio = excluded.has_audio, added_at = excluded.added_at, options = excluded.options",
            (
                video.id,
                video.fingerprint,
                video.title,
                video.duration_ms,
                video.source,
                video.state,
                video.reason,
                video.collection,
                video.recorded_at,
                video.recording,
                video.language,
                video.has_video,
                video.has_audio,
                video.added_at,
                json.dumps(to_plain(video.options), ensure_ascii=False) if video.options else None,
            ),
        )
    except sqlite3.IntegrityError as error:
        raise LibraryError(
            "another video of the library has the same content", where=video.source, next="see `videmus list`"
        ) from error
    found = number(connection, video.id)
    assert found is not None
    note_place(connection, found, video.source)


def edit(connection: sqlite3.Connection, id: str, changes: Mapping[str, Any]) -> Video:
    """Raises NotFoundError for an unknown video and UsageError for a field that cannot change."""
    video = by_id(connection, id)
    if video is None:
        raise NotFoundError("the library has no such video", where=id, next="see `videmus list`")
    if strange := changes.keys() - ({f.name for f in fields(Video)} - {"id", "fingerprint"}):
        raise UsageError(f"a video's {', '.join(sorted(strange))} cannot be changed", where=id)
    changed = replace(video, **changes)
    put(connection, changed)
    return changed


def number(connection: sqlite3.Connection, id: str) -> int | None:
    found = connection.execute("SELECT n FROM video WHERE id = ?", (id,)).fetchone()
    return None if found is None else int(found[0])


def by_id(connection: sqlite3.Connection, id: str) -> Video | None:
    return _first(connection.execute(_SELECT + " WHERE id = ?", (id,)))


def by_fingerprint(connection: sqlite3.Connection, fingerprint: str) -> Video | None:
    return _first(connection.execute(_SELECT + " WHERE fingerprint = ?", (fingerprint,)))


AT = (
    _SELECT + " WHERE video.n IN (SELECT video FROM place WHERE source IN (SELECT value FROM json_each(:sources)))"  # noqa: S608 - ours
    " AND video.source IN (SELECT value FROM json_each(:sources)) ORDER BY video.n"
)
"""By the index of places: every source is noted as one (`put`)."""


def at(connection: sqlite3.Connection, sources: Sequence[str]) -> list[Video]:
    """The videos whose file or address in use is one of these, in the order added."""
    return [_video(record) for record in connection.execute(AT, {"sources": json.dumps(list(sources))})]


def all_in(connection: sqlite3.Connection, scope: Scope) -> list[Video]:
    """In the order added. Under `at` a video in progress is as long as it was then."""
    clause = visible_videos(scope)
    records = connection.execute(_SELECT + " WHERE " + clause.sql + " ORDER BY video.n", clause.parameters)
    found = [_video(record) for record in records]
    if scope.at is None:
        return found
    at = scope.at
    return [replace(v, duration_ms=min(v.duration_ms, at - v.recorded_at)) for v in found if v.recorded_at is not None]


def as_seen_at(connection: sqlite3.Connection, frames: Sequence[Frame], at: int) -> list[Frame]:
    """Frames of dated videos as they were known at a clock time: how long a look stays on is not known before it ends."""
    records = connection.execute(
        "SELECT id, recorded_at FROM video WHERE id IN (SELECT value FROM json_each(?)) AND recorded_at IS NOT NULL",
        (json.dumps(sorted({frame.video for frame in frames})),),
    )
    starts: dict[str, int] = dict(records.fetchall())
    seen: list[Frame] = []
    for frame in frames:
        until = at - starts[frame.video]
        if frame.look is not None and frame.look.end_ms > until:
            frame = replace(frame, look=replace(frame.look, end_ms=until))
        seen.append(frame)
    return seen


def note_place(connection: sqlite3.Connection, video: int, source: str) -> None:
    connection.execute("INSERT OR IGNORE INTO place (video, source) VALUES (?, ?)", (video, source))


def places(connection: sqlite3.Connection, id: str) -> list[str]:
    return [
        source
        for (source,) in connection.execute(
            "SELECT place.source FROM place JOIN video ON video.n = place.video WHERE video.id = ? ORDER BY 1", (id,)
        )
    ]


def remove(connection: sqlite3.Connection, video: int, id: str) -> None:
    """The video's row and all that names it, its derived rows apart."""
    for statement in (
        "DELETE FROM place WHERE video = ?",
        "DELETE FROM work WHERE video = ?",
        "DELETE FROM mark WHERE video = ?",
        "DELETE FROM video WHERE n = ?",
    ):
        connection.execute(statement, (video,))
    connection.execute("DELETE FROM call WHERE video = ?", (id,))


def _first(records: sqlite3.Cursor) -> Video | None:
    record = records.fetchone()
    return None if record is None else _video(record)


def _video(record: tuple[Any, ...]) -> Video:
    has_video, has_audio, added_at, options = record[11:]
    with intact():
        return replace(
            Video(*record[:11]),
            has_video=bool(has_video),
            has_audio=bool(has_audio),
            added_at=added_at,
            options=json.loads(options) if options else {},
        )
