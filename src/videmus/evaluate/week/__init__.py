"""A synthetic week of footage with exact truth: the test bed for timelines, graph and agent.

`make_week(seed)` simulates six people, a house, 40 things, errands, meals and talks over 7 days and 52 hours; `files`
writes it as evidence files, one an hour, which `videmus add --recording` reads; `questions` asks about it in
EgoLifeQA's five kinds, with answers, evidence times and query times; `extractor` is a scripted model that extracts what
a good language model would. Any seed, any length.
"""

from __future__ import annotations

from typing import Literal

from videmus.evaluate.week.render import Line, Telling, TrueRelation, render
from videmus.evaluate.week.simulate import Event, Week, simulate
from videmus.evaluate.week.vocabulary import vocabulary

__all__ = ["Event", "Line", "Telling", "TrueRelation", "Week", "make_week"]


def make_week(
    seed: int = 0, days: int = 7, hours: float = 52.0, words: Literal["first", "second"] = "second"
) -> Telling:
    """A week in words. `hours` is the length of all recordings together."""
    return render(simulate(seed, vocabulary(words), days, hours))
