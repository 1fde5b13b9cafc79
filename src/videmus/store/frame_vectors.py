"""Vectors of frames: float16 in SQLite is the truth; what is in memory and in vectors/ is a cache of it.

Enters: frames with their vectors, questions' vectors, scopes. Leaves: frames by their best similarity. Up to `EXACT` frames
are compared one by one, as are those of a narrow scope. Beyond, an inverted file over 8-bit vectors (FAISS IVF-SQ8) finds
candidates, whose vectors are then read and compared as they are. An IVF and not the texts' HNSW: a year has 600,000 frames,
for which it is made in minutes and not in tens of them, takes a quarter of the memory, and a scope's mask costs it nothing.
It is kept in vectors/, takes in what was added since, and is made anew when it has doubled or lies there damaged. What two
models made is never compared.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
import threading
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from videmus.errors import VectorSpaceError
from videmus.model import Frame, Scope
from videmus.store import rows as row_tables
from videmus.store import videos
from videmus.store.scope import visible

if TYPE_CHECKING:
    from videmus.store.database import Database

EXACT = 40_000
"""Frames of a library that are kept in memory and compared one by one: 40,000 of 512 dimensions take some 10 ms."""

NARROW = 2_000
"""Frames of a scope, of more than `EXACT`, whose vectors are read and compared one by one."""

PROBES = 16
"""Lists of the inverted file that are looked into, of some 1,000: measured with `bench/week.py frames`."""

RERANKED = 4
"""For each wanted frame so many candidates are compared by their full vectors."""

_CREATE = (
    "CREATE TABLE frame_vector (n INTEGER PRIMARY KEY AUTOINCREMENT, frame INTEGER NOT NULL, model TEXT NOT NULL,"
    " value BLOB NOT NULL, UNIQUE (model, frame))",
    "CREATE INDEX frame_vector_frame ON frame_vector (frame)",
    "CREATE TRIGGER frame_gone AFTER DELETE ON frame BEGIN DELETE FROM frame_vector WHERE frame = old.n; END",
    # How many vectors each model has and the last one's number: counting a year's takes longer than searching them.
    "CREATE TABLE frame_space (model TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TRIGGER frame_vector_made AFTER INSERT ON frame_vector BEGIN"
    " INSERT INTO frame_space (model, count, last) VALUES (new.model, 1, new.n)"
    " ON CONFLICT (model) DO UPDATE SET count = count + 1, last = new.n; END",
    "CREATE TRIGGER frame_vector_gone AFTER DELETE ON frame_vector BEGIN"
    " UPDATE frame_space SET count = count - 1 WHERE model = old.model; END",
)


def create_frame_vectors(connection: sqlite3.Connection) -> None:
    """The migration "frame vectors"."""
    for statement in _CREATE:
        connection.execute(statement)


class FrameVectors:
    """Made from a store's database and its folder of caches. Safe to use from several threads."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._db = database
        self._folder = folder
        self._lock = threading.RLock()
        self._spaces: dict[str, _Space] = {}

    def without(self, model: str, scope: Scope) -> list[Frame]:
        """Frames that this model has not embedded yet."""
        clause = visible("frame", scope, unfinished=True)
        sql = (
            f"{row_tables.SELECT['frame']} WHERE {clause.sql} AND NOT EXISTS (SELECT 1 FROM frame_vector"  # noqa: S608
            " WHERE frame_vector.frame = frame.n AND frame_vector.model = :model) ORDER BY frame.video, frame.at_ms"
        )
        with self._db.reading() as connection:
            records = connection.execute(sql, {**clause.parameters, "model": model}).fetchall()
            found = row_tables.all_decoded(connection, "frame", records, {})
        return [f for f in found if isinstance(f, Frame)]

    def add(self, model: str, frames: Sequence[str], vectors: NDArray[np.floating]) -> int:
        """Commit vectors of unit length for frames by id; frames that are gone are left out. Returns how many."""
        with self._db.writing() as connection:
            numbers = dict(
                connection.execute(
                    "SELECT id, n FROM frame WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(frames)),)
                ).fetchall()
            )
            given = [
                (numbers[id], model, v.astype(np.float16).tobytes())
                for id, v in zip(frames, vectors, strict=True)
                if id in numbers
            ]
            # REPLACE would not tell the trigger of what it deletes.
            connection.executemany("DELETE FROM frame_vector WHERE frame = ? AND model = ?", [g[:2] for g in given])
            connection.executemany("INSERT INTO frame_vector (frame, model, value) VALUES (?, ?, ?)", given)
        return len(given)

    def count(self, model: str) -> int:
        with self._db.reading() as connection:
            return _state(connection, model)[0]

    def prepare(self, model: str) -> None:
        """Make, or bring up to date, what a search needs: over a year's frames it takes minutes once."""
        with self._db.reading() as connection, self._lock:
            self._spaces.setdefault(model, _Space(model, self._folder)).follow(connection)

    def nearest(self, model: str, queries: NDArray[np.float32], scope: Scope, limit: int) -> list[tuple[Frame, float]]:
        """(frame, best cosine over the queries), best first; shape of `queries` is (queries, dimension).

        Raises VectorSpaceError when frames were embedded by another model alone.
        """
        with self._db.reading() as connection, self._lock:
            space = self._spaces.setdefault(model, _Space(model, self._folder))
            space.follow(connection)
            if not len(space.frames):
                self._refuse_other(connection, model)
                return []
            allowed = _allowed(connection, space, scope)
            found = dict(space.nearest(connection, queries, allowed, limit))
            return _frames(connection, found, scope)

    def alike(self, frame: Frame, scope: Scope, limit: int) -> list[tuple[Frame, float]]:
        """Other frames by the share of equal bits of their perceptual hashes, most alike first."""
        clause = visible("frame", scope)
        sql = (
            "SELECT frame.n, frame.hash FROM frame JOIN video ON video.n = frame.video"  # noqa: S608 - our own names
            f" WHERE {clause.sql} AND frame.id <> :id AND length(frame.hash) = length(:hash)"
        )
        mine = int(frame.hash, 16)
        bits = 4 * len(frame.hash)
        with self._db.reading() as connection:
            records = connection.execute(sql, {**clause.parameters, "id": frame.id, "hash": frame.hash}).fetchall()
            scores = {n: 1 - (mine ^ int(hash, 16)).bit_count() / bits for n, hash in records}
            best = dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])
            return _frames(connection, best, scope)

    @staticmethod
    def _refuse_other(connection: sqlite3.Connection, model: str) -> None:
        others = [
            name
            for (name,) in connection.execute("SELECT model FROM frame_space WHERE model <> ? AND count > 0", (model,))
        ]
        if others:
            raise VectorSpaceError(
                f"the frames' vectors come from {', '.join(others)}, not from {model}",
                next="`videmus rebuild` embeds the frames anew",
            )


