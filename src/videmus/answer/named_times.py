"""A time inside the video that a question names: "at 12:30", "in the first minute", "between 1:00 and 2:00", "at the end".

Enters: a question. Leaves: the span that is meant, as far as it can be told without the video's length, and the question
without it. A time of day ("at 9:30 am") and the end of something else ("at the end of the war") are no times of the video.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from videmus import clock

AROUND_MS = 15_000
"""What is said at a time: the sentence then, and what leads up to it and follows."""

OUTER = 0.1
OUTER_LEAST_MS = 30_000
OUTER_MOST_MS = 300_000
"""The beginning and the end of a video are a tenth of it, half a minute at least, five at most."""

_NUMBERS = {
    word: n
    for n, names in enumerate(
        ("", "one a an eine einen ein une un una", "two zwei deux dos couple", "three drei trois tres", "four vier quatre cuatro",
         "five fünf cinq cinco", "six sechs seis", "seven sieben sept siete", "eight acht huit ocho", "nine neun neuf nueve",
         "ten zehn dix diez")
    )
    for word in names.split()
}  # fmt: skip
_NUMBERS |= {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_COUNT = rf"(?:\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_HOUR, _MINUTE, _SECOND = (
    r"(?:hours?|hrs?|stunden?|heures?|horas?)\b",
    r"(?:minutes?|mins?|minuten?|minutos?)\b",
    r"(?:seconds?|secs?|sekunden?|secondes?|segundos?)\b",
)
_CLOCK = r"\d{1,2}(?::\d{2}){1,2}(?![:\d])"
_MARK = r"\d{1,3}h(?:\d{1,2}m)?(?:\d{1,2}s)?\b|\d{1,3}m(?:\d{1,2}s)?\b|\d{1,4}s\b"
_SPELT = rf"{_COUNT}[\s-]+{_MINUTE}(?:\s+(?:and\s+|und\s+|et\s+|y\s+)?{_COUNT}\s+{_SECOND})?|{_COUNT}\s+{_SECOND}"
_TIME = rf"(?:{_CLOCK}|{_MARK}|{_SPELT}|minute\s+{_COUNT}|minuto\s+{_COUNT})"
_OF_DAY = (
    r"(?!\s*(?:a\.?m\.?\b|p\.?m\.?\b|o'?clock|uhr\b|in the (?:morning|afternoon|evening)|at night|tomorrow|today))"
)
_WHOLE = (
    r"(?:the|this|that|her|his|their|der|des|dieses|la|le|du|de la|del|this)\s+(?:whole\s+|entire\s+)?"
    r"(?:video|lecture|talk|film|movie|clip|recording|meeting|lesson|session|episode|presentation|speech|vorlesung|videos?|"
    r"vortrags?|films?|cours|vidéo|conférence|clase|charla|película)"
)
_OF_VIDEO = rf"(?:\s+(?:of|in|der|des|de|du|del|von)\s+(?:it|{_WHOLE})|\s+(?:{_WHOLE}))?"
_ALONE = rf"{_OF_VIDEO}(?!\s+(?:of|von|der|des|de|du|del)\b)"

Anchor = Literal["time", "span", "first", "last", "begin", "end", "middle", "first half", "second half"]


@dataclass(frozen=True, slots=True)
class NamedTime:
    """`written` as the question has it, `rest` the question without it; `start_ms` and `end_ms` count from the beginning,
    for "last" `end_ms` is the length from the end. `needs_length`: only the video's length tells where it is."""

    anchor: Anchor
    written: str
    rest: str
    start_ms: int = 0
    end_ms: int | None = None

    @property
    def needs_length(self) -> bool:
        return self.anchor not in ("time", "span", "first")

    def span(self, duration_ms: int) -> tuple[int, int] | None:
        """Where it lies in a video of this length; None where it is after its end."""
        outer = int(min(max(OUTER * duration_ms, OUTER_LEAST_MS), OUTER_MOST_MS, duration_ms))
        half = duration_ms // 2
        if self.anchor in ("time", "span", "first"):
            if self.start_ms > duration_ms:
                return None
            return self.start_ms, duration_ms if self.end_ms is None else max(self.end_ms, self.start_ms + 1)
        if self.anchor == "last":
            return max(0, duration_ms - (self.end_ms or outer)), duration_ms
        spans = {
            "begin": (0, outer), "end": (duration_ms - outer, duration_ms), "first half": (0, half),
            "second half": (half, duration_ms), "middle": (max(0, half - outer), half + outer),
        }  # fmt: skip
        return spans[self.anchor]


def named_time(question: str) -> NamedTime | None:
    """The time that a question names, if it names one."""
    text = " ".join(question.split())
    for pattern, read in _FORMS:
        match = pattern.search(text)
        found = read(match) if match else None
        if match and found:
            anchor, start, end = found
            rest = " ".join((text[: match.start()] + " " + text[match.end() :]).split())
            rest = re.sub(r"\s+([?.!,])", r"\1", rest).lstrip(" ,")
            return NamedTime(anchor, match.group().strip(" ,"), rest, start, end)
    return None


Read = tuple[Anchor, int, int | None] | None


def _milliseconds(text: str) -> int | None:
    text = text.strip().lower()
    if re.fullmatch(rf"{_CLOCK}|{_MARK}", text):
        try:
            return clock.parse_time(text)
        except ValueError:
            return None
    total = 0.0
    for pattern, unit in ((_HOUR, 3_600_000), (_MINUTE, 60_000), (_SECOND, 1_000)):
        match = re.search(rf"({_COUNT})[\s-]+{pattern}", text) or re.search(rf"{pattern}\s+({_COUNT})", text)
        if match:
            total += unit * (_NUMBERS.get(match.group(1)) or float(match.group(1)))
    return int(total) or None


