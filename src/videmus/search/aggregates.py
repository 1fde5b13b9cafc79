"""Questions about many rows ("how often", "usually", "first", "last"): answered from counts over all of them.

Enters: slots, a scope. Leaves: how many relations fit, the first and the last, counts by day, by hour of the day and by
who or what stands at the open end, with the evidence of the ends of each count. Nothing here is a sample.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from videmus import clock
from videmus.model import Scope
from videmus.search.ladder import Slots
from videmus.store.graph import Fact, GraphStore, Group, Wanted

_ASKS_COUNTS = re.compile(
    r"(?i)\b(how (?:often|many times|frequently|much time)|usually|typically|normally|generally|always|never|most(?: often)?|"
    r"least(?: often)?|habit\w*|routine\w*|every (?:day|morning|evening|night|time)|regularly|tend to|first|last|"
    r"latest|earliest|before that|how many)\b"
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """All relations that fit the slots, counted. `slots` says with which names: as asked, or by words if none bore them.

    `hours` are hours of the day; `partners` count the end that the slots leave open (the target where both are)."""

    total: int
    first: Fact | None
    last: Fact | None
    days: tuple[Group, ...]
    hours: tuple[Group, ...]
    relations: tuple[Group, ...]
    partners: tuple[Group, ...]
    by_words: bool

    @property
    def evidence(self) -> tuple[str, ...]:
        """The evidence at the ends of each count, each id once."""
        ids = [f.evidence for f in (self.first, self.last) if f]
        ids += [id for g in (*self.partners[:5], *self.days) for id in (g.first_evidence, g.last_evidence)]
        return tuple(dict.fromkeys(ids))


def asks_for_counts(question: str) -> bool:
    """Whether a question's words ask about many rows, or for the first or last of them."""
    return _ASKS_COUNTS.search(question) is not None


def aggregate(graph: GraphStore, slots: Slots, scope: Scope, *, first_day: int | None = None) -> Aggregate:
    """Count what fits. A day and a time of day narrow; names that nobody bears are looked up by their words."""
    wanted, by_words = _wanted(graph, slots, scope, first_day)
    total = graph.count(wanted, scope)
    if not total:
        return Aggregate(0, None, None, (), (), (), (), by_words)
    first = graph.facts(wanted, scope, near=-(2**61), limit=1)
    last = graph.facts(wanted, scope, near=2**61, limit=1)
    open_end = "source" if slots.source is None and slots.target is not None else "target"
    return Aggregate(
        total,
        first[0] if first else None,
        last[0] if last else None,
        tuple(graph.grouped(wanted, scope, "day", 10_000)),
        tuple(graph.grouped(wanted, scope, "hour")),
        tuple(graph.grouped(wanted, scope, "relation")),
        tuple(graph.grouped(wanted, scope, open_end, 20)),
        by_words,
    )


def described(found: Aggregate, first_day: int | None = None) -> str:
    """The counts as lines that a model, or a person, reads."""
    if not found.total or found.first is None or found.last is None:
        return "no relation fits"
    today = clock.midnight_of(first_day or 0) // clock.DAY_MS
    lines = [
        f"{found.total} relations" + (" (names matched by words)" if found.by_words else ""),
        f"first: {fact_line(found.first, first_day)}",
        f"last: {fact_line(found.last, first_day)}",
        "by day: " + ", ".join(f"DAY{int(g.key) - today + 1} {g.count}" for g in found.days),
        "by hour of the day: " + ", ".join(f"{int(g.key):02}h {g.count}" for g in found.hours),
        "by relation: " + ", ".join(f"{g.key} {g.count}" for g in found.relations),
        "with: " + ", ".join(f"{g.key} {g.count}" for g in found.partners),
    ]
    return "\n".join(lines)


def fact_line(fact: Fact, first_day: int | None = None) -> str:
    """One relation as a line: `Anna TALKS_TO Tom, DAY2 10:00:05–10:00:12`."""
    start = clock.format_clock(fact.start, first_day=first_day)
    end = clock.format_clock(fact.end, first_day=first_day).split(" ")[-1].split("T")[-1]
    return f"{fact.source} {fact.relation} {fact.target}, {start}–{end}"


def _wanted(graph: GraphStore, slots: Slots, scope: Scope, first_day: int | None) -> tuple[Wanted, bool]:
    start = end = None
    if slots.day is not None:
        midnight = clock.midnight_of(first_day or 0) + (slots.day - 1) * clock.DAY_MS
        start = midnight + (slots.start or 0)
        end = midnight + (slots.end if slots.end is not None else clock.DAY_MS)
    wanted = Wanted(None, None, slots.relation, start, end)
    by_words = False
    for side, name, kind in (
        ("sources", slots.source, slots.source_kind),
        ("targets", slots.target, slots.target_kind),
    ):
        if name is not None:
            found = graph.exactly(name, scope, kind)
            if not found:
                found, by_words = graph.by_words(name, scope, kind), True
            wanted = replace(wanted, sources=found) if side == "sources" else replace(wanted, targets=found)
    return wanted, by_words
