"""`graph`, `speakers`: who did what to whom, and who speaks; and what a person knows better about their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from videmus.cli.asking import After, At, Before, InRecording, InVideo
from videmus.cli.session import Session, plain
from videmus.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from videmus.model import EntityKind


def register(app: typer.Typer) -> None:
    app.command()(graph)
    app.command()(speakers)


def graph(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A person, object or place: its relations.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only persons, objects or locations.")] = None,
    video: InVideo = None,
    recording: InRecording = None,
    after: After = None,
    before: Before = None,
    at: At = None,
    merge: Annotated[str | None, typer.Option(metavar="OTHER", help="NAME and OTHER mean one.")] = None,
    split: Annotated[str | None, typer.Option(metavar="OTHER", help="NAME and OTHER never mean one.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last merge or split back.")] = False,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help="Write relations as .csv or .graphml.")] = None,
    force: Annotated[bool, typer.Option("--force", help="With --export: overwrite the file if it is there.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many are shown.")] = 50,
) -> None:
    """Show people, things, and their relations."""
    session: Session = context.obj
    if kind is not None and kind not in ("person", "object", "location"):
        raise UsageError(f"unknown kind {kind!r}", next="one of: person, object, location")
    given = {"video": video, "recording": recording, "after": after, "before": before, "at": at}
    scope = {key: value for key, value in given.items() if value is not None}
    with session.library() as library:
        if merge or split or undo:
            done = library.people.decide(
                name, merge=merge, split=split, undo=undo, kind=cast("EntityKind | None", kind), **scope
            )
            session.show({"decision": done}, lambda console: console.print(plain(done["what"])))
            return
        if export:
            written = library.people.export(export, name, force=force, **scope)
            session.show(
                {"written": [str(written)]}, lambda console: console.print(f"written: {written}", markup=False)
            )
            return
        if name is None:
            entities = library.people.entities(kind=cast("EntityKind | None", kind), **scope)
            listed: list[dict[str, Any]] = [
                {"id": e.id, "name": e.name, "kind": e.kind, "aliases": list(e.aliases), "relations": e.relations}
                for e in entities
            ]

            def shown(console: Console) -> None:
                for e in entities[:limit]:
                    others = [a for a in e.aliases if a != e.name]
                    also = f"  (also {', '.join(others)})" if others else ""
                    console.print(plain(f"{e.name}  {e.kind}, {e.relations} relations{also}"), soft_wrap=True)
                _rest(console, len(entities), limit, "entities")

            session.show({"entities": listed}, shown)
            return
        facts = library.people.relations(name, **scope)

        def lines(console: Console) -> None:
            from videmus import clock

            for f in facts[:limit]:
                when = f"{clock.format_clock(f.start)}–{clock.format_clock(f.end)}"
                rules = " (by rules)" if f.by_rules else ""
                console.print(plain(f"{when}  {f.source} {f.relation} {f.target}{rules}"), soft_wrap=True)
            _rest(console, len(facts), limit, "relations")

        rows = [
            {
                "id": f.id, "video": f.video, "start_ms": f.start_ms, "end_ms": f.end_ms, "source": f.source,
                "source_kind": f.source_kind, "relation": f.relation, "target": f.target, "target_kind": f.target_kind,
                "evidence": f.evidence, "confidence": f.confidence, "by_rules": f.by_rules,
            }
            for f in facts
        ]  # fmt: skip
        session.show({"relations": rows}, lines)


def speakers(
    context: typer.Context,
    label: Annotated[str | None, typer.Argument(metavar="[LABEL]", help="A speaker as the video names it.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Call LABEL so.")] = None,
    merge: Annotated[list[str] | None, typer.Option(metavar="OTHER", help="LABEL and OTHER are one voice.")] = None,
    video: InVideo = None,
    start: Annotated[str | None, typer.Option("--start", help="With --name: only from here (a split).")] = None,
    end: Annotated[str | None, typer.Option("--end", help="With --name: only up to here.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last naming back.")] = False,
) -> None:
    """Show and name who speaks."""
    session: Session = context.obj
    with session.library() as library:
        if undo:
            library.people.undo_voice()
        elif label and (name or merge):
            for one in (label, *(merge or ())):
                library.people.name_voice(one, name or label, video=video, start=start, end=end)
        elif label or name or merge:
            raise UsageError("a label and a name are needed", next="videmus speakers LABEL --name NAME")
        voices = library.people.voices(**({"video": video} if video else {}))
        document = {
            "speakers": [
                {
                    "video": v.video,
                    "label": v.label,
                    "name": v.name,
                    "utterances": v.utterances,
                    "spoken_ms": v.spoken_ms,
                }
                for v in voices
            ]
        }

        def lines(console: Console) -> None:
            if not voices:
                console.print("no speaker is named in these videos")
            for v in voices:
                called = f" → {v.name}" if v.name != v.label else ""
                seconds = v.spoken_ms // 1000
                console.print(plain(f"{v.video}  {v.label}{called}  {v.utterances} utterances, {seconds} s"))

        session.show(document, lines)


def _rest(console: Console, count: int, limit: int, what: str) -> None:
    if not count:
        console.print(f"no {what}")
    elif count > limit:
        console.print(f"… and {count - limit} more {what}: --limit shows them", style="dim")
