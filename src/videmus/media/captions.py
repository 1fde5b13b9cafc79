"""The text of a subtitle or transcript file as cues, whatever its format; and cues as text.

Enters: text. Leaves: cues in order of time. Read: SRT, WebVTT, SBV, ASS and SSA, lines as whisper.cpp prints them (also
one word a line), and transcripts with a clock before each passage. Every line is looked at once, with patterns
that cannot backtrack far: time grows with length alone, whatever the file holds.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from videmus.model import Word

MAX_MS = 1000 * 3_600_000
"""A cue that begins later than 1000 hours is a slip of whoever wrote it, and left out."""

LONGEST_CUE_MS = 600_000
"""A cue that claims to stand longer than ten minutes ends where the next begins (a slip in its end time)."""

WORD_GAP_MS = 1_000
SENTENCE_MS = 15_000
"""Cues of single words are joined to sentences: a stop, a pause of a second, or 15 s end one."""

READING_MS = 400
"""A word without an end time is given this long (150 words a minute, lecturers' usual rate)."""


BRACKETED_LINES = 50
"""So many lines tell whether a file without an ending of its own is a transcript as whisper.cpp prints it."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What was said from `start_ms` to `end_ms` (later than `start_ms`), on one line. `words` where they are timed."""

    start_ms: int
    end_ms: int
    text: str
    speaker: str | None = None
    words: tuple[Word, ...] = ()


@dataclass(slots=True)
class _Raw:
    """A cue as it stands in the file: its lines, uncleaned."""

    start_ms: int
    end_ms: int | None
    lines: list[str]
    speaker: str | None = None


_CLOCK = r"(-?)(?:(\d{1,5}):)?(\d{1,3}):(\d{1,2})(?:[.,](\d{1,9}))?"
_TIMING = re.compile(rf"\s*{_CLOCK}\s*-{{1,3}}>\s*{_CLOCK}(?:\s.*)?$")
_SBV_TIMING = re.compile(rf"\s*{_CLOCK},{_CLOCK}\s*$")
_SBV_BREAK = re.compile(r"\[br\]", re.IGNORECASE)
_BRACKETED = re.compile(rf"\s*\[{_CLOCK}\s*-->\s*{_CLOCK}\](.*)$")
_LEADING = re.compile(rf"\s*(?:\*\*)?([\[(]?){_CLOCK}([\])]?)(?:\*\*)?(?:\s*[-–—:|]\s+|\s+|$)(.*)$")
_NAMED = re.compile(rf"\s*([^\W\d][^:\[\]]{{0,39}}?)\s+{_CLOCK}\s*$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>|<\d[\d:.]{3,15}>|</>|\{\\[^{}]{0,300}\}")
_VOICE = re.compile(r"<v(?:\.[^\s<>]{0,80})?\s([^<>]{1,120})>")
_INLINE_TIME = re.compile(rf"<{_CLOCK}>")
_ASS_OVERRIDE = re.compile(r"\{[^{}]{0,2000}\}")
_ASS_DRAWING = re.compile(r"\{[^{}]{0,500}\\p[1-9][^{}]{0,500}\}")
_INVISIBLE = str.maketrans(dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\x00")))


def parse(text: str) -> tuple[list[Cue], str]:
    """(cues in order of time, name of the format). No cues where the text has no times that can be read."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = list(islice((line for line in lines if line.strip()), 1000))
    head = first[0].strip() if first else ""
    if head.lstrip("\ufeff").startswith("WEBVTT"):
        return _finished(_vtt(lines)), "vtt"
    if head.lower().startswith("[script info]") or any(line.startswith("Dialogue:") for line in first):
        return _finished(_ass(lines)), "ass"
    if any(_BRACKETED.match(line) for line in first[:50]):
        return _finished(_bracketed(lines)), "whisper"
    if any(_TIMING.match(line) for line in first):
        return _finished(_blocks(lines, _TIMING)), "srt"
    if any(_SBV_TIMING.match(line) for line in first):
        broken = [part for line in lines for part in _SBV_BREAK.split(line)]
        return _finished(_blocks(broken, _SBV_TIMING)), "sbv"
    return _finished(_clocked(lines)), "transcript"


def has_bracketed_times(text: str) -> bool:
    """Whether most of the text's first lines are `[00:00:00.500 --> 00:00:02.000] words`, as whisper.cpp prints them."""
    first = list(islice((line for line in text.splitlines() if line.strip()), BRACKETED_LINES))
    return 2 * sum(_BRACKETED.match(line) is not None for line in first) > len(first)


def write_srt(cues: Iterable[Cue]) -> str:
    """SubRip text; a speaker stands before the words as "Name: "."""
    blocks = []
    for number, cue in enumerate(cues, 1):
        text = _survives(f"{cue.speaker}: {cue.text}" if cue.speaker else cue.text)
        span = f"{_stamp(cue.start_ms, ',')} --> {_stamp(cue.end_ms, ',')}"
        blocks.append(f"{number}\n{span}\n{text}\n")
    return "\n".join(blocks)


def write_vtt(cues: Iterable[Cue]) -> str:
    """WebVTT text; a speaker is a voice: `<v Name>`."""
    blocks = ["WEBVTT\n"]
    for cue in cues:
        text = html.escape(cue.text, quote=False)
        if cue.speaker:
            text = f"<v {html.escape(cue.speaker, quote=False)}>{text}"
        blocks.append(f"{_stamp(cue.start_ms, '.')} --> {_stamp(cue.end_ms, '.')}\n{text}\n")
    return "\n".join(blocks)


def from_ass_dialogues(dialogues: Iterable[tuple[int, int, str]]) -> list[Cue]:
    """Cues from (start_ms, end_ms, text with ASS override tags), as FFmpeg gives embedded subtitles of any codec."""
    return _finished([_Raw(start, end, _ass_lines(text)) for start, end, text in dialogues if not _drawing(text)])


def _stamp(ms: int, point: str) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms:03}"


def _survives(text: str) -> str:
    """SRT has no escapes of its own: only text that would be read back as something else is escaped."""
    text = text.replace("-->", "->")
    return text if _clean(text) == text else text.replace("&", "&amp;").replace("<", "&lt;").replace("{\\", "{ \\")


# ---------------------------------------------------------------- the formats


def _ms(groups: Sequence[str | None]) -> int:
    """Milliseconds from the five groups of `_CLOCK`; a fraction is decimal (".5" is half a second)."""
    sign, hours, minutes, seconds, fraction = groups
    total = (int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)) * 1000
    total += int(((fraction or "0") + "00")[:3])
    return -total if sign else total


