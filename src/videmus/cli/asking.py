"""`list`, `show`, `search`, `ask`, `open`: what looks and asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from videmus.cli.session import Session
from videmus.errors import ModelError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from videmus.answer.asking import Mode

VIDEO = typer.Argument(metavar="VIDEO", help="An id, a unique prefix of one, or a title.")

InVideo = Annotated[str | None, typer.Option("--video", help="Only this video (id, prefix or title).")]
InCollection = Annotated[str | None, typer.Option("--collection", help="Only this collection.")]
InRecording = Annotated[str | None, typer.Option("--recording", help="Only this timeline of recordings.")]
Start = Annotated[str | None, typer.Option("--start", help="Inside the video, from: 754, 12:34, 1:02:03, 12m34s.")]
End = Annotated[str | None, typer.Option("--end", help="Inside the video, up to.")]
After = Annotated[str | None, typer.Option("--after", help='Clock time, from: 2026-03-05T14:00, "DAY3 14:05:09".')]
Before = Annotated[str | None, typer.Option("--before", help="Clock time, up to.")]
At = Annotated[str | None, typer.Option("--at", help="The clock time of the question: nothing later is seen.")]
Stream = Annotated[str | None, typer.Option("--stream", help="Only speech, screen, scene, …")]
InFacet = Annotated[
    str | None, typer.Option("--facet", help="Only slide texts of one facet: vision, speech, consolidated.")
]
BySpeaker = Annotated[str | None, typer.Option("--speaker", help="Only what this person said.")]


def register(app: typer.Typer) -> None:
    app.command("list")(list_videos)
    app.command()(show)
    app.command()(search)
    app.command()(ask)
    app.command()(chat)
    app.command()(corrections)
    app.command("open")(open_moment)


def list_videos(context: typer.Context, collection: InCollection = None, recording: InRecording = None) -> None:
    """List the videos of the library."""
    from videmus import documents
    from videmus.cli import render

    session: Session = context.obj
    with session.library() as library:
        found = library.videos(collection=collection, recording=recording)
        document: dict[str, Any] = {"videos": [documents.video(v) for v in found]}
        line = library.timeline(recording) if recording else None
        if line:
            document["timeline"] = documents.timeline(line)

        def lines(console: Console) -> None:
            render.videos(console, found)
            if line:
                render.timeline(console, line)

        session.show(document, lines)


def show(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    kind: Annotated[str | None, typer.Option(help="slide, clip, window, ten-minute, hour or day.")] = None,
    sheet: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Write a contact sheet of the slides.")] = None,
    force: Annotated[bool, typer.Option("--force", help="With --sheet: overwrite the file if it is there.")] = False,
) -> None:
    """Show a video: its summary, key terms and chapters, its slides or clips.

    With times, titles and how often each slide was shown; and what was not run, and why.
    """
    from videmus import documents
    from videmus.cli import render
    from videmus.exports.chapters import titled
    from videmus.understand.places import reasons

    session: Session = context.obj
    with session.library() as library:
        found = library.video(video)
        segments = library.segments(found.id, library.shown_kind(found.id, kind))
        summaries = library.evidence(found.id, "summary") if kind is None else []
        chapters = library.chapters(found.id) if kind is None else []
        said = library.evidence(found.id, "speech")
        work = library.work(found.id)
        problems = reasons(segments, [w.reason for w in work if w.state == "failed"])
        document = {
            "video": documents.video(found),
            "speech": documents.speech(found, said),
            **documents.told(summaries, chapters),
            "segments": [documents.segment(s, problems.get(s.id)) for s in segments],
            "corrections": [documents.correction(c, s.start_ms, s.end_ms) for s, c in library.corrections(found.id)],
            "stages": [documents.stage(w) for w in work],
        }
        if sheet:
            library.contact_sheet(found.id, sheet, force=force)
            session.notice(f"contact sheet: {sheet}")

        def lines(console: Console) -> None:
            render.videos(console, [found])
            render.speech(console, found, said)
            below = {titled(found.title, ""), *(titled(s.title, f"Slide {s.slide}") for s in segments)}
            render.told(console, summaries, [] if all(c.title in below for c in chapters) else chapters)
            render.segments(console, found, segments, said, problems, full=session.verbose)
            render.stages(console, work, verbose=session.verbose)

        session.show(document, lines)


def search(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help='Words; "quoted words" must stand there exactly.')],
    video: InVideo = None,
    collection: InCollection = None,
    recording: InRecording = None,
    start: Start = None,
    end: End = None,
    after: After = None,
    before: Before = None,
    at: At = None,
    stream: Stream = None,
    facet: InFacet = None,
    speaker: BySpeaker = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many moments.")] = 10,
) -> None:
    """Find moments, best first."""
    from videmus import documents
    from videmus.cli import render

    session: Session = context.obj
    scope = _scope(video, collection, recording, start, end, after, before, at, stream, facet, speaker)
    with session.library() as library:
        found = library.search(text, limit=limit, **scope)
        document = {"results": [documents.moment(m) for m in found]}
        session.show(document, lambda console: render.moments(console, found))


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in your own words.")],
    video: InVideo = None,
    collection: InCollection = None,
    recording: InRecording = None,
    start: Start = None,
    end: End = None,
    after: After = None,
    before: Before = None,
    at: At = None,
    stream: Stream = None,
    facet: InFacet = None,
    speaker: BySpeaker = None,
    limit: Annotated[int | None, typer.Option(min=1, max=1000, help="How many moments are read.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One search and one call, whatever the question.")] = False,
    agent: Annotated[bool, typer.Option("--agent", help="Plan and search in steps (needs a language model).")] = False,
    option: Annotated[
        list[str] | None, typer.Option(help="A possible answer; several make it multiple choice.")
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Also show each step: what was searched, read, checked.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write, or add, every model call to a file, for replay.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, metavar="USD", help="Stop before the models cost more.")
    ] = None,
) -> None:
    """Answer a question, with checked citations.

    Every sentence was checked against the moment that it cites; or the library does not say.
    """
    from videmus import documents
    from videmus.cli import render

    session: Session = context.obj
    if quick and agent:
        raise UsageError("--quick and --agent exclude each other", next="give one of them")
    scope = _scope(video, collection, recording, start, end, after, before, at, stream, facet, speaker)
    with session.library(record=record, budget_usd=budget, asks=True) as library:
        shown = render.Sentences(session.out, live=not session.json)
        mode: Mode | None = "agent" if agent else "quick" if quick else None
        given = library.ask(
            question, limit=limit, mode=mode, options=option or (), on_sentence=shown,
            on_step=lambda step: session.progress(step.tool, step.task), **scope,
        )  # fmt: skip

        def lines(console: Console) -> None:
            shown.end(given, steps=steps or session.verbose)
            if session.verbose:
                render.unused(console, given, library.unused(given))

        session.show(documents.answer(given), lines)


def chat(
    context: typer.Context,
    video: InVideo = None,
    collection: InCollection = None,
    recording: InRecording = None,
    at: At = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, metavar="USD", help="Stop before the models cost more.")
    ] = None,
) -> None:
    """Ask question after question.

    Each may lean on the ones before. An empty line or Ctrl-D ends it.
    """
    from videmus.answer.chat import Exchange
    from videmus.cli import render

    session: Session = context.obj
    if session.json:
        raise UsageError("a conversation is no document", next="videmus ask --json")
    scope = _scope(video, collection, recording, None, None, None, None, at, None, None, None)
    history: list[Exchange] = []
    with session.library(budget_usd=budget, asks=True) as library:
        while question := _typed(session):
            shown = render.Sentences(session.out, live=True)
            try:
                given = library.ask(question, history=history, on_sentence=shown, **scope)
            except ModelError as error:  # one lost reply ends one question, not the conversation
                session.failed(error)
                continue
            shown.end(given, steps=session.verbose)
            history.append(Exchange(question, given.text))


def _typed(session: Session) -> str:
    try:
        return session.out.input("[bold]?[/bold] ").strip()
    except EOFError:
        return ""


def corrections(
    context: typer.Context,
    video: Annotated[str | None, typer.Argument(metavar="[VIDEO]", help="One video (default: all).")] = None,
    undo: Annotated[str | None, typer.Option("--undo", metavar="ID", help="Take a correction back.")] = None,
) -> None:
    """List, or undo, corrected misheard words.

    The original always stays.
    """
    from videmus import documents
    from videmus.cli import render

    session: Session = context.obj
    with session.library() as library:
        if undo:
            library.undo_correction(undo)
        chosen = [library.video(video)] if video else library.videos()
        found = [(v, row, c) for v in chosen for row, c in library.corrections(v.id)]
        document = {
            "corrections": [{**documents.correction(c, r.start_ms, r.end_ms), "video": v.id} for v, r, c in found]
        }
        session.show(document, lambda console: render.corrections(console, found))


def open_moment(
    context: typer.Context,
    video: Annotated[str, VIDEO],
    time: Annotated[str, typer.Argument(metavar="[TIME]", help="754, 12:34, 1:02:03, 12m34s.")] = "0",
) -> None:
    """Open a video at a moment.

    In a player that can seek (mpv, VLC, ffplay), else by its link.
    """
    from videmus.cli.player import play

    session: Session = context.obj
    with session.library() as library:
        url, path, at_ms = library.link(video, time)
    document: dict[str, Any] = {"url": url, "at_ms": at_ms}
    if session.json:
        session.show(document, lambda console: None)
        return
    session.out.print(play(url, path, at_ms), markup=False, soft_wrap=True)


def _scope(*values: str | None) -> dict[str, Any]:
    names = ("video", "collection", "recording", "start", "end", "after", "before", "at", "stream", "facet", "speaker")
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
