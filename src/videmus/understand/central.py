"""The sentences that say best what a text is about, each unlike those already taken.

Enters: rows, the words of the whole with their weights. Leaves: sentences with their evidence. A sentence's score is its
cosine to the centroid (Radev et al. 2004) by what its form is worth (cue words, Edmundson 1969), less its likeness to what was
taken (maximal marginal relevance, Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from videmus.model import Evidence
from videmus.segment.passages import sentence_spans, spans
from videmus.segment.sentences import ENDED, Whole, whole_sentences
from videmus.understand.terms import content_words

LONGEST_SENTENCE = 320
SHORTEST_SENTENCE = 30
RELEVANCE = 0.7
"""Of the score what is said weighs so much, that it is new the rest (the value of the paper's examples)."""

FEW_WORDS = 5
ASKS, LEANS, UNENDED, HOUSEKEEPING, SHORT, CUED = 0.2, 0.7, 0.6, 0.4, 0.6, 1.2
"""What a sentence's form is worth (ours): a question, one that points back, a fragment, one about the talk's own course and
one of few words say little; one that announces or concludes says more."""

_HOUSEKEEPING = re.compile(
    r"\b(?:welcome|thank(?:s| you)|donat\w+|your support|subscribe|homework|next (?:slide|time|week|lecture|class)"
    r"|last (?:class|time|week|lecture)|(?:come|get|go|now) back to|keep .{0,20}in mind|as you (?:can )?see|you see here"
    r"|looks? (?:at|alike)|good (?:morning|afternoon)|excuse me|any questions|in the following order|please refer|let me|let's"
    r"|we'?ll talk)\b",
    re.I,
)
_CUED = re.compile(
    r"\b(?:today (?:i|we)|in this (?:talk|lecture|video|paper|work)|we (?:show|present|propose|found|find|conclude|verified)"
    r"|we revealed|most important|important(?:ly)?|key (?:point|idea)|main (?:point|idea|result)|the (?:goal|purpose|point|idea) "
    r"|the result |in (?:summary|short|conclusion)|to (?:summari[sz]e|conclude)|therefore|conclusion)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence, the rows that it stands in, when it begins, its words, and what its form is worth."""

    text: str
    ids: tuple[str, ...]
    start_ms: int
    words: Counter[str]
    worth: float


def candidates(rows: Sequence[Evidence]) -> list[Candidate]:
    """The sentences of rows that hold a word with a subject: of speech whole ones, of other rows those within a row."""
    said = whole_sentences(rows)
    marked = sum(s.ended for s in said) >= len(said) / 2
    found = [
        Candidate(
            text, tuple(p.row.id for p in s.places), s.row.start_ms, Counter(content_words(text)), _worth(s, marked)
        )
        for s in said
        for text in [s.text]
    ]
    for row in rows:
        if row.kind == "speech":
            continue
        for first, last in sentence_spans(row.text):
            sentence = row.text[first:last]
            short = len(sentence) <= LONGEST_SENTENCE
            for a, b in [(0, len(sentence))] if short else spans(sentence):  # speech without marks
                text = sentence[a:b].strip()
                found.append(Candidate(text, (row.id,), row.start_ms, Counter(content_words(text)), 1.0))
    return [c for c in found if c.words]


def _worth(sentence: Whole, marked: bool) -> float:
    text = sentence.text
    worth = 1.0
    for factor, holds in (
        (ASKS, sentence.asks),
        (LEANS, sentence.leans),
        (UNENDED, marked and not ENDED.search(text)),
        (UNENDED, marked and text[:1].islower()),
        (HOUSEKEEPING, bool(_HOUSEKEEPING.search(text))),
        (SHORT, len(set(content_words(text))) < FEW_WORDS),
        (CUED, bool(_CUED.search(text))),
    ):
        worth *= factor if holds else 1.0
    return worth


def central(
    found: Sequence[Candidate], theme: dict[str, float], weight: dict[str, float], count: int
) -> list[Candidate]:
    """So many sentences nearest to the theme, in order of time; too short and too long ones only where there are no others."""
    fits = [c for c in found if SHORTEST_SENTENCE <= len(c.text) <= LONGEST_SENTENCE] or list(found)
    left = [(c, weighted(c.words, weight)) for c in fits]
    relevant = {id(c): RELEVANCE * c.worth * cosine(vector, theme) for c, vector in left}
    taken: list[tuple[Candidate, dict[str, float]]] = []
    while left and len(taken) < count:
        scores = [
            relevant[id(c)] - (1 - RELEVANCE) * max((cosine(vector, other) for _, other in taken), default=0.0)
            for c, vector in left
        ]
        best = max(range(len(left)), key=lambda k: (scores[k], -left[k][0].start_ms))
        taken.append(left.pop(best))
    return sorted((c for c, _ in taken), key=lambda c: (c.start_ms, c.ids))


def weighted(bag: Counter[str], weight: dict[str, float]) -> dict[str, float]:
    """Counts, dampened, times the words' weights."""
    return {word: (1 + math.log(n)) * weight.get(word, 1.0) for word, n in bag.items()}


def cosine(first: dict[str, float], second: dict[str, float]) -> float:
    """The cosine of two bags of weighted words."""
    if len(first) > len(second):
        first, second = second, first
    shared = sum(value * second[word] for word, value in first.items() if word in second)
    lengths = math.sqrt(sum(v * v for v in first.values()) * sum(v * v for v in second.values()))
    return shared / lengths if lengths else 0.0
