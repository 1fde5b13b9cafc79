"""What a person types, and what it means: the name of a video, a time inside it, a file to write, one of a few words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from videmus import clock
from videmus.errors import AmbiguousError, NotFoundError, UsageError
from videmus.model import Video

T = TypeVar("T")

PART_OF_A_TITLE = 3
"""Fewer letters of a title name no video: they stand in too many."""

Times = int | str | None
"""A time inside a video: milliseconds as an int, or as people type it: "754" (seconds), "12:34", "1:02:03", "12m34s"."""

Clock = int | str | datetime | None
"""A wall-clock time: milliseconds (see `model`), a datetime, or one of `clock`'s written forms."""


def named(videos: Sequence[Video], name: str) -> Video:
    """The one video of this title, file name, unique prefix of an id, or part of a title (3 letters or more).

    Raises NotFoundError, or AmbiguousError when several fit (`where` lists them).
    """
    folded = name.casefold().strip()
    fitting = [v for v in videos if v.title.casefold() == folded]
    fitting = fitting or [v for v in videos if Path(v.source).name.casefold() == folded]
    fitting = fitting or [v for v in videos if folded and v.id.startswith(folded)]
    fitting = fitting or [v for v in videos if len(folded) >= PART_OF_A_TITLE and folded in v.title.casefold()]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise NotFoundError("no video of that id or title", where=name, next="`videmus list` shows all")
    listed = "; ".join(f"{v.id} {v.title}" for v in fitting)
    raise AmbiguousError(f"{len(fitting)} videos fit {name!r}", where=listed, next="use an id")


def worded(text: str, what: str, example: str) -> None:
    """Raises UsageError where a search or a question has no text."""
    if not text.strip():
        raise UsageError(f"the {what} is empty", next=example)


def milliseconds(value: Times) -> int | None:
    """A time inside a video as milliseconds; raises UsageError for text that is no time."""
    return clock.parse_time(value) if isinstance(value, str) else value


def wall_clock(value: Clock, videos: Sequence[Video], first_day: int | None) -> int | None:
    """A clock time of these videos as milliseconds; `first_day` is any time on the first day of their recording.

    Raises UsageError for text that is no clock time, and for a calendar date where one of the videos only counts its days:
    the two are not compared.
    """
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None).isoformat(timespec="milliseconds")
    at = clock.parse_clock(value, first_day=first_day)
    counted = [v for v in videos if v.recorded_at is not None and clock.counts_days(v.recorded_at)]
    if counted and not clock.counts_days(at) and not value.strip().lower().startswith("day"):
        names = ", ".join(dict.fromkeys(v.recording or v.title for v in counted))
        dated = any(v.recorded_at is not None and not clock.counts_days(v.recorded_at) for v in videos)
        first = counted[0]
        raise UsageError(
            f"{value} is a calendar date, and {names} has none: its days are counted",
            where=names,
            next=f'write "DAY2 {clock.format_clock(at, "iso")[11:19]}", '
            + ("name the recording that is meant with --recording, " if dated else "")
            + f"or give the date: videmus edit {first.id} --recorded-at {value.strip()[:10]}",
        )
    return at


def free(path: Path, force: bool) -> None:
    """Raises UsageError where a file is there that would be written over, unless `force`."""
    if path.exists() and not force:
        raise UsageError("the file is there already", where=str(path), next="give another name, or --force")


def one_of(value: T | None, known: Sequence[T], name: str) -> T | None:
    """The value, where it is one of the `known`; raises UsageError, which lists them."""
    if value is not None and value not in known:
        raise UsageError(f"unknown {name} {value!r}", next=f"one of: {', '.join(map(str, known))}")
    return value
