"""Times as people and recorders write them, to and from integer milliseconds.

Two kinds that are never confused:

- a time inside a video (`parse_time`, `format_time`): `754`, `12:34`, `1:02:03`, `12m34s`;
- a wall-clock time (`parse_clock`, `format_clock`): milliseconds since 1970-01-01 00:00 of the recorder's own clock, no
  zone. Written as ISO 8601, as `DAY3 14:05:09` (DAY1 is the recording's first calendar day, 1970-01-01 where no date
  is known), or as EgoLife's `DAY3 14050919`: HHMMSSFF, FF a frame 0..19 at 20 per second. The same eight digits with
  hundredths of a second are read only when the caller asks for them; a frame past 19 is an error, not a guess.

A written zone ("Z", "+02:00") is dropped, not applied: the clock reading before it is the recorder's own.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import PurePath
from typing import Literal

from videmus.errors import UsageError

SECOND_MS = 1_000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
EGOLIFE_FRAME_MS = 50
"""EgoLife counts frames at 20 per second (EgoLife, EgoRAG's time format HHMMSSFF)."""

Digits = Literal["frames", "centiseconds"]
"""What the last two of eight digits mean."""

ClockStyle = Literal["auto", "iso", "day", "egolife", "centiseconds"]

_EPOCH = date(1970, 1, 1).toordinal()
_COUNTED_DAYS = 3_650
"""Wall-clock times before 1980 come from recordings that only count days: `format_clock` writes them as DAYn."""


# ---------------------------------------------------------------- times inside a video

_PLAIN = re.compile(r"(\d+)(?:[.,](\d{1,3})\d*)?s?", re.ASCII)
_COLONS = re.compile(r"(?:(\d+):)?(\d+):(\d{1,2})(?:[.,](\d{1,3})\d*)?", re.ASCII)
_UNITS = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)(?:[.,](\d{1,3})\d*)?s)?(?:(\d+)ms)?", re.ASCII)
_LONGEST = 24  # characters; longer ones are no time, and int() of a million digits is slow


def parse_time(text: str) -> int:
    """Milliseconds inside a video, from `754`, `754.5`, `12:34`, `1:02:03.250`, `12m34s` or `1h2m`.

    Raises UsageError for anything else, among them minutes or seconds past 59 behind a larger unit.
    """
    given = text.strip().lower().replace(" ", "")
    if given and len(given) <= _LONGEST:
        if match := _PLAIN.fullmatch(given):
            return int(match[1]) * SECOND_MS + _fraction(match[2])
        if match := _COLONS.fullmatch(given):
            hours, minutes, seconds = int(match[1] or 0), int(match[2]), int(match[3])
            if seconds < 60 and (match[1] is None or minutes < 60):
                return hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + _fraction(match[4])
        elif match := _UNITS.fullmatch(given):
            hours, minutes, seconds = int(match[1] or 0), int(match[2] or 0), int(match[3] or 0)
            if (match[1] is None or minutes < 60) and (match[2] is None or seconds < 60):
                total = hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS
                return total + _fraction(match[4]) + int(match[5] or 0)
    raise UsageError(f"{text[:40]!r} is not a time in a video", next="write seconds (754), 12:34, 1:02:03 or 12m34s")