def _blocks(lines: Sequence[str], timing: re.Pattern[str]) -> Iterator[_Raw]:
    """SRT and SBV: a line of times, then text until the next one; a number just before the times is the cue's."""
    cue: _Raw | None = None
    for line in lines:
        match = timing.match(line) if ":" in line else None
        if match:
            if cue is not None:
                if cue.lines and cue.lines[-1].strip().isdecimal():
                    cue.lines.pop()
                yield cue
            groups = match.groups()
            cue = _Raw(_ms(groups[:5]), _ms(groups[5:10]), [])
        elif cue is not None:
            cue.lines.append(line)
    if cue is not None:
        yield cue


def _vtt(lines: Sequence[str]) -> Iterator[_Raw]:
    """WebVTT: blocks between blank lines; those without times (header, NOTE, STYLE, REGION) are passed over."""
    cue: _Raw | None = None
    for line in lines:
        if "-->" in line and (match := _TIMING.match(line)):
            if cue is not None:
                yield from _voices(cue)
            groups = match.groups()
            cue = _Raw(_ms(groups[:5]), _ms(groups[5:10]), [])
        elif not line.strip():
            if cue is not None and (cue.lines or line == ""):
                yield from _voices(cue)
                cue = None
        elif cue is not None:
            cue.lines.append(line)
    if cue is not None:
        yield from _voices(cue)


def _voices(cue: _Raw) -> Iterator[_Raw]:
    """One cue for each <v Speaker> in it."""
    text = "\n".join(cue.lines)
    marks = list(_VOICE.finditer(text))
    if not marks:
        yield cue
        return
    before = text[: marks[0].start()]
    if _clean(before):
        yield replace(cue, lines=before.split("\n"))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        words = text[mark.end() : following.start() if following else len(text)]
        yield _Raw(cue.start_ms, cue.end_ms, words.split("\n"), _clean(mark[1]) or None)


def _ass(lines: Sequence[str]) -> Iterator[_Raw]:
    columns = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    in_events = True
    for line in lines:
        if line.startswith("["):
            in_events = line.strip().lower() == "[events]"
        elif in_events and line.startswith("Format:"):
            named = [name.strip().lower() for name in line[7:].split(",")]
            columns = named if {"start", "end", "text"} <= set(named) else columns
        elif line.startswith("Dialogue:"):
            fields = dict(zip(columns, line[9:].split(",", len(columns) - 1), strict=False))
            start = re.match(rf"\s*{_CLOCK}", fields.get("start", ""))
            end = re.match(rf"\s*{_CLOCK}", fields.get("end", ""))
            text = fields.get("text", "")
            if start and end and not _drawing(text):
                name = fields.get("name", fields.get("actor", "")).strip()
                yield _Raw(_ms(start.groups()), _ms(end.groups()), _ass_lines(text), name or None)


