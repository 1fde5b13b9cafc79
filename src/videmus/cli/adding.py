"""`add`, `retry`, `rebuild`: what changes the library, with progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from videmus.cli.session import Session, exit_status, plain
from videmus.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from videmus.ingest.pipeline import Events
    from videmus.library import Library
    from videmus.model import Video


HOW_TO_GO_ON = "the same command again, or `videmus retry` for what had begun; nothing is done twice"


def register(app: typer.Typer) -> None:
    app.command()(add)
    app.command()(retry)
    app.command()(rebuild)


def add(
    context: typer.Context,
    what: Annotated[list[str], typer.Argument(metavar="FILE|FOLDER|URL...", help="Video, audio, subtitles, evidence.")],
    collection: Annotated[str | None, typer.Option(help="The course or collection they belong to.")] = None,
    title: Annotated[
        str | None, typer.Option(help="The title of the one video given (default: its file's name).")
    ] = None,
    recorded_at: Annotated[
        str | None, typer.Option(help="When the recording began: 2026-03-05T14:00, DAY3 14:05:09.")
    ] = None,
    recording: Annotated[str | None, typer.Option(help="The timeline that all of these files are parts of.")] = None,
    language: Annotated[
        str | None, typer.Option(help="The spoken language (de, fr, …) instead of detecting it.")
    ] = None,
    speech_model: Annotated[str | None, typer.Option(help="Any faster-whisper model, by name or folder.")] = None,
    transcribe: Annotated[
        bool | None,
        typer.Option(
            "--transcribe/--no-transcribe",
            help="Recognise speech even where subtitles are; kept until the other is given.",
            show_default=False,
        ),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What is seen in the one video given (default: VIDEO.captions.json beside it)."
        ),
    ] = None,
    include: Annotated[list[str] | None, typer.Option(help="In folders, only files of this pattern.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="In folders, no files of this pattern.")] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write, or add, every model call to a file, for replay.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, metavar="USD", help="Stop before the models cost more.")
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what the models would cost; send nothing.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on and add what appears in the folders; Ctrl-C ends.")
    ] = False,
) -> None:
    """Add videos: hear, read, cut, index."""
    session: Session = context.obj
    if watch and (title or captions):
        option = "title" if title else "captions"
        raise UsageError(f"--{option} names one video, and --watch adds many", next="leave one of them out")
    if estimate:
        _estimated(session, what, recording, include or (), exclude or ())
        return
    with session.library(record=record, budget_usd=budget, asks=True) as library:

        def work(events: Events) -> list[Video]:
            options: dict[str, Any] = {
                "collection": collection, "recorded_at": recorded_at, "recording": recording, "language": language,
                "speech_model": speech_model, "transcribe": transcribe, "include": include or (), "exclude": exclude or (),
            }  # fmt: skip
            if watch:
                return library.watch(what, events=events, **options)
            return library.add_all(what, title=title, captions=captions, events=events, **options)

        _changed(session, library, work)


def _estimated(
    session: Session, what: list[str], recording: str | None, include: Sequence[str], exclude: Sequence[str]
) -> None:
    with session.library() as library:
        estimate = library.estimate(what, recording=recording, include=include, exclude=exclude)
        configured = bool(library.settings.models.language or library.settings.models.vision)
    costs = estimate.stages
    document = {
        "estimate": [
            {"stage": s, "calls": c.calls, "tokens_in": c.tokens_in, "tokens_out": c.tokens_out, "usd": c.usd}
            for s, c in costs
        ],
        "rests_on": list(estimate.rests_on),
    }

    def render(console: Console) -> None:
        for basis in estimate.rests_on:
            console.print(f"[dim]{plain(basis)}[/dim]", soft_wrap=True)
        if not costs:
            console.print("no calls" if configured else "no calls: no language or vision model is configured")
            return
        for stage, cost in costs:
            console.print(
                f"{stage:<16} {cost.calls:>6} calls {cost.tokens_in + cost.tokens_out:>9} tokens  {_price(cost.usd)}"
            )
        unknown = any(cost.usd is None for _, cost in costs)
        whole = None if unknown else sum(cost.usd or 0.0 for _, cost in costs)
        console.print(f"about {sum(c.calls for _, c in costs)} calls, {_price(whole)}; nothing was sent", style="bold")

    session.show(document, render)


def _price(usd: float | None) -> str:
    return "price unknown" if usd is None else f"${usd:.4f}"


def retry(
    context: typer.Context,
    video: Annotated[str | None, typer.Argument(metavar="[VIDEO]", help="One video (default: all).")] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write, or add, every model call to a file, for replay.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, metavar="USD", help="Stop before the models cost more.")
    ] = None,
) -> None:
    """Mend what failed, was stopped or is out of date.

    Nothing that is done is done twice.
    """
    session: Session = context.obj
    with session.library(record=record, budget_usd=budget, asks=True) as library:
        _changed(session, library, lambda events: library.retry(video, events=events))


def rebuild(context: typer.Context) -> None:
    """Make the indexes anew.

    After another embedding model was chosen, or an index was lost.
    """
    session: Session = context.obj
    with session.library() as library:
        _changed(session, library, lambda events: library.rebuild(events=events))


def _changed(session: Session, library: Library, work: Callable[[Events], list[Video]]) -> None:
    from videmus import documents
    from videmus.cli.progress import TerminalEvents
    from videmus.cli.render import summary
    from videmus.cli.stopping import Stop, stops_soon

    with TerminalEvents(session.err, quiet=session.quiet, verbose=session.verbose) as events:

        def farewell() -> None:
            events.bars.stop()
            session.stopped("stopped; what was done is kept", HOW_TO_GO_ON)

        stopped = Stop()
        try:
            with stops_soon(farewell) as stopped:
                videos = work(events)
        except KeyboardInterrupt:
            farewell()
            raise typer.Exit(stopped.status) from None
    works = {v.id: library.work(v.id) if library.store.video(v.id) else [] for v in videos}
    document = {"videos": [documents.added(v, works[v.id]) for v in videos]}

    def render(console: Console) -> None:
        summary(console, videos, works, events.ran)

    session.show(document, render)
    session.status = exit_status(videos)
