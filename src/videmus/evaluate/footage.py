"""Multiple-choice questions about long footage: asked under several conditions, scored, with what was retrieved for them.

Enters: questions (`egolife`, `video_mme`, `week.questions`), a way to ask them. Leaves: outcomes for `runs.figures`, and
recall at windows. A question that fails, or is answered by no option, is wrong. What a data set tells about where the answer
is reaches scoring alone: a `FootageQuestion` is asked by its text, its options and its time.

Conditions switch tools off (`CONDITIONS`). The pair "captions" and "captions and graph" is the control that the review of
EGAgent asks for: both have the fused captions, only one has the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from videmus.config import Settings
from videmus.errors import VidemusError
from videmus.evaluate.runs import Outcome
from videmus.evaluate.week.questions import Question as WeekQuestion
from videmus.model import Answer, Evidence, Video

LETTERS = "ABCDEFGHIJ"
WINDOWS_S = (10, 30, 60, 120, 600, 3600)
"""EGAgent's windows; a moment is hit by what overlaps half a window before or after it."""

_ALL = {"transcript": True, "screen": True, "frame_search": True, "graph": True, "captions": True, "summaries": True}
_NO_GRAPH = {"graph": False, "sql": False}
CONDITIONS: Mapping[str, Mapping[str, bool]] = {
    "everything": _ALL,
    "captions and graph": {**_ALL, "transcript": False, "screen": False, "frame_search": False, "summaries": False},
    "captions": {**_ALL, **_NO_GRAPH, "transcript": False, "screen": False, "frame_search": False, "summaries": False},
    "everything but the graph": {**_ALL, **_NO_GRAPH},
    "everything but captions": {**_ALL, "captions": False},
    "transcript": {**dict.fromkeys(_ALL, False), **_NO_GRAPH, "transcript": True},
    "frames": {**dict.fromkeys(_ALL, False), **_NO_GRAPH, "frame_search": True},
    "graph": {**dict.fromkeys(_ALL, False), "graph": True},
}


@dataclass(frozen=True, slots=True)
class FootageQuestion:
    """A question with lettered options. `asked_at` and `moments` are clock times; `video` names a file where the data set
    asks about one. `moments` are for scoring alone."""

    id: str
    kind: str
    text: str
    options: tuple[str, ...]
    answer: str
    asked_at: int | None = None
    moments: tuple[int, ...] = ()
    video: str | None = None


Ask = Callable[[FootageQuestion, Settings], Answer]
"""A question and settings (a condition) → an answer: for example
`lambda q, s: agent.answer(replace(parts, settings=s), model, q.text, Scope(recording=…, at=q.asked_at), options=q.options)`."""


def of_week(questions: Iterable[WeekQuestion]) -> list[FootageQuestion]:
    return [
        FootageQuestion(q.id, q.kind, q.text, q.options, q.answer, q.asked_at, tuple(s for s, _ in q.evidence))
        for q in questions
    ]


def condition(settings: Settings, name: str) -> Settings:
    """The settings with the tools that a condition has."""
    return replace(settings, agent=replace(settings.agent, **CONDITIONS[name]))


@dataclass(frozen=True, slots=True)
class Asked:
    """An outcome and the evidence ids that the answer's steps retrieved."""

    outcome: Outcome
    retrieved: tuple[str, ...]


def evaluate(
    questions: Sequence[FootageQuestion], ask: Ask, conditions: Sequence[str], settings: Settings
) -> list[Asked]:
    """Ask every question under every condition. Failures are outcomes too, and wrong."""
    return [_asked(question, name, ask, condition(settings, name)) for name in conditions for question in questions]


def _asked(question: FootageQuestion, name: str, ask: Ask, settings: Settings) -> Asked:
    try:
        answer = ask(question, settings)
    except VidemusError as error:
        return Asked(Outcome(question.id, question.kind, name, 0.0, error=str(error)), ())
    letter = chosen(answer, question.options)
    right = 1.0 if letter == question.answer else 0.0
    retrieved = tuple(dict.fromkeys(id for step in answer.steps for id in step.evidence))
    verdict = f"{letter or 'no option'}, right is {question.answer}"
    return Asked(Outcome(question.id, question.kind, name, right, answer.text, verdict, cost=answer.cost), retrieved)


def chosen(answer: Answer, options: Sequence[str]) -> str:
    """The letter of the option that an answer takes: from the last step's detail, else from the text's beginning, else the
    only option whose words stand in it; "" for none."""
    for step in reversed(answer.steps):
        if "option" in step.detail:
            return str(step.detail["option"])
    letters = LETTERS[: len(options)]
    if match := re.match(rf"\s*\(?([{letters}])[).:\s]", answer.text + " "):
        return match[1]
    text = answer.text.casefold()
    named = [letter for letter, option in zip(letters, options, strict=True) if option.casefold() in text]
    return named[0] if len(named) == 1 else ""


# ---------------------------------------------------------------- where the search looked


@dataclass(frozen=True, slots=True)
class Recall:
    """Moments hit at a window of so many seconds, of all that the questions have; and how much was retrieved a question:
    whoever retrieves everything hits everything."""

    window_s: int
    hit: int
    moments: int
    retrieved_s: float

    @property
    def share(self) -> float:
        return self.hit / self.moments if self.moments else 0.0


def recall_at_windows(
    questions: Sequence[FootageQuestion],
    asked: Sequence[Asked],
    rows: Mapping[str, Evidence],
    videos: Mapping[str, Video],
    windows: Sequence[int] = WINDOWS_S,
) -> list[Recall]:
    """Recall at windows of half before and half after each true moment. `rows` are the retrieved rows by id."""
    by_id = {q.id: q for q in questions}
    spans_of = [(by_id[a.outcome.question], _spans(a.retrieved, rows, videos)) for a in asked]
    seconds = sum(_union_ms(spans) for _, spans in spans_of) / 1000 / max(1, len(spans_of))
    found = []
    for window in windows:
        half = window * 500
        hits = moments = 0
        for question, spans in spans_of:
            for moment in question.moments:
                moments += 1
                hits += any(start < moment + half and end > moment - half for start, end in spans)
        found.append(Recall(window, hits, moments, seconds))
    return found


def _spans(ids: Iterable[str], rows: Mapping[str, Evidence], videos: Mapping[str, Video]) -> list[tuple[int, int]]:
    """The clock spans of rows; rows of videos without a clock time count from 0."""
    found = []
    for id in ids:
        if (row := rows.get(id)) is not None:
            begins = (videos[row.video].recorded_at if row.video in videos else None) or 0
            found.append((begins + row.start_ms, begins + max(row.end_ms, row.start_ms + 1)))
    return found


def _union_ms(spans: Sequence[tuple[int, int]]) -> int:
    total, reached = 0, None
    for start, end in sorted(spans):
        first = start if reached is None else max(start, reached)
        total += max(0, end - first)
        reached = end if reached is None else max(reached, end)
    return total