def format_time(ms: int, *, milliseconds: bool = False) -> str:
    """`12:34`, from an hour on `1:02:03`; with `milliseconds` also `.250`. `parse_time` reads it back."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    seconds, rest = divmod(ms, SECOND_MS)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{sign}{text}.{rest:03}" if milliseconds else f"{sign}{text}"


def _fraction(digits: str | None) -> int:
    return int(digits.ljust(3, "0")) if digits else 0


# ---------------------------------------------------------------- wall-clock times

_DAY = re.compile(r"day[ _]?(\d{1,5})(?:[ _,t-]+(.+))?", re.ASCII | re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?", re.ASCII)
_DIGITS = re.compile(r"\d{7,8}", re.ASCII)
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?)(?:Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)


def parse_clock(text: str, *, first_day: int | None = None, digits: Digits = "frames") -> int:
    """Wall-clock milliseconds, from ISO 8601, `DAY3 14:05:09` or EgoLife's `DAY3 14050919`.

    `first_day` is any wall-clock time on the recording's first day; without it DAY1 is 1970-01-01. A day or date alone
    is its midnight. Raises UsageError.
    """
    given = text.strip()
    if match := _DAY.fullmatch(given):
        if int(match[1]) < 1:
            raise UsageError(f"{text!r}: days are counted from DAY1")
        midnight = midnight_of(first_day or 0) + (int(match[1]) - 1) * DAY_MS
        return midnight + (_time_of_day(match[2].strip(), digits) if match[2] else 0)
    if match := _ISO.fullmatch(given):
        try:
            midnight = (date(int(match[1]), int(match[2]), int(match[3])).toordinal() - _EPOCH) * DAY_MS
        except ValueError as error:
            raise UsageError(f"{text!r} is not a date: {error}") from error
        return midnight + (_time_of_day(match[4], digits) if match[4] else 0)
    raise UsageError(
        f"{text[:40]!r} is not a clock time",
        next='write 2026-05-01T14:05:09, "DAY3 14:05:09", or EgoLife\'s "DAY3 14050919"',
    )


def _time_of_day(text: str, digits: Digits) -> int:
    if match := _TIME_OF_DAY.fullmatch(text):
        hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
        rest = _fraction((match[4] or "")[:3])
    elif _DIGITS.fullmatch(text):
        text = text.zfill(8)  # stored as a number, 09 o'clock loses its zero
        hours, minutes, seconds = int(text[0:2]), int(text[2:4]), int(text[4:6])
        rest = _last_two(text, digits)
    else:
        raise UsageError(f"{text[:40]!r} is not a time of day", next="write 14:05:09")
    if hours > 23 or minutes > 59 or seconds > 59:
        raise UsageError(f"{text!r} is not a time of day", next="hours go to 23, minutes and seconds to 59")
    return hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + rest


def _last_two(text: str, digits: Digits) -> int:
    last = int(text[6:8])
    if digits == "centiseconds":
        return last * 10
    if last >= 20:
        raise UsageError(
            f"{text!r} ends in frame {last}, but EgoLife has 20 frames a second (00 to 19)",
            next="if these digits are hundredths of a second, ask for centiseconds",
        )
    return last * EGOLIFE_FRAME_MS


def format_clock(ms: int, style: ClockStyle = "auto", *, first_day: int | None = None) -> str:
    """A wall-clock time as text.

    "iso" is `2026-05-01T14:05:09` (with `.250` where there are milliseconds), "day" `DAY3 14:05:09`, "egolife"
    `DAY3 14050905` (rounded down to a frame), "centiseconds" the same with hundredths. "auto" counts days where the
    recording has no date (DAY1 is 1970-01-01) or `first_day` is given, and writes ISO otherwise.
    """
    if style == "auto":
        style = "day" if first_day is not None or counts_days(ms) else "iso"
    days, rest = divmod(ms, DAY_MS)
    seconds, milliseconds = divmod(rest, SECOND_MS)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    fraction = f".{milliseconds:03}" if milliseconds else ""
    if style == "iso":
        return f"{date.fromordinal(_EPOCH + days).isoformat()}T{hours:02}:{minutes:02}:{seconds:02}{fraction}"
    day = day_number(ms, first_day)
    if style == "day":
        return f"DAY{day} {hours:02}:{minutes:02}:{seconds:02}{fraction}"
    last = milliseconds // EGOLIFE_FRAME_MS if style == "egolife" else milliseconds // 10
    return f"DAY{day} {hours:02}{minutes:02}{seconds:02}{last:02}"


def counts_days(ms: int) -> bool:
    """Whether a wall-clock time is of a recording that counts its days and has no calendar date."""
    return 0 <= ms < _COUNTED_DAYS * DAY_MS


def midnight_of(ms: int) -> int:
    """The 00:00 of the calendar day that a wall-clock time lies on."""
    return ms - ms % DAY_MS


def day_number(ms: int, first_day: int | None = None) -> int:
    """The DAYn of a wall-clock time: 1 on the recording's first calendar day."""
    return (midnight_of(ms) - midnight_of(first_day or 0)) // DAY_MS + 1


# ---------------------------------------------------------------- file names

_EGOLIFE_NAME = re.compile(r"(?<![A-Za-z0-9])DAY(\d{1,3})(?:_[A-Za-z0-9]+)*?_(\d{7,8})(?!\d)", re.IGNORECASE)
_DATED_NAME = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d{2})(?P<d>[-._]?)(?P<m>\d{2})(?P=d)(?P<day>\d{2})"  # 20260501, 2026-05-01, 2026_05_01
    r"(?:[-_.T ]{1,3}|\s+at\s+)"
    r"(?P<h>\d{1,2})(?P<c>[-._:h]?)(?P<min>\d{2})(?:(?P=c)|m)(?P<s>\d{2})(?P<ms>\d{3})?(?!\d)(?:\s?(?P<half>[AaPp][Mm]))?"
)


def clock_from_name(name: str, *, first_day: int | None = None, digits: Digits = "frames") -> int | None:
    """The wall-clock start that a file's name tells, or None.

    Reads EgoLife's `DAY1_A1_JAKE_11094208.mp4` and `A1_JAKE_DAY1_11000000.srt`, ISO-like names
    (`2026-05-01T14-05-09.mp4`), and those of phones, cameras and meetings (`VID_20260501_140509.mp4`,
    `PXL_20260501_140509123.mp4`, `WhatsApp Video 2026-05-01 at 2.05.09 PM.mp4`, `GMT20260501-140509_Recording.mp4`). A
    date without a time of day is no clock time. Raises UsageError where EgoLife's digits are no frame.
    """
    stem = PurePath(name.replace("\\", "/")).name
    if match := _EGOLIFE_NAME.search(stem):
        return parse_clock(f"DAY{match[1]} {match[2]}", first_day=first_day, digits=digits)
    for match in _DATED_NAME.finditer(stem):
        hours = int(match["h"])
        if match["half"]:
            if not 1 <= hours <= 12:
                continue
            hours = hours % 12 + (12 if match["half"].lower() == "pm" else 0)
        try:
            moment = datetime(
                int(match["y"]), int(match["m"]), int(match["day"]), hours, int(match["min"]), int(match["s"])
            )
        except ValueError:  # a serial number that looks like a date
            continue
        since = moment - datetime(1970, 1, 1)
        return since.days * DAY_MS + since.seconds * SECOND_MS + int(match["ms"] or 0)
    return None