def _state(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many vectors a model has, and the number of the last one ever made."""
    found = connection.execute("SELECT count, last FROM frame_space WHERE model = ?", (model,)).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def _frames(connection: sqlite3.Connection, scores: Mapping[int, float], scope: Scope) -> list[tuple[Frame, float]]:
    """The frames of these numbers with their scores, best first; what the scope does not see is not among them."""
    clause = visible("frame", scope)
    sql = (
        # CROSS JOIN keeps the order: else SQLite may go through all frames of the scope's videos.
        "SELECT frame.n, frame.id FROM frame CROSS JOIN video ON video.n = frame.video"  # noqa: S608 - our own names
        f" WHERE frame.n IN (SELECT value FROM json_each(:numbers)) AND {clause.sql}"
    )
    values = {**clause.parameters, "numbers": json.dumps(list(scores))}
    number_of = {id: n for n, id in connection.execute(sql, values)}
    rows = row_tables.SELECT["frame"] + " WHERE frame.n IN (SELECT value FROM json_each(?))"  # noqa: S608 - no values
    records = connection.execute(rows, (json.dumps(list(number_of.values())),)).fetchall()
    found = [f for f in row_tables.all_decoded(connection, "frame", records, {}) if isinstance(f, Frame)]
    if scope.at is not None:
        found = videos.as_seen_at(connection, found, scope.at)
    return sorted(
        ((f, scores[number_of[f.id]]) for f in found), key=lambda pair: (-pair[1], pair[0].video, pair[0].at_ms)
    )


def _allowed(connection: sqlite3.Connection, space: _Space, scope: Scope) -> NDArray[np.bool_] | None:
    """A mask over the space's frames, or None when all are seen."""
    clause = visible("frame", scope)
    sql = f"SELECT frame.n FROM frame JOIN video ON video.n = frame.video WHERE {clause.sql}"  # noqa: S608 - our own names
    if scope == Scope():
        hidden = connection.execute("SELECT 1 FROM video WHERE state = 'processing' LIMIT 1").fetchone()
        if hidden is None:
            return None
    spans = _spans(connection, scope)
    if spans is not None:
        last = np.full(int(space.video_of.max(initial=0)) + 1, -1, np.int64)
        for video, until in spans:
            if video < len(last):
                last[video] = until
        return np.asarray(space.at_of <= last[space.video_of])
    numbers = np.fromiter((n for (n,) in connection.execute(sql, clause.parameters)), np.int64)
    return np.isin(space.frames, numbers)


def _spans(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int]] | None:
    """For scopes that only name videos and `at`: each video with the last moment seen of it. A year's frames need no
    list then. None for other scopes."""
    if any(v is not None for v in (scope.start, scope.end, scope.after, scope.before)):
        return None
    conditions = [] if scope.video is not None else ["state <> 'processing'"]  # as `scope.visible` has it
    values: dict[str, Any] = {}
    for column in ("id", "collection", "recording"):
        value = scope.video if column == "id" else getattr(scope, column)
        if value is not None:
            conditions.append(f"{column} = :{column}")
            values[column] = value
    if scope.at is not None:
        conditions.append("recorded_at IS NOT NULL")
    sql = f"SELECT n, recorded_at FROM video WHERE {' AND '.join(conditions)}"  # noqa: S608 - our own names
    return [
        (n, scope.at - recorded if scope.at is not None else 2**62) for n, recorded in connection.execute(sql, values)
    ]


