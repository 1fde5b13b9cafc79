"""The lecture RAG's evaluation: questions of seven kinds, each with the time window where the lecture answers it.

Always three conditions: the model without context, retrieval from the whole library (or course), retrieval filtered to the
lecture. The model alone is strong on well-known subjects (63 % on one course), so a figure without it says little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from videmus.errors import UsageError
from videmus.evaluate.judge import instructions, judged
from videmus.evaluate.runs import Ask, Find, Outcome, Question, hit, outcome
from videmus.models.language import Data, LanguageModel, Prompt, added

KINDS = ("text", "images", "tables", "charts", "complex layouts", "motion", "audio")
CONDITIONS = ("no-context", "global", "filtered")
REPLY_TOKENS = 500


class PlainReply(BaseModel):
    answer: Annotated[str, Field(min_length=1, max_length=4_000)]


def evaluated(
    questions: Sequence[Question],
    ask: Ask,
    find: Find,
    model: LanguageModel | None,
    judge: LanguageModel,
    conditions: Sequence[str] = CONDITIONS,
    collection: str | None = None,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Every question under every condition; whether the window was retrieved is told beside. What fails counts as wrong.

    `model` answers without context; None leaves that condition out. Raises UsageError for a kind that is none of the seven.
    """
    for question in questions:
        if question.kind not in KINDS:
            raise UsageError(f"unknown kind {question.kind!r}", where=question.id, next=f"one of {', '.join(KINDS)}")
    wide: dict[str, Any] = {"collection": collection} if collection else {}
    outcomes = []
    for condition in conditions:
        for question in questions:
            if condition == "no-context" and model is None:
                continue

            def made(question: Question = question, condition: str = condition) -> Outcome:
                if condition == "no-context" and model:
                    return _alone(question, model, judge)
                scope = {"video": question.video} if condition == "filtered" else wide
                answer = ask(question.question, scope)
                judgement, cost = judged(question, answer.text if answer.sentences else "", judge)
                return Outcome(
                    question.id,
                    question.kind,
                    condition,
                    float(judgement.right),
                    answer.text,
                    judgement.verdict,
                    hit(question, find(question.question, scope)),
                    cost=added(answer.cost, cost),
                )

            outcomes.append(outcome(question, condition, made))
            on_outcome(outcomes[-1])
    return outcomes


def _alone(question: Question, model: LanguageModel, judge: LanguageModel) -> Outcome:
    prompt = Prompt(
        "no-context", instructions("no_context"), (Data("question", question.question),), max_tokens=REPLY_TOKENS
    )
    reply = model.ask(prompt, PlainReply)
    judgement, cost = judged(question, reply.value.answer, judge)
    return Outcome(
        question.id,
        question.kind,
        "no-context",
        float(judgement.right),
        reply.value.answer,
        judgement.verdict,
        cost=added(reply.cost, cost),
    )
