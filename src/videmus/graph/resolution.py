"""Which names are one person, thing or place: resolved in the order of time, each decision dated.

Enters: the relations of one recording, the speakers' labels, and what a person decided. Leaves: entities, for each end
of each relation the entity that is meant, the aliases, and links between entities found to be one. A decision uses
nothing later than the relation at hand, so an answer "as of Tuesday" can leave out what was learned on Wednesday: a row
that was resolved keeps its entity, and what was learned afterwards about it is a link with a time of its own.

How a person's name is understood, the first that applies:

1. stated: a relation ALSO_CALLED ("everybody calls me Jojo"), or a person's decision;
2. part: one word or an initial of a longer name ("Anna", "Anna K." of "Anna Keller");
3. pet: a pet form of a given name (`naming.is_short_for`);
4. misspelt: it looks or sounds like a name that is far more frequent, and is no speaker's label.

Where several people fit, the one is meant who is not the other end of the relation and just had to do with the same thing or
was at the same place under a name of their own, else is named in full beside it, else was so last. A thing is its last noun
with what is said of it: "the mug" is the red mug while one is known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from videmus.graph import naming
from videmus.graph.entities import ALSO_CALLED, Alias, Decision, Link, Named, Reason, Resolution, Seen, Sets
from videmus.model import EntityKind, content_id

_TIERS: tuple[Reason, ...] = ("person", "stated", "part", "pet", "misspelt")

Form = tuple[EntityKind, str]
"""A name as compared: its kind and `naming.surface`."""


def resolve(
    world: str,
    relations: Iterable[Seen],
    *,
    speakers: Mapping[str, int] | None = None,
    decisions: Sequence[Decision] = (),
    same_nouns: Mapping[str, str] | None = None,
) -> Resolution:
    """The entities of one world (a recording, or a video that belongs to none).

    `speakers` maps labels to the clock time they were first heard: such a name is right as it stands. `same_nouns` maps
    nouns to the one that stands for all of their meaning, beside those that `naming` knows (`nouns.same_nouns`). The result does
    not depend on the order of `relations`, and more of them at later times change nothing of the earlier ones.
    """
    resolver = _Resolver(world, speakers or {}, decisions, same_nouns or {})
    ordered = sorted(relations, key=lambda r: (r.at, r.evidence, r.n))
    for (at, _), group in groupby(ordered, key=lambda r: (r.at, r.evidence)):
        resolver.take(at, list(group))
    resolver.decide_until(None)
    return resolver.result


@dataclass(slots=True)
class _Known:
    """What is known of a form so far."""

    form: Form
    entity: str
    first: int
    count: int = 0
    own: int = 0  # mentions that were left to the form's own entity
    last: int = 0
    speaker: bool = False


class _Resolver:
    def __init__(
        self, world: str, speakers: Mapping[str, int], decisions: Sequence[Decision], same_nouns: Mapping[str, str]
    ) -> None:
        self.world = world
        self.same_nouns = same_nouns
        self.speakers = {naming.surface("person", label): at for label, at in speakers.items()}
        self.waiting = sorted(decisions, key=lambda d: d.learned_at, reverse=True)
        self.pending: list[Decision] = []
        self.result = Resolution()
        self.known: dict[Form, _Known] = {}
        self.sets = Sets()
        self.apart: Counter[frozenset[str]] = Counter()  # the two forms stood at the two ends of a relation
        self.stated: dict[Form, dict[Form, Reason]] = defaultdict(dict)
        self.split: set[frozenset[Form]] = {  # a person's split corrects what is wrong at any time
            frozenset({(d.kind, naming.surface(d.kind, d.left)), (d.kind, naming.surface(d.kind, d.right))})
            for d in decisions
            if d.action == "split"
        }
        self.members: dict[str, set[Form]] = defaultdict(set)  # of a set's root
        self.full_seen: dict[str, int] = {}  # root → when it was last named by a name of its own
        self.there: dict[str, int] = {}  # root → when it last took part, under a name of its own
        self.handled: dict[
            tuple[str, str], int
        ] = {}  # (thing or place, root) → when they last had to do with each other
        self.aliased: set[tuple[str, str]] = set()
        self.things: dict[tuple[EntityKind, str], list[tuple[naming.Thing, str]]] = defaultdict(list)
        self.people: list[_Known] = []
        self.statements = 0
        self.fits_cache: dict[tuple[str, str], Reason | None] = {}
        self.candidates_cache: dict[Form, tuple[tuple[int, ...], list[tuple[_Known, Reason]]]] = {}

    # ------------------------------------------------------------ one piece of evidence

    def take(self, at: int, group: list[Seen]) -> None:
        self.decide_until(at)
        for row in group:
            for kind, name in ((row.source_kind, row.source), (row.target_kind, row.target)):
                self._register(kind, name, at)
            if row.source_kind == row.target_kind == "person" and row.relation != ALSO_CALLED:
                self.apart[frozenset({naming.surface("person", row.source), naming.surface("person", row.target)})] += 1
        if self.pending:
            self.decide_until(at)
        for row in group:
            if row.relation == ALSO_CALLED and row.source_kind == row.target_kind:
                self._state(self._form(row.source_kind, row.source), self._form(row.target_kind, row.target), at)
        named = self._named_in_full(group, at)
        for row in group:
            if row.target_kind == "person":
                source = self._meant(row, "source", named)
                target = self._meant(row, "target", named, source)
            else:
                target = self._meant(row, "target", named)
                source = self._meant(row, "source", named, target)
            self.result.ends[row.n] = (source, target)

    def decide_until(self, at: int | None) -> None:
        """Apply the decisions learned by `at`; one about names that nobody has borne yet waits until somebody does."""
        while self.waiting and (at is None or self.waiting[-1].learned_at <= at):
            self.pending.append(self.waiting.pop())
        still = []
        for decision in self.pending:
            if decision.action == "merge" and not self._merged(decision, at):
                still.append(decision)
        self.pending = still

    def _merged(self, decision: Decision, at: int | None) -> bool:
        names = (decision.left, decision.right)
        forms = [self._form(decision.kind, name) for name in names]
        if not any(form in self.known for form in forms):
            return False
        learned = decision.learned_at if at is None else max(decision.learned_at, min(at, self._known_from(forms)))
        for name, form in zip(names, forms, strict=True):
            self._register(decision.kind, name, learned)
            self._alias(self.known[form].entity, name, learned)
        self.stated[forms[1]][forms[0]] = "person"
        self.statements += 1
        self._link(forms[0], forms[1], learned, "person")
        return True

    def _known_from(self, forms: Sequence[Form]) -> int:
        return min(self.known[form].first for form in forms if form in self.known)

    def _register(self, kind: EntityKind, name: str, at: int) -> None:
        form = self._form(kind, name)
        known = self.known.get(form)
        if known is None:
            entity = content_id("n", self.world, *form)
            known = self.known[form] = _Known(form, entity, at, speaker=self._is_speaker(form, at))
            self.result.entities.append(Named(entity, kind, _shown(name), at))
            self.members[entity].add(form)
            known.count = 1
            if kind == "person":
                self.people.append(known)
                self._new_person(known, at)
            else:
                self._new_thing(form, entity, at)
            return
        known.count += 1
        known.speaker = known.speaker or self._is_speaker(form, at)

    def _is_speaker(self, form: Form, at: int) -> bool:
        heard = self.speakers.get(form[1]) if form[0] == "person" else None
        return heard is not None and heard <= at

    @staticmethod
    def _form(kind: EntityKind, name: str) -> Form:
        return kind, naming.surface(kind, name)

    # ------------------------------------------------------------ people

    def _new_person(self, new: _Known, at: int) -> None:
        """Earlier mentions of a shorter name are the newcomer's, if nobody else can be meant."""
        for known in [k for k in self.people if k.own and k is not new]:
            reason = self._reason(known, new)
            if reason is None or reason == "misspelt":
                continue
            others = {self.sets.root(c.entity) for c, _ in self._candidates(known)} - {self.sets.root(known.entity)}
            if others == {self.sets.root(new.entity)}:
                self._link(new.form, known.form, at, reason)

    def _state(self, left: Form, right: Form, at: int) -> None:
        if left == right or frozenset({left, right}) in self.split:
            return
        shorter, longer = sorted((left, right), key=lambda f: (self.known[f].speaker, len(f[1].split()), f))
        self.stated[shorter][longer] = "stated"
        self.statements += 1
        roots = {self.sets.root(self.known[f].entity) for f in self.stated[shorter]}
        if len(roots) == 1:
            self._link(longer, shorter, at, "stated")

    def _reason(self, short: _Known, full: _Known) -> Reason | None:
        """Why the one name may be another's, or None."""
        if stated := self.stated.get(short.form, {}).get(full.form):
            return stated
        if frozenset({short.form, full.form}) in self.split:
            return None
        key = (short.form[1], full.form[1])
        if key not in self.fits_cache:
            self.fits_cache[key] = _likeness(*key)
        reason = self.fits_cache[key]
        if reason == "misspelt" and (short.speaker or short.count > max(3, full.count // 10) or full.count < 3):
            return None
        return reason

    def _stand_apart(self, one: _Known, other: _Known) -> bool:
        """Twice or more one talked to or about the other: two people, whatever their names look like."""
        times = self.apart[frozenset({one.form[1], other.form[1]})]
        return times >= 2 and times * 20 > min(one.count, other.count)

    def _candidates(self, known: _Known) -> list[tuple[_Known, Reason]]:
        """Whom a name can mean besides itself: those of the strongest reason.

        Found anew when names or links were added, or when the name has become twice as frequent.
        """
        key = (len(self.known), len(self.result.links), self.statements, known.count.bit_length(), known.speaker)
        cached = self.candidates_cache.get(known.form)
        if cached is None or cached[0] != key:
            cached = self.candidates_cache[known.form] = (key, self._found_candidates(known))
        return cached[1]

    def _found_candidates(self, known: _Known) -> list[tuple[_Known, Reason]]:
        found: dict[Reason, list[_Known]] = defaultdict(list)
        for other in self.people:
            if other is not known and (reason := self._reason(known, other)):
                found[reason].append(other)
        for tier in _TIERS:
            # A full name, or one that a voice is labelled with, is somebody's; another short form is only a short form.
            found[tier] = [c for c in found[tier] if c.speaker or " " in c.form[1]] or found[tier]
            if len({self.sets.root(other.entity) for other in found[tier]}) == 1 and tier in (
                "part",
                "pet",
                "misspelt",
            ):
                found[tier] = [other for other in found[tier] if not self._stand_apart(known, other)]
            if found[tier]:
                return [(other, tier) for other in found[tier]]
        return []

    def _named_in_full(self, group: list[Seen], at: int) -> set[str]:
        """The people (roots) who take part here under a name that only they have."""
        roots = set()
        for row in group:
            for kind, name, takes_part in (
                (row.source_kind, row.source, True),
                (row.target_kind, row.target, row.relation != _SPEAKS_OF),
            ):
                if kind != "person":
                    continue
                known = self.known[self._form(kind, name)]
                own = self.sets.root(known.entity)
                meant = {self.sets.root(c.entity) for c, _ in self._candidates(known)} or {own}
                if len(meant) == 1:
                    root = meant.pop()
                    self.full_seen[root] = at
                    if takes_part:
                        roots.add(root)
                        self.there[root] = at
        return roots

    def _meant(self, row: Seen, end: Literal["source", "target"], named: set[str], across: str = "") -> str:
        """The entity that one end means; `across` is what the other one means, where that is found already."""
        source = (row.source_kind, row.source)
        target = (row.target_kind, row.target)
        (kind, name), (other_kind, other) = (source, target) if end == "source" else (target, source)
        known = self.known[self._form(kind, name)]
        if kind != "person":
            return self._thing_meant(known, name, row.at)
        roots = {self.sets.root(c.entity): c for c, _ in self._candidates(known)}
        if other_kind == "person":
            roots.pop(self.sets.root(self.known[self._form("person", other)].entity), None)
            if len(roots) > 1:
                roots.pop(self.sets.root(across), None)
        elif len(roots) < 2:
            self.handled[across, self.sets.root(next(iter(roots.values()), known).entity)] = row.at
        if not roots:
            known.own += 1
            self._alias(known.entity, name, row.at)
            return known.entity
        handled = {root: last for root in roots if (last := self.handled.get((across, root)))}
        spoken_of = end == "target" and row.relation == _SPEAKS_OF
        chosen = self._likeliest(roots, named, handled, row.at, spoken_of=spoken_of)
        self._alias(roots[chosen].entity, name, row.at)
        side = 0 if end == "source" else 1
        self.result.also += [(row.n, side, known.entity) for root, known in roots.items() if root != chosen]
        return roots[chosen].entity

    def _likeliest(
        self, roots: Mapping[str, _Known], named: set[str], handled: Mapping[str, int], at: int, spoken_of: bool
    ) -> str:
        """Of several who bear a name: who just had to do with this thing or was at this place (`handled`), else takes part
        here or did last; one spoken of is rather somebody absent."""
        there = {root: self.there.get(root, _NEVER) for root in roots}
        if spoken_of:
            absent = [root for root in roots if at - there[root] > _PRESENT_MS]
            if len(absent) == 1:
                return absent[0]
            last = {root: self.full_seen.get(root, _NEVER) for root in roots}
        else:
            just = {root: last for root, last in handled.items() if at - last <= _PRESENT_MS}
            here = {root: last for root, last in there.items() if root in named}
            last = just or here or there
        return max(last, key=lambda root: (last[root], roots[root].count, root))

    # ------------------------------------------------------------ things and places

    def _new_thing(self, form: Form, entity: str, at: int) -> None:
        """One described in other words is the same; an earlier, shorter description that fits this alone is this one.

        A bare noun is no description: "the mug" of last week may be any mug.
        """
        described = self._described(form[1])
        peers = self.things[form[0], described.head]
        for thing, other in peers:
            if thing == described or (
                (thing.marks or thing.owner)
                and self._shortens(thing, described)
                and not any(self._shortens(thing, t) for t, e in peers if self.sets.root(e) != self.sets.root(other))
            ):
                self._link_entities(other, entity, at, "described")
        peers.append((described, entity))

    def _described(self, name: str) -> naming.Thing:
        thing = naming.thing(name)
        return replace(thing, head=self.same_nouns.get(thing.head, thing.head))

    def _shortens(self, short: naming.Thing, full: naming.Thing) -> bool:
        return short != full and self._owned_alike(short, full) and short.marks <= full.marks

    def _thing_meant(self, known: _Known, name: str, at: int) -> str:
        """The most telling description that this one can mean, if all that fit are descriptions of one thing."""
        described = self._described(known.form[1])
        entity = known.entity
        fuller = {
            self.sets.root(other): other
            for thing, other in self.things[known.form[0], described.head]
            if self._shortens(described, thing)
        }
        own = self.sets.root(entity)
        if len(fuller.keys() - {own}) == 1:
            entity = fuller[(fuller.keys() - {own}).pop()]
        elif len(fuller) > 1:
            recent = {r: e for r, e in fuller.items() if at - self.full_seen.get(r, _NEVER) <= _NEARBY_MS}
            if len(recent) == 1:
                entity = next(iter(recent.values()))
        if entity == known.entity:
            self.full_seen[own] = at
        self._alias(entity, name, at)
        return entity

    def _owned_alike(self, short: naming.Thing, full: naming.Thing) -> bool:
        if short.owner is None:
            return True
        if full.owner is None:
            return False
        if short.owner == full.owner:
            return True
        owners = [self.known.get(("person", owner)) for owner in (short.owner, full.owner)]
        if owners[0] is None or owners[1] is None:
            return _likeness(short.owner, full.owner) in ("part", "pet")
        return self.sets.root(owners[0].entity) == self.sets.root(owners[1].entity) or bool(
            {c.form for c, _ in self._candidates(owners[0])} & {owners[1].form}
        )

    # ------------------------------------------------------------ writing down

    def _alias(self, entity: str, name: str, at: int) -> None:
        text = naming.folded(name)
        if (entity, text) not in self.aliased:
            self.aliased.add((entity, text))
            self.result.aliases.append(Alias(entity, _shown(name), text, at))

    def _link(self, left: Form, right: Form, at: int, reason: Reason) -> None:
        self._link_entities(self.known[left].entity, self.known[right].entity, at, reason)

    def _link_entities(self, a: str, b: str, at: int, reason: Reason) -> None:
        roots = self.sets.root(a), self.sets.root(b)
        if roots[0] == roots[1] or self._split_between(*roots):
            return
        kept = self.sets.join(*roots)
        gone = roots[1] if kept == roots[0] else roots[0]
        self.members[kept] |= self.members.pop(gone)
        for last in (self.full_seen, self.there):
            last[kept] = max(last.get(r, _NEVER) for r in roots)
        self.result.links.append(Link(a, b, at, reason))

    def _split_between(self, left: str, right: str) -> bool:
        return any(frozenset({a, b}) in self.split for a in self.members[left] for b in self.members[right])


_SPEAKS_OF = "MENTIONS"
_NEVER = -(2**62)
_PRESENT_MS = 5 * 60_000
"""Who took part within the last five minutes is there."""

_NEARBY_MS = 30 * 60_000
"""A bare "mug" is the mug that was told apart in the last half hour, where several mugs are known."""


def _shown(name: str) -> str:
    return " ".join(name.split())


def _likeness(short: str, full: str) -> Reason | None:
    """Why one folded name may stand for another by its looks alone."""
    if not short or not full or short == full:
        return None
    shorts, fulls = short.split(), full.split()
    if len(shorts) == 1 and len(fulls) > 1:
        if short in (fulls[0], fulls[-1]):
            return "part"
        if naming.is_short_for(short, fulls[0]) or naming.same_pet_form(short, fulls[0]):
            return "pet"
        return "misspelt" if any(naming.alike_spelling(short, w) for w in (fulls[0], fulls[-1])) else None
    if len(shorts) == 1 and len(fulls) == 1:
        if naming.is_short_for(short, full) or naming.same_pet_form(short, full):
            return "pet"
        return "misspelt" if naming.alike_spelling(short, full) else None
    if len(shorts) == len(fulls):
        pairs = list(zip(shorts, fulls, strict=True))
        if all(a == b or (len(a) == 1 and b.startswith(a)) for a, b in pairs):
            return "part"
        if all(a == b or naming.is_short_for(a, b) or naming.same_pet_form(a, b) for a, b in pairs):
            return "pet"
        if all(naming.alike_spelling(a, b) for a, b in pairs):
            return "misspelt"
    if len(shorts) < len(fulls) and shorts[0] == fulls[0] and shorts[-1] == fulls[-1]:
        return "part"
    return None
