"""Rows near a question → spans that could be its moment, with what is said and shown in each.

Enters: rows (`store.protocol.Text`) of one or more videos. Leaves: candidates: runs of speech up to a length together
with what was on screen, and single rows of what nobody talks over. Knows nothing of scores.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from videmus.store.protocol import Text

JOINED = ("screen", "scene")
"""Streams whose row joins the speech said over it; other kinds (slide texts, captions, summaries) stand alone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span and the positions of its rows: first the speech in order of time, then what was shown meanwhile."""

    video: str
    start_ms: int
    end_ms: int
    rows: tuple[int, ...]


def candidates(rows: Sequence[Text], length_ms: int) -> list[Candidate]:
    """The candidates of `rows`, which are sorted by video and time; positions are into `rows`.

    From every row of speech runs one candidate, as far as `length_ms` reaches. The row of each other stream that
    overlaps it longest joins it. A row that no speech overlaps, and every row of another kind, is a candidate by itself.
    """
    found: list[Candidate] = []
    for video, group in groupby(range(len(rows)), key=lambda k: rows[k].video):
        found += _of_video(video, list(group), rows, length_ms)
    return found


def _of_video(video: str, positions: list[int], rows: Sequence[Text], length_ms: int) -> Iterable[Candidate]:
    speech = [k for k in positions if rows[k].kind == "speech"]
    starts, ends = [rows[k].start_ms for k in speech], [rows[k].end_ms for k in speech]
    streams = [_Shown(mine, rows) for kind in JOINED if (mine := [k for k in positions if rows[k].kind == kind])]
    talked_over: set[int] = set()
    last = 0
    for first, start in enumerate(starts):
        last = max(last, first)
        while last + 1 < len(speech) and ends[last + 1] - start <= length_ms:
            last += 1
        end = max(ends[first : last + 1])
        run = speech[first : last + 1]
        for stream in streams:
            longest = stream.longest(start, end, talked_over)
            if longest is not None:
                run.append(longest)
        yield Candidate(video, start, end, tuple(run))
    for k in positions:
        if rows[k].kind != "speech" and k not in talked_over:
            yield Candidate(video, rows[k].start_ms, rows[k].end_ms, (k,))


class _Shown:
    """The rows of a stream that joins speech, by time."""

    def __init__(self, positions: list[int], rows: Sequence[Text]) -> None:
        self._positions = positions
        self._starts = [rows[k].start_ms for k in positions]
        self._ends = [rows[k].end_ms for k in positions]
        self._reach = list(accumulate(self._ends, max))  # position k and all before it end by then

    def longest(self, start: int, end: int, overlapping: set[int]) -> int | None:
        """The row that overlaps [start, end) longest, of equal ones the first; all that do are added to `overlapping`."""
        found, most = None, 0
        # Rows that begin before the end and (by the running maximum of ends) may end after the start.
        for k in range(bisect_right(self._reach, start), bisect_left(self._starts, end)):
            shared = min(end, self._ends[k]) - max(start, self._starts[k])
            if shared > 0:
                overlapping.add(self._positions[k])
                if shared > most:
                    found, most = self._positions[k], shared
        return found
