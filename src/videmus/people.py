"""People, objects and places: their relations over time, who speaks, and what a person knows better about their names.

A part of the public face, reached as `library.people`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videmus.errors import NotFoundError, UsageError
from videmus.typed import Times, milliseconds

if TYPE_CHECKING:
    from videmus.library import Library
    from videmus.model import EntityKind, Video
    from videmus.store.graph import Fact, Known
    from videmus.store.speakers import Voice


class People:
    def __init__(self, library: Library) -> None:
        self.library = library

    def entities(self, *, kind: EntityKind | None = None, **scope: Any) -> list[Known]:
        """The people, objects and places that the scope's relations name, most named first."""
        return self.library.store.graph.entities(self.library.scope(**scope), kind)

    def relations(self, name: str | None = None, **scope: Any) -> list[Fact]:
        """Relations in order of time, of one entity (by any of its names or its id) or all.

        Raises NotFoundError when nobody bears the name.
        """
        from videmus.store.graph import Wanted

        where = self.library.scope(**scope)
        most = 1_000_000
        if name is None:
            return sorted(self.library.store.graph.facts(Wanted(), where, limit=most), key=lambda fact: fact.start)
        numbers = self.library.store.graph.exactly(name, where) or self.library.store.graph.by_words(name, where)
        if not numbers:
            raise NotFoundError("nobody and nothing of that name", where=name, next="`videmus graph` lists all")
        as_source = self.library.store.graph.facts(Wanted(sources=numbers), where, limit=most)
        as_target = self.library.store.graph.facts(Wanted(targets=numbers), where, limit=most)
        found = {fact.id: fact for fact in (*as_source, *as_target)}
        return sorted(found.values(), key=lambda fact: fact.start)

    def decide(
        self,
        name: str | None,
        *,
        merge: str | None = None,
        split: str | None = None,
        undo: bool = False,
        kind: EntityKind | None = None,
        **scope: Any,
    ) -> dict[str, Any]:
        """Say that two names mean one entity (`merge`), never do (`split`), or take the last such word back (`undo`).

        It holds in one recording (or video): the scope's, or the only one there is. Raises UsageError, NotFoundError.
        """
        where = self.library.scope(**scope)
        worlds = [where.recording] if where.recording else self.library.store.graph.worlds(where)
        if len(worlds) != 1:
            what = "there are no relations yet" if not worlds else f"{len(worlds)} recordings have names of their own"
            raise UsageError(what, where=", ".join(worlds[:5]), next="say which: --recording NAME or --video VIDEO")
        world, entities = worlds[0], self.library.store.entities
        if undo:
            entry = entities.undo(world)
            what = f"undone: {entry.action} of {entry.one} and {entry.other}"
        elif name and (merge or split):
            decide = entities.merge if merge else entities.split
            entry = decide(world, name, merge or split or "", kind or "person", where.at)
            what = f"{entry.action}: {entry.one} and {entry.other}"
        else:
            raise UsageError("two names are needed", next="videmus graph NAME --merge OTHER")
        return {"what": what, "world": world, "action": entry.action, "one": entry.one, "other": entry.other}

    def export(self, output: str | Path, name: str | None = None, *, force: bool = False, **scope: Any) -> Path:
        """Write relations as .csv or .graphml; raises UsageError for another ending, and for a file that is there."""
        from videmus import exporting

        return exporting.write_graph(self.relations(name, **scope), Path(output), force=force)

    def voices(self, **scope: Any) -> list[Voice]:
        """Who speaks in the videos of the scope, under the names that people gave them."""
        return self.library.store.speakers.voices(self.library.scope(**scope))

    def name_voice(
        self, label: str, name: str, *, video: str | None = None, start: Times = None, end: Times = None
    ) -> None:
        """Call a speaker's label by a name, everywhere or in one video; with `start` and `end` only in that span."""
        found = [self.library.video(video)] if video else self.library.videos()
        speaking = {voice.video for voice in self.library.store.speakers.voices() if voice.label == label}
        ids = [v.id for v in found if v.id in speaking]
        self.library.store.speakers.name(label, name, ids, start_ms=milliseconds(start), end_ms=milliseconds(end))
        self._renamed(v for v in found if v.id in speaking)

    def undo_voice(self) -> None:
        """Take back what the last naming said. Raises UsageError when there is none."""
        undone = {given.video for given in self.library.store.speakers.undo()}
        self._renamed(v for v in self.library.videos() if v.id in undone)

    def _renamed(self, videos: Iterable[Video]) -> None:
        """The graph takes over the names that people gave to voices."""
        for world in {v.recording or v.id for v in videos}:
            self.library.store.entities.resolve(world)
