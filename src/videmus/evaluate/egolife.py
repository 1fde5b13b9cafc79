"""EgoLifeQA (Yang et al. 2025, EgoLife): 500 questions of five kinds about a week, each asked at a time of it.

Enters: `EgoLifeQA_A1_JAKE.json` as published. Leaves: `footage.FootageQuestion`s. Clock times are DAYn and HHMMSSFF with 20
frames a second; files that count centiseconds are read so when asked. The fields `keywords`, `trigger` and `reason` tell
the answer's way and are not read; `target_time` is for scoring alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from videmus import clock
from videmus.errors import UsageError
from videmus.evaluate.footage import FootageQuestion

KINDS = ("EntityLog", "EventRecall", "HabitInsight", "RelationMap", "TaskMaster")
_FOUND = re.compile(r"DAY\s*(\d+)|(\d{7,8})", re.IGNORECASE)


def read(file: Path, digits: clock.Digits = "frames") -> list[FootageQuestion]:
    """The questions of a file. Raises UsageError naming the record that is none."""
    try:
        records = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot read EgoLifeQA: {error}", where=str(file), next="give the published JSON file"
        ) from error
    if not isinstance(records, list):
        raise UsageError("EgoLifeQA is a list of questions", where=str(file), next="give the published JSON file")
    return [_question(record, digits, f"{file}, record {n}") for n, record in enumerate(records, 1)]


def _question(record: Any, digits: clock.Digits, where: str) -> FootageQuestion:
    try:
        asked = record["query_time"]
        answer = str(record["answer"]).strip().upper()[:1]
        question = FootageQuestion(
            str(record["ID"]),
            str(record["type"]),
            str(record["question"]),
            tuple(str(record[f"choice_{letter}"]) for letter in "abcd"),
            answer,
            clock.parse_clock(f"{asked['date']} {_padded(asked['time'])}", digits=digits),
            tuple(moments(record.get("target_time"), digits)),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"this record has no {error}", where=where, next="give the published JSON file") from error
    except UsageError as error:
        raise UsageError(error.what, where=where, next=error.next) from error
    if answer not in "ABCD" or not answer:
        raise UsageError(f"the answer {record['answer']!r} is no letter from A to D", where=where)
    return question


def moments(target: Any, digits: clock.Digits) -> Iterator[int]:
    """The true moments: {"date", "time"}, {"date", "time_list"}, or text with several days and times in it.

    Days that stand together go with the times behind them one by one; a single day goes with all of them. Raises UsageError
    where several days and their times do not pair.
    """
    days: list[str] = []
    times: list[str] = []
    for match in _FOUND.finditer(_flat(target)):
        if match[1] and times:
            yield from _paired(days, times, digits)
            days, times = [], []
        (days if match[1] else times).append(match[1] or match[2])
    yield from _paired(days, times, digits)


def _paired(days: list[str], times: list[str], digits: clock.Digits) -> Iterator[int]:
    if len(days) == 1:
        days = days * len(times)
    if days and times and len(days) != len(times):
        raise UsageError(f"it names {len(days)} days and {len(times)} times", next="give each day its time")
    for day, time in zip(days, times, strict=False):
        yield clock.parse_clock(f"DAY{day} {time}", digits=digits)


def _flat(target: Any) -> str:
    """Date before times, whatever their order in the record."""
    if isinstance(target, dict):
        return f"{_flat(target.get('date'))} {_flat(target.get('time_list', target.get('time')))}"
    if isinstance(target, (list, tuple)):
        return " ".join(_flat(part) for part in target)
    return _padded(target) if isinstance(target, int) else str(target or "")


def _padded(time: Any) -> str:
    return str(time).zfill(8) if str(time).isdigit() else str(time)
