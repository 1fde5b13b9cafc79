"""How well moments are found and answers refused: recall, seconds, areas under the curve, intervals.

Enters: questions with the moments that answer them, ranked results. Leaves: figures. The measures of `score` are those by
which the project's bars are set: a result is a hit when it shares with the true moment at least half of the shorter of
the two, and at least 2 s or half of the true moment.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videmus.errors import UsageError
from videmus.model import Evidence, EvidenceKind, Origin, Video, content_id, evidence_id

INSTANT_MS = 2_000
"""A true moment shorter than this counts as this long, round its middle; also the least that a hit shares."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one video and one moment that answers it."""

    id: str
    video: str
    question: str
    start_ms: int
    end_ms: int
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A result: a span of a video, named as in the questions."""

    video: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of questions whose moment is first, among the first five; `seconds` is the mean length of those five."""

    questions: int
    recall_1: float
    recall_5: float
    mrr: float
    seconds: float


def read_questions(file: Path) -> list[Asked]:
    """One {"id", "video", "question", "start_ms", "end_ms", "answer"?} a line. Raises UsageError for another shape."""
    asked = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            asked.append(
                Asked(
                    str(row["id"]),
                    str(row["video"]),
                    str(row["question"]),
                    int(row["start_ms"]),
                    int(row["end_ms"]),
                    str(row.get("answer", "")),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"not a question: {error}", where=f"{file}, line {number}") from error
    return asked


def read_bundle(file: Path) -> tuple[Video, list[Evidence]]:
    """The least evidence file: {"title", "duration_ms", "speech": [...], "screen": [...], "scene": [...]}."""
    plain: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    video = Video(
        content_id("v", file.name, plain),
        content_id("", plain),
        str(plain["title"]),
        int(plain["duration_ms"]),
        file.name,
    )
    rows: dict[str, Evidence] = {}
    kinds: tuple[EvidenceKind, ...] = ("speech", "screen", "scene")
    for kind in kinds:
        for row in plain.get(kind, []):
            start, end, text, speaker = int(row["start_ms"]), int(row["end_ms"]), str(row["text"]), row.get("speaker")
            id = evidence_id(video.id, kind, start, end, text, speaker)
            rows[id] = Evidence(id, video.id, start, end, kind, text, Origin("bundle"), speaker)
    return video, list(rows.values())


def hit(moments: Iterable[tuple[int, int]], result: Found) -> bool:
    """Whether the result shows one of the true moments of its video."""
    for start, end in moments:
        if end - start < INSTANT_MS:
            middle = (start + end) // 2
            start, end = middle - INSTANT_MS // 2, middle + INSTANT_MS // 2
        shared = min(result.end_ms, end) - max(result.start_ms, start)
        true, found = end - start, result.end_ms - result.start_ms
        if shared > 0 and shared >= 0.5 * min(true, found) and shared >= min(INSTANT_MS, 0.5 * true):
            return True
    return False


def ranks(
    asked: Sequence[Asked], results: Mapping[str, Sequence[Found]], among: Sequence[Asked] = ()
) -> list[int | None]:
    """For each question the position of the first hit, from 0. Where one question is asked of several moments of a
    video, each is right; `among` are all questions of the set where `asked` is a sample."""
    moments: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for one in among or asked:
        moments[one.video, one.question.strip().lower()].append((one.start_ms, one.end_ms))
    return [
        next(
            (
                k
                for k, found in enumerate(results.get(one.id, ()))
                if found.video == one.video and hit(moments[one.video, one.question.strip().lower()], found)
            ),
            None,
        )
        for one in asked
    ]


def score(asked: Sequence[Asked], results: Mapping[str, Sequence[Found]], among: Sequence[Asked] = ()) -> Score:
    """The figures of one set. A question without results is a miss. Raises UsageError for no questions."""
    if not asked:
        raise UsageError("no questions to score")
    found = ranks(asked, results, among)
    seconds = [sum(r.end_ms - r.start_ms for r in results.get(one.id, ())[:5]) / 1000 for one in asked]
    n = len(asked)
    return Score(
        n,
        sum(r == 0 for r in found) / n,
        sum(r is not None and r < 5 for r in found) / n,
        sum(1 / (r + 1) for r in found if r is not None) / n,
        sum(seconds) / n,
    )


def area_under_curve(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The share of pairs in which the right one has the higher confidence, ties counted half (Mann and Whitney 1947)."""
    if not right or not wrong:
        raise UsageError("both answerable and unanswerable questions are needed")
    order = sorted([(v, 1) for v in right] + [(v, 0) for v in wrong])
    below = ties_right = ties_wrong = 0
    area = 0.0
    for k, (value, is_right) in enumerate(order):
        ties_right += is_right
        ties_wrong += 1 - is_right
        if k + 1 == len(order) or order[k + 1][0] != value:
            area += ties_right * (below + ties_wrong / 2)
            below += ties_wrong
            ties_right = ties_wrong = 0
    return area / (len(right) * len(wrong))


def interval(
    values: Sequence[float],
    measure: Callable[[Sequence[float]], float] = lambda v: sum(v) / len(v),
    *,
    rounds: int = 1000,
    share: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """The bootstrap interval of a measure (percentiles of resamples; Efron 1979). Raises UsageError for no values."""
    if not values:
        raise UsageError("no values")
    draw = random.Random(seed)
    drawn = sorted(measure(draw.choices(values, k=len(values))) for _ in range(rounds))
    cut = (1 - share) / 2
    return drawn[int(cut * rounds)], drawn[min(rounds - 1, int((1 - cut) * rounds))]
