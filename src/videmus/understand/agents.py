"""The agents of PreMind: what each is told (a text file in prompts/), what it is given, and the type of its reply.

Each function builds one prompt; `slides` decides which are asked, and in which order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, Field

from videmus.models.language import Data, Part, Picture, Prompt
from videmus.understand.check import Lacking
from videmus.understand.material import Material
from videmus.understand.memory import Entry

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Term = Annotated[str, Field(max_length=200)]

KNOWLEDGE_CHARACTERS = 3_000
"""Of earlier concepts given to the vision agent: more distracts (PreMind blames retrieved noise for its losses)."""


class Misheard(BaseModel):
    heard: Term
    meant: Term
    certain: bool


class KeywordsReply(BaseModel):
    keywords: list[Term] = Field(max_length=100)
    misheard: list[Misheard] = Field(default=[], max_length=100)


class VisionReply(BaseModel):
    slide: bool
    figure: bool
    description: Text


class CriticReply(BaseModel):
    complete: bool
    faults: list[Annotated[str, Field(max_length=1_000)]] = Field(default=[], max_length=50)


class Concept(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=120)]
    explanation: Annotated[str, Field(max_length=2_000)]


class ConsolidationReply(BaseModel):
    description: Text
    concepts: list[Concept] = Field(default=[], max_length=40)


def keywords_prompt(material: Material, picture: Picture | None, tokens: int) -> Prompt:
    """Keywords of the slide and misheard terms of its transcript, in one call."""
    parts = [*_recognised(material), Data("transcript", material.transcript or "(nothing is said)"), *_shown(picture)]
    return _prompt("keywords", material, parts, tokens)


def vision_prompt(
    material: Material,
    picture: Picture,
    knowledge: Sequence[Entry],
    tokens: int,
    earlier: str = "",
    faults: Sequence[str] = (),
) -> Prompt:
    """A description of the picture; with `earlier` and its `faults`, a better one."""
    parts: list[Part] = [*_recognised(material), *_known(knowledge)]
    if earlier:
        parts += [Data("earlier description", earlier), Data("what is wrong with it", "\n".join(faults))]
    return _prompt("vision", material, [*parts, picture], tokens)


def critic_prompt(material: Material, picture: Picture, description: str, lack: Lacking, tokens: int) -> Prompt:
    """What is wrong with, or missing from, a description."""
    parts: list[Part] = [Data("description", description)]
    if lack.words or lack.numbers:
        parts.append(Data("recognised on the slide, not in the description", ", ".join([*lack.numbers, *lack.words])))
    return _prompt("critic", material, [*parts, picture], tokens)


def consolidation_prompt(material: Material, vision: str, narration: str, tokens: int) -> Prompt:
    """One text of what was shown and said, and its concepts."""
    parts = [
        Data("title of the slide", material.title or "(none)"),
        Data("description of the slide", vision),
        Data("what was said", narration or "(nothing is said)"),
    ]
    return _prompt("consolidation", material, parts, tokens)


@cache
def instructions(name: str) -> str:
    """An agent's instructions: the text file of its name in prompts/."""
    return resources.files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8")


def _prompt(stage: str, material: Material, parts: Sequence[Part], tokens: int) -> Prompt:
    return Prompt(stage, instructions(stage), tuple(parts), material.segment.video, tokens)


def _recognised(material: Material) -> list[Part]:
    return [Data("recognised text of the slide", "\n".join(material.lines))] if material.lines else []


def _shown(picture: Picture | None) -> list[Part]:
    return [picture] if picture else []


def _known(knowledge: Sequence[Entry]) -> list[Part]:
    lines: list[str] = []
    for entry in knowledge:
        line = f"{entry.names[0]}: {' '.join(entry.explanations)}"
        if sum(map(len, lines)) + len(line) > KNOWLEDGE_CHARACTERS:
            break
        lines.append(line)
    return [Data("knowledge from earlier in this lecture", "\n".join(lines))] if lines else []
