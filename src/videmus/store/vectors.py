"""Vectors: float16 in SQLite is the truth; what is in memory and in vectors/ is a cache of it.

Enters: passages with their vectors, questions' vectors, scopes. Leaves: the nearest rows, the cosines of given rows.
Knows nothing of models but their names, which are the names of vector spaces: no two are ever compared.

Up to `hnsw_from` vectors every search is exact. Above, an HNSW graph (Malkov and Yashunin 2018, FAISS) is kept in
vectors/; vectors that came after it was made are searched exactly beside it until they are many. A scope acts inside
the search: it becomes a mask over the vectors, and one that leaves few of them is searched exactly over those, because
filtered HNSW finds 37 % of the true ten at 0.5 % of 100,000 rows.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videmus.config import VectorSettings
from videmus.errors import VectorSpaceError
from videmus.model import Passage, Row, Scope
from videmus.segment.passages import spans
from videmus.store.protocol import Hit, Similarity
from videmus.store.scope import Table, by_clock, sought, videos_of, visible, visible_rows
from videmus.store.vector_space import Space

_CREATE = (
    # One for each model. `stamp` is random: a cache file of another library, or of vectors that were made anew, does not
    # carry it. `last` is the highest vector number, `removals` counts deletions.
    """
    CREATE TABLE vector_space (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        model TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL,
        stamp TEXT NOT NULL,
        last INTEGER NOT NULL DEFAULT 0,
        count INTEGER NOT NULL DEFAULT 0,
        removals INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE vector (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        space INTEGER NOT NULL,
        evidence INTEGER NOT NULL,
        passage INTEGER NOT NULL,
        video INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        value BLOB NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX vector_passage ON vector (evidence, space, passage)",
)


def create_vectors(connection: sqlite3.Connection) -> None:
    """The migration "vectors"."""
    for statement in _CREATE:
        connection.execute(statement)


class Vectors:
    """A follower of the rows (`rows.Follower`) and the search over their vectors. Safe to use from several threads."""

    def __init__(self, folder: Path, settings: VectorSettings | None = None, threads: int = 2) -> None:
        self.folder = folder
        self.settings = settings or VectorSettings()
        self._threads = threads
        self._spaces: dict[str, Space] = {}
        self._lock = threading.RLock()

    # ------------------------------------------------------------ following the rows

    def added(self, connection: sqlite3.Connection, table: Table, rows: Sequence[tuple[int, Row]]) -> None:
        """New rows have no vectors yet: `without` lists their passages."""

    def removing(self, connection: sqlite3.Connection, table: Table, numbers: Sequence[int]) -> None:
        if table != "evidence":
            return
        given = json.dumps(list(numbers))
        for space, count in connection.execute(
            "SELECT space, count(*) FROM vector WHERE evidence IN (SELECT value FROM json_each(?)) GROUP BY space",
            (given,),
        ).fetchall():
            connection.execute(
                "UPDATE vector_space SET count = count - ?, removals = removals + ? WHERE n = ?", (count, count, space)
            )
        connection.execute("DELETE FROM vector WHERE evidence IN (SELECT value FROM json_each(?))", (given,))

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """The vectors are what models made and stay; the caches of them are made anew."""
        with self._lock:
            self._spaces.clear()
            for file in self.folder.glob("*.hnsw"):
                file.unlink(missing_ok=True)
        connection.execute("DELETE FROM vector WHERE evidence NOT IN (SELECT n FROM evidence)")
        connection.execute(
            "UPDATE vector_space SET stamp = lower(hex(randomblob(8))), count ="
            " (SELECT count(*) FROM vector WHERE vector.space = vector_space.n)"
        )

    # ------------------------------------------------------------ making vectors

    def without(self, connection: sqlite3.Connection, model: str, scope: Scope) -> Iterator[Passage]:
        """The passages without a vector of this model, by video and time."""
        clause = sought(scope, unfinished=True)
        sql = (
            "SELECT evidence.id, evidence.text,"  # noqa: S608 - names of our own; all values are parameters
            " (SELECT count(*) FROM vector JOIN vector_space ON vector_space.n = vector.space"
            " WHERE vector.evidence = evidence.n AND vector_space.model = :model)"
            " FROM evidence JOIN video ON video.n = evidence.video"
            f" WHERE {clause.sql} ORDER BY evidence.video, evidence.start_ms, evidence.n"
        )
        for id, text, made in connection.execute(sql, {**clause.parameters, "model": model}).fetchall():
            # Passages of a row are committed in order, so those that are there are its first ones.
            for index, (first, last) in enumerate(spans(text)):
                if index >= made:
                    yield Passage(id, index, text[first:last], first, last)

    def add(
        self, connection: sqlite3.Connection, model: str, given: Sequence[Passage], vectors: NDArray[np.floating]
    ) -> int:
        """Insert vectors of unit length; see `protocol.Store.add_vectors`."""
        if not given:
            return 0
        dimension = int(vectors.shape[1])
        connection.execute(
            "INSERT OR IGNORE INTO vector_space (model, dimension, stamp) VALUES (?, ?, ?)",
            (model, dimension, secrets.token_hex(8)),
        )
        space, known = connection.execute("SELECT n, dimension FROM vector_space WHERE model = ?", (model,)).fetchone()
        if known != dimension:
            raise VectorSpaceError(
                f"vectors of {dimension} dimensions for a model whose vectors have {known}", where=model
            )
        numbers = {
            id: (n, video)
            for n, id, video in connection.execute(
                "SELECT n, id, video FROM evidence WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list({p.evidence for p in given})),),
            )
        }
        before = connection.total_changes
        connection.executemany(
            "INSERT OR IGNORE INTO vector (space, evidence, passage, video, first, last, value)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (space, numbers[p.evidence][0], p.index, numbers[p.evidence][1], p.first, p.last, value.tobytes())
                for p, value in zip(given, vectors.astype(np.float16), strict=True)
                if p.evidence in numbers
            ],
        )
        count = connection.total_changes - before
        connection.execute(
            "UPDATE vector_space SET count = count + ?, last = (SELECT coalesce(max(n), 0) FROM vector) WHERE n = ?",
            (count, space),
        )
        return count

    def forget(self, connection: sqlite3.Connection, model: str) -> None:
        """Delete one model's vectors."""
        connection.execute("DELETE FROM vector WHERE space IN (SELECT n FROM vector_space WHERE model = ?)", (model,))
        connection.execute("DELETE FROM vector_space WHERE model = ?", (model,))
        with self._lock:
            self._spaces.pop(model, None)

    def models(self, connection: sqlite3.Connection) -> dict[str, int]:
        """The models with vectors, and how many."""
        return dict(connection.execute("SELECT model, count FROM vector_space WHERE count > 0 ORDER BY model"))

    # ------------------------------------------------------------ searching

    def prepare(self, connection: sqlite3.Connection, model: str) -> None:
        """Make or extend the graph now, so that no search waits for it."""
        with self._lock:
            state = connection.execute("SELECT dimension FROM vector_space WHERE model = ? AND count > 0", (model,))
            if record := state.fetchone():
                space = self._space(connection, model, np.zeros(record[0], np.float32))
                if space is not None:
                    space.prepare()

    def hits(
        self, connection: sqlite3.Connection, model: str, vector: NDArray[np.float32], scope: Scope, limit: int
    ) -> list[Hit]:
        """The nearest passages that the scope sees, each row once, best first; see `protocol.Store.vector_hits`."""
        with self._lock:  # what is in memory follows one snapshot at a time
            space = self._space(connection, model, vector)
            if space is None or limit < 1:
                return []
            found = space.nearest(vector, limit, self._mask(connection, space, scope))
            passages = space.passages([n for n, _ in found])
        rows = {
            n: row
            for n, *row in connection.execute(
                "SELECT evidence.n, evidence.id, video.id, evidence.start_ms, evidence.end_ms, evidence.kind"
                " FROM evidence JOIN video ON video.n = evidence.video"
                " WHERE evidence.n IN (SELECT value FROM json_each(?))",
                (json.dumps([evidence for evidence, _ in passages]),),
            )
        }
        hits: dict[int, Hit] = {}
        for (evidence, passage), (_, cosine) in zip(passages, found, strict=True):
            if evidence not in hits:
                id, video, start, end, kind = rows[evidence]
                hits[evidence] = Hit(id, video, start, end, kind, cosine, passage)
        return list(hits.values())

    def similarities(
        self, connection: sqlite3.Connection, model: str, vector: NDArray[np.float32], rows: Sequence[str]
    ) -> list[Similarity]:
        """The cosine of every passage of these rows that has a vector of this model."""
        with self._lock:
            space = self._space(connection, model, vector)
            if space is None:
                return []
            ids = dict(
                connection.execute(
                    "SELECT n, id FROM evidence WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),)
                ).fetchall()
            )
            found = space.cosines(vector, list(ids))
        return [Similarity(ids[evidence], first, last, cosine) for evidence, first, last, cosine in found]

    def _space(self, connection: sqlite3.Connection, model: str, vector: NDArray[np.float32]) -> Space | None:
        """The model's vectors in memory, as they are in this connection's snapshot."""
        state = connection.execute(
            "SELECT n, dimension, stamp, last, count, removals FROM vector_space WHERE model = ?", (model,)
        ).fetchone()
        if state is None or not state[4]:
            others = self.models(connection)
            if others:
                raise VectorSpaceError(
                    f"the library's vectors were made by {', '.join(others)}, the settings name {model}",
                    next="`videmus rebuild` makes them anew, or set [models] embedding back",
                )
            return None
        if vector.shape != (state[1],):
            raise VectorSpaceError(f"a vector of shape {vector.shape} against {state[1]} dimensions", where=model)
        space = self._spaces.get(model)
        if space is None or space.stamp != state[2] or space.number != state[0] or space.last > state[3]:
            space = Space(state[0], model, state[1], state[2], self.folder, self.settings, self._threads)
            self._spaces[model] = space
        space.follow(connection, last=state[3], removals=state[5])
        return space

    def _mask(self, connection: sqlite3.Connection, space: Space, scope: Scope) -> NDArray[np.bool_] | None:
        """Which of the space's vectors the scope sees; None: all."""
        clause = videos_of(scope, unfinished=scope.video is not None)
        hidden = f"SELECT EXISTS (SELECT 1 FROM video WHERE ({clause.sql}) IS NOT TRUE)"  # noqa: S608 - names of our own; all values are parameters
        mask = np.ones(len(space.video), np.bool_)
        recorded_at: NDArray[np.int64] | int = 0
        if by_clock(scope) or connection.execute(hidden, clause.parameters).fetchone()[0]:
            videos = connection.execute(
                f"SELECT video.n, coalesce(video.recorded_at, 0) FROM video WHERE {clause.sql}",  # noqa: S608 - as above
                clause.parameters,
            ).fetchall()
            numbers, clocks = np.array(videos, np.int64).reshape(-1, 2).T
            size = 1 + max(int(space.video.max(initial=0)), int(numbers.max(initial=0)))
            seen, clock = np.zeros(size, np.bool_), np.zeros(size, np.int64)
            seen[numbers], clock[numbers] = True, clocks
            mask, recorded_at = seen[space.video], clock[space.video]
        mask &= visible_rows(scope, space.rows, recorded_at)
        if scope.speaker is not None:
            clause = visible("evidence", scope, unfinished=scope.video is not None)
            spoken = connection.execute(
                "SELECT evidence.n FROM evidence JOIN video ON video.n = evidence.video"  # noqa: S608 - as above
                f" WHERE {clause.sql}",
                clause.parameters,
            )
            mask &= np.isin(space.evidence, np.fromiter((n for (n,) in spoken), np.int64))
        return None if mask.all() else mask