def _ass_lines(text: str) -> list[str]:
    return re.split(r"\\[Nn]", _ASS_OVERRIDE.sub("", text).replace("\\h", " "))


def _drawing(text: str) -> bool:
    return _ASS_DRAWING.match(text) is not None


def _bracketed(lines: Sequence[str]) -> Iterator[_Raw]:
    cue: _Raw | None = None
    for line in lines:
        if match := _BRACKETED.match(line):
            if cue is not None:
                yield cue
            groups = match.groups()
            cue = _Raw(_ms(groups[:5]), _ms(groups[5:10]), [groups[10]])
        elif cue is not None and line.strip():
            cue.lines.append(line)
    if cue is not None:
        yield cue


def _clocked(lines: Sequence[str]) -> list[_Raw]:
    """A transcript with a clock before each passage (or a speaker's name and a clock above it).

    Taken as one only where the clocks are ascending, but for one in ten, and every passage of at most 40 lines has one.
    """
    cues: list[_Raw] = []
    written = 0
    for line in lines:
        if not line.strip():
            continue
        written += 1
        if (match := _LEADING.match(line)) and bool(match[1]) == bool(match[7]):
            cues.append(_Raw(_ms(match.groups()[1:6]), None, [match[8]]))
        elif match := _NAMED.match(line):
            cues.append(_Raw(_ms(match.groups()[1:6]), None, [], match[1].strip()))
        elif cues:
            cues[-1].lines.append(line)
    ascending = sum(a.start_ms <= b.start_ms for a, b in pairwise(cues))
    if len(cues) < 2 or ascending < 0.9 * (len(cues) - 1) or written > 40 * len(cues):
        return []
    return cues


# ---------------------------------------------------------------- what all formats have in common


def _clean(text: str) -> str:
    """Text without tags, entities and invisible characters, white space as single blanks."""
    return " ".join(html.unescape(_TAG.sub("", text)).translate(_INVISIBLE).split())


def _finished(raw: Iterable[_Raw]) -> list[Cue]:
    """Cleaned, sorted, with sensible spans, nothing twice, words joined to sentences, speakers told apart."""
    kept = [cue for cue in raw if cue.start_ms < MAX_MS and (cue.end_ms is None or cue.end_ms > 0 or cue.start_ms >= 0)]
    kept.sort(key=lambda cue: (cue.start_ms, cue.end_ms if cue.end_ms is not None else cue.start_ms))
    cues: list[Cue] = []
    for cue, lines in zip(kept, _unrolled(kept), strict=True):
        text = _clean("\n".join(lines))
        start = max(0, cue.start_ms)
        end = cue.end_ms if cue.end_ms is not None else start
        made = Cue(start, min(end, MAX_MS), text, cue.speaker, _timed_words(lines, start, end))
        if text and (not cues or made != cues[-1]):
            cues.append(made)
    return _with_speakers(_joined_words(_with_ends(cues)))


def _with_ends(cues: list[Cue]) -> list[Cue]:
    """Every cue ends after it begins: where the file's end is missing, reversed or absurd, at the next cue."""
    result = []
    following: int | None = None
    for cue in reversed(cues):
        if not cue.start_ms < cue.end_ms <= cue.start_ms + LONGEST_CUE_MS:
            end = cue.start_ms + max(1_000, READING_MS * len(cue.text.split()))
            if following is not None and following > cue.start_ms:
                absent_or_long = cue.end_ms == cue.start_ms or cue.end_ms > cue.start_ms
                end = min(following, cue.start_ms + LONGEST_CUE_MS) if absent_or_long else min(end, following)
            cue = replace(cue, end_ms=end)
        if following is None or cue.start_ms < following:
            following = cue.start_ms
        result.append(cue)
    return result[::-1]


