"""The closed set: the evidence that one answer may rest on, its labels, and the check of every sentence against it.

A sentence passes when each of its citations names a row of the set, that row lies inside its video and holds the quoted words,
each of its numbers stands in the rows it cites or is computed from numbers that do, and it speaks of what they or the
question speak of. Knows no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from videmus import clock
from videmus.answer.citations import citation, holds, inside, quotable_texts
from videmus.answer.numbers import traced
from videmus.model import Citation, Evidence, Video
from videmus.segment.passages import word_count
from videmus.store.words import stem
from videmus.understand.terms import content_words

LONGEST_SENTENCE = 1_000
_MARKS = re.compile(r" ?[\[(【]\s*(?:E?\d+(?:\s*[,;–-]\s*E?\d+)*)\s*[\])】](?=[\s.,;:!?]|$)", re.I)
"""Citation marks that a model writes into a sentence: only ours are shown."""

_LABEL = re.compile(r"\W*(?:evidence\s*)?(E\d+)\W*", re.I | re.A)
_EDGES = " .,;:!?…\"'“”„‘’«»"
"""What models put round a quote: it may go, the words between must stand."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence after the check: with a `fault` it is not shown; `derived` when a number in it was computed."""

    text: str
    quotes: tuple[tuple[Evidence, str], ...] = ()
    derived: bool = False
    fault: str = ""


class ClosedSet:
    """Rows in the order of their rank; in a prompt they stand by video and time, labelled E1, E2, …

    With the `question` given, a sentence none of whose words stands in its evidence or the question does not pass.
    """

    def __init__(
        self, rows: Sequence[Evidence], videos: Mapping[str, Video], question: str = "", verbatim_words: int = 3
    ) -> None:
        self._videos = videos
        self._asked = _stems(question)
        self._verbatim_words = verbatim_words
        self.rows = [row for row in rows if row.video in videos and inside(row, videos[row.video])]
        order = list(dict.fromkeys(row.video for row in self.rows))
        by_time = sorted(self.rows, key=lambda r: (order.index(r.video), r.start_ms, r.end_ms, r.id))
        self._by_label = {f"E{n}": row for n, row in enumerate(by_time, 1)}
        self._labels = {row.id: label for label, row in self._by_label.items()}

    def label(self, evidence: str) -> str:
        """The label of an evidence id; "" for one that is not in the set."""
        return self._labels.get(evidence, "")

    def listed(self) -> str:
        """The evidence as a prompt shows it."""
        return "\n\n".join(f"[{label}] {self._head(row)}\n{row.text}" for label, row in self._by_label.items())

    def checked(self, text: str, quotes: Sequence[tuple[str, str]], computed_from: Sequence[str] = ()) -> Checked:
        """Check one sentence with its (label, quote) pairs. The text comes back without marks and control characters."""
        shown = _cleaned(text)
        if not shown or len(shown) > LONGEST_SENTENCE:
            return Checked(shown[:LONGEST_SENTENCE], fault="empty, or longer than a sentence")
        if not quotes:
            return Checked(shown, fault="names no evidence")
        found: list[tuple[Evidence, str]] = []
        for label, quote in quotes:
            named = _LABEL.fullmatch(label)
            row = self._by_label.get(named[1].upper()) if named else None
            if row is None:
                return Checked(shown, fault=f"{label[:40]!r} is none of the evidence given")
            exact = _cleaned(quote)
            exact = exact if holds(row, exact) else exact.strip(_EDGES)
            if not holds(row, exact):
                return Checked(shown, fault=f"{label} does not contain the quoted words")
            whole = any(len(exact) >= 0.9 * len(" ".join(text.split())) for text in quotable_texts(row))
            if word_count(exact) < self._verbatim_words and not whole:
                return Checked(shown, fault=f"the quote from {label} is shorter than {self._verbatim_words} words")
            found.append((row, exact))
        rows = [row for row, _ in found]
        texts = [text for row in rows for text in quotable_texts(row)]
        spoken = _stems(shown)
        if self._asked and spoken and not spoken & (self._asked | _stems("\n".join(texts))):
            return Checked(shown, fault="none of its words stands in the evidence cited or in the question")
        numbers = traced(shown, rows, texts, computed_from)
        if numbers.standing == "untraced":
            lost = ", ".join(numbers.untraced)
            return Checked(shown, fault=f"{lost}: stands in no evidence cited, and follows from no numbers that do")
        return Checked(shown, tuple(found), numbers.standing == "derivable")

    def citation(self, number: int, row: Evidence, quote: str) -> Citation:
        return citation(number, row, quote, self._videos[row.video])

    def _head(self, row: Evidence) -> str:
        span = f"{clock.format_time(row.start_ms)}–{clock.format_time(row.end_ms)}"
        speaker = f" · {row.speaker}" if row.speaker else ""
        return f"{' '.join(self._videos[row.video].title.split())} · {span} · {row.kind}{speaker}"


def _stems(text: str) -> set[str]:
    """A text's content words without their inflection."""
    return {stem(word) for word in content_words(text)}


def _cleaned(text: str) -> str:
    """One line without citation marks of the model's own, control characters and direction overrides."""
    kept = "".join(c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co") or c == "\u200d" else " " for c in text)
    return _MARKS.sub("", " ".join(kept.split())).strip()
