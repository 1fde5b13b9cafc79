"""Rows near a question → spans that could be its moment, with what is said and shown in each.

Enters: rows (`store.protocol.Text`) of one or more videos. Leaves: candidates: runs of speech up to a length together
with what was on screen, and single rows of what nobody talks over. Knows nothing of scores.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

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
    shown = {kind: [k for k in positions if rows[k].kind == kind] for kind in JOINED}
    starts = {kind: [rows[k].start_ms for k in shown[kind]] for kind in JOINED}
    reach = {kind: _reach([rows[k].end_ms for k in shown[kind]]) for kind in JOINED}
    talked_over: set[int] = set()
    last = 0
    for first in range(len(speech)):
        start = rows[speech[first]].start_ms
        last = max(last, first)
        while last + 1 < len(speech) and rows[speech[last + 1]].end_ms - start <= length_ms:
            last += 1
        run = speech[first : last + 1]
        end = max(rows[k].end_ms for k in run)
        joined: list[int] = []
        for kind in JOINED:
            # Rows that begin before the end and (by the running maximum of ends) may end after the start.
            low, high = bisect_right(reach[kind], start), bisect_left(starts[kind], end)
            overlaps = [(min(end, rows[k].end_ms) - max(start, rows[k].start_ms), -k) for k in shown[kind][low:high]]
            talked_over.update(-k for shared, k in overlaps if shared > 0)
            if overlaps and max(overlaps)[0] > 0:
                joined.append(-max(overlaps)[1])
        yield Candidate(video, start, end, (*run, *joined))
    for k in positions:
        if rows[k].kind != "speech" and k not in talked_over:
            yield Candidate(video, rows[k].start_ms, rows[k].end_ms, (k,))


def _reach(ends: list[int]) -> list[int]:
    """The running maximum: position k and all before it end by then."""
    reach: list[int] = []
    for end in ends:
        reach.append(max(end, reach[-1] if reach else end))
    return reach
