"""The words of two made worlds: `first`, which the rules over descriptions were written against, and `second` for tests.

Nothing but people's common given names, plain nouns and everyday verbs; whom they are put together to is invented.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

Person = tuple[str, str, str, str, str]
"""Given name, family name, short form, invented nickname, pronoun."""

Thing = tuple[str, str, str, int, int, bool]
"""Noun, other noun for it, mark, owner's index or -1, home place's index, whether it leaves the house."""

Verb = tuple[str, str]
"""Third person, participle."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Raw words. Places are rooms, then places outside; the last two people share a given name."""

    people: tuple[Person, ...]
    rooms: tuple[str, ...]
    outside: tuple[str, ...]
    things: tuple[Thing, ...]
    use: tuple[Verb, ...]
    take: tuple[Verb, ...]
    put: tuple[Verb, ...]
    give: tuple[Verb, ...]
    talk: tuple[Verb, ...]
    chores: tuple[str, ...]
    goods: tuple[str, ...]


def vocabulary(name: Literal["first", "second"] = "second") -> Vocabulary:
    text = resources.files("videmus.evaluate.week").joinpath(f"words/{name}.toml").read_text("utf-8")
    lists: dict[str, Any] = {
        key: tuple(tuple(x) if isinstance(x, list) else x for x in values)
        for key, values in tomllib.loads(text).items()
    }
    return Vocabulary(**lists)
