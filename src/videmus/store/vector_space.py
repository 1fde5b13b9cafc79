"""One model's vectors in memory, and the HNSW graph over them, kept as a file in vectors/.

Enters: the rows of the table `vector`, in their order, with what scopes ask of their evidence. Leaves: numbers of vectors
with cosines. Knows nothing of what a scope sees (it comes as a mask). A graph's file is a cache: a missing, damaged or
foreign one is made anew, and it is written beside the old one and renamed, so that none is ever half there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videmus.config import VectorSettings
from videmus.store.scope import Columns, kind_numbers

_MAGIC = b"videmus vectors 1\n"
_CHUNK = 16_384  # vectors compared at once in an exact search: some 25 MB as float32
_RUN = 16  # vectors that lie together: from here comparing a run costs less than copying it


class Space:
    """The vectors of one space, sorted by number. `last` and `removals` say which state of the table they are."""

    def __init__(
        self, number: int, model: str, dimension: int, stamp: str, folder: Path, settings: VectorSettings, threads: int
    ) -> None:
        self.number = number
        self.model = model
        self.stamp = stamp
        self.last = 0
        self.removals = 0
        self.numbers = np.zeros(0, np.int64)
        self.evidence = np.zeros(0, np.int64)
        self.video = np.zeros(0, np.int64)
        self.rows = Columns(np.zeros(0, np.int8), np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._places = np.zeros((0, 3), np.int32)  # which passage of its row, its first and its last character
        self._by_evidence: tuple[NDArray[np.intp], NDArray[np.int64]] | None = None  # the order, and the rows in it
        self._matrix: NDArray[np.floating] = np.zeros((0, dimension), np.float32)
        self._dimension = dimension
        self._settings = settings
        self._threads = threads
        slug = re.sub(r"[^\w.@-]+", "_", model)[:60]
        self._file = folder / f"{slug}.{hashlib.sha256(model.encode()).hexdigest()[:8]}.hnsw"
        self._graph: Any = None
        self._members = np.zeros(0, np.int64)  # the vectors' numbers in the order of the graph
        self._positions = np.zeros(0, np.int64)  # of each vector in the graph, or -1
        self._kept = (0, 0)  # the state of the table that the graph was last kept for

    # ------------------------------------------------------------ following the table

    def follow(self, connection: sqlite3.Connection, last: int, removals: int) -> None:
        """Take in what was added and drop what was removed since."""
        if (last, removals) == (self.last, self.removals):
            return
        self._by_evidence = None
        if removals != self.removals and len(self.numbers):
            alive = np.fromiter(
                (n for (n,) in connection.execute("SELECT n FROM vector WHERE space = ?", (self.number,))), np.int64
            )
            self._keep(np.isin(self.numbers, alive))
        records = connection.execute(
            "SELECT vector.n, vector.evidence, vector.video, evidence.start_ms, evidence.end_ms, vector.passage,"
            " vector.first, vector.last, evidence.kind, vector.value"
            " FROM vector JOIN evidence ON evidence.n = vector.evidence"
            " WHERE vector.space = ? AND vector.n > ? ORDER BY vector.n",
            (self.number, self.last),
        ).fetchall()
        if records:
            self._extend_with(records)
        self.last, self.removals = last, removals

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.numbers, self.evidence, self.video = self.numbers[kept], self.evidence[kept], self.video[kept]
        self.rows = Columns(self.rows.kind[kept], self.rows.start_ms[kept], self.rows.end_ms[kept])
        self._places = self._places[kept]
        self._matrix = self._matrix[kept]

    def _extend_with(self, records: Sequence[Any]) -> None:
        new = np.frombuffer(b"".join(r[-1] for r in records), np.float16).reshape(len(records), self._dimension)
        total = len(self.numbers) + len(records)
        kind = np.float32 if total <= self._settings.float32_to else np.float16  # large ones at half the memory
        self._matrix = np.concatenate([self._matrix.astype(kind, copy=False), new.astype(kind)])
        numbers, evidence, video, start, end, *places = np.array([r[:8] for r in records], np.int64).T
        self.numbers = np.concatenate([self.numbers, numbers])
        self.evidence = np.concatenate([self.evidence, evidence])
        self.video = np.concatenate([self.video, video])
        self.rows = Columns(
            np.concatenate([self.rows.kind, kind_numbers(r[8] for r in records)]),
            np.concatenate([self.rows.start_ms, start]),
            np.concatenate([self.rows.end_ms, end]),
        )
        self._places = np.concatenate([self._places, np.stack(places, 1).astype(np.int32)])

    # ------------------------------------------------------------ searching

    def nearest(
        self, vector: NDArray[np.float32], limit: int, mask: NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The nearest vectors that the mask allows: (number, cosine), best first."""
        allowed = len(self.numbers) if mask is None else int(mask.sum())
        if len(self.numbers) <= self._settings.hnsw_from or allowed <= self._settings.exact_below:
            return self._exact(vector, limit, None if mask is None else np.flatnonzero(mask))
        self.prepare()
        graphed = self._positions >= 0
        found = self._in_graph(vector, limit, self._positions[graphed if mask is None else graphed & mask])
        tail = ~graphed if mask is None else ~graphed & mask
        if tail.any():
            found += self._exact(vector, limit, np.flatnonzero(tail))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def prepare(self) -> None:
        """See that there is a graph of these vectors, where they are many."""
        if len(self.numbers) > self._settings.hnsw_from and (self.last, self.removals) != self._kept:
            self._keep_graph()
            self._positions = _positions(self._members, self.numbers)
            self._kept = (self.last, self.removals)

    def passages(self, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """(evidence, passage) of the vectors of these numbers, which `nearest` gave."""
        at = np.searchsorted(self.numbers, np.array(numbers, np.int64))
        return list(zip(self.evidence[at].tolist(), self._places[at, 0].tolist(), strict=True))

    def cosines(self, vector: NDArray[np.float32], evidence: Sequence[int]) -> list[tuple[int, int, int, float]]:
        """(evidence, first and last character, cosine) of every vector of these rows of evidence."""
        if self._by_evidence is None:
            order = np.argsort(self.evidence, kind="stable")
            self._by_evidence = order, self.evidence[order]
        order, rows = self._by_evidence
        wanted = np.unique(np.array(evidence, np.int64))
        first, last = np.searchsorted(rows, wanted, "left"), np.searchsorted(rows, wanted, "right")
        counts = last - first
        at = order[np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)]
        cosines = _products(self._matrix[at], vector)
        places = self._places[at]
        columns = (self.evidence[at], places[:, 1], places[:, 2], cosines)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _exact(self, vector: NDArray[np.float32], limit: int, rows: NDArray[np.intp] | None) -> list[tuple[int, float]]:
        count = len(self.numbers) if rows is None else len(rows)
        cosines = np.empty(count, np.float32)
        for first in range(0, count, _CHUNK):
            part = slice(first, first + _CHUNK)
            if rows is None:
                cosines[part] = _products(self._matrix[part], vector)
            else:
                cosines[part] = self._cosines_at(vector, rows[part])
        best = np.argpartition(-cosines, limit - 1)[:limit] if count > limit else np.arange(count)
        best = best[np.argsort(-cosines[best], kind="stable")]
        at = best if rows is None else rows[best]
        return [(int(self.numbers[a]), float(cosines[b])) for a, b in zip(at, best, strict=True)]

    def _cosines_at(self, vector: NDArray[np.float32], at: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of one video mostly lie together: a run of them is compared where it lies, and not copied first."""
        ends = np.append(np.flatnonzero(np.diff(at) != 1) + 1, len(at))
        if len(ends) * _RUN > len(at):
            return _products(self._matrix[at], vector)
        cosines = np.empty(len(at), np.float32)
        first = 0
        for end in ends.tolist():
            cosines[first:end] = _products(self._matrix[at[first] : at[end - 1] + 1], vector)
            first = end
        return cosines

    # ------------------------------------------------------------ the graph

    def _in_graph(
        self, vector: NDArray[np.float32], limit: int, positions: NDArray[np.int64]
    ) -> list[tuple[int, float]]:
        faiss = _faiss()
        parameters = faiss.SearchParametersHNSW()
        parameters.efSearch = max(self._settings.search_effort, 2 * limit)
        if len(positions) < len(self._members):
            bits = np.zeros(len(self._members), np.bool_)
            bits[positions] = True
            packed = np.packbits(bits, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(self._members), faiss.swig_ptr(packed))
            parameters.sel = selector
        scores, found = self._graph.search(vector[None, :], limit, params=parameters)
        return [(int(self._members[k]), float(s)) for s, k in zip(scores[0], found[0], strict=True) if k >= 0]

    def _keep_graph(self) -> None:
        """Load, extend or make the graph, so that few of its vectors are gone and few are not in it."""
        if self._graph is None:
            self._load()
        if self._graph is not None:
            alive = np.isin(self._members, self.numbers)
            if len(alive) - int(alive.sum()) > self._settings.dead_share * len(alive):
                self._graph = None
        if self._graph is None:
            self._members = np.zeros(0, np.int64)
            self._graph = self._empty_graph()
            self._extend()
            self._save()
        elif int((self.numbers > self._members[-1]).sum()) > self._settings.tail:
            self._extend()
            self._save()

    def _empty_graph(self) -> Any:
        faiss = _faiss()
        graph = faiss.IndexHNSWSQ(
            self._dimension, faiss.ScalarQuantizer.QT_fp16, self._settings.links, faiss.METRIC_INNER_PRODUCT
        )
        graph.hnsw.efConstruction = self._settings.build_effort
        graph.train(np.zeros((1, self._dimension), np.float32))
        return graph

    def _extend(self) -> None:
        faiss = _faiss()
        faiss.omp_set_num_threads(self._threads)
        after = self._members[-1] if len(self._members) else 0
        new = np.flatnonzero(self.numbers > after)
        for first in range(0, len(new), _CHUNK):
            self._graph.add(self._matrix[new[first : first + _CHUNK]].astype(np.float32))
        self._members = np.concatenate([self._members, self.numbers[new]])

    def _save(self) -> None:
        faiss = _faiss()
        payload = self._members.tobytes() + faiss.serialize_index(self._graph).tobytes()
        head = {
            "stamp": self.stamp,
            "model": self.model,
            "dimension": self._dimension,
            "members": len(self._members),
            "digest": hashlib.blake2b(payload).hexdigest(),
        }
        partial = self._file.with_name(f"{self._file.name}.{os.getpid()}.partial")
        with suppress(OSError):  # a cache: a full or read-only disk leaves none, and the graph stays in memory
            self._file.parent.mkdir(exist_ok=True)
            try:
                with partial.open("wb") as out:
                    out.write(_MAGIC + json.dumps(head).encode() + b"\n")
                    out.write(payload)
                partial.replace(self._file)
            finally:
                partial.unlink(missing_ok=True)

    def _load(self) -> None:
        """The graph of the file, where it is whole and of these very vectors; else it stays None."""
        faiss = _faiss()
        with suppress(OSError, ValueError, KeyError, RuntimeError):
            with self._file.open("rb") as file:
                if file.readline() != _MAGIC:
                    return
                head = json.loads(file.readline())
                payload = file.read()
            expected = (self.stamp, self.model, self._dimension, hashlib.blake2b(payload).hexdigest())
            if (head["stamp"], head["model"], head["dimension"], head["digest"]) != expected:
                return  # FAISS is only given bytes that this program wrote: it may crash on others
            size = 8 * int(head["members"])
            self._members = np.frombuffer(payload[:size], np.int64)
            self._graph = faiss.deserialize_index(np.frombuffer(payload[size:], np.uint8))


def _products(matrix: NDArray[np.floating], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each row with the vector. Not by BLAS: reading the memory takes the time, and its threads wait for each other
    (16,384 x 384 on two busy cores: 1.2 ms, and 4.0 by BLAS)."""
    return np.asarray(np.einsum("ij,j->i", matrix.astype(np.float32, copy=False), vector), np.float32)


def _positions(members: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of `numbers` is in `members` (both rise), or -1."""
    at = np.minimum(np.searchsorted(members, numbers), len(members) - 1)
    return np.where(members[at] == numbers, at, -1).astype(np.int64)


def _faiss() -> Any:
    """FAISS, imported when a library is first large enough to need it. Its types are not those of its Python layer."""
    import faiss

    return faiss
