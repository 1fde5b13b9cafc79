"""Read-only SQL for a language model: named views, already clamped by the scope, and nothing else.

Three walls, each enough for what it is for:

- The connection's own database is empty memory. The library is attached read-only under a name drawn at random for each
  connection; the views refer to it by that name. Whatever SQL calls `evidence` is an empty table that hides the real one,
  so neither a subquery nor a common table expression reaches past a view and its clamp.
- An authorizer lets through: SELECT, reading the views (and what they read), functions of a list. Writes, ATTACH, PRAGMA,
  sqlite_master, virtual tables, recursion and extensions are refused when the statement is compiled.
- Limits on time, rows, bytes, the length of a value and of the statement, and the growth of the process's memory stop
  what is allowed but too much (a join of everything with everything).
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videmus.config import StoreSettings
from videmus.errors import QueryError
from videmus.model import Scope
from videmus.store import entity_names
from videmus.store.scope import Clause, Table, visible, visible_videos


@dataclass(frozen=True, slots=True)
class View:
    """One view: what it holds, its columns as a model is told them, its SELECT (what stands in braces is filled in)."""

    about: str
    columns: str
    select: str
    table: Table | None


_CLOCK = (
    "video.recorded_at + {table}.start_ms AS clock_start, video.recorded_at + {table}.end_ms AS clock_end,"
    " (video.recorded_at + {table}.start_ms) / 86400000 - first_day.day + 1 AS day,"
    " time((video.recorded_at + {table}.start_ms) / 1000, 'unixepoch') AS time"
)
_FIRST_DAY = "LEFT JOIN temp.first_day AS first_day ON first_day.recording IS video.recording"

_TIMES = (
    "start_ms, end_ms (inside the video), clock_start, clock_end (wall-clock milliseconds), "
    "day (1 is the recording's first), time (HH:MM:SS)"
)

VIEWS: Mapping[str, View] = {
    "v_videos": View(
        "the videos",
        "video, title, collection, recording, language, duration_ms, clock_start (wall-clock milliseconds), day",
        "SELECT video.id AS video, video.title, video.collection, video.recording, video.language,"
        " {duration} AS duration_ms, video.recorded_at AS clock_start,"
        " video.recorded_at / 86400000 - first_day.day + 1 AS day FROM {library}.video AS video {first_day}",
        None,
    ),
    "v_evidence": View(
        "what was said, shown, seen or concluded; kind: speech, screen, scene, vision, narration, consolidated, clip, "
        "caption, summary",
        f"id, video, kind, {_TIMES}, speaker, text",
        "SELECT evidence.id, video.id AS video, evidence.kind, evidence.start_ms, evidence.end_ms, {clock},"
        " evidence.speaker, evidence.text FROM {library}.evidence AS evidence"
        " JOIN {library}.video AS video ON video.n = evidence.video {first_day}",
        "evidence",
    ),
    "v_segments": View(
        "pieces of the videos; kind: slide, clip, window, ten-minute, hour, day",
        f"id, video, kind, {_TIMES}, slide, title, text",
        "SELECT segment.id, video.id AS video, segment.kind, segment.start_ms, segment.end_ms, {clock},"
        " segment.slide, segment.title, segment.text FROM {library}.segment AS segment"
        " JOIN {library}.video AS video ON video.n = segment.video {first_day}",
        "segment",
    ),
    "v_relations": View(
        "who did what with whom or what, one row for each interval; source and target are people, objects and locations "
        "under the fullest name known, said_source and said_target the names that stood there; evidence is the id that "
        "supports it",
        f"id, video, {_TIMES}, source, source_kind, relation, target, target_kind, evidence, confidence, said_source, "
        "said_target",
        "SELECT relation.id, video.id AS video, relation.start_ms, relation.end_ms, {clock},"
        " {source} AS source, source.kind AS source_kind, said.name AS relation, {target} AS target,"
        " target.kind AS target_kind, relation.evidence, relation.confidence / 100.0 AS confidence,"
        " source.name AS said_source, target.name AS said_target FROM {related}"
        " JOIN {library}.name AS said ON said.n = relation.relation {first_day}",
        "relation",
    ),
    "v_entities": View(
        "who and what occurs in relations, under the fullest name known; one row for each name that was said; kind: person, "
        "object, location",
        "name, kind, said",
        "SELECT {source} AS name, source.kind AS kind, source.name AS said FROM {related} WHERE {clamp}"
        " UNION SELECT {target}, target.kind, target.name FROM {related}",
        "relation",
    ),
}

_RELATED = (
    "{library}.relation AS relation JOIN {library}.video AS video ON video.n = relation.video"
    " JOIN {library}.name AS source ON source.n = relation.source"
    " JOIN {library}.name AS target ON target.n = relation.target"
    " LEFT JOIN {library}.relation_end AS ends ON ends.relation = relation.n"
    " LEFT JOIN temp.known_name AS known_source ON known_source.entity = ends.source"
    " LEFT JOIN temp.known_name AS known_target ON known_target.entity = ends.target"
)
"""Relations with their names as extracted, and as known at the time of the question: what is not resolved yet has none."""

FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        """abs avg coalesce count cume_dist date datetime dense_rank first_value glob group_concat ifnull iif instr
        julianday lag last_value lead length like lower ltrim max min nth_value ntile nullif percent_rank rank replace
        round row_number rtrim sign strftime substr substring sum time total trim typeof unicode unixepoch upper""",
    )
)
"""What SQL may call. Left out: whatever makes values out of nothing (zeroblob, printf), loads, or looks at the file."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 20,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_STEPS = 20_000
"""Instructions of SQLite's machine between two looks at the clock and the memory: about a millisecond."""


