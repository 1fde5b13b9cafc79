"""Questions in languages that the embedding model was not trained for: told by their small words, asked by the others.

Enters: a question, an embedder, a store. Leaves: the question as it can be looked up by words alone, and what to say of it.
An English model's cosines of German to German tell that both are German, and little else: they would answer anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from videmus.models.text_embedding import TextEmbedder, suits
from videmus.segment.passages import UNSPACED
from videmus.store.protocol import Store
from videmus.store.words import fold, is_number, stem, words

CODES = {
    "English": "en", "German": "de", "French": "fr", "Spanish": "es", "Italian": "it", "Portuguese": "pt", "Dutch": "nl",
    "Chinese": "zh",
}  # fmt: skip
ENDING = 3
SHORTEST = 4
"""A word that no row holds is looked up by its beginning, up to so many letters shorter, no shorter than so many: most
inflections of a language without a stemmer (truncation, McNamee and Mayfield 2004)."""

_NAMES = re.compile(r"(?<=\s)[A-Z]\S*[a-z]\S*")
"""Capitalised inside a sentence: "Van Der Berg" tells nothing of the language."""

_ENGLISH_TOO = frozenset(
    ("die", "man", "war", "hat", "den", "son", "pour", "van", "come", "sin", "door", "met", "was", "does")
)


@dataclass(frozen=True, slots=True)
class ByWords:
    """A question without the words that only ask, and why it is looked up by words alone."""

    text: str
    notice: str


def by_words(question: str, embedder: TextEmbedder | None, store: Store) -> ByWords | None:
    """How a question is asked whose language the embedding model does not know; None where it knows it."""
    language = language_of(question)
    if language is None or language == "English":
        return None
    if embedder is not None and suits(embedder, CODES[language], question):
        return None
    name = embedder.name if embedder else "no model"
    notice = f"found by words alone: {name} does not know {language}" if embedder else "found by words alone"
    return ByWords(_content(question, language, store), notice)


def language_of(question: str) -> str | None:
    """The language that most of a question's small words belong to, English where it is as many; None where too few tell:
    one alone must begin the question."""
    if UNSPACED.search(question):
        return "Chinese" if any(w in question for w in _asking()["Chinese"]) else None
    every = words(_NAMES.sub(" ", question))
    typed = set(every)
    counts = {name: len(typed & known) for name, known in _asking().items() if name != "Chinese"}
    best = max(counts, key=lambda name: (counts[name], name == "English"))
    telling = counts[best] > 1 or (counts[best] and every[0] in _asking()[best] - _ENGLISH_TOO and len(every[0]) > 2)
    return best if telling else None


def _content(question: str, language: str, store: Store) -> str:
    """The words that say what is asked, those that no row holds cut to a beginning that one does."""
    if language == "Chinese":
        for small in sorted(_asking()["Chinese"], key=len, reverse=True):
            question = question.replace(small, " ")
        return " ".join(question.split()) or question
    small_words = _asking()[language]
    kept = [w for w in words(question) if w not in small_words]
    known = store.frequencies([stem(w) for w in kept])[1]
    return " ".join(w if stem(w) in known or is_number(w) else _beginning(w, store) for w in kept) or question


def _beginning(word: str, store: Store) -> str:
    if store.containing(word):
        return word
    for length in range(len(word) - 1, max(SHORTEST, len(word) - ENDING) - 1, -1):
        if any(term.startswith(word[:length]) for term in store.containing(word[:length])):
            return word[:length]
    return word


@cache
def _asking() -> dict[str, frozenset[str]]:
    text = resources.files(__package__).joinpath("data", "asking_words.txt").read_text("utf-8")
    lines = [line.partition(":") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {name: frozenset(fold(w) if name != "Chinese" else w for w in listed.split()) for name, _, listed in lines}
