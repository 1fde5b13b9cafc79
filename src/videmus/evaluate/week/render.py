"""A week's events in words: descriptions and speaker-labelled speech every 30 seconds, as a camera would give them.

Enters: a simulated week. Leaves: lines with their clock times, and for every relation that a line states the true
entities beside the names that stand there. Wording varies: people by given or full name, one mention in five by a
nickname, one in twenty misspelt or misheard, pronouns where plain; things by mark, owner or another noun. A part of the
lines is missing.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from videmus.evaluate.week.simulate import SLOT_MS, Event, Week
from videmus.graph.entities import ALSO_CALLED
from videmus.model import EntityKind

NICKNAMES = 0.20
MISSPELT = 0.05
MISSING = 0.05
PRONOUNS = 0.12


@dataclass(frozen=True, slots=True)
class TrueRelation:
    """One relation as a line states it: true entities ("p3", "t17", "l0") and the names in the line.

    A name is empty where the line has a pronoun."""

    source: str
    source_kind: EntityKind
    source_name: str
    relation: str
    target: str
    target_kind: EntityKind
    target_name: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one stream. `speaker` is the diarized label. `missing`: it happened, but was not recorded."""

    stream: Literal["scene", "speech"]
    start: int
    end: int
    text: str
    speaker: str | None
    relations: tuple[TrueRelation, ...]
    event: Event | None
    missing: bool = False


@dataclass(slots=True)
class Telling:
    """A week in words: `lines` in order of time, those that are missing among them, marked."""

    week: Week
    lines: list[Line] = field(default_factory=list)

    def seen(self) -> list[Line]:
        return [line for line in self.lines if not line.missing]


def render(week: Week) -> Telling:
    """The same week and seed give the same words."""
    return Telling(week, sorted(_Writer(week).lines(), key=lambda x: (x.start, x.stream, x.end)))