@dataclass(frozen=True, slots=True)
class SqlResult:
    """`truncated`: there was more than the limits let through."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool


def described() -> str:
    """The views and their columns, one in a line, as a language model is told them."""
    return "\n".join(f"{name}({view.columns}): {view.about}" for name, view in VIEWS.items())


class ReadonlySql:
    """SELECT over the views of one scope. One statement at a time; close it after use (it is a context manager)."""

    def __init__(self, library: str, scope: Scope, settings: StoreSettings) -> None:
        """`library` is the address of library.db, as `Database.uri` gives it."""
        self._settings = settings
        self._schema = f"lib{secrets.token_hex(16)}"
        self._lock = threading.Lock()
        self._deadline = 0.0
        self._memory = 0
        self._stopped_for = ""
        self._connection = sqlite3.connect(":memory:", uri=True, isolation_level=None, check_same_thread=False)
        try:
            self._furnish(library, scope)
            self._close_doors()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> ReadonlySql:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def query(self, sql: str) -> SqlResult:
        """Run one SELECT. Raises QueryError: refused, wrong, too long or too large, with what to do instead."""
        sql = sql.encode("utf-8", "backslashreplace").decode()
        if not _begins_as_query(sql):
            raise QueryError("only SELECT is allowed", where=sql[:200], next="write SELECT … FROM one of the v_ views")
        with self._lock:
            self._deadline = time.monotonic() + self._settings.sql_seconds
            self._memory = _memory_bytes() + self._settings.sql_memory_mb * 2**20
            self._stopped_for = ""
            cursor = self._connection.cursor()
            try:
                cursor.execute(sql)
                return self._fetched(cursor)
            except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
                raise self._refusal(error, sql) from None  # the original names the attached library
            finally:
                cursor.close()

    def _fetched(self, cursor: sqlite3.Cursor) -> SqlResult:
        columns = tuple(str(column[0]) for column in cursor.description or ())
        rows: list[tuple[Any, ...]] = []
        size = 0
        for record in cursor:
            row = tuple(value.hex() if isinstance(value, bytes) else value for value in record)
            size += sum(len(value) if isinstance(value, str) else 8 for value in row)
            if len(rows) == self._settings.sql_rows or size > self._settings.sql_bytes:
                return SqlResult(columns, tuple(rows), True)
            rows.append(row)
        return SqlResult(columns, tuple(rows), False)

    def _refusal(self, error: Exception, sql: str) -> QueryError:
        message = str(error).replace(self._schema, "library") or type(error).__name__
        remedy = "the views are " + "; ".join(f"{name}({view.columns})" for name, view in VIEWS.items())
        if self._stopped_for:
            message = f"the query was stopped: {self._stopped_for}"
            remedy = "ask for less: narrow the time, join fewer views, add LIMIT"
        elif "prohibited" in message or "not authorized" in message:
            message = f"not allowed: {message}"
        return QueryError(message, where=sql[:200], next=remedy)

    # ------------------------------------------------------------ the walls

    def _furnish(self, library: str, scope: Scope) -> None:
        run = self._connection.execute
        run("PRAGMA temp_store = MEMORY")
        run(f"ATTACH ? AS {self._schema}", (library,))
        names = entity_names.all_shown(self._connection, scope)  # before the tables' names are hidden
        run("CREATE TABLE temp.known_name (entity INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        self._connection.executemany("INSERT INTO temp.known_name (entity, name) VALUES (?, ?)", names.items())
        tables = [name for (name,) in run(f"SELECT name FROM {self._schema}.sqlite_master WHERE type = 'table'")]  # noqa: S608
        for table in tables:
            if not table.startswith("sqlite_"):
                run(f'CREATE TABLE main."{table}" (hidden)')
        run("CREATE TABLE temp.first_day (recording TEXT, day INTEGER)")
        clause = visible_videos(Scope(at=scope.at))
        run(
            "INSERT INTO temp.first_day SELECT recording, min(recorded_at) / 86400000"  # noqa: S608 - names of our own
            f" FROM {self._schema}.video AS video WHERE {clause.sql} AND recorded_at IS NOT NULL GROUP BY recording",
            clause.parameters,
        )
        for name, view in VIEWS.items():
            run(f"CREATE VIEW temp.{name} AS {self._select(view, scope)}")

    def _select(self, view: View, scope: Scope) -> str:
        if view.table is None:
            clamp = _with_literals(visible_videos(scope))
            if scope.video is None:
                clamp += " AND video.state <> 'processing'"
        else:
            clamp = _with_literals(visible(view.table, scope))
        duration = "video.duration_ms"
        if scope.at is not None:
            duration = f"min(video.duration_ms, {scope.at} - video.recorded_at)"
        select = view.select + " WHERE {clamp}"
        return select.format(
            library=self._schema,
            related=_RELATED.format(library=self._schema),
            source="coalesce(known_source.name, source.name)",
            target="coalesce(known_target.name, target.name)",
            clock=_CLOCK.format(table=view.table),
            first_day=_FIRST_DAY,
            clamp=clamp.replace("FROM main.", f"FROM {self._schema}."),
            duration=duration,
        )

    def _close_doors(self) -> None:
        self._connection.execute("PRAGMA query_only = ON")
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute("SELECT 1 FROM temp.v_evidence LIMIT 0")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._settings.sql_value_bytes)
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)
        self._connection.set_authorizer(self._allowed)
        self._connection.set_progress_handler(self._exhausted, _STEPS)

    def _allowed(self, action: int, first: str | None, second: str | None, schema: str | None, view: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        readable = _BENEATH if schema == self._schema else _READABLE if schema == "temp" else frozenset()
        if action == sqlite3.SQLITE_READ and first in readable:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and second is not None and second.lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _exhausted(self) -> int:
        if time.monotonic() > self._deadline:
            self._stopped_for = f"it ran longer than {self._settings.sql_seconds:g} seconds"
        elif _memory_bytes() > self._memory:
            self._stopped_for = f"it needed more than {self._settings.sql_memory_mb} MB"
        return int(bool(self._stopped_for))


_READABLE = frozenset((*VIEWS, "first_day", "known_name"))
_SELECTS = " ".join((_RELATED, *(view.select for view in VIEWS.values())))
_BENEATH = frozenset(("speaker", "speaker_name", *re.findall(r"\{library\}\.(\w+)", _SELECTS)))
"""The library's tables that the views read; a clause about a speaker reads `speaker` and the names given to voices."""


def _begins_as_query(sql: str) -> bool:
    text = re.sub(r"^(\s+|--[^\n]*(\n|$)|/\*.*?\*/)+", "", sql, flags=re.DOTALL)
    return re.match(r"(select|with|values)\b", text, re.IGNORECASE) is not None


def _with_literals(clause: Clause) -> str:
    """The clause with its values in place of the parameters: a view cannot have any."""

    def literal(match: re.Match[str]) -> str:
        value = clause.parameters[match[0][1:]]
        # Hexadecimal: no character of a title or name can end the literal.
        return str(value) if isinstance(value, int) else f"CAST(x'{value.encode().hex()}' AS TEXT)"

    return re.sub(r":scope_\w+", literal, clause.sql)


if sys.platform == "win32":

    def _memory_bytes() -> int:
        return 0  # not measured there: time, rows and value length still bound a query

else:
    import resource

    def _memory_bytes() -> int:
        """What the process holds in memory now (Linux), or the most that it ever held."""
        try:
            return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
        except OSError:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            return peak if sys.platform == "darwin" else peak * 1024
