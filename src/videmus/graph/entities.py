"""What resolving names takes and gives: relations as seen, a person's decisions; entities, their names, links between them.

Nouns alone: `resolution` finds them, the store keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from videmus.model import EntityKind

ALSO_CALLED = "ALSO_CALLED"
"""The relation that states a name of a name. It is kept beside the others and never given as an answer."""

Reason = Literal["stated", "part", "pet", "misspelt", "described", "person"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One relation as the resolver needs it. `at` is the clock time at which it is known: its end."""

    n: int
    at: int
    evidence: str
    source: str
    source_kind: EntityKind
    relation: str
    target: str
    target_kind: EntityKind


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word: two names are one ("merge") or never one ("split"). It applies from `learned_at` on."""

    action: Literal["merge", "split"]
    kind: EntityKind
    left: str
    right: str
    learned_at: int


@dataclass(frozen=True, slots=True)
class Named:
    """One entity, under the name that it was first seen with."""

    id: str
    kind: EntityKind
    name: str
    known_from: int


@dataclass(frozen=True, slots=True)
class Alias:
    entity: str
    name: str
    folded: str
    learned_at: int


@dataclass(frozen=True, slots=True)
class Link:
    """Two entities are one, known since `learned_at`."""

    left: str
    right: str
    learned_at: int
    reason: Reason


@dataclass(slots=True)
class Resolution:
    """`ends` maps a relation's number to the entities of its source and target; `also` holds, for ends whose name fits
    several entities, the others that may be meant: (relation's number, 0 for the source or 1 for the target, entity)."""

    entities: list[Named] = field(default_factory=list)
    ends: dict[int, tuple[str, str]] = field(default_factory=dict)
    also: list[tuple[int, int, str]] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def clusters(self, at: int | None = None) -> dict[str, str]:
        """Entity → the one that stands for all it is linked with by `at`."""
        sets = Sets()
        for link in self.links:
            if at is None or link.learned_at <= at:
                sets.join(link.left, link.right)
        return {e.id: sets.root(e.id) for e in self.entities if at is None or e.known_from <= at}


class Sets:
    """Disjoint sets; the root of a set is the member that joined first."""

    def __init__(self) -> None:
        self._up: dict[str, str] = {}

    def root(self, item: str) -> str:
        top = item
        while (above := self._up.get(top, top)) != top:
            top = above
        while (above := self._up.get(item, item)) != item:
            self._up[item] = top
            item = above
        return top

    def join(self, left: str, right: str) -> str:
        left, right = self.root(left), self.root(right)
        if left != right:
            self._up[right] = left
        return left