def _at(match: re.Match[str]) -> Read:
    at = _milliseconds(match["time"])
    return None if at is None else ("time", at, at + 1_000)


def _between(match: re.Match[str]) -> Read:
    first, last = _milliseconds(match["one"]), _milliseconds(match["two"])
    return None if first is None or last is None or last <= first else ("span", first, last)


def _before(match: re.Match[str]) -> Read:
    at = _milliseconds(match["time"])
    return None if at is None else ("first", 0, at)


def _after(match: re.Match[str]) -> Read:
    at = _milliseconds(match["time"])
    return None if at is None else ("span", at, None)


def _outer(anchor: Literal["first", "last"]) -> Callable[[re.Match[str]], Read]:
    def read(match: re.Match[str]) -> Read:
        count = match["count"] or "one"
        length = _milliseconds(f"{count} {match['unit']}")
        return None if length is None else (anchor, 0, length)

    return read


def _fixed(anchor: Anchor) -> Callable[[re.Match[str]], Read]:
    return lambda match: (anchor, 0, None)


_UNIT = rf"(?P<unit>{_HOUR}|{_MINUTE}|{_SECOND})"
_FIRST = r"(?:first|initial|opening|ersten?|première?s?|primer[oa]?s?)"
_LAST = r"(?:last|final|closing|letzten?|dernière?s?|dernier|últim[oa]s?)"
_IN = r"(?:in|during|within|over|in der|in den|während|dans|pendant|en|durante)"
_THE = r"(?:the|der|den|la|las|les|el|los)"
_IN_THE = rf"{_IN}\s+(?:{_THE}\s+)?(?:very\s+)?"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


_FORMS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Read]]] = [
    (_compiled(rf",?\s*\b(?:between|from|zwischen|von|entre|de)\s+(?P<one>{_TIME})\s*(?:and|to|until|till|und|bis|et|à|y|a|-|–)\s*"
               rf"(?P<two>{_TIME}){_OF_DAY}{_ALONE}"), _between),
    (_compiled(rf",?\s*\b(?:before|until|up to|vor|bis|avant|antes de)\s+(?P<time>{_CLOCK}|{_MARK}){_OF_DAY}"), _before),
    (_compiled(rf",?\s*\b(?:after|since|nach|ab|après|después de)\s+(?P<time>{_CLOCK}|{_MARK}){_OF_DAY}"), _after),
    (_compiled(rf",?\s*\b(?:at|around|about|near|by|bei|um|à|vers|en|a las)\s+(?:around\s+|about\s+|the\s+|el\s+|la\s+)?"
               rf"(?P<time>{_CLOCK}|{_MARK}|{_SPELT}|minute\s+{_COUNT}|minuto\s+{_COUNT})(?:\s+mark)?{_OF_DAY}{_ALONE}"), _at),
    (_compiled(rf",?\s*\b(?P<time>{_SPELT})\s+in(?:to)?(?:\s+(?:it|{_WHOLE}))?(?=\s*[?.!,]?\s*$)"), _at),
    (_compiled(rf",?\s*(?P<time>{_CLOCK})\s*(?:时|处|的时候)"), _at),
    (_compiled(rf",?\s*\b{_IN_THE}{_FIRST}\s+(?:(?P<count>{_COUNT})\s+)?{_UNIT}{_ALONE}"), _outer("first")),
    (_compiled(rf",?\s*\b{_IN_THE}{_LAST}\s+(?:(?P<count>{_COUNT})\s+)?{_UNIT}{_ALONE}"), _outer("last")),
    (_compiled(rf",?\s*\b{_THE}\s+(?:very\s+)?{_FIRST}\s+(?:(?P<count>{_COUNT})\s+)?{_UNIT}{_ALONE}"), _outer("first")),
    (_compiled(rf",?\s*\b{_THE}\s+(?:very\s+)?{_LAST}\s+(?:(?P<count>{_COUNT})\s+)?{_UNIT}{_ALONE}"), _outer("last")),
    (_compiled(rf",?\s*(?:in\s+)?\bthe\s+first\s+half{_ALONE}"), _fixed("first half")),
    (_compiled(rf",?\s*(?:in\s+)?\bthe\s+second\s+half{_ALONE}"), _fixed("second half")),
    (_compiled(rf",?\s*\b(?:in|at|around)\s+the\s+middle{_ALONE}"), _fixed("middle")),
    (_compiled(rf",?\s*\b(?:at|in|right at)\s+the\s+(?:very\s+)?(?:beginning|start|outset){_ALONE}"
               rf"|\b(?:ganz )?(?:am|zu) (?:Anfang|Beginn){_ALONE}|\bau début{_ALONE}"
               rf"|\bal (?:principio|comienzo|inicio){_ALONE}|开头|一开始"), _fixed("begin")),
    (_compiled(rf",?\s*\b(?:at|in|towards?|near)\s+the\s+(?:very\s+)?end{_ALONE}|\b(?:am (?:Ende|Schluss)|zum Schluss){_ALONE}"
               rf"|\bà la fin{_ALONE}|\bal final{_ALONE}|结尾|最后"), _fixed("end")),
]  # fmt: skip
