"""Questions about a made week in EgoLifeQA's five kinds, each with options, the answer, when it is proved, when it is asked.

Enters: a week in words. Leaves: questions. An answer rests on lines that were recorded and on nothing after the time of
the question; wrong options are of the same sort as the right one. Every question names people and things in full, so
what is measured is the search, not the guessing of nicknames; `slots` are what a planner should make of it.

    EntityLog     what was done with a thing, and where it is
    EventRecall   what happened, was said or promised at some time
    HabitInsight  who or what is usual
    RelationMap   who with whom
    TaskMaster    what is promised and not yet done
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from videmus import clock
from videmus.evaluate.week.render import Line, Telling
from videmus.evaluate.week.simulate import Event

Kind = Literal["EntityLog", "EventRecall", "HabitInsight", "RelationMap", "TaskMaster"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LETTERS = "ABCD"


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `answer` is the letter of the right option; times are clock times; `slots` {name: value}."""

    id: str
    kind: Kind
    text: str
    options: tuple[str, str, str, str]
    answer: str
    asked_at: int
    evidence: tuple[tuple[int, int], ...]
    slots: tuple[tuple[str, str], ...]

    @property
    def answer_text(self) -> str:
        return self.options[_LETTERS.index(self.answer)]


def questions(telling: Telling, each: int = 20, seed: int = 0) -> list[Question]:
    """`each` questions of every kind, asked at random times of the later three quarters of the week."""
    asker = _Asker(telling, random.Random(seed))
    found: list[Question] = []
    for kind, ask in zip(
        KINDS, (asker.entity_log, asker.event_recall, asker.habit, asker.relation_map, asker.task), strict=True
    ):
        count = 0
        for _ in range(each * 50):
            if count == each:
                break
            if (question := ask(f"{kind}-{count}")) is not None:
                found.append(question)
                count += 1
    return found


