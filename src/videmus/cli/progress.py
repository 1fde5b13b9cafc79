"""Progress of an ingest on a terminal: a line per running stage with time left, then one line per stage that ended.

On standard error, so that standard output stays one document. Without a terminal, plain lines and no bars.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from videmus import clock
from videmus.cli.session import plain
from videmus.ingest.stage import Stage
from videmus.model import Video
from videmus.store.protocol import Work

QUIET_SECONDS = 0.5
"""Stages quicker than this are not worth a line of their own while they run."""


WIDE = 80
"""Columns that a line with a bar takes; in a narrower terminal there is none."""

RECENT_S = 90.0
"""The speed is that of so long: a run that goes on after an interruption passes over what is done in no time."""


MEASURED_S = 1.0
"""What was measured over less tells no speed."""


class Pace:
    """How far something is between two reports: at its recent speed, and not further than the next report may confirm."""

    def __init__(self, now: float) -> None:
        self.total = 0.0
        self._reports = deque([(now, 0.0)])
        self._step = 0.0

    def report(self, done: float, total: float, now: float) -> None:
        before = self._reports[-1][1]
        self.total = total
        if done > before:
            self._step = max(self._step, done - before)
            self._reports.append((now, done))
        while len(self._reports) > 2 and now - self._reports[1][0] > RECENT_S:
            self._reports.popleft()

    def reached(self, now: float) -> float:
        """What is done, as far as it can be told: steps may double from one report to the next."""
        at, done = self._reports[-1]
        return min(done + self._speed() * (now - at), done + 2 * self._step, self.total)

    def left(self, now: float) -> float | None:
        """Seconds, once the speed is known."""
        speed = self._speed()
        return (self.total - self.reached(now)) / speed if speed else None

    def _speed(self) -> float:
        (first, began), (last, done) = self._reports[0], self._reports[-1]
        return (done - began) / (last - first) if last - first >= MEASURED_S else 0.0


class TerminalEvents:
    """Implements `ingest.pipeline.Events`. Use as a context manager around `Library.add`. `now` is for tests."""

    def __init__(
        self,
        console: Console,
        *,
        quiet: bool = False,
        verbose: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console = console
        self.now = now
        self.quiet = quiet
        self.verbose = verbose
        wide = (TextColumn("  {task.description:<22}"), _Bar(bar_width=28), _Part(), TimeElapsedColumn(), _Left())
        self.bars = Progress(
            *(wide if console.width >= WIDE else (TextColumn("  {task.description}"), _Part(), _Left())),
            console=console,
            transient=True,
            get_time=now,
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
            task = self.fetches[address] = self._task("fetching")
        self._report(task, done, total)
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
        self.tasks[video.id, stage.name] = self._task(stage.title)

    def stage_progress(self, video: Video, stage: Stage, done: int, total: int) -> None:
        if (task := self.tasks.get((video.id, stage.name))) is not None:
            self._report(task, done, total or None)

    def _task(self, title: str) -> TaskID:
        return self.bars.add_task(title, total=None, pace=Pace(self.now()))

    def _report(self, task: TaskID, done: int, total: int | None) -> None:
        pace: Pace = self.bars.tasks[self.bars.task_ids.index(task)].fields["pace"]
        pace.report(done, total or 0, self.now())
        self.bars.update(task, completed=done, total=total)

    def stage_ended(self, video: Video, stage: Stage, work: Work) -> None:
        if (task := self.tasks.pop((video.id, stage.name), None)) is not None:
            self.bars.remove_task(task)
            self.ran.setdefault(video.id, []).append(work)
        if self.quiet:
            return
        if work.state == "failed":
            self.console.print(
                f"  [red]✗[/red] {stage.title}: {plain(work.reason or '')}", highlight=False, soft_wrap=True
            )
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
            self.console.print(f"  [yellow]![/yellow] {plain(text)}", highlight=False, soft_wrap=True)


class _Bar(BarColumn):
    def render(self, task: Task) -> ProgressBar:
        bar = super().render(task)
        bar.completed = _reached(task)
        return bar


class _Part(ProgressColumn):
    """The part that is done; nothing where nobody knows the whole."""

    def render(self, task: Task) -> Text:
        return Text(f"{100 * _reached(task) / task.total:>3.0f} %" if task.total else "     ")


class _Left(ProgressColumn):
    """The time left, once it can be told."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        seconds = task.fields["pace"].left(task.get_time()) if task.total else None
        if seconds is None:
            return Text("")
        return Text(f"{clock.format_time(round(seconds) * 1000)} left", style="progress.remaining")


def _reached(task: Task) -> float:
    pace: Pace = task.fields["pace"]
    return max(task.completed, pace.reached(task.get_time()))
