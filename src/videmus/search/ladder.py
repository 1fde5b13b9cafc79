"""Strict to relaxed: from the slots of a question a ladder of graph queries, built by code and not by a model.

Enters: slots {day, time, source, target, relation}, a scope. Leaves: relations, each tagged with the rung that found it,
and a log of every rung with its rows. Source: EGAgent (arXiv 2601.18157), section 3.3, whose model writes the queries
and whose executor keeps the last result; here the result is the union of the rungs that ran, strictest first.

    exact       all slots as they are
    any time    the time of day dropped
    any day     all days up to the question's
    words       names by their single words, pet forms and sounds
    any relation
    target      the target alone

The first rung that brings the total over `enough` rows ends the ladder. Where a rung finds more rows than have place,
those nearest to the asked time stay, else the latest. What lies after the scope's `at` is not seen by any rung.
"""

from __future__ import annotations

import time as timing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from videmus import clock
from videmus.config import GraphSettings
from videmus.model import EntityKind, Scope
from videmus.store.graph import Fact, GraphStore, Wanted


@dataclass(frozen=True, slots=True)
class Slots:
    """What a question fixes; None is open. `day` counts from the recording's first day; `start` and `end` are times of
    day in milliseconds since midnight, or without a day, on any day. `source` and `target` are names."""

    day: int | None = None
    start: int | None = None
    end: int | None = None
    source: str | None = None
    target: str | None = None
    relation: str | None = None
    source_kind: EntityKind | None = None
    target_kind: EntityKind | None = None


@dataclass(frozen=True, slots=True)
class Rung:
    """One query of the ladder as it ran: which filters were in force, how many rows it found, how many were new."""

    name: str
    filters: str
    found: int
    new: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A relation and the strictest rung that found it."""

    fact: Fact
    rung: str


@dataclass(frozen=True, slots=True)
class Climb:
    """The result of a ladder: rows strictest first, the log, and whether more rows fit than were returned."""

    rows: tuple[Ranked, ...]
    rungs: tuple[Rung, ...]
    more: bool


def climb(
    graph: GraphStore, slots: Slots, scope: Scope, settings: GraphSettings, *, first_day: int | None = None
) -> Climb:
    """Run the ladder. `first_day` is any clock time on the recording's first day (`timeline.start`).

    A rung that would ask what the one before it asked is left out, and named in no log.
    """
    found: dict[str, Ranked] = {}
    rungs: list[Rung] = []
    more = False
    asked: set[Wanted] = set()
    for name, wanted, filters in _rungs(graph, slots, scope, first_day):
        if wanted in asked:
            continue
        asked.add(wanted)
        began = timing.perf_counter()
        facts = graph.facts(wanted, scope, near=_near(slots, first_day), limit=settings.ladder_rows + 1)
        more = more or len(facts) > settings.ladder_rows
        new = [f for f in facts[: settings.ladder_rows] if f.id not in found]
        found.update({f.id: Ranked(f, name) for f in new})
        rungs.append(Rung(name, filters, len(facts), len(new), timing.perf_counter() - began))
        if len(found) > settings.ladder_enough:
            break
    rows = list(found.values())
    return Climb(tuple(rows[: settings.ladder_rows]), tuple(rungs), more or len(rows) > settings.ladder_rows)


def _rungs(graph: GraphStore, slots: Slots, scope: Scope, first_day: int | None) -> Iterator[tuple[str, Wanted, str]]:
    """Each rung with its query and, for the log, its filters. Names are looked up only when a rung needs them."""

    def numbers(
        look: Callable[[str, Scope, EntityKind | None], frozenset[int]], name: str | None, kind: EntityKind | None
    ) -> frozenset[int] | None:
        return None if name is None else look(name, scope, kind)

    start, end = _window(slots, first_day)
    day_start, day_end = _window(replace(slots, start=None, end=None), first_day)
    relation = slots.relation.strip().upper() if slots.relation else None
    exact = Wanted(
        numbers(graph.exactly, slots.source, slots.source_kind),
        numbers(graph.exactly, slots.target, slots.target_kind),
        relation,
        start,
        end,
        perhaps=True,
    )
    yield "exact", exact, _described(slots, "day", "time", "source", "target", "relation")
    exact = replace(exact, start=day_start, end=day_end)
    yield "any time", exact, _described(slots, "day", "source", "target", "relation")
    exact = replace(exact, start=None, end=None)
    yield "any day", exact, _described(slots, "source", "target", "relation")
    loose = replace(
        exact,
        sources=numbers(graph.by_words, slots.source, slots.source_kind),
        targets=numbers(graph.by_words, slots.target, slots.target_kind),
    )
    yield "words", loose, _described(slots, "source", "target", "relation") + " by words"
    loose = replace(loose, relation=None)
    yield "any relation", loose, _described(slots, "source", "target") + " by words"
    if slots.target is not None and slots.source is not None:
        yield "target", replace(loose, sources=None), _described(slots, "target") + " by words"


def _window(slots: Slots, first_day: int | None) -> tuple[int | None, int | None]:
    """The clock span of the slots; without a day a time of day alone is no span."""
    if slots.day is None:
        return None, None
    midnight = clock.midnight_of(first_day or 0) + (slots.day - 1) * clock.DAY_MS
    start = midnight + (slots.start or 0)
    end = midnight + slots.end if slots.end is not None else midnight + clock.DAY_MS
    if slots.start is not None and slots.end is None:
        end = start + 1
    return start, max(end, start + 1)


def _near(slots: Slots, first_day: int | None) -> int | None:
    """The middle of the asked span."""
    start, end = _window(slots, first_day)
    return None if start is None or end is None else (start + end) // 2


def _described(slots: Slots, *kept: str) -> str:
    time_of_day = None
    if slots.start is not None:
        time_of_day = clock.format_time(slots.start) + ("–" + clock.format_time(slots.end) if slots.end else "")
    values = {
        "day": slots.day,
        "time": time_of_day,
        "source": slots.source,
        "target": slots.target,
        "relation": slots.relation,
    }
    return ", ".join(f"{name} = {values[name]}" for name in kept if values[name] is not None) or "nothing fixed"
