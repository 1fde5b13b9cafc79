"""`export`, `clip`, `frame`, `edit`, `remove`: what is taken out of the library or changed by hand."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from videmus.cli.asking import VIDEO
from videmus.cli.session import Session, plain, printable
from videmus.errors import UsageError

Out = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there.")]
Moment = typer.Argument(metavar="TIME", help="754, 12:34, 1:02:03, 12m34s.")


def register(app: typer.Typer) -> None:
    for command in (export, clip, frame, edit, remove):
        app.command()(command)


def export(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    format: Annotated[str, typer.Option("--format", "-f", help="srt, vtt, md, json, pdf or chapters.")] = "md",
    output: Out = None,
    force: Force = False,
) -> None:
    """Write subtitles, notes, chapters, a deck, all.

    Subtitles (srt, vtt), notes with pictures (md), chapter lines, the deck (pdf), or everything (json).

    Without -o, text goes to standard output; the deck to a file of the video's title.
    """
    session: Session = context.obj
    with session.library() as library:
        if output is None and format != "pdf":
            text = library.export_text(video, format)
            if session.json and format != "json":
                session.show({"format": format, "text": text}, lambda console: None)
            else:
                _written_out(text)
            return
        written = library.export(video, format, output, force=force, notice=session.notice)
    session.show(
        {"written": [str(p) for p in written]},
        lambda console: console.print(f"written: {written[0]}", markup=False, soft_wrap=True),
    )


def _written_out(text: str) -> None:
    """To standard output, with every letter. Raises UsageError where its encoding lacks one."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        what = f"standard output is in {encoding}, which has no {error.object[error.start]!a}"
        raise UsageError(what, next="-o FILE writes UTF-8; or set PYTHONIOENCODING=utf-8") from error
    typer.echo(text, nl=False)


def clip(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    start: Annotated[str, Moment],
    end: Annotated[str, Moment],
    output: Out = None,
    force: Force = False,
) -> None:
    """Cut a piece out of a video."""
    session: Session = context.obj
    with session.library() as library:
        written = library.clip(video, start, end, output, force=force)
    session.show(
        {"written": [str(written)]}, lambda console: console.print(f"written: {written}", markup=False, soft_wrap=True)
    )


def frame(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    time: Annotated[str, Moment],
    output: Out = None,
    force: Force = False,
    like: Annotated[bool, typer.Option("--like", help="Save nothing; find pictures that look like it.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="With --like: how many.")] = 20,
    in_video: Annotated[str | None, typer.Option("--video", help="With --like: only in this video.")] = None,
    collection: Annotated[str | None, typer.Option(help="With --like: only in this collection.")] = None,
    recording: Annotated[str | None, typer.Option(help="With --like: only in this timeline of recordings.")] = None,
) -> None:
    """Save the picture of a moment (png, jpg), or find its like.

    --like compares it with every kept picture, by how they look, without a model.
    """
    session: Session = context.obj
    scope = {"video": in_video, "collection": collection, "recording": recording}
    if like:
        if output or force:
            raise UsageError("--like saves no picture", next="leave -o and --force out, or --like")
        _like(session, video, time, limit, scope)
        return
    if any(scope.values()):
        raise UsageError("--video, --collection and --recording belong to --like", next="add --like, or leave them out")
    with session.library() as library:
        written = library.frame(video, time, output, force=force)
    session.show(
        {"written": [str(written)]}, lambda console: console.print(f"written: {written}", markup=False, soft_wrap=True)
    )


def _like(session: Session, video: str, time: str, limit: int, scope: Mapping[str, str | None]) -> None:
    from videmus import documents
    from videmus.cli import render
    from videmus.search.frames import FoundFrame

    with session.library() as library:
        of, found = library.frames_like(video, time, limit=limit, **scope)
        titles = {item.id: item.title for item in library.videos()}
        path = library.store.picture_path
        document = {
            "of": documents.found_frame(FoundFrame(of, 1.0), titles[of.video], path(of)),
            "frames": [documents.found_frame(f, titles[f.frame.video], path(f.frame)) for f in found],
        }
    session.show(document, lambda console: render.frames(console, [(f, titles[f.frame.video]) for f in found]))


def edit(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    collection: Annotated[str | None, typer.Option(help='Its collection; "" takes it out.')] = None,
    recorded_at: Annotated[str | None, typer.Option(help="When it began: 2026-03-05T14:00, DAY3 14:05:09.")] = None,
    recording: Annotated[str | None, typer.Option(help='The timeline it is a part of; "" takes it out.')] = None,
) -> None:
    """Change title, collection, recording time."""
    from videmus import documents
    from videmus.cli import render

    if title is None and collection is None and recorded_at is None and recording is None:
        raise UsageError("nothing to change", next="give --title, --collection, --recorded-at or --recording")
    session: Session = context.obj
    with session.library() as library:
        changed = library.edit(video, title=title, collection=collection, recorded_at=recorded_at, recording=recording)
    session.show({"videos": [documents.video(changed)]}, lambda console: render.videos(console, [changed]))


def remove(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a video; its file stays.

    All that was made of it goes from the library.
    """
    from videmus import documents

    session: Session = context.obj
    with session.library() as library:
        found = library.video(video)
        if not yes:
            if session.json or not sys.stdin.isatty():
                raise UsageError("remove asks before it removes", where=found.title, next="add --yes")
            asked = f"Remove {printable(found.title)!r} ({found.id}) and all that was made of it?"
            if not typer.confirm(asked, err=True):
                session.notice("nothing was removed")
                raise typer.Exit(1)
        removed = library.remove(found.id)
    session.show(
        {"removed": [documents.video(removed)]},
        lambda console: console.print(plain(f"removed: {removed.title}")),
    )
