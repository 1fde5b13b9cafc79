"""A made week with a hidden state: who is where, who holds what, where each thing lies, who promised what.

Enters: a seed, a vocabulary, a length. Leaves: events in order of time, exact. Knows nothing of how they are worded
(`render`) or asked about (`questions`). The day has episodes (breakfast, work in a room, an errand, a meal, a talk) of
several minutes; people have habits that hold three times out of four.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from videmus import clock
from videmus.errors import UsageError
from videmus.evaluate.week.vocabulary import Vocabulary

SLOT_MS = 30_000
EventKind = Literal["arrive", "use", "take", "put", "give", "talk", "say", "ask", "promise", "bought", "alias"]

_SESSIONS = ((7.5, 3.0), (11.75, 2.25), (17.5, 4.0))
"""The recorder runs in the morning, at noon and in the evening: (from, at most so many hours). The evening has no end but
the next morning."""

_MOST_HOURS = 19.25
"""Of a day: the morning's and noon's, and from the evening to the next morning."""


@dataclass(frozen=True, slots=True)
class Event:
    """What truly happened. People, things and places are indices into the vocabulary; `start` is by the clock.

    `who` does `kind` to `thing` / `other` (a person) at `place`. `note` is a chore or goods for promises, errands and
    requests, a nickname for "alias"; `present` are all who are there."""

    kind: EventKind
    start: int
    end: int
    who: int
    place: int
    present: tuple[int, ...]
    thing: int | None = None
    other: int | None = None
    about: int | None = None
    note: str | None = None
    episode: str = ""


@dataclass(slots=True)
class Week:
    """The truth: events, the sessions recorded (clock spans), the habits that people have."""

    seed: int
    vocabulary: Vocabulary
    events: list[Event] = field(default_factory=list)
    sessions: list[tuple[int, int]] = field(default_factory=list)
    breakfast_maker: int = 0
    favourite: dict[int, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.sessions[-1][1]

    def place_name(self, place: int) -> str:
        return (*self.vocabulary.rooms, *self.vocabulary.outside)[place]


def simulate(seed: int, vocabulary: Vocabulary, days: int = 7, hours: float = 52.0) -> Week:
    """`hours` of recording over `days` days, beginning on the clock's first day. Raises UsageError when they do not fit."""
    if days < 1 or not 0 <= hours <= days * _MOST_HOURS:
        raise UsageError(
            f"{hours:g} hours do not fit into {days} days", next=f"record at most {_MOST_HOURS:g} hours a day"
        )
    chance = random.Random(seed)
    week = Week(seed, vocabulary)
    week.breakfast_maker = chance.randrange(6)
    owned = {p: [n for n, t in enumerate(vocabulary.things) if t[3] == p] for p in range(6)}
    week.favourite = {p: chance.choice(things) for p, things in owned.items()}
    per_day = int(hours * clock.HOUR_MS / days / SLOT_MS) * SLOT_MS
    state = _State(vocabulary, chance, week)
    for day in range(days):
        left = per_day + (int(hours * clock.HOUR_MS) // SLOT_MS * SLOT_MS - per_day * days if day == days - 1 else 0)
        for number, (begins, longest) in enumerate(_SESSIONS):
            share = int(min(left, longest * clock.HOUR_MS if number < 2 else left) // SLOT_MS) * SLOT_MS
            start = day * clock.DAY_MS + int(begins * clock.HOUR_MS)
            if share:
                week.sessions.append((start, start + share))
                week.events += state.session(start, start + share, ("breakfast", "lunch", "dinner")[number])
            left -= share
    return week


class _State:
    def __init__(self, vocabulary: Vocabulary, chance: random.Random, week: Week) -> None:
        self.words = vocabulary
        self.chance = chance
        self.week = week
        self.lies = {n: t[4] for n, t in enumerate(vocabulary.things)}  # thing → place
        self.open: list[tuple[int, int, str]] = []  # (who promised, to whom, what)
        self.told: set[int] = set()  # whose nickname was explained

    def session(self, start: int, end: int, meal: str) -> Iterator[Event]:
        at = start
        first = True
        while at < end:
            episode = meal if first else self.chance.choice(("work", "work", "talk", "errand", "chores", "play"))
            first = False
            length = self.chance.randrange(8, 30) * SLOT_MS
            until = min(end, at + length)
            yield from self._episode(episode, at, until)
            at = until

    def _episode(self, episode: str, start: int, end: int) -> Iterator[Event]:
        chance, words = self.chance, self.words
        rooms = len(words.rooms)
        if episode in ("breakfast", "lunch", "dinner"):
            place, size = 0, chance.randrange(3, 6)
        elif episode == "errand":
            place, size = rooms + chance.randrange(len(words.outside)), chance.randrange(1, 4)
        else:
            place, size = chance.randrange(rooms), chance.randrange(2, 5)
        present = tuple(sorted(chance.sample(range(6), size)))
        if episode == "breakfast":
            maker = self.week.breakfast_maker if chance.random() < 0.75 else chance.randrange(6)
            present = tuple(sorted({*present, maker}))
            lead = maker
        else:
            lead = chance.choice(present)
        at = start
        if episode == "errand":
            vehicle = chance.choice([n for n, t in enumerate(words.things) if t[5] and t[3] in (-1, lead)])
            yield self._event("use", at, lead, place, present, episode, thing=vehicle)
            at += SLOT_MS
        if at < end:  # else the recorder was off before they came there
            yield self._event("arrive", at, lead, place, present, episode)
        usable = [n for n, t in enumerate(words.things) if (t[5] if place >= rooms else self.lies[n] == place)]
        usable = usable or [n for n, t in enumerate(words.things) if t[5]]
        holder: dict[int, int] = {}
        while at < end:
            for _ in range(chance.choice((1, 1, 2))):
                yield self._action(at, lead if chance.random() < 0.4 else chance.choice(present), place, present, episode,
                                   usable, holder)  # fmt: skip
            if len(present) > 1 and chance.random() < 0.6:
                yield from self._exchange(at, place, present, episode)
            at += SLOT_MS

    def _action(
        self,
        at: int,
        who: int,
        place: int,
        present: tuple[int, ...],
        episode: str,
        usable: list[int],
        holder: dict[int, int],
    ) -> Event:
        chance = self.chance
        thing = self.week.favourite[who] if chance.random() < 0.15 else chance.choice(usable)
        others = [p for p in present if p != who]
        held = [t for t, p in holder.items() if p == who]
        roll = chance.random()
        if held and roll < 0.35:
            thing = held[0]
            del holder[thing]
            if others and chance.random() < 0.4:
                other = chance.choice(others)
                holder[thing] = other
                return self._event("give", at, who, place, present, episode, thing=thing, other=other)
            self.lies[thing] = place
            return self._event("put", at, who, place, present, episode, thing=thing)
        if roll < 0.55 and thing not in holder:
            holder[thing] = who
            return self._event("take", at, who, place, present, episode, thing=thing)
        if others and roll < 0.7:
            return self._event("talk", at, who, place, present, episode, other=chance.choice(others))
        return self._event("use", at, who, place, present, episode, thing=thing)

    def _exchange(self, at: int, place: int, present: tuple[int, ...], episode: str) -> Iterator[Event]:
        chance, words = self.chance, self.words
        one, other = chance.sample(present, 2)
        offset = at + 1_000
        roll = chance.random()
        if roll < 0.06:
            chore = chance.choice(words.chores if chance.random() < 0.5 else [f"buy {g}" for g in words.goods])
            if not any(what == chore for _, _, what in self.open):
                self.open.append((other, one, chore))
                yield self._line("ask", offset, one, other, place, present, episode, note=chore)
                yield self._line("promise", offset + 6_000, other, one, place, present, episode, note=chore)
                return
        if roll < 0.10 and (done := [p for p in self.open if p[0] in (one, other)]):
            promise = chance.choice(done)
            self.open.remove(promise)
            who, to = promise[0], other if promise[0] == one else one
            yield self._line("bought", offset, who, to, place, present, episode, note=promise[2])
            return
        if one not in self.told and roll < 0.35:
            self.told.add(one)
            yield self._line("alias", offset, one, other, place, present, episode, note=words.people[one][3])
            return
        absent = [p for p in range(6) if p not in (one, other)]
        for turn in range(chance.choice((1, 2, 2, 3))):
            who, to = (one, other) if turn % 2 == 0 else (other, one)
            about = chance.choice(absent) if chance.random() < 0.35 else None
            thing = chance.randrange(len(words.things)) if about is None and chance.random() < 0.5 else None
            yield self._line("say", offset + turn * 6_000, who, to, place, present, episode, about=about, thing=thing)

    def _event(
        self,
        kind: EventKind,
        at: int,
        who: int,
        place: int,
        present: tuple[int, ...],
        episode: str,
        thing: int | None = None,
        other: int | None = None,
    ) -> Event:
        return Event(kind, at, at + SLOT_MS, who, place, present, thing, other, None, None, episode)

    def _line(
        self,
        kind: EventKind,
        at: int,
        who: int,
        to: int,
        place: int,
        present: tuple[int, ...],
        episode: str,
        note: str | None = None,
        about: int | None = None,
        thing: int | None = None,
    ) -> Event:
        length = self.chance.randrange(2_000, 5_500)
        return Event(kind, at, at + length, who, place, present, thing, to, about, note, episode)
