"""Goldfish's evaluation: is the right clip among the top k, and is the answer right, for the same questions.

Answer accuracy follows retrieval accuracy almost linearly there, so both stand side by side. Questions with options are
answered by choosing one (an answer that supports none is wrong); open ones are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, Field

from videmus.errors import UsageError
from videmus.evaluate.judge import instructions, judged
from videmus.evaluate.runs import Ask, Find, Outcome, Question, hit, outcome
from videmus.model import Cost
from videmus.models.language import Data, LanguageModel, Prompt, added

TOP = 3
"""Clips that Goldfish reads."""


class Choice(BaseModel):
    option: int = Field(ge=0, le=100)


def evaluated(
    questions: Sequence[Question],
    ask: Ask,
    find: Find,
    judge: LanguageModel,
    top: int = TOP,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Two outcomes a question, conditions "retrieval" and "answer". What fails counts as wrong."""
    outcomes: list[Outcome] = []
    for question in questions:
        scope: dict[str, object] = {"limit": top} | ({"video": question.video} if question.video else {})

        def retrieved(question: Question = question, scope: dict[str, object] = scope) -> Outcome:
            found = hit(question, list(find(question.question, scope))[:top])
            return Outcome(question.id, question.kind, "retrieval", float(found), retrieved=found)

        def answered(question: Question = question, scope: dict[str, object] = scope) -> Outcome:
            answer = ask(question.question, scope)
            text = answer.text if answer.sentences else ""
            right, verdict, cost = (_chosen if question.options else _open)(question, text, judge)
            spent = added(answer.cost, cost)
            return Outcome(question.id, question.kind, "answer", float(right), answer.text, verdict, cost=spent)

        outcomes += [outcome(question, "retrieval", retrieved), outcome(question, "answer", answered)]
        on_outcome(outcomes[-1])
    return outcomes


def _open(question: Question, text: str, judge: LanguageModel) -> tuple[bool, str, Cost]:
    judgement, cost = judged(question, text, judge)
    return judgement.right, f"{judgement.verdict}, {judgement.score}", cost


def _chosen(question: Question, text: str, judge: LanguageModel) -> tuple[bool, str, Cost]:
    """Whether the option that the answer supports is the true one, which `answer` gives by its text or number from 1."""
    if not text:
        return False, "no answer", Cost()
    options = "\n".join(f"{n}. {option}" for n, option in enumerate(question.options, 1))
    parts = (Data("question", question.question), Data("options", options), Data("answer", text))
    reply = judge.ask(Prompt("options", instructions("options"), parts, question.video, 100), Choice)
    return reply.value.option == _true_option(question), f"option {reply.value.option}", reply.cost


def _true_option(question: Question) -> int:
    if question.answer in question.options:
        return question.options.index(question.answer) + 1
    if question.answer.isdecimal() and 1 <= int(question.answer) <= len(question.options):
        return int(question.answer)
    raise UsageError("its answer is none of its options", where=question.id, next="give an option's text or number")
