"""Progress of an ingest on a terminal: a line per running stage with time left, then one line per stage that ended.

On standard error, so that standard output stays one document. Without a terminal, plain lines and no bars.
"""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from videmus import clock
from videmus.cli.session import plain
from videmus.ingest.stage import Stage
from videmus.model import Video
from videmus.store.protocol import Work

QUIET_SECONDS = 0.5
"""Stages quicker than this are not worth a line of their own while they run."""


class TerminalEvents:
    """Implements `ingest.pipeline.Events`. Use as a context manager around `Library.add`."""

    def __init__(self, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
        self.console = console
        self.quiet = quiet
        self.verbose = verbose
        self.bars = Progress(
            TextColumn("  {task.description:<22}"),
            BarColumn(bar_width=28),
            _Part(),
            TimeElapsedColumn(),
            _Left(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self.tasks: dict[tuple[str, str], TaskID] = {}
        self.fetches: dict[str, TaskID] = {}
        self.ran: dict[str, list[Work]] = {}

    def __enter__(self) -> TerminalEvents:
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bars.stop()

    def fetching(self, address: str, done: int, total: int | None) -> None:
        task = self.fetches.get(address)
        if task is None:
            task = self.fetches[address] = self.bars.add_task("fetching", total=total)
        self.bars.update(task, completed=done, total=total)
        if done == total:
            self.bars.remove_task(self.fetches.pop(address))

    def video(self, video: Video, number: int, of: int) -> None:
        for task in self.fetches.values():  # of a length that nobody knew, or lost on the way
            self.bars.remove_task(task)
        self.fetches.clear()
        if not self.quiet:
            count = f"({number} of {of}) " if of > 1 else ""
            self.console.print(f"[bold]{count}{plain(video.title)}[/bold]", highlight=False)

    def stage_started(self, video: Video, stage: Stage) -> None:
        self.tasks[video.id, stage.name] = self.bars.add_task(stage.title, total=None)

    def stage_progress(self, video: Video, stage: Stage, done: int, total: int) -> None:
        if (task := self.tasks.get((video.id, stage.name))) is not None:
            self.bars.update(task, completed=done, total=total or None)

    def stage_ended(self, video: Video, stage: Stage, work: Work) -> None:
        if (task := self.tasks.pop((video.id, stage.name), None)) is not None:
            self.bars.remove_task(task)
            self.ran.setdefault(video.id, []).append(work)
        if self.quiet:
            return
        if work.state == "failed":
            self.console.print(f"  [red]✗[/red] {stage.title}: {plain(work.reason or '')}", highlight=False)
        elif work.state == "skipped":
            if self.verbose:
                self.console.print(
                    f"  [dim]– {stage.title}: not run, {plain(work.reason or '')}[/dim]", highlight=False
                )
        elif task is not None and (work.seconds >= QUIET_SECONDS or self.verbose):
            rows = f", {work.rows} rows" if work.rows else ""
            calls = f", {work.calls} model calls" if work.calls else ""
            self.console.print(
                f"  [green]✓[/green] {stage.title:<22} {work.seconds:6.1f} s{rows}{calls}", highlight=False
            )

    def notice(self, text: str) -> None:
        if not self.quiet:
            self.console.print(f"  [yellow]![/yellow] {plain(text)}", highlight=False)


class _Part(ProgressColumn):
    """The part that is done; nothing where nobody knows the whole."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.percentage:>3.0f} %" if task.total else "     ")


class _Left(ProgressColumn):
    """The time left, once it can be told."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        seconds = task.time_remaining
        if task.total is None or seconds is None:
            return Text("")
        return Text(f"{clock.format_time(round(seconds) * 1000)} left", style="progress.remaining")
