"""The search half of the embedded store: full text and vectors behind the methods of `protocol.Store`.

Each method reads one snapshot. Knows nothing of how hits are fused (`search`) or which model made the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videmus.config import VectorSettings
from videmus.model import Passage, Scope
from videmus.store import fulltext
from videmus.store.database import Database
from videmus.store.fulltext import FullText
from videmus.store.protocol import EVERYTHING, Hit, Similarity, Span, Text
from videmus.store.rows import Follower
from videmus.store.vectors import Vectors


class Searching:
    """What `SqliteStore` inherits. `_follow` gives the followers that keep both indexes with the rows."""

    _db: Database
    _fulltext: FullText
    _vectors: Vectors

    def _follow(self, folder: Path, settings: VectorSettings | None = None, threads: int = 2) -> tuple[Follower, ...]:
        self._fulltext = FullText()
        self._vectors = Vectors(folder / "vectors", settings, threads)
        if not self._db.read_only:
            with self._db.reading() as connection:
                outdated = self._fulltext.outdated(connection)
            if outdated:
                with self._db.writing() as connection:
                    self._fulltext.rebuild(connection)
        return (self._fulltext, self._vectors)

    def passages_without_vectors(self, model: str, scope: Scope = EVERYTHING) -> Iterator[Passage]:
        """The passages that this model has not embedded yet, by video and time."""
        with self._db.reading() as connection:
            yield from self._vectors.without(connection, model, scope)

    def add_vectors(self, model: str, passages: Sequence[Passage], vectors: NDArray[np.floating]) -> int:
        """See `protocol.Store.add_vectors`."""
        with self._db.writing() as connection:
            return self._vectors.add(connection, model, passages, vectors)

    def prepare_vectors(self, model: str) -> None:
        """See `protocol.Store.prepare_vectors`."""
        with self._db.reading() as connection:
            self._vectors.prepare(connection, model)

    def vector_models(self) -> dict[str, int]:
        """The embedding models that the library holds vectors of, and how many."""
        with self._db.reading() as connection:
            return self._vectors.models(connection)

    def remove_vectors(self, model: str) -> None:
        """Forget one model's vectors."""
        with self._db.writing() as connection:
            self._vectors.forget(connection, model)

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """The number of rows in the library, and for each term that it holds the number of rows with it."""
        with self._db.reading() as connection:
            return self._fulltext.frequencies(connection, terms)

    def containing(self, piece: str, limit: int = 20) -> list[str]:
        """Terms of the library that hold `piece` inside, the shortest first."""
        with self._db.reading() as connection:
            return self._fulltext.containing(connection, piece, limit)

    def keyword_hits(self, words: Sequence[Sequence[str]], scope: Scope, limit: int) -> list[Hit]:
        """Rows by BM25, best first; see `fulltext.FullText.hits`."""
        with self._db.reading() as connection:
            return self._fulltext.hits(connection, words, scope, limit)

    def phrase_hits(self, phrase: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        """Rows that hold these terms one after the other."""
        with self._db.reading() as connection:
            return self._fulltext.phrase(connection, phrase, scope, limit)

    def vector_hits(self, model: str, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[Hit]:
        """The nearest passages' rows by cosine, best first, each row once; see `vectors.Vectors.hits`."""
        with self._db.reading() as connection:
            return self._vectors.hits(connection, model, vector, scope, limit)

    def similarities(self, model: str, vector: NDArray[np.float32], rows: Sequence[str]) -> list[Similarity]:
        """The cosine of every passage of these rows (by id) that has a vector."""
        with self._db.reading() as connection:
            return self._vectors.similarities(connection, model, vector, rows)

    def texts(self, scope: Scope, spans: Sequence[Span] | None = None, limit: int | None = None) -> list[Text]:
        """The rows that the scope sees (and that overlap one of `spans`), by video and time."""
        with self._db.reading() as connection:
            return fulltext.texts(connection, scope, spans, limit)
