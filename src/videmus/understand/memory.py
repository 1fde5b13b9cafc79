"""The knowledge memory of one lecture: concepts of earlier slides, found again by the keywords of a later one.

Entries {name, explanations, embedding of the name}. A concept whose nearest entry is under the threshold is a new entry; else
its explanation is appended, and the entry's embedding becomes the mean of all names merged so far, renormalised.
Source: PreMind, section 3.2.2. Starts empty for each lecture; it is rebuilt from the slides' committed concepts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

NEARLY = 1e-6
"""Rounding of float32 cosines: 0.7 that comes out as 0.69999999 is 0.7."""


class Embedder(Protocol):
    """Names in, float32 vectors of shape (len(texts), dimension) out."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(slots=True)
class Entry:
    """One concept; `names` are all that were merged into it, the first one leads. `total` sums their unit vectors."""

    names: list[str]
    explanations: list[str]
    total: NDArray[np.float64] = field(repr=False)

    @property
    def embedding(self) -> NDArray[np.float64]:
        return _unit(self.total / len(self.names))


class KnowledgeMemory:
    """`cosine` 0.7 and `nearest` 10 are PreMind's.

    `comparable` says whether the embedder knows a name's script: where it does not, all names look alike to it, and only
    equal names are one concept.
    """

    def __init__(
        self,
        embedder: Embedder,
        cosine: float = 0.7,
        nearest: int = 10,
        comparable: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._embedder = embedder
        self._comparable = comparable
        self._cosine = cosine
        self._nearest = nearest
        self.entries: list[Entry] = []

    def learn(self, concepts: Mapping[str, str]) -> None:
        """Merge a slide's concepts {name: explanation} in, in their order."""
        if not concepts:
            return
        for (name, explanation), vector in zip(concepts.items(), self._vectors(list(concepts)), strict=True):
            ranked = self._ranked(name, vector)
            if ranked and ranked[0][0] >= self._cosine - NEARLY:
                entry = ranked[0][1]
                entry.names.append(name)
                if explanation not in entry.explanations:
                    entry.explanations.append(explanation)
                entry.total = entry.total + vector
            else:
                self.entries.append(Entry([name], [explanation], vector))

    def recall(self, keywords: Sequence[str]) -> list[Entry]:
        """The entries near any keyword: of each keyword's nearest ones those over the threshold, the nearest first."""
        if not keywords or not self.entries:
            return []
        best: dict[int, float] = {}
        for keyword, vector in zip(keywords, self._vectors(list(keywords)), strict=True):
            for cosine, entry in self._ranked(keyword, vector)[: self._nearest]:
                if cosine > self._cosine + NEARLY:
                    best[id(entry)] = max(best.get(id(entry), 0.0), cosine)
        near = [entry for entry in self.entries if id(entry) in best]
        return sorted(near, key=lambda entry: -best[id(entry)])

    def _ranked(self, name: str, vector: NDArray[np.float64]) -> list[tuple[float, Entry]]:
        """The entries with their cosines to the name, the nearest first."""
        if not self._comparable(name):
            folded = name.casefold()
            return [(1.0, e) for e in self.entries if folded in (other.casefold() for other in e.names)]
        entries = [e for e in self.entries if self._comparable(e.names[0])]
        if not entries:
            return []
        cosines = np.stack([entry.embedding for entry in entries]) @ vector
        order = np.argsort(-cosines, kind="stable")
        return [(float(cosines[k]), entries[int(k)]) for k in order]

    def _vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        return [_unit(vector.astype(np.float64)) for vector in self._embedder.embed(texts)]


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
