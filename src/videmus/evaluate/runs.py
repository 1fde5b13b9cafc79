"""Evaluation questions, what was answered, and the file of a run, which says what made it.

Enters and leaves: JSON lines of questions; one JSON document a run: program, settings, models, the questions' digest, cost,
every answer with its verdict, and the figures with their intervals. A question that failed is in it, and counts as wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from videmus import __version__
from videmus.config import Settings
from videmus.errors import UsageError, VidemusError
from videmus.evaluate import retrieval
from videmus.model import Answer, Cost, Moment, to_plain
from videmus.models.language import total

Ask = Callable[[str, Mapping[str, Any]], Answer]
"""A question and scope arguments → an answer: `lambda q, scope: library.ask(q, **scope)`."""

Find = Callable[[str, Mapping[str, Any]], Sequence[Moment]]
"""A question and scope arguments → ranked moments: `lambda q, scope: library.search(q, **scope)`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its true answer, what kind it is, and where in which video the answer is (a time window)."""

    id: str
    question: str
    answer: str
    kind: str = ""
    video: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one condition. `correct` is 0 to 1; `error` says why a question failed (then it is 0)."""

    question: str
    kind: str
    condition: str
    correct: float
    answer: str = ""
    verdict: str = ""
    retrieved: bool | None = None
    error: str | None = None
    cost: Cost = field(default_factory=Cost)


def outcome(question: Question, condition: str, made: Callable[[], Outcome]) -> Outcome:
    """`made()`, and where it fails a wrong outcome with the reason. Only errors that a person may meet are caught."""
    try:
        return made()
    except VidemusError as error:
        return Outcome(question.id, question.kind, condition, 0.0, error=str(error))


def hit(question: Question, moments: Iterable[Moment]) -> bool:
    """Whether any moment shows the question's window in its video; without a window, whether one is in its video."""
    for moment in moments:
        if question.video is not None and moment.video != question.video:
            continue
        if question.start_ms is None or question.end_ms is None:
            return question.video is not None
        found = retrieval.Found(moment.video, moment.start_ms, moment.end_ms)
        if retrieval.hit([(question.start_ms, question.end_ms)], found):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean of `n` values between 0 and 1 and its 95 % bootstrap interval; no values: 0, and nothing known."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % ({100 * self.low:.1f}–{100 * self.high:.1f}, n = {self.n})"


def interval(values: Sequence[float]) -> Interval:
    if not values:
        return Interval(0.0, 0.0, 1.0, 0)
    low, high = retrieval.interval(values)
    return Interval(sum(values) / len(values), low, high, len(values))


def figures(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Interval]]:
    """{condition: {kind: interval}}, with "all" (every question counts once) and "macro" (every kind counts the same)."""
    table: dict[str, dict[str, Interval]] = {}
    for condition in dict.fromkeys(o.condition for o in outcomes):
        inside = [o for o in outcomes if o.condition == condition]
        kinds = {kind: [o.correct for o in inside if o.kind == kind] for kind in dict.fromkeys(o.kind for o in inside)}
        row = {kind: interval(values) for kind, values in kinds.items() if kind}
        row["all"] = interval([o.correct for o in inside])
        if len(row) > 2:
            macro = sum(i.mean for k, i in row.items() if k != "all") / (len(row) - 1)
            row["macro"] = Interval(macro, macro, macro, len(inside))
        table[condition] = row
    return table


def write_run(
    file: Path, name: str, questions: Sequence[object], outcomes: Sequence[Outcome], settings: Settings, **more: Any
) -> dict[str, Any]:
    """Write the run's document and return it. `more` is what else made it (a seed, k, the command)."""
    plain = [to_plain(q) for q in questions]
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    document = {
        "videmus_evaluation": 1,
        "name": name,
        "videmus": __version__,
        "settings": to_plain(settings),
        "made_with": more,
        "questions": {"count": len(questions), "sha256": digest},
        "figures": {c: {k: to_plain(i) for k, i in row.items()} for c, row in figures(outcomes).items()},
        "failed": sum(o.error is not None for o in outcomes),
        "cost": to_plain(total(o.cost for o in outcomes)),
        "outcomes": [to_plain(o) for o in outcomes],
    }
    file.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return document


def read_questions(file: Path) -> list[Question]:
    """Questions from JSON lines. Raises UsageError naming the line that is none."""
    found = []
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the questions: {error}", where=str(file), next="check the path") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            entry["options"] = tuple(entry.get("options", ()))
            found.append(Question(**entry))
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f"this is no question: {error}",
                where=f"{file}, line {number}",
                next='write {"id": "…", "question": "…", "answer": "…", "kind": "…", "video": "…"}',
            ) from None
    return found


def write_questions(file: Path, questions: Iterable[Question]) -> None:
    file.write_text("".join(json.dumps(to_plain(q), ensure_ascii=False) + "\n" for q in questions), "utf-8")
