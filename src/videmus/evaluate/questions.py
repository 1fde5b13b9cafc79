"""PreMind's generated questions: two of each of three kinds for each slide, asked against all indexes and each alone.

Questions are made from a slide's vision, narration and consolidated text (PreMind, sections 4.3.3 and A.4.3), answered from
the top 5, judged. Generated questions favour the system that made the texts: compare settings with them, not systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.evaluate.judge import instructions, judged
from videmus.evaluate.runs import Ask, Outcome, Question, outcome
from videmus.model import FACETS, Evidence, content_id
from videmus.models.language import CallError, Data, LanguageModel, Prompt, added, ask_each

KINDS = ("vision", "speech", "consolidated")
EACH = 2
CONDITIONS = ("all", *FACETS)
REPLY_TOKENS = 2_000
TOP = 5


class MadeQuestion(BaseModel):
    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    question: Annotated[str, Field(min_length=1, max_length=1_000)]
    answer: Annotated[str, Field(min_length=1, max_length=2_000)]


class MadeQuestions(BaseModel):
    questions: list[MadeQuestion] = Field(max_length=60)


def generated(
    rows: Sequence[Evidence], model: LanguageModel, on_problem: Callable[[str], None] = lambda text: None
) -> Iterator[Question]:
    """Questions about every slide that has a consolidated text, at most two of a kind, in order of time.

    A slide that has none, and a video without slide texts, is told to `on_problem` with the reason.
    """
    slides: dict[str, dict[str, Evidence]] = {}
    for row in sorted(rows, key=lambda r: (r.start_ms, r.id)):
        if row.segment and row.kind in ("vision", "narration", "consolidated"):
            slides.setdefault(row.segment, {})[row.kind] = row
    complete = [texts for texts in slides.values() if "consolidated" in texts]
    if not complete:
        on_problem("it has no slides with a text that joins picture and speech, and questions are made from those")
    for texts, reply in ask_each(model, ((t, _prompt(t)) for t in complete), MadeQuestions):
        whole = texts["consolidated"]
        if isinstance(reply, CallError):
            on_problem(f"no questions about the slide at {clock.format_time(whole.start_ms)}: {reply.what}")
            continue
        counts = dict.fromkeys(KINDS, 0)
        for made in reply.value.questions:
            if made.kind in counts and counts[made.kind] < EACH:
                counts[made.kind] += 1
                id = content_id("q", whole.video, whole.segment, made.kind, made.question)
                yield Question(id, made.question, made.answer, made.kind, whole.video, whole.start_ms, whole.end_ms)
        if not any(counts.values()):
            at = clock.format_time(whole.start_ms)
            on_problem(f"no questions about the slide at {at}: the model's reply holds none of the three kinds")


def evaluated(
    questions: Sequence[Question],
    ask: Ask,
    judge: LanguageModel,
    conditions: Sequence[str] = CONDITIONS,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Every question under every condition: "all" indexes, or one facet alone. What fails counts as wrong."""
    outcomes = []
    for condition in conditions:
        scope: dict[str, object] = {"limit": TOP} | ({} if condition == "all" else {"facet": condition})
        for question in questions:

            def made(
                question: Question = question, scope: dict[str, object] = scope, condition: str = condition
            ) -> Outcome:
                answer = ask(question.question, scope)
                judgement, cost = judged(question, answer.text if answer.sentences else "", judge)
                correct, spent = float(judgement.right), added(answer.cost, cost)
                return Outcome(
                    question.id, question.kind, condition, correct, answer.text, judgement.verdict, cost=spent
                )

            outcomes.append(outcome(question, condition, made))
            on_outcome(outcomes[-1])
    return outcomes


def _prompt(texts: dict[str, Evidence]) -> Prompt:
    def text(kind: str) -> str:
        return texts[kind].text if kind in texts else "(nothing)"

    parts = (
        Data("what the slide shows", text("vision")),
        Data("what was said", text("narration")),
        Data("both together", text("consolidated")),
    )
    return Prompt("questions", instructions("questions"), parts, texts["consolidated"].video, REPLY_TOKENS)
