"""How often the words of a question stand in rows, and how many words those have.

Enters: rows, the terms of a question. Leaves: arrays. Knows nothing of scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from videmus.search.question import Term
from videmus.store.protocol import Text
from videmus.store.words import stem, words

Floats = NDArray[np.float64]


def counted(rows: Sequence[Text], terms: Sequence[Term]) -> tuple[Floats, Floats]:
    """The counts of each term in each row, of shape (rows, terms), and the number of words of each row.

    A row's words are those that the keyword index holds of it: who speaks, and what is said.
    """
    counts = np.zeros((len(rows), len(terms)))
    lengths = np.zeros(len(rows))
    columns = _Columns(terms)
    for k, row in enumerate(rows):
        there = words(f"{row.speaker} {row.text}" if row.speaker else row.text)
        lengths[k] = len(there)
        for found in filter(None, map(columns.__getitem__, there)):
            for column in found:
                counts[k, column] += 1
    return counts, lengths


class _Columns(dict[str, tuple[int, ...]]):
    """The terms that a word of a text counts as, by their columns; found once for each word.

    Stemming cuts endings and never the first letter, so most words need none to be told from those of the question.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        super().__init__()
        self._of_stem: dict[str, tuple[int, ...]] = {}
        for column, term in enumerate(terms):
            for one in term.counts_as:
                self._of_stem[one] = (*self._of_stem.get(one, ()), column)
        self._initials = {one[:1] for one in self._of_stem}

    def __missing__(self, word: str) -> tuple[int, ...]:
        columns = self._of_stem.get(stem(word), ()) if word[:1] in self._initials else ()
        self[word] = columns
        return columns