def _unrolled(cues: Sequence[_Raw]) -> list[list[str]]:
    """Each cue's own lines. Rolling captions repeat the last line and add one: where most cues do, what is new stays."""
    lines = [[line for line in cue.lines if _clean(line)] for cue in cues]
    if len(cues) < 4:
        return lines
    plain = [[_clean(line) for line in each] for each in lines]
    overlaps = [0] + [_overlap(a, b) for a, b in pairwise(plain)]
    rolling = sum(0 < n < len(each) for n, each in zip(overlaps, lines, strict=True))
    if sum(n > 0 for n in overlaps) < 0.4 * (len(cues) - 1) or rolling < 0.2 * len(cues):
        return lines
    return [each[n:] for each, n in zip(lines, overlaps, strict=True)]


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines at the start of `after` are the last ones of `before` (captions have three at most)."""
    for count in range(min(len(before), len(after), 3), 0, -1):
        if list(before[-count:]) == list(after[:count]):
            return count
    return 0


def _timed_words(lines: Sequence[str], start_ms: int, end_ms: int) -> tuple[Word, ...]:
    """The words of a cue with a time before each, as `one<00:00:01.500><c> two</c>` has them."""
    text = "\n".join(lines)
    marks = list(_INLINE_TIME.finditer(text))
    if not marks:
        return ()
    starts = [start_ms, *(min(max(start_ms, _ms(mark.groups())), end_ms) for mark in marks)]
    pieces = [text[: marks[0].start()]]
    pieces += [text[a.end() : b.start() if b else len(text)] for a, b in zip(marks, [*marks[1:], None], strict=True)]
    words = [(at, _clean(piece)) for at, piece in zip(starts, pieces, strict=True)]
    spoken = sorted((at, word) for at, word in words if word)
    ends = [at for at, _ in spoken[1:]] + [max(end_ms, start_ms + 1)]
    return tuple(Word(at, max(end, at + 1), word) for (at, word), end in zip(spoken, ends, strict=True))


_ATTACHED = re.compile(r" (?=[.,;:!?%)\]’'](?:\s|$)|[-’'][^\W\d])")
"""The blank before what belongs to the word before: recognisers give "Self" and "-driving" as two words."""


def _joined_words(cues: list[Cue]) -> list[Cue]:
    """One word a cue, as word-timed transcripts have it, becomes one sentence a cue with its words."""
    if len(cues) < 20 or sum(" " in cue.text for cue in cues) > 0.1 * len(cues):
        return cues
    if sum(len(cue.text) > 30 for cue in cues) > 0.1 * len(cues):
        return cues  # scripts without blanks
    result: list[Cue] = []
    sentence: list[Cue] = []
    for cue, following in zip(cues, [*cues[1:], None], strict=True):
        sentence.append(cue)
        if (
            following is None
            or cue.text.endswith((".", "?", "!", "。", "？", "！"))
            or following.start_ms - cue.end_ms >= WORD_GAP_MS
            or following.end_ms - sentence[0].start_ms > SENTENCE_MS
            or following.speaker != cue.speaker
        ):
            words = tuple(Word(c.start_ms, c.end_ms, c.text) for c in sentence)
            end = max(c.end_ms for c in sentence)
            text = _ATTACHED.sub("", " ".join(c.text for c in sentence))
            result.append(Cue(sentence[0].start_ms, end, text, cue.speaker, words))
            sentence = []
    return result


# ---------------------------------------------------------------- speakers

_LABEL = re.compile(r"(?:>>\s*|[-–]\s*)?[\[(]?([^\W\d_][\w.'’-]*(?: [\w.'’&-]+){0,3})[\])]?:\s+(?=\S)")
_CHEVRONS = re.compile(r"(?:>>+|&gt;&gt;)\s*")
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        note notes question answer example examples step chapter section part warning tip important remember
        exercise theorem lemma proof definition corollary claim first second third fourth finally next option
        result results summary conclusion problem solution update subject topic today hint goal fact rule case
        idea point reason http https however so and but or now then also again well ok okay yes no this that
        these those it here there because remark task homework reference references source sources figure table
        equation line page slide video
        """,
    )
)
"""Words that begin sentences and stand before a colon: no speaker is called so."""


def _with_speakers(cues: list[Cue]) -> list[Cue]:
    """Speakers written before the words, "Name: text", where they are consistently.

    Taken as speakers only where one cue in ten or more begins so, names come three times on average, each that counts
    at least twice, and none is a word that begins sentences ("Note: …"). Chevrons (">> ") mark a change of speaker
    without a name and are left out.
    """
    labels = [None if cue.speaker else _LABEL.match(cue.text) for cue in cues]
    counts = Counter(label[1] for label in labels if label and _like_a_name(label[1]))
    names = {name for name, count in counts.items() if count >= 2}
    named = sum(counts[name] for name in names)
    trusted = named >= 3 and named >= 0.1 * len(cues) and named >= 3 * len(names) - 2 and named >= 0.5 * counts.total()
    result = []
    for cue, label in zip(cues, labels, strict=True):
        if trusted and label and label[1] in counts:
            cue = replace(cue, text=cue.text[label.end() :], speaker=label[1], words=())
        if chevrons := _CHEVRONS.match(cue.text):
            rest = cue.text[chevrons.end() :]
            if rest:
                cue = replace(cue, text=rest)
        result.append(cue)
    return result


def _like_a_name(label: str) -> bool:
    words = label.split()
    if any(word.lower().strip(".") in _NO_NAMES for word in words):
        return False
    return all(word[:1].isupper() or word[:1].isdigit() or not word[:1].islower() for word in words)
