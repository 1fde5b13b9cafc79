"""Video-MME (Fu et al. 2024): multiple-choice questions about single videos, short, medium and long.

Enters: the published questions as JSON, JSON lines, or the list that `datasets` exports. Leaves: `footage.FootageQuestion`s
whose `video` is the id that files are named by (the part of the address that YouTube uses). There are no times of asking.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from videmus.errors import UsageError
from videmus.evaluate.footage import FootageQuestion

_LETTERED = re.compile(r"^\s*\(?[A-D][).:]\s*")


def read(file: Path, duration: str | None = None) -> list[FootageQuestion]:
    """The questions, of one duration ("short", "medium", "long") or all; their kind is the task.

    Raises UsageError naming the record that is none.
    """
    try:
        text = file.read_text("utf-8")
        records = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(x) for x in text.splitlines() if x.strip()]
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read Video-MME: {error}", where=str(file), next="give JSON or JSON lines") from error
    found = []
    for number, record in enumerate(records, 1):
        for entry in _with_questions(record):
            if duration is None or entry.get("duration") == duration:
                found.append(_question(entry, f"{file}, record {number}"))
    return found


def _with_questions(record: Any) -> list[dict[str, Any]]:
    """One entry for each question, also where a record holds a video with its list of questions."""
    if not isinstance(record, dict):
        return [{}]
    nested = record.get("questions")
    if isinstance(nested, list):
        head = {k: v for k, v in record.items() if k != "questions"}
        return [{**head, **q} for q in nested if isinstance(q, dict)]
    return [record]


def _question(entry: dict[str, Any], where: str) -> FootageQuestion:
    try:
        answer = str(entry["answer"]).strip().upper()[:1]
        options = tuple(_LETTERED.sub("", str(option)) for option in entry["options"])
        question = FootageQuestion(
            str(entry["question_id"]), str(entry.get("task_type", "")), str(entry["question"]), options, answer,
            video=str(entry.get("videoID") or entry["video_id"]),
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise UsageError(f"this record has no {error}", where=where, next="give the published questions") from error
    if not answer or answer not in "ABCD"[: len(options)]:
        raise UsageError(f"the answer {entry['answer']!r} is no letter of an option", where=where)
    return question
