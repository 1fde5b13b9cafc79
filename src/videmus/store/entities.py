"""Writing the entity graph: resolving a world's names anew, and what a person decides about them, with undo.

Enters: a world (a recording's name, or the id of a video that belongs to none). A world is resolved whole, from its
relations, its speakers and the decisions that stand: so adding, removing and correcting give the same graph in any order,
and nothing is counted twice. 14,000 relations take about a second.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from videmus.errors import NotFoundError, UsageError
from videmus.graph import naming
from videmus.graph.entities import Decision, Resolution, Seen
from videmus.graph.resolution import resolve
from videmus.model import EntityKind
from videmus.store.database import Database
from videmus.store.entity_names import WORLD
from videmus.store.graph import CLOCK_START


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of a person, in the order made. `undone` ones no longer count."""

    n: int
    world: str
    action: Literal["merge", "split"]
    kind: EntityKind
    one: str
    other: str
    learned_at: int
    made_at: int
    undone: bool


class EntityStore:
    """Resolving and deciding. Made from a store's database, as `GraphStore` is."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def resolve(self, world: str) -> int:
        """Find out anew which entities a world's relations name. Returns how many entities (clusters) there are."""
        with self._db.writing() as connection:
            relations = _relations(connection, world)
            nouns = connection.execute("SELECT noun, same FROM entity_noun WHERE world = ?", (world,)).fetchall()
            resolution = resolve(
                world,
                relations,
                speakers=_speakers(connection, world),
                decisions=_decisions(connection, world),
                same_nouns=dict(nouns),
            )
            _replace(connection, world, relations, resolution)
        return len(set(resolution.clusters().values()))

    def forget_empty(self) -> int:
        """Drop what is known of worlds that have no relations any more (their videos were removed)."""
        sql = (
            "SELECT DISTINCT world FROM entity WHERE world NOT IN"  # noqa: S608 - an expression of our own
            f" (SELECT {WORLD} FROM relation JOIN video ON video.n = relation.video)"
        )
        with self._db.writing() as connection:
            worlds = [world for (world,) in connection.execute(sql)]
            for world in worlds:
                _clear(connection, world)
        return len(worlds)

    def things(self, world: str) -> list[str]:
        """The names of all things and places of a world, as extracted: what `nouns.same_nouns` is asked about."""
        sql = (
            "SELECT DISTINCT name.name FROM relation JOIN video ON video.n = relation.video"  # noqa: S608 - as above
            f" JOIN name ON name.n IN (relation.source, relation.target) WHERE {WORLD} = ? AND name.kind <> 'person'"
        )
        with self._db.reading() as connection:
            return sorted(name for (name,) in connection.execute(sql, (world,)))

    def keep_same_nouns(self, world: str, same: Mapping[str, str]) -> None:
        """What a model said of a world's nouns; the next `resolve` uses it."""
        with self._db.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO entity_noun (world, noun, same) VALUES (?, ?, ?)",
                [(world, noun, other) for noun, other in same.items()],
            )

    # ------------------------------------------------------------ decisions

    def merge(self, world: str, one: str, other: str, kind: EntityKind = "person", at: int | None = None) -> Entry:
        """Two names mean one entity, known from `at` on: unless said, from the end of what the world has seen so far.

        A question asked about an earlier time does not profit from it. Raises NotFoundError when neither name is known.
        """
        return self._decide(world, "merge", kind, one, other, at)

    def split(self, world: str, one: str, other: str, kind: EntityKind = "person", at: int | None = None) -> Entry:
        """Two names never mean one entity: a correction, which holds at all times."""
        return self._decide(world, "split", kind, one, other, at)

    def undo(self, world: str) -> Entry:
        """Take back the last decision that still counts. Raises UsageError when there is none."""
        standing = [entry for entry in self.history(world) if not entry.undone]
        if not standing:
            raise UsageError("there is nothing to undo", where=world)
        with self._db.writing() as connection:
            connection.execute("UPDATE graph_decision SET undone = 1 WHERE n = ?", (standing[-1].n,))
            self.resolve(world)
        return standing[-1]

    def history(self, world: str) -> list[Entry]:
        with self._db.reading() as connection:
            records = connection.execute(
                "SELECT n, world, action, kind, one, other, learned_at, made_at, undone FROM graph_decision"
                " WHERE world = ? ORDER BY n",
                (world,),
            ).fetchall()
        return [
            Entry(n, of, action, kind, one, other, learned_at, made_at, bool(undone))
            for n, of, action, kind, one, other, learned_at, made_at, undone in records
        ]

    def _decide(
        self, world: str, action: Literal["merge", "split"], kind: EntityKind, one: str, other: str, at: int | None
    ) -> Entry:
        if naming.surface(kind, one) == naming.surface(kind, other):
            raise UsageError(f"{one!r} and {other!r} are the same name", where=world)
        with self._db.writing() as connection:
            known = {
                folded
                for (folded,) in connection.execute(
                    "SELECT folded FROM entity_alias JOIN entity ON entity.n = entity_alias.entity"
                    " WHERE entity.world = ? AND entity.kind = ?",
                    (world, kind),
                )
            }
            missing = [name for name in (one, other) if naming.folded(name) not in known]
            if len(missing) == 2 or (missing and action == "split"):
                raise NotFoundError(
                    f"no {kind} of that name: {', '.join(missing)}", where=world, next="see `videmus graph`"
                )
            if at is None:
                at = _end(connection, world)
            made = time.time_ns() // 1_000_000
            n = connection.execute(
                "INSERT INTO graph_decision (world, action, kind, one, other, learned_at, made_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (world, action, kind, one, other, at, made),
            ).lastrowid
            self.resolve(world)
        assert n is not None
        return Entry(n, world, action, kind, one, other, at, made, False)


