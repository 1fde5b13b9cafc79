"""What a person typed → the words that are looked up, with weights, the phrases that must stand, the text that is embedded.

Knows nothing of stores: which words the library knows is told by whoever asks (`known`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from videmus.store.words import is_number, stem, words

LONGEST = 4_000
"""Characters of a question that are read: some 700 words."""

MOST_WORDS = 64
"""Different words that are looked up: a text pasted into the search field costs no more than a long question."""

FRAME_WEIGHT = 0.4
"""Words that speak of the video and not of its content. Measured: recall@1 within the video .495 → .509 on
docvideoqa_dev (its questions are full of them), unchanged on pstuts_dev. The list was written after reading some of these
questions, and is measured on the same sets."""

_STOP = """
a an and any are as at be been being but by can could did do does doing for from had has have having he her hers him his
how i if in into is it its just may me might my no nor not of off on or our ours out over own shall she should so some
such than that the their theirs them then there these they this those to too under up us was we were what when where
which while who whom whose why will with would you your yours
"""
_FRAME = """
accord clip described describe describes discuss discussed discusses discussing during explain explained explains
lecture lecturer mention mentioned mentioning mentions narrator present presentation presented presenter said say says
shown show shows slide slides screen speaker speakers suggest suggests talk talked talking talks tutorial video videos
instructor teacher according discussion
"""
STOP = frozenset(stem(w) for w in _STOP.split())
FRAME = frozenset(stem(w) for w in _FRAME.split())

NAMED_WEIGHT = 2.0
"""Words in 'single quotes': a title or term that the question names. They weigh more, and need not stand so."""

_NAMED = re.compile(r"(?<!\w)['‘‚]([^'’‘]{2,80})['’‘](?!\w)")
_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»')


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question: the terms of the library that count as it, and its weight."""

    word: str
    counts_as: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Question:
    """`phrases` are folded words, unstemmed; `text` is what is embedded."""

    text: str
    terms: tuple[Term, ...]
    phrases: tuple[tuple[str, ...], ...]


def question(
    text: str,
    frequencies: Callable[[Sequence[str]], dict[str, int]],
    containing: Callable[[str], list[str]],
) -> Question:
    """Read a question. `frequencies` tells how many rows hold each term, `containing` which terms hold a piece inside.

    Words in "double quotes" are phrases that must stand so. A word that no row holds counts as the words that hold it
    inside ("TGK" finds "RE16TGK"); a number never does: 3.5 is not 13.5.
    """
    text = text[:LONGEST].replace("\x00", " ")
    phrases = tuple(p for p in (tuple(words("".join(q))) for q in _QUOTED.findall(text)) if p)
    plain = " ".join(re.sub(r'["“”„«»]', " ", text).split())
    every = list(dict.fromkeys(words(plain)))
    named = {word for inside in _NAMED.findall(plain) for word in words(inside)}
    chosen = [w for w in every if stem(w) not in STOP or w in named] or every
    chosen = chosen[:MOST_WORDS]
    known = frequencies([stem(w) for w in chosen])
    terms = []
    for word in chosen:
        term = stem(word)
        counts_as: tuple[str, ...] = (term,)
        if term not in known and len(word) == 1 and not word.isascii():  # one character of a script without spaces
            counts_as = tuple(t for t in containing(word) if t.startswith(word)) or counts_as
        elif term not in known and len(word) >= 3 and not is_number(word):
            counts_as = tuple(containing(word) or (containing(term) if term != word else ())) or counts_as
        weight = NAMED_WEIGHT if word in named else FRAME_WEIGHT if term in FRAME else 1.0
        terms.append(Term(word, counts_as, weight))
    return Question(plain, tuple(terms), phrases)