class _Space:
    """One model's vectors: numbers of rows and frames, and either all vectors or an inverted file over them."""

    def __init__(self, model: str, folder: Path) -> None:
        self.model = model
        slug = re.sub(r"[^\w.@-]+", "_", model)[:60]
        digest = hashlib.sha256(model.encode()).hexdigest()[:8]
        self._file = folder / f"frames-{slug}.{digest}"
        self._clear()

    def _clear(self) -> None:
        self.numbers = np.zeros(0, np.int64)  # of the rows of frame_vector, ascending
        self.frames = np.zeros(0, np.int64)
        self.video_of = np.zeros(0, np.int64)
        self.at_of = np.zeros(0, np.int64)
        self._dead: NDArray[np.bool_] | None = None
        self._matrix: NDArray[np.float16] | None = None
        self._index: Any = None
        self._made_of = 0
        self._state = (0, 0)

    def follow(self, connection: sqlite3.Connection) -> None:
        """Take in what was added, leave out what was removed."""
        count, last = _state(connection, self.model)
        if (count, last) == self._state:
            return
        if count > EXACT and self._index is None:
            self._read_cache()
        if count <= EXACT or self._index is None or count > 2 * self._made_of:
            self._clear()
        new = self._read_new(connection)
        alive = len(self.numbers) == count
        if not alive:
            rows = connection.execute("SELECT n FROM frame_vector WHERE model = ?", (self.model,))
            self._dead = ~np.isin(self.numbers, np.fromiter((n for (n,) in rows), np.int64))
        if count <= EXACT:
            self._matrix = new if self._matrix is None else np.concatenate([self._matrix, new])
        elif self._index is None:
            self._index, self._made_of = _inverted_file(new), count
            self._write_cache()
        elif len(new):
            _add(self._index, new)
            self._write_cache()
        self._state = (count, last)

    def _read_new(self, connection: sqlite3.Connection) -> NDArray[np.float16]:
        """Vectors of rows beyond the last known number; their numbers are appended."""
        known = int(self.numbers[-1]) if len(self.numbers) else 0
        records: list[tuple[int, int, int, int]] = []
        blobs: list[bytes] = []
        for n, frame, video, at, value in connection.execute(
            "SELECT frame_vector.n, frame.n, frame.video, frame.at_ms, frame_vector.value FROM frame_vector"
            " JOIN frame ON frame.n = frame_vector.frame WHERE model = ? AND frame_vector.n > ? ORDER BY frame_vector.n",
            (self.model, known),
        ):
            records.append((n, frame, video, at))
            blobs.append(value)
        if not records:
            return np.zeros((0, 0), np.float16)
        columns = np.array(records, np.int64)
        self.numbers, self.frames, self.video_of, self.at_of = (
            np.concatenate([old, columns[:, c]])
            for c, old in enumerate((self.numbers, self.frames, self.video_of, self.at_of))
        )
        self._dead = None if self._dead is None else np.concatenate([self._dead, np.zeros(len(records), bool)])
        return np.frombuffer(b"".join(blobs), np.float16).reshape(len(records), -1)

    def nearest(
        self,
        connection: sqlite3.Connection,
        queries: NDArray[np.float32],
        allowed: NDArray[np.bool_] | None,
        limit: int,
    ) -> list[tuple[int, float]]:
        if self._dead is not None:
            allowed = ~self._dead if allowed is None else allowed & ~self._dead
        seen = len(self.frames) if allowed is None else int(allowed.sum())
        if not seen:
            return []
        if self._index is None or seen <= NARROW:
            chosen = np.arange(len(self.frames)) if allowed is None else np.flatnonzero(allowed)
        else:
            chosen = self._probed(queries, allowed, limit * RERANKED, len(self.frames) / seen)
        best = np.full(len(chosen), -2.0, np.float32)
        for first in range(0, len(chosen), 8_192):
            part = self._vectors(connection, chosen[first : first + 8_192]).astype(np.float32)
            best[first : first + len(part)] = (part @ queries.T).max(1)
        order = np.argsort(-best, kind="stable")[:limit]
        return [(int(self.frames[chosen[k]]), float(best[k])) for k in order]

    def _vectors(self, connection: sqlite3.Connection, chosen: NDArray[np.int64]) -> NDArray[np.float16]:
        if self._matrix is not None:
            return self._matrix[chosen]
        wanted = [int(n) for n in self.numbers[chosen]]
        records = connection.execute(
            "SELECT n, value FROM frame_vector WHERE n IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
        )
        values = dict(records.fetchall())
        return np.frombuffer(b"".join(values[n] for n in wanted), np.float16).reshape(len(wanted), -1)

    def _probed(
        self, queries: NDArray[np.float32], allowed: NDArray[np.bool_] | None, wanted: int, narrowed: float
    ) -> NDArray[np.int64]:
        """Candidates by their places; a scope that leaves a part of the frames is looked for in as many more lists."""
        import faiss

        selector = None
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
        probes = min(int(self._index.nlist), round(PROBES * min(narrowed, 8.0)))
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # one to three queries: waiting for a second thread takes longer than the search
        try:
            _, found = self._index.search(queries, wanted, params=_parameters(faiss, probes, selector))
        finally:
            faiss.omp_set_num_threads(threads)
        return np.unique(found[found >= 0])

    # ------------------------------------------------------------ the cache in vectors/

    def _read_cache(self) -> None:
        """What lies there, where it is whole; else nothing: it is made anew."""
        import faiss

        try:
            with np.load(self._file.with_name(self._file.name + ".npz")) as kept:
                columns = [np.asarray(kept[k], np.int64) for k in ("numbers", "frames", "video_of", "at_of")]
                made_of = int(kept["made_of"])
            index = faiss.read_index(str(self._file.with_name(self._file.name + ".ivf")))
        except (OSError, ValueError, KeyError, RuntimeError, EOFError, zipfile.BadZipFile):
            return
        if index.ntotal == len(columns[0]) and all(len(c) == len(columns[0]) for c in columns):
            self.numbers, self.frames, self.video_of, self.at_of = columns
            self._index, self._made_of = index, made_of

    def _write_cache(self) -> None:
        """Beside the old files and then renamed; a library that cannot be written keeps none."""
        import faiss

        with suppress(OSError, RuntimeError):
            self._file.parent.mkdir(exist_ok=True)
            token = secrets.token_hex(4)
            index, arrays = (self._file.with_name(f"{self._file.name}{end}") for end in (".ivf", ".npz"))
            fresh = [path.with_name(f"{path.name}.{token}") for path in (index, arrays)]
            faiss.write_index(self._index, str(fresh[0]))
            with fresh[1].open("wb") as out:
                np.savez(
                    out, numbers=self.numbers, frames=self.frames, video_of=self.video_of, at_of=self.at_of,
                    made_of=np.array(self._made_of),
                )  # fmt: skip
            fresh[0].replace(index)
            fresh[1].replace(arrays)


def _parameters(faiss: Any, probes: int, selector: Any) -> Any:
    return faiss.SearchParametersIVF(nprobe=probes, sel=selector)


def _inverted_file(matrix: NDArray[np.float16]) -> Any:
    import faiss

    count, dimension = matrix.shape
    lists = int(min(1_024, max(1, count**0.5)))
    quantizer = faiss.IndexFlatIP(dimension)
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, dimension, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter = 8
    sample = np.random.default_rng(0).choice(count, min(count, lists * 40), replace=False)
    index.train(matrix[np.sort(sample)].astype(np.float32))
    _add(index, matrix)
    return index


def _add(index: Any, matrix: NDArray[np.float16]) -> None:
    for first in range(0, len(matrix), 32_768):
        index.add(matrix[first : first + 32_768].astype(np.float32))
