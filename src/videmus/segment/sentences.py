"""Speech rows → whole sentences, those too that run over several rows, as subtitles cut them.

Enters: rows of one video or several. Leaves: sentences in order of time, each with the places of the rows that it stands in.
Knows nothing of questions or summaries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from videmus.model import Evidence
from videmus.segment.passages import sentence_spans, spans, word_count

LONGEST_WORDS = 40
LONGEST_MARKED = 60
"""A passage's length: what has no end by then is cut; a sentence with an end may be longer."""

BREATH_MS = 2_500
"""A sentence goes on in the next row where that begins so soon."""

MARKED = 0.3
"""Of a transcript with marks at least so many rows hold the end of a sentence; without marks every row stands alone."""

ENDED = re.compile(r"[.!?…。！？।][\"'”’»)\]]*$")
_LEANS = re.compile(
    r"^\W*(?:(?:because|therefore|thus|hence|otherwise|instead|consequently|which|as a result|for (?:this|that) reason)\b"
    r"|(?:(?:and|but|so)\s+)?(?:this|that|these|those|it|they|he|she)(?:'(?:s|re|ve|ll|d)|\s+(?:is|are|was|were|has|have|had|does|"
    r"do|did|can|could|will|would|may|might|must|should|makes?|means?|depends?|happens?|gives?|lets?|turns?|also|always|never))\b"
    r"|(?:weil|denn|deshalb|darum|daher|sonst|dadurch|(?:das|dies|es|er|sie)\s+(?:ist|sind|war|hat|haben|kann|wird|liegt))\b"
    r"|(?:parce|donc|ainsi|cela|c'est|(?:il|elle|ils|elles)\s+(?:est|sont|a|ont|peut))\b"
    r"|(?:porque|así|por eso|esto|eso)\b)|^\W*(?:因为|所以|因此|这是|这就|它|他|她)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a row's text."""

    row: Evidence
    first: int
    last: int

    @property
    def text(self) -> str:
        return self.row.text[self.first : self.last]


@dataclass(frozen=True, slots=True)
class Whole:
    """A sentence: where it stands, one place a row, in order."""

    places: tuple[Place, ...]

    @property
    def text(self) -> str:
        return " ".join(" ".join(p.text.split()) for p in self.places)

    @property
    def row(self) -> Evidence:
        """The row that it begins in."""
        return self.places[0].row

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from every other sentence."""
        return self.places[0].row.id, self.places[0].first

    @property
    def end_ms(self) -> int:
        return self.places[-1].row.end_ms

    @property
    def asks(self) -> bool:
        return self.text.rstrip(" \"'”’").endswith(("?", "？"))

    @property
    def ended(self) -> bool:
        return bool(ENDED.search(self.text))

    @property
    def leans(self) -> bool:
        """Whether it begins with a word that points to what was said before."""
        return bool(_LEANS.search(self.text))


def whole_sentences(rows: Sequence[Evidence]) -> list[Whole]:
    """The sentences of speech rows, by video and time; rows of other kinds are passed over."""
    spoken = sorted((r for r in rows if r.kind == "speech"), key=lambda r: (r.video, r.start_ms, r.end_ms, r.id))
    marked = sum(bool(ENDED.search(r.text.strip())) for r in spoken) >= MARKED * len(spoken)
    longest = LONGEST_MARKED if marked else LONGEST_WORDS
    found: list[Whole] = []
    for row in spoken:
        for first, last in sentence_spans(row.text):
            for a, b in spans(row.text[first:last], longest):
                place = Place(row, first + a, first + b)
                if marked and a == 0 and found and _goes_on(found[-1], place):
                    found[-1] = Whole((*found[-1].places, place))
                else:
                    found.append(Whole((place,)))
    return found


def _goes_on(before: Whole, place: Place) -> bool:
    last = before.places[-1].row
    return (
        not before.ended
        and last.id != place.row.id
        and last.video == place.row.video
        and last.speaker == place.row.speaker
        and place.row.start_ms - last.end_ms <= BREATH_MS
        and word_count(before.text) + word_count(place.text) <= LONGEST_MARKED
    )


def joined(sentences: Sequence[Whole]) -> Whole:
    """Neighbours as one: places that follow each other in one row become one place."""
    places: list[Place] = []
    for place in (p for s in sentences for p in s.places):
        before = places[-1] if places else None
        if before and before.row.id == place.row.id and not before.row.text[before.last : place.first].strip():
            places[-1] = Place(before.row, before.first, place.last)
        else:
            places.append(place)
    return Whole(tuple(places))