# ---------------------------------------------------------------- reading a world


def _relations(connection: sqlite3.Connection, world: str) -> list[Seen]:
    sql = (
        f"SELECT relation.n, {CLOCK_START} + relation.end_ms - relation.start_ms, relation.evidence, source.name,"  # noqa: S608
        " source.kind, said.name, target.name, target.kind, video.id, video.recording FROM relation"
        " JOIN video ON video.n = relation.video JOIN name AS source ON source.n = relation.source"
        " JOIN name AS said ON said.n = relation.relation"
        f" JOIN name AS target ON target.n = relation.target WHERE {WORLD} = ?"
    )
    return [
        Seen(
            n, at, evidence, _own_label(source, source_kind, video, recording), source_kind, relation,
            _own_label(target, target_kind, video, recording), target_kind,
        )
        for n, at, evidence, source, source_kind, relation, target, target_kind, video, recording in connection.execute(
            sql, (world,)
        )
    ]  # fmt: skip


def _own_label(name: str, kind: str, video: str, recording: str | None) -> str:
    """A diarizer's label in a recording of many files is another person in each file."""
    return f"{name} ({video[:8]})" if recording and kind == "person" and naming.is_label(name) else name


def _speakers(connection: sqlite3.Connection, world: str) -> dict[str, int]:
    sql = (
        "SELECT evidence.speaker, min(coalesce(video.recorded_at, 0) + evidence.end_ms) FROM evidence"  # noqa: S608
        f" JOIN video ON video.n = evidence.video WHERE {WORLD} = ? AND evidence.speaker IS NOT NULL"
        " GROUP BY evidence.speaker"
    )
    return {name: at for name, at in connection.execute(sql, (world,)) if not naming.is_label(name)}


