"""Which nouns are two words for one sort of thing: one question to a language model for all that a recording names.

Enters: nouns, a language model. Leaves: noun → the noun that stands for its meaning. This is knowledge of the language and
not of the recording, so it is no news at any time of it. Without a model only `naming`'s list of everyday words is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from videmus.graph import naming
from videmus.graph.extract import prompt_text
from videmus.models.language import Data, LanguageModel, Prompt

AT_ONCE = 150
"""Nouns in one question: more make small models skip some."""


class NounGroups(BaseModel):
    """Groups of numbers of nouns with one meaning."""

    groups: list[list[int]]


def same_nouns(names: Iterable[str], model: LanguageModel) -> dict[str, str]:
    """For the head nouns of these names of things and places. Raises CallError where the model gives no answer."""
    heads = sorted({naming.thing(name).head for name in names if naming.folded(name)})
    same: dict[str, str] = {}
    for batch in _batches(heads):
        numbered = "\n".join(f"[{n}] {noun}" for n, noun in enumerate(batch, 1))
        prompt = Prompt("nouns", prompt_text("nouns"), (Data("nouns", numbered),))
        for group in model.ask(prompt, NounGroups).value.groups:
            members = sorted({batch[n - 1] for n in group if 1 <= n <= len(batch)})
            for noun in members[1:]:
                same.setdefault(noun, same.get(members[0], members[0]))
    return same


def _batches(nouns: list[str]) -> Iterator[list[str]]:
    for first in range(0, len(nouns), AT_ONCE):
        yield nouns[first : first + AT_ONCE]
