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
    there = [words(f"{row.speaker} {row.text}" if row.speaker else row.text) for row in rows]
    columns = _columns(set().union(*there), terms)
    counts = np.zeros((len(rows), len(terms)))
    for k, mine in enumerate(there):
        for word in mine:
            if word in columns:
                for column in columns[word]:
                    counts[k, column] += 1
    return counts, np.array([len(mine) for mine in there], float)


def _columns(vocabulary: set[str], terms: Sequence[Term]) -> dict[str, list[int]]:
    """The words that count as terms, each with their columns.

    Stemming cuts endings and never the first letter, so most words need none to be told from those of the question.
    """
    of_stem: dict[str, list[int]] = {}
    for column, term in enumerate(terms):
        for one in term.counts_as:
            of_stem.setdefault(one, []).append(column)
    initials = {one[:1] for one in of_stem}
    alike = [word for word in vocabulary if word[:1] in initials]
    return {word: of_stem[cut] for word, cut in zip(alike, map(stem, alike), strict=True) if cut in of_stem}