class _Asker:
    def __init__(self, telling: Telling, chance: random.Random) -> None:
        self.words = telling.week.vocabulary
        self.week = telling.week
        self.telling = telling
        self.chance = chance
        self.lines = [line for line in telling.seen() if line.event is not None]
        self.ends = [line.end for line in self.lines]

    # ------------------------------------------------------------ the five kinds

    def entity_log(self, id: str) -> Question | None:
        at = self._asked()
        thing = self.chance.randrange(len(self.words.things))
        uses = [x for x in self._past(at, "use", "take", "put", "give") if _event(x).thing == thing]
        if not uses:
            return None
        last = uses[-1]
        people = [self._person(p) for p in range(6)]
        return self._question(
            id, "EntityLog", f"Who had {self._thing(thing)} in hand last?", self._person(_event(last).who), people, at, [last],
            target=self._thing(thing, ""),
        )  # fmt: skip

    def event_recall(self, id: str) -> Question | None:
        at = self._asked()
        asks = self._past(at, "ask")
        if not asks:
            return None
        line = self.chance.choice(asks)
        event = _event(line)
        assert event.note is not None and event.other is not None
        text = (
            f"What did {self._person(event.who)} ask {self._person(event.other)} to do at about "
            f"{clock.format_clock(event.start // 60_000 * 60_000)}?"
        )
        wrong = [*self.words.chores, *(f"buy {g}" for g in self.words.goods)]
        return self._question(
            id, "EventRecall", text, event.note, wrong, at, [line], source=self._person(event.who),
            target=self._person(event.other), relation="TALKS_TO", day=str(clock.day_number(event.start)),
        )  # fmt: skip

    def habit(self, id: str) -> Question | None:
        at = self._asked()
        thing = self.chance.randrange(len(self.words.things))
        uses = [x for x in self._past(at, "use") if _event(x).thing == thing]
        counts = Counter(_event(x).who for x in uses).most_common()
        if len(counts) < 4 or counts[0][1] < counts[1][1] + 2:
            return None
        people = [self._person(p) for p, _ in counts[:4]]
        proof = [x for x in uses if _event(x).who == counts[0][0]]
        return self._question(
            id, "HabitInsight", f"Who uses {self._thing(thing)} most often?", people[0], people, at, proof,
            target=self._thing(thing, ""), relation="USES",
        )  # fmt: skip

    def relation_map(self, id: str) -> Question | None:
        at = self._asked()
        place = self.chance.randrange(len(self.words.rooms) + len(self.words.outside))
        person = self.chance.randrange(6)
        visits = [
            x
            for x in self._past(at, "arrive")
            if _event(x).place == place and person == _event(x).who and len(_event(x).present) > 1
        ]
        if not visits:
            return None
        last = visits[-1]
        there = [p for p in _event(last).present if p != person]
        absent = [p for p in range(6) if p not in _event(last).present]
        if len(absent) < 3:
            return None
        name = self._person(person)
        text = f"Who was with {name} when {name} last came into the {self.week.place_name(place)}?"
        right = self._person(self.chance.choice(there))
        return self._question(
            id, "RelationMap", text, right, [right, *map(self._person, absent)], at, [last], source=self._person(person),
            target=self.week.place_name(place), relation="INTERACTS_WITH",
        )  # fmt: skip

    def task(self, id: str) -> Question | None:
        at = self._asked()
        who = self.chance.randrange(6)
        last_of = {_event(x).note: x for x in self._past(at, "promise") if _event(x).who == who}
        # A report that happened but was not recorded leaves open what the right answer is: such tasks are not used.
        reports = [
            x for x in self.telling.lines if x.event and x.event.kind == "bought" and x.event.who == who and x.end <= at
        ]
        after = {
            note: [r for r in reports if _event(r).note == note and r.start > x.start] for note, x in last_of.items()
        }
        still = [x for note, x in last_of.items() if not after[note]]
        finished = [str(note) for note, found in after.items() if any(not r.missing for r in found)]
        never = [c for c in self.words.chores if c not in last_of]
        if not still or len(finished) + len(never) < 3:
            return None
        line = self.chance.choice(still)
        note = _event(line).note
        assert note is not None
        text = f"Which of these did {self._person(who)} promise to do and not report as done yet?"
        return self._question(
            id,
            "TaskMaster",
            text,
            note,
            [note, *finished, *never],
            at,
            [line],
            source=self._person(who),
            relation="TALKS_TO",
        )

    # ------------------------------------------------------------ parts

    def _asked(self) -> int:
        whole = self.week.end - self.week.sessions[0][0]
        return self.week.sessions[0][0] + int(whole * self.chance.uniform(0.25, 1.0))

    def _past(self, at: int, *kinds: str) -> list[Line]:
        return [line for line in self.lines if line.end <= at and _event(line).kind in kinds]

    def _person(self, person: int) -> str:
        return " ".join(self.words.people[person][:2])

    def _thing(self, thing: int, article: str = "the ") -> str:
        noun, _, mark, *_ = self.words.things[thing]
        return f"{article}{mark} {noun}"

    def _question(
        self,
        id: str,
        kind: Kind,
        text: str,
        right: str,
        others: Sequence[str],
        at: int,
        proof: Sequence[Line],
        **slots: str,
    ) -> Question | None:
        wrong = sorted({o for o in others if o != right})
        if len(wrong) < 3:
            return None
        options = [right, *self.chance.sample(wrong, 3)]
        self.chance.shuffle(options)
        first, second, third, fourth = options
        evidence = tuple(dict.fromkeys((line.start, line.end) for line in proof))
        return Question(
            id, kind, text, (first, second, third, fourth), _LETTERS[options.index(right)], at, evidence,
            tuple(slots.items()),
        )  # fmt: skip


def _event(line: Line) -> Event:
    assert line.event is not None
    return line.event


def true_facts(telling: Telling, before: int | None = None) -> Iterator[tuple[Line, str, str, str]]:
    """(line, source, relation, target) for each recorded relation between people, things and places, under the names
    that a person would ask with: full names, mark and noun."""
    words = telling.week.vocabulary
    names = {f"p{n}": " ".join(p[:2]) for n, p in enumerate(words.people)}
    names |= {f"t{n}": f"{t[2]} {t[0]}" for n, t in enumerate(words.things)}
    names |= {f"l{n}": place for n, place in enumerate((*words.rooms, *words.outside))}
    for line in telling.seen():
        if before is None or line.end <= before:
            for relation in line.relations:
                if relation.source != relation.target:
                    yield line, names[relation.source], relation.relation, names[relation.target]