class _Writer:
    def __init__(self, week: Week) -> None:
        self.week = week
        self.words = week.vocabulary
        self.chance = random.Random(week.seed * 7919 + 1)
        self.met: set[int] = set()  # people named in full already

    def lines(self) -> Iterable[Line]:
        slots: dict[int, list[Event]] = defaultdict(list)
        for event in self.week.events:
            slots[event.start // SLOT_MS].append(event)
        for slot in sorted(slots):
            seen = [e for e in slots[slot] if e.kind in ("arrive", "use", "take", "put", "give", "talk")]
            named: set[int] = set()
            for event in seen:
                yield self._scene(event, named)
            for event in slots[slot]:
                if event not in seen:
                    yield self._speech(event)

    # ------------------------------------------------------------ descriptions

    def _scene(self, event: Event, named: set[int]) -> Line:
        chance, words = self.chance, self.words
        who, name = self._subject(event, named)
        place_name = (
            words.rooms[event.place]
            if event.place < len(words.rooms)
            else words.outside[event.place - len(words.rooms)]
        )
        place = f"l{event.place}"
        found: list[TrueRelation] = []

        def relate(relation: str, target: str, kind: EntityKind, target_name: str) -> None:
            found.append(TrueRelation(f"p{event.who}", "person", name, relation, target, kind, target_name))

        if event.kind == "arrive":
            others = [p for p in event.present if p != event.who]
            text = f"{who} {chance.choice(('enters', 'walks into', 'comes into'))} the {place_name}"
            relate("INTERACTS_WITH", place, "location", place_name)
            if others:
                companions = [(p, self._name(p)) for p in others]
                for p, companion in companions:
                    relate("INTERACTS_WITH", f"p{p}", "person", companion)
                text += " with " + _listed([n for _, n in companions])
        elif event.kind == "talk":
            assert event.other is not None
            other = self._name(event.other)
            text = f"{who} {chance.choice(words.talk)[0]} {other} in the {place_name}"
            relate("TALKS_TO", f"p{event.other}", "person", other)
            relate("INTERACTS_WITH", place, "location", place_name)
        else:
            assert event.thing is not None
            thing, thing_name = self._thing(event.thing, event.who)
            verb = chance.choice(
                {"use": words.use, "take": words.take, "put": words.put, "give": words.give}[event.kind]
            )[0]
            text = f"{who} {verb} {thing}"
            relate("USES" if event.kind == "use" else "INTERACTS_WITH", f"t{event.thing}", "object", thing_name)
            if event.kind == "give":
                assert event.other is not None
                other = self._name(event.other)
                text += f" to {other}"
                relate("INTERACTS_WITH", f"p{event.other}", "person", other)
            elif chance.random() < 0.5:
                text += f" in the {place_name}"
                relate("INTERACTS_WITH", place, "location", place_name)
        named.add(event.who)
        missing = chance.random() < MISSING
        return Line(
            "scene", event.start, event.end, text[0].upper() + text[1:] + ".", None, tuple(found), event, missing
        )

    def _subject(self, event: Event, named: set[int]) -> tuple[str, str]:
        """(words, name): the name is empty where a pronoun stands, which it may where only one person was named."""
        if named == {event.who} and self.chance.random() < PRONOUNS:
            return self.words.people[event.who][4], ""
        name = self._name(event.who)
        return name, name

    def _name(self, person: int) -> str:
        given, family, short, nickname, _ = self.words.people[person]
        if person not in self.met:
            self.met.add(person)
            return f"{given} {family}"
        roll = self.chance.random()
        if roll < NICKNAMES:
            return short if self.chance.random() < 0.5 else nickname
        if roll < NICKNAMES + MISSPELT:
            return _misspelt(given, self.chance)
        shared = sum(p[0] == given for p in self.words.people) > 1
        return f"{given} {family}" if self.chance.random() < (0.5 if shared else 0.15) else given

    def _thing(self, thing: int, who: int) -> tuple[str, str]:
        """(words in the sentence, name as an extractor gives it)."""
        noun, other, mark, owner, _, _ = self.words.things[thing]
        if self.chance.random() < 0.2:
            noun = other
        if owner == who and self.chance.random() < 0.3:
            given, family = self.words.people[who][:2]
            pronoun = {"he": "his", "she": "her"}[self.words.people[who][4]]
            return f"{pronoun} {mark} {noun}", f"{given} {family}'s {mark} {noun}"
        if owner >= 0 and owner != who and self.chance.random() < 0.25:
            owner_name = " ".join(self.words.people[owner][:2])
            return f"{owner_name}'s {mark} {noun}", f"{owner_name}'s {mark} {noun}"
        return f"the {mark} {noun}", f"{mark} {noun}"

    # ------------------------------------------------------------ speech

    def _speech(self, event: Event) -> Line:
        chance, words = self.chance, self.words
        assert event.other is not None
        label = " ".join(words.people[event.who][:2])
        to = " ".join(words.people[event.other][:2])
        found = [TrueRelation(f"p{event.who}", "person", label, "TALKS_TO", f"p{event.other}", "person", to)]
        called = self._name(event.other)
        if event.kind == "ask":
            text = chance.choice((f"{called}, could you {event.note}?", f"Would you {event.note} for me, {called}?"))
        elif event.kind == "promise":
            text = chance.choice((f"Sure, I will {event.note}.", f"Fine, I promise to {event.note}."))
        elif event.kind == "bought":
            text = chance.choice((f"Done, I did {event.note}.", f"By the way, I managed to {event.note}."))
        elif event.kind == "alias":
            text = f"Most people call me {event.note}, you know."
            found.append(
                TrueRelation(f"p{event.who}", "person", event.note or "", ALSO_CALLED, f"p{event.who}", "person", label)
            )
        elif event.about is not None:
            about = self._name(event.about)
            text = chance.choice(
                (
                    f"Did you see {about} this morning?",
                    f"I think {about} would like that.",
                    f"We should wait for {about}.",
                )
            )
            found.append(TrueRelation(f"p{event.who}", "person", label, "MENTIONS", f"p{event.about}", "person", about))
        elif event.thing is not None:
            thing, name = self._thing(event.thing, -2)
            text = chance.choice((f"Have you seen {thing}?", f"I still need {thing}.", f"Somebody moved {thing}."))
            found.append(TrueRelation(f"p{event.who}", "person", label, "MENTIONS", f"t{event.thing}", "object", name))
        else:
            text = chance.choice(
                ("That smells good.", "It is getting late.", "I slept badly.", "What a day.", "Nice weather today.")
            )
        missing = chance.random() < MISSING and event.kind not in ("ask", "promise", "alias")
        return Line("speech", event.start, event.end, text, label, tuple(found), event, missing)


def _misspelt(name: str, chance: random.Random) -> str:
    """One slip of the pen or the ear: a letter doubled, dropped, swapped, or a vowel for another."""
    at = chance.randrange(1, len(name) - 1)
    kind = chance.randrange(4)
    if kind == 0:
        return name[:at] + name[at] + name[at:]
    if kind == 1:
        return name[:at] + name[at + 1 :]
    if kind == 2:
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    vowels = [n for n, c in enumerate(name) if n and c in "aeiou"] or [at]
    at = chance.choice(vowels)
    return name[:at] + chance.choice([v for v in "aeiou" if v != name[at]]) + name[at + 1 :]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
