"""A conversation: what was asked and answered so far, and what a follow-up question asks when it stands alone.

"And why?" finds nothing: retrieval needs the question that is meant. With a language model one call rewrites it; without one
the words of the question before are added. Knows neither the store nor how answers are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, Field

from videmus.models.language import Data, LanguageModel, Prompt

REPLY_TOKENS = 300
SHORT_WORDS = 4
_POINTING = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|their|he|his|him|she|her|there|then|one|ones|another|former|latter|same|"
    r"er|sie|es|das|dies|il|elle|ils|elles|cela|ça|eso|esto|ello)\b|^\W*(?:and|but|or|so|why|und|aber|warum|et|mais|pourquoi|y|pero)\b"
    r"|[它他她这那其]",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and the text of its answer, as the conversation shows them."""

    question: str
    answer: str


class StandaloneReply(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=1_000)]


def standalone(question: str, history: Sequence[Exchange], model: LanguageModel | None) -> str:
    """The question as it would be asked without the conversation; as it is where it does not lean on it.

    Raises CallError, BudgetError or ReplayError from the model.
    """
    if not history or not leans(question):
        return question
    if model is None:
        return f"{history[-1].question} {question}"
    prompt = Prompt(
        "chat",
        instructions("standalone"),
        (Data("conversation so far", conversation(history)), Data("question", question)),
        max_tokens=REPLY_TOKENS,
    )
    return " ".join(model.ask(prompt, StandaloneReply).value.question.split())


def leans(question: str) -> bool:
    """Whether a question points to what was said before: by its words, or because it is very short."""
    return len(question.split()) < SHORT_WORDS or bool(_POINTING.search(question))


def conversation(history: Sequence[Exchange]) -> str:
    """Exchanges as lines of a dialogue, the oldest first."""
    return "\n".join(f"Question: {e.question}\nAnswer: {e.answer}" for e in history)


@cache
def instructions(name: str) -> str:
    """The text file of this name in prompts/."""
    return resources.files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8")
