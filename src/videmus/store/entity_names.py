"""Names as they were known at a time: which entities bear one, and under which an entity is shown.

Enters: a name or numbers of entities, and the clock time of a question; what was learned later (an alias, a link) does not
count. Leaves: numbers of entities, and names. Written by `entities`, asked by `graph` and `views`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable

from videmus.graph import naming
from videmus.model import EntityKind, Scope
from videmus.store.scope import visible_videos

WORLD = "coalesce(video.recording, video.id)"
"""The world that a row's names belong to: a recording, or a video that belongs to none."""


def bearers(connection: sqlite3.Connection, scope: Scope, kind: EntityKind | None, name: str) -> frozenset[int]:
    """The entities that bear this very name (case, articles and titles apart), with all they are linked with."""
    folded = sorted({naming.folded(name), naming.surface("object", name)})
    records = connection.execute(
        "SELECT entity_alias.entity FROM entity_alias JOIN entity ON entity.n = entity_alias.entity"
        " WHERE entity_alias.folded IN (SELECT value FROM json_each(:folded))"
        " AND (:at IS NULL OR entity_alias.learned_at <= :at) AND (:kind IS NULL OR entity.kind = :kind)"
        " AND (:world IS NULL OR entity.world = :world)",
        {"folded": json.dumps(folded), "at": scope.at, "kind": kind, "world": _world_of(connection, scope)},
    )
    return frozenset(closed(connection, {n for (n,) in records}, scope.at))


def sharing_words(connection: sqlite3.Connection, scope: Scope, kind: EntityKind | None, name: str) -> frozenset[int]:
    """The entities one of whose names has a word of this name: the same, a pet form, or one that sounds alike."""
    words = set(naming.words_of(name))
    known = [
        word
        for (word,) in connection.execute(
            "SELECT DISTINCT word FROM entity_word JOIN entity ON entity.n = entity_word.entity"
            " WHERE (:at IS NULL OR learned_at <= :at) AND (:world IS NULL OR entity.world = :world)",
            {"at": scope.at, "world": _world_of(connection, scope)},
        )
    ]
    alike = {w for w in known if any(_alike(word, w) for word in words)}
    records = connection.execute(
        "SELECT entity_word.entity FROM entity_word JOIN entity ON entity.n = entity_word.entity"
        " WHERE entity_word.word IN (SELECT value FROM json_each(:words))"
        " AND (:at IS NULL OR learned_at <= :at) AND (:kind IS NULL OR entity.kind = :kind)"
        " AND (:world IS NULL OR entity.world = :world)",
        {"words": json.dumps(sorted(alike)), "at": scope.at, "kind": kind, "world": _world_of(connection, scope)},
    )
    return frozenset(closed(connection, {n for (n,) in records}, scope.at))


def _alike(word: str, known: str) -> bool:
    one, other = naming.singular(word), naming.singular(known)
    return (
        one == other
        or naming.is_short_for(one, other)
        or naming.is_short_for(other, one)
        or naming.same_pet_form(one, other)
        or naming.alike_spelling(one, other)
        or naming.thing(one).head == naming.thing(other).head
    )


def _world_of(connection: sqlite3.Connection, scope: Scope) -> str | None:
    if scope.recording is not None:
        return scope.recording
    if scope.video is not None:
        found = connection.execute(f"SELECT {WORLD} FROM video WHERE id = ?", (scope.video,)).fetchone()  # noqa: S608
        return str(found[0]) if found else None
    return None


def closed(connection: sqlite3.Connection, numbers: set[int], at: int | None) -> set[int]:
    """With all entities that links learned by `at` lead to."""
    reached, fresh = set(numbers), set(numbers)
    while fresh:
        records = connection.execute(
            "SELECT other FROM entity_link WHERE one IN (SELECT value FROM json_each(:numbers))"
            " AND (:at IS NULL OR learned_at <= :at)",
            {"numbers": json.dumps(sorted(fresh)), "at": at},
        )
        fresh = {n for (n,) in records} - reached
        reached |= fresh
    return reached


def shown(connection: sqlite3.Connection, numbers: Collection[int], at: int | None) -> dict[int, tuple[int, str]]:
    """Each entity's representative and the fullest name known by `at` of all that it is linked with."""
    members = closed(connection, set(numbers), at)
    names = names_of(connection, members, at)
    linked: dict[int, list[int]] = defaultdict(list)
    for one, other in connection.execute(
        "SELECT one, other FROM entity_link WHERE one IN (SELECT value FROM json_each(:numbers))"
        " AND (:at IS NULL OR learned_at <= :at)",
        {"numbers": json.dumps(sorted(members)), "at": at},
    ):
        linked[one].append(other)
    found: dict[int, tuple[int, str]] = {}
    for first in sorted(members):
        if first not in found:
            together = {first}
            waiting = [first]
            while waiting:
                fresh = set(linked[waiting.pop()]) - together
                together |= fresh
                waiting += fresh
            fullest = _fullest(name for member in sorted(together) for name in names.get(member, ()))
            found.update(dict.fromkeys(together, (first, fullest)))
    return found


def all_shown(connection: sqlite3.Connection, scope: Scope) -> dict[int, str]:
    """Every entity of the worlds that the scope's videos belong to, under the name that it is shown by at the scope's `at`;
    without those that nobody had named by then."""
    clause = visible_videos(scope)
    known = {
        n
        for (n,) in connection.execute(
            f"SELECT n FROM entity WHERE world IN (SELECT {WORLD} FROM video WHERE {clause.sql})"  # noqa: S608 - expressions of our own
            " AND (:at IS NULL OR known_from <= :at)",
            {**clause.parameters, "at": scope.at},
        )
    }
    return {n: name for n, (_, name) in shown(connection, known, scope.at).items() if n in known and name}


def names_of(connection: sqlite3.Connection, numbers: Collection[int], at: int | None) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for n, name in connection.execute(
        "SELECT entity, name FROM entity_alias WHERE entity IN (SELECT value FROM json_each(:numbers))"
        " AND (:at IS NULL OR learned_at <= :at) ORDER BY learned_at, name",
        {"numbers": json.dumps(sorted(numbers)), "at": at},
    ):
        found[n].append(name)
    return found


def _fullest(names: Iterable[str]) -> str:
    """The name of most words, of those the first learned; a diarizer's label only where there is no other."""
    ordered = list(names)
    return max(
        ordered,
        key=lambda name: (not naming.is_label(name), len(naming.words_of(name)), -ordered.index(name)),
        default="",
    )