def _decisions(connection: sqlite3.Connection, world: str) -> list[Decision]:
    """What a person decided about entities, and the names that a person gave to voices."""
    records = connection.execute(
        "SELECT action, kind, one, other, learned_at FROM graph_decision WHERE world = ? AND undone = 0 ORDER BY n",
        (world,),
    )
    decisions = [Decision(*record) for record in records]
    sql = (
        "SELECT speaker_name.name, speaker_name.label, video.id, video.recording, speaker_name.learned_at"  # noqa: S608
        f" FROM speaker_name JOIN video ON video.id = speaker_name.video WHERE {WORLD} = ?"
        " AND speaker_name.undone = 0 AND speaker_name.start_ms IS NULL AND speaker_name.end_ms IS NULL ORDER BY 1"
    )
    for name, label, video, recording, learned_at in connection.execute(sql, (world,)):
        own = _own_label(label, "person", video, recording)
        if naming.folded(own) != naming.folded(name):
            decisions.append(Decision("merge", "person", name, own, learned_at))
    return decisions


def _end(connection: sqlite3.Connection, world: str) -> int:
    """The clock time at which the world's last evidence ends."""
    sql = (
        "SELECT max(coalesce(video.recorded_at, 0) + evidence.end_ms) FROM evidence"  # noqa: S608
        f" JOIN video ON video.n = evidence.video WHERE {WORLD} = ?"
    )
    found = connection.execute(sql, (world,)).fetchone()[0]
    return int(found or 0)


# ---------------------------------------------------------------- writing a world


def _replace(connection: sqlite3.Connection, world: str, relations: list[Seen], found: Resolution) -> None:
    _clear(connection, world)
    (first,) = connection.execute("SELECT coalesce(max(n), 0) + 1 FROM entity").fetchone()
    numbers = {entity.id: n for n, entity in enumerate(found.entities, first)}
    connection.executemany(
        "INSERT INTO entity (n, id, world, kind, name, known_from) VALUES (?, ?, ?, ?, ?, ?)",
        [(numbers[e.id], e.id, world, e.kind, e.name, e.known_from) for e in found.entities],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO entity_alias (folded, entity, name, learned_at) VALUES (?, ?, ?, ?)",
        [(a.folded, numbers[a.entity], a.name, a.learned_at) for a in found.aliases],
    )
    words: dict[tuple[str, int], int] = {}
    for alias in found.aliases:
        for word in naming.words_of(alias.name):
            key = (word, numbers[alias.entity])
            words[key] = min(words.get(key, alias.learned_at), alias.learned_at)
    connection.executemany(
        "INSERT INTO entity_word (word, entity, learned_at) VALUES (?, ?, ?)",
        [(word, entity, at) for (word, entity), at in words.items()],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO entity_link (one, other, learned_at, reason) VALUES (?, ?, ?, ?)",
        [
            (*pair, link.learned_at, link.reason)
            for link in found.links
            for pair in ((numbers[link.left], numbers[link.right]), (numbers[link.right], numbers[link.left]))
        ],
    )
    starts = dict(
        connection.execute(
            f"SELECT relation.n, {CLOCK_START} FROM relation JOIN video ON video.n = relation.video"  # noqa: S608
            f" WHERE {WORLD} = ?",
            (world,),
        ).fetchall()
    )
    connection.executemany(
        "INSERT OR IGNORE INTO relation_also (entity, side, start, relation) VALUES (?, ?, ?, ?)",
        [(numbers[entity], side, starts[n], n) for n, side, entity in found.also],
    )
    connection.executemany(
        "INSERT INTO relation_end (relation, source, target, start) VALUES (?, ?, ?, ?)",
        [(r.n, numbers[found.ends[r.n][0]], numbers[found.ends[r.n][1]], starts[r.n]) for r in relations],
    )


def _clear(connection: sqlite3.Connection, world: str) -> None:
    members = "(SELECT n FROM entity WHERE world = ?)"
    connection.execute(f"DELETE FROM relation_end WHERE source IN {members}", (world,))  # noqa: S608
    connection.execute(f"DELETE FROM relation_also WHERE entity IN {members}", (world,))  # noqa: S608
    for table, column in (("entity_alias", "entity"), ("entity_word", "entity"), ("entity_link", "one")):
        connection.execute(f"DELETE FROM {table} WHERE {column} IN {members}", (world,))  # noqa: S608
    connection.execute("DELETE FROM entity WHERE world = ?", (world,))
