"""The entity graph on disk: which entity each end of a relation means, names, links; and the questions put to it.

Enters: a scope, entities, times. Leaves: relations with the names under which their ends were known at the scope's `at`.
The relations themselves are rows like others (`rows`); this part keeps what `graph.resolution` found out about them, by
world: a recording, or a video that belongs to none. `entities` writes it, this module reads it. What a scope may not see is
excluded here: rows by `scope.visible`, and names, aliases and links by the time they were learned.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from videmus.errors import NotFoundError
from videmus.graph import naming
from videmus.graph.entities import ALSO_CALLED
from videmus.model import EntityKind, Scope
from videmus.store import entity_names
from videmus.store.entity_names import WORLD
from videmus.store.scope import visible

if TYPE_CHECKING:
    from videmus.store.database import Database

CLOCK_START = "(coalesce(video.recorded_at, 0) + relation.start_ms)"

_TABLES = (
    """
    CREATE TABLE entity (
        n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, world TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        known_from INTEGER NOT NULL
    )
    """,
    "CREATE INDEX entity_world ON entity (world)",
    """
    CREATE TABLE entity_alias (
        folded TEXT NOT NULL, entity INTEGER NOT NULL, name TEXT NOT NULL, learned_at INTEGER NOT NULL,
        PRIMARY KEY (folded, entity)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX entity_alias_entity ON entity_alias (entity)",
    """
    CREATE TABLE entity_word (
        word TEXT NOT NULL, entity INTEGER NOT NULL, learned_at INTEGER NOT NULL, PRIMARY KEY (word, entity)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX entity_word_entity ON entity_word (entity)",
    """
    CREATE TABLE entity_link (
        one INTEGER NOT NULL, other INTEGER NOT NULL, learned_at INTEGER NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (one, other)
    ) WITHOUT ROWID
    """,  # each link stands in both directions
    # `start` is by the clock; relations between these two are read in order of time from one index.
    """
    CREATE TABLE relation_end (
        relation INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, start INTEGER NOT NULL
    )
    """,
    "CREATE INDEX relation_end_source ON relation_end (source, target, start)",
    "CREATE INDEX relation_end_target ON relation_end (target, start)",
    "CREATE TRIGGER relation_gone AFTER DELETE ON relation BEGIN DELETE FROM relation_end WHERE relation = old.n; END",
    # Ends whose name fits several entities: the others that may be meant (side 0 is the source, 1 the target).
    """
    CREATE TABLE relation_also (
        entity INTEGER NOT NULL, side INTEGER NOT NULL, start INTEGER NOT NULL, relation INTEGER NOT NULL,
        PRIMARY KEY (entity, side, start, relation)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX relation_also_relation ON relation_also (relation)",
    "CREATE TABLE entity_noun (world TEXT NOT NULL, noun TEXT NOT NULL, same TEXT NOT NULL, PRIMARY KEY (world, noun))",
    """
    CREATE TABLE graph_decision (
        n INTEGER PRIMARY KEY AUTOINCREMENT, world TEXT NOT NULL, action TEXT NOT NULL, kind TEXT NOT NULL,
        one TEXT NOT NULL, other TEXT NOT NULL, learned_at INTEGER NOT NULL, made_at INTEGER NOT NULL,
        undone INTEGER NOT NULL DEFAULT 0
    )
    """,
)


def create_graph(connection: sqlite3.Connection) -> None:
    """The migration "entity graph"."""
    for statement in _TABLES:
        connection.execute(statement)


# ---------------------------------------------------------------- what comes out


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation as a question sees it. `source` and `target` are the fullest names known by the scope's `at`;
    `said_source` and `said_target` the names in the row itself. `start` and `end` are by the clock where there is one."""

    id: str
    video: str
    start_ms: int
    end_ms: int
    start: int
    end: int
    source: str
    source_kind: EntityKind
    relation: str
    target: str
    target_kind: EntityKind
    evidence: str
    confidence: float
    said_source: str
    said_target: str
    source_entity: str
    target_entity: str
    by_rules: bool


@dataclass(frozen=True, slots=True)
class Known:
    """An entity as known at the scope's `at`: all names, how many relations name it, from when to when."""

    id: str
    world: str
    kind: EntityKind
    name: str
    aliases: tuple[str, ...]
    relations: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Group:
    """Relations counted together: what they have in common, how many, the first start and last end by the clock, and the
    evidence of the first and the last."""

    key: str
    count: int
    first: int
    last: int
    first_evidence: str
    last_evidence: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What relations are asked for. Entity sets hold numbers; None leaves open, an empty set fits nothing.

    `start` and `end` by the clock: relations that overlap [start, end). `perhaps` adds those whose name fits several
    entities, one of them wanted, though another is likelier.
    """

    sources: frozenset[int] | None = None
    targets: frozenset[int] | None = None
    relation: str | None = None
    start: int | None = None
    end: int | None = None
    perhaps: bool = False


class GraphStore:
    """The questions. Made from a store's database: `GraphStore(store._db)`, or `store.graph`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    # ------------------------------------------------------------ names → entities

    def exactly(self, name: str, scope: Scope, kind: EntityKind | None = None) -> frozenset[int]:
        """The entities that bear this very name (case, articles and titles apart), with all they are linked with."""
        with self._db.reading() as connection:
            return entity_names.bearers(connection, scope, kind, name)

    def by_words(self, name: str, scope: Scope, kind: EntityKind | None = None) -> frozenset[int]:
        """The entities one of whose names has a word of this name: the same, a pet form, or one that sounds alike."""
        with self._db.reading() as connection:
            return entity_names.sharing_words(connection, scope, kind, name)

    # ------------------------------------------------------------ relations

    def facts(self, wanted: Wanted, scope: Scope, *, near: int | None = None, limit: int = 50) -> list[Fact]:
        """At most `limit` relations: those nearest to the clock time `near`, else the latest; nearest first."""
        if wanted.sources == frozenset() or wanted.targets == frozenset():
            return []
        with self._db.reading() as connection:
            found = _nearest(connection, wanted, scope, near, limit)
            return _as_facts(connection, found, scope)

    def count(self, wanted: Wanted, scope: Scope) -> int:
        """How many relations there are, without reading them."""
        if wanted.sources == frozenset() or wanted.targets == frozenset():
            return 0
        condition, values = _condition(wanted, scope)
        sql = f"SELECT count(*) FROM {_FROM} WHERE {condition}"  # noqa: S608 - conditions of this module alone
        with self._db.reading() as connection:
            return int(connection.execute(sql, values).fetchone()[0])

    def grouped(self, wanted: Wanted, scope: Scope, by: str, limit: int = 50) -> list[Group]:
        """Counts by "day", "hour" (of the day), "relation", "source", "target", "evidence" or "all", the largest first.

        Days and hours are in order of time instead; days are counted from the first that the scope's videos have.
        Entities that were linked by the scope's `at` count together.
        """
        if wanted.sources == frozenset() or wanted.targets == frozenset():
            return []
        condition, values = _condition(wanted, scope)
        # A bare column beside the only min() or max() comes from that very row (SQLite): the evidence of either end.
        ends = [
            f"SELECT {_KEYS[by]}, count(*), {end}, relation.evidence FROM {_FROM}"  # noqa: S608 - expressions of this module
            f" WHERE {condition} GROUP BY 1"
            for end in ("min(relation_end.start)", f"max({_END})")
        ]
        with self._db.reading() as connection:
            firsts, lasts = (
                {record[0]: record[1:] for record in connection.execute(sql, values).fetchall()} for sql in ends
            )
            groups = [
                Group(str(key), count, first, lasts[key][1], evidence, lasts[key][2])
                for key, (count, first, evidence) in firsts.items()
            ]
            if by in ("source", "target"):
                groups = _joined(connection, groups, scope)
        if by in ("day", "hour"):
            return sorted(groups, key=lambda g: int(g.key))[:limit]
        return sorted(groups, key=lambda g: (-g.count, g.key))[:limit]

    # ------------------------------------------------------------ entities

    def entities(self, scope: Scope, kind: EntityKind | None = None) -> list[Known]:
        """The entities that relations of this scope name, most named first."""
        clause = visible("relation", scope)
        sql = (
            f"SELECT entity.n, entity.id, entity.world, entity.kind, count(*), min({CLOCK_START}),"  # noqa: S608
            f" max({CLOCK_START} + relation.end_ms - relation.start_ms)"
            f" FROM {_FROM} JOIN entity ON entity.n IN (relation_end.source, relation_end.target)"
            f" WHERE {clause.sql} AND {_ANSWERS}"
            " AND (:kind IS NULL OR entity.kind = :kind) GROUP BY entity.n"
        )
        with self._db.reading() as connection:
            records = connection.execute(sql, {**clause.parameters, "kind": kind}).fetchall()
            shown = entity_names.shown(connection, [r[0] for r in records], scope.at)
            names = entity_names.names_of(connection, shown, scope.at)
            clusters: dict[int, list[Any]] = defaultdict(list)
            for record in records:
                clusters[shown[record[0]][0]].append(record)
            every: dict[int, list[str]] = defaultdict(list)
            for n in sorted(shown):
                every[shown[n][0]] += names.get(n, [])
            found = [_known(members, shown[members[0][0]][1], every[root]) for root, members in clusters.items()]
            return sorted(found, key=lambda e: (-e.relations, e.name))

    def entity(self, name: str, scope: Scope) -> list[Known]:
        """The entities that a person may mean by a name or an entity's id; several, where several bear it."""
        bearers = self.exactly(name, scope) or self.by_words(name, scope)
        ids = set(self.ids(bearers)) | {name}
        return [e for e in self.entities(scope) if e.id in ids or naming.folded(name) in map(naming.folded, e.aliases)]

    def ids(self, numbers: Iterable[int]) -> list[str]:
        with self._db.reading() as connection:
            return [
                id
                for (id,) in connection.execute(
                    "SELECT id FROM entity WHERE n IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
                )
            ]

    def worlds(self, scope: Scope = Scope()) -> list[str]:  # noqa: B008 - frozen
        """The recordings, and videos that belong to none, of a scope."""
        clause = visible("relation", scope, unfinished=True)
        sql = (
            f"SELECT DISTINCT {WORLD} FROM relation JOIN video ON video.n = relation.video"  # noqa: S608
            f" WHERE {clause.sql}"
        )
        with self._db.reading() as connection:
            return [world for (world,) in connection.execute(sql, clause.parameters)]

    def world_of(self, video: str) -> str:
        """The world that a video belongs to. Raises NotFoundError."""
        with self._db.reading() as connection:
            found = connection.execute(f"SELECT {WORLD} FROM video WHERE id = ?", (video,)).fetchone()  # noqa: S608
        if found is None:
            raise NotFoundError("the library has no such video", where=video, next="see `videmus list`")
        return str(found[0])


# ---------------------------------------------------------------- SQL

_FROM = "relation_end JOIN relation ON relation.n = relation_end.relation JOIN video ON video.n = relation.video"
_ONE_OF = {
    "source": "relation_end.source IN (SELECT value FROM json_each(:source))",
    "target": "relation_end.target IN (SELECT value FROM json_each(:target))",
}
_NUMBER = "(SELECT n FROM name WHERE name = {} AND kind = 'relation')"
_ANSWERS = f"relation.relation <> coalesce({_NUMBER.format(repr(ALSO_CALLED))}, 0)"
_END = "relation_end.start + relation.end_ms - relation.start_ms"
_KEYS = {
    "day": "relation_end.start / 86400000",
    "hour": "relation_end.start / 3600000 % 24",
    "relation": "(SELECT name FROM name WHERE n = relation.relation)",
    "source": "relation_end.source",
    "target": "relation_end.target",
    "evidence": "relation.evidence",
    "all": "1",
}


def _condition(wanted: Wanted, scope: Scope) -> tuple[str, dict[str, Any]]:
    clause = visible("relation", scope)
    parts = [clause.sql, _ANSWERS]
    values: dict[str, Any] = dict(clause.parameters)
    for column, numbers in (("source", wanted.sources), ("target", wanted.targets)):
        if numbers is not None:
            parts.append(_ONE_OF[column])
            values[column] = json.dumps(sorted(numbers))
    if wanted.relation is not None:
        parts.append(f"relation.relation = {_NUMBER.format(':relation')}")
        values["relation"] = wanted.relation.upper()
    if wanted.start is not None:
        parts.append(f"{_END} > :start")
        values["start"] = wanted.start
    if wanted.end is not None:
        parts.append("relation_end.start < :end")
        values["end"] = wanted.end
    if scope.at is not None:
        parts.append("relation_end.start <= :scope_at")
    return " AND ".join(parts), values


_LONGEST_MS = 3_600_000
"""No relation's interval is longer: a window's rows are looked for from so long before it on."""


def _nearest(
    connection: sqlite3.Connection, wanted: Wanted, scope: Scope, near: int | None, limit: int
) -> list[tuple[Any, ...]]:
    """Up to `limit` rows on either side of `near`, read in order of time from the index of each source and target."""
    condition, values = _condition(replace(wanted, sources=None, targets=None), scope)
    middle = near if near is not None else (wanted.end if wanted.end is not None else 2**62)
    if scope.at is not None:
        middle = min(middle, scope.at)  # else the index would be read down from the future, row by row
    values |= {"middle": middle, "limit": limit, "longest": _LONGEST_MS}
    found: dict[int, tuple[Any, ...]] = {}
    for table, ends in _searches(wanted):
        for one in ends:
            parts = [condition, *(_END_IS[table][column] for column in one)]
            if wanted.start is not None:
                parts.append(f"{table}.start > :start - :longest")
            start = f"{table}.start"
            for side in (f"{start} <= :middle ORDER BY {start} DESC", f"{start} > :middle ORDER BY {start}"):
                sql = f"{_SELECT[table]} WHERE {' AND '.join(parts)} AND {side} LIMIT :limit"
                for record in connection.execute(sql, {**values, **{f"one_{c}": n for c, n in one.items()}}):
                    found[record[0]] = record
    return sorted(found.values(), key=lambda r: (abs(r[5] - middle), r[0]))[:limit]


def _searches(wanted: Wanted) -> Iterator[tuple[str, list[dict[str, int]]]]:
    """(table to read in order of time, the ends to look for): one value at a time, for the index then gives the rows in
    order and LIMIT ends the reading."""
    sources = [{"source": n} for n in sorted(wanted.sources)] if wanted.sources is not None else [{}]
    targets = [{"target": n} for n in sorted(wanted.targets)] if wanted.targets is not None else [{}]
    pairs: list[dict[str, int]] = [{**s, **t} for s in sources for t in targets]
    yield "relation_end", pairs
    if wanted.perhaps:
        yield "also_source", [p for p in pairs if "source" in p]
        yield "also_target", [p for p in pairs if "target" in p]


_END_IS = {
    "relation_end": {"source": "relation_end.source = :one_source", "target": "relation_end.target = :one_target"},
    "also_source": {
        "source": "also_source.entity = :one_source AND also_source.side = 0",
        "target": "(relation_end.target = :one_target OR EXISTS (SELECT 1 FROM relation_also AS other"
        " WHERE other.relation = relation_end.relation AND other.side = 1 AND other.entity = :one_target))",
    },
    "also_target": {
        "source": "relation_end.source = :one_source",
        "target": "also_target.entity = :one_target AND also_target.side = 1",
    },
}
_COLUMNS = (
    "SELECT relation.n, relation.id, video.id, relation.start_ms, relation.end_ms, relation_end.start,"
    " said.name, relation.evidence, relation.confidence / 100.0, source.name, source.kind, target.name, target.kind,"
    " relation_end.source, relation_end.target, origin.content FROM "
)
_NAMES = (
    " JOIN name AS source ON source.n = relation.source JOIN name AS target ON target.n = relation.target"
    " JOIN name AS said ON said.n = relation.relation JOIN origin ON origin.n = relation.origin"
)
_SELECT = {
    "relation_end": f"{_COLUMNS}{_FROM}{_NAMES}",
    "also_source": f"{_COLUMNS}relation_also AS also_source JOIN {_FROM}{_NAMES}".replace(
        "relation.video JOIN", "relation.video AND relation_end.relation = also_source.relation JOIN", 1
    ),
    "also_target": f"{_COLUMNS}relation_also AS also_target JOIN {_FROM}{_NAMES}".replace(
        "relation.video JOIN", "relation.video AND relation_end.relation = also_target.relation JOIN", 1
    ),
}


def _as_facts(connection: sqlite3.Connection, records: Sequence[tuple[Any, ...]], scope: Scope) -> list[Fact]:
    shown = entity_names.shown(connection, {n for record in records for n in record[13:15]}, scope.at)
    ids = dict(
        connection.execute(
            "SELECT n, id FROM entity WHERE n IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(root for root, _ in shown.values())),),
        ).fetchall()
    )
    facts = []
    for record in records:
        _, id, video, start_ms, end_ms, start, relation, evidence, confidence = record[:9]
        source, source_kind, target, target_kind, source_n, target_n, origin = record[9:]
        facts.append(
            Fact(
                id, video, start_ms, end_ms, start, start + end_ms - start_ms, shown[source_n][1] or source,
                source_kind, relation, shown[target_n][1] or target, target_kind, evidence, confidence, source, target,
                ids[shown[source_n][0]], ids[shown[target_n][0]], json.loads(origin)[3].get("extractor") == "rules",
            )
        )  # fmt: skip
    return facts


def _known(members: Sequence[tuple[Any, ...]], name: str, names: Sequence[str]) -> Known:
    first = min(members, key=lambda m: m[0])
    return Known(
        first[1], first[2], first[3], name, tuple(dict.fromkeys(names)), sum(m[4] for m in members),
        min(m[5] for m in members), max(m[6] for m in members),
    )  # fmt: skip


def _joined(connection: sqlite3.Connection, groups: Sequence[Group], scope: Scope) -> list[Group]:
    """Groups keyed by entity numbers, joined by what was linked by the scope's `at`, keyed by the fullest name."""
    shown = entity_names.shown(connection, {int(g.key) for g in groups}, scope.at)
    merged: dict[tuple[int, str], list[Group]] = defaultdict(list)
    for group in groups:
        merged[shown[int(group.key)]].append(group)
    return [
        Group(
            name,
            sum(g.count for g in found),
            min(g.first for g in found),
            max(g.last for g in found),
            min(found, key=lambda g: g.first).first_evidence,
            max(found, key=lambda g: g.last).last_evidence,
        )
        for (_, name), found in merged.items()
    ]
