"""Judging answers by a language model: typed verdicts, at temperature 0; an answer that cannot be judged is an error, not right.

PreMind's three verdicts (correct, wrong, correct with additional information) and Goldfish's yes or no with a score of 0
to 5 are one call here. The prompts are ours.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, Field

from videmus.evaluate.runs import Question
from videmus.model import Cost
from videmus.models.language import Data, LanguageModel, Prompt

REPLY_TOKENS = 300


class Judgement(BaseModel):
    verdict: Literal["correct", "additional", "wrong"]
    score: int = Field(ge=0, le=5)
    reason: str = Field(default="", max_length=1_000)

    @property
    def right(self) -> bool:
        return self.verdict != "wrong"


def judged(question: Question, answer: str, judge: LanguageModel) -> tuple[Judgement, Cost]:
    """The verdict on an answer, and what it cost. An empty answer is wrong without a call.

    Raises CallError, BudgetError or ReplayError.
    """
    if not answer.strip():
        return Judgement(verdict="wrong", score=0, reason="no answer"), Cost()
    parts = (Data("question", question.question), Data("true answer", question.answer), Data("answer to judge", answer))
    reply = judge.ask(Prompt("judge", instructions("judge"), parts, question.video, REPLY_TOKENS), Judgement)
    return reply.value, reply.cost


@cache
def instructions(name: str) -> str:
    """The text file of this name in prompts/."""
    return resources.files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8")
