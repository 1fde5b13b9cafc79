"""One model's vectors in memory, and the HNSW graph over them, kept as a file in vectors/.

Enters: the rows of the table `vector`, in their order. Leaves: numbers of vectors with cosines. Knows nothing of scopes
(they come as masks). A graph's file is a cache: a missing, damaged or foreign one is made anew, and it is written beside
the old one and renamed, so that none is ever half there.
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

_MAGIC = b"videmus vectors 1\n"
_CHUNK = 16_384  # vectors compared at once in an exact search: some 25 MB as float32


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
        if removals != self.removals and len(self.numbers):
            alive = np.fromiter(
                (n for (n,) in connection.execute("SELECT n FROM vector WHERE space = ?", (self.number,))), np.int64
            )
            keep = np.isin(self.numbers, alive)
            self.numbers, self.evidence, self.video = self.numbers[keep], self.evidence[keep], self.video[keep]
            self._matrix = self._matrix[keep]
        records = connection.execute(
            "SELECT n, evidence, video, value FROM vector WHERE space = ? AND n > ? ORDER BY n",
            (self.number, self.last),
        ).fetchall()
        if records:
            new = np.frombuffer(b"".join(r[3] for r in records), np.float16).reshape(len(records), self._dimension)
            total = len(self.numbers) + len(records)
            kind = np.float32 if total <= self._settings.float32_to else np.float16  # large ones at half the memory
            self._matrix = np.concatenate([self._matrix.astype(kind, copy=False), new.astype(kind)])
            self.numbers = np.concatenate([self.numbers, np.array([r[0] for r in records], np.int64)])
            self.evidence = np.concatenate([self.evidence, np.array([r[1] for r in records], np.int64)])
            self.video = np.concatenate([self.video, np.array([r[2] for r in records], np.int64)])
        self.last, self.removals = last, removals

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

    def cosines(self, vector: NDArray[np.float32], numbers: Sequence[int]) -> NDArray[np.float32]:
        """The cosines of the vectors of these numbers; -1 for one that is gone."""
        wanted = np.array(numbers, np.int64)
        if not len(wanted) or not len(self.numbers):
            return np.full(len(wanted), -1, np.float32)
        at = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        cosines = self._matrix[at].astype(np.float32) @ vector
        return np.asarray(np.where(self.numbers[at] == wanted, cosines, -1), np.float32)

    def _exact(self, vector: NDArray[np.float32], limit: int, rows: NDArray[np.intp] | None) -> list[tuple[int, float]]:
        count = len(self.numbers) if rows is None else len(rows)
        cosines = np.empty(count, np.float32)
        for first in range(0, count, _CHUNK):
            part = slice(first, first + _CHUNK)
            chosen = self._matrix[part] if rows is None else self._matrix[rows[part]]
            cosines[part] = chosen.astype(np.float32, copy=False) @ vector
        best = np.argpartition(-cosines, limit - 1)[:limit] if count > limit else np.arange(count)
        best = best[np.argsort(-cosines[best], kind="stable")]
        at = best if rows is None else rows[best]
        return [(int(self.numbers[a]), float(cosines[b])) for a, b in zip(at, best, strict=True)]

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


def _positions(members: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of `numbers` is in `members` (both rise), or -1."""
    at = np.minimum(np.searchsorted(members, numbers), len(members) - 1)
    return np.where(members[at] == numbers, at, -1).astype(np.int64)


def _faiss() -> Any:
    """FAISS, imported when a library is first large enough to need it. Its types are not those of its Python layer."""
    import faiss

    return faiss
