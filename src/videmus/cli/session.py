"""One run of the terminal: where the library is, how to show things, and the two consoles (answers out, notices to err)."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videmus.errors import VidemusError

if TYPE_CHECKING:
    from rich.console import Console

    from videmus.library import Library
    from videmus.model import Video


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What would move the cursor, name the window or ring: a title out of somebody's file may hold it."""


def plain(text: str) -> str:
    """Text out of files, safe to print: its brackets are no markup, its control characters do nothing."""
    from rich.markup import escape

    return escape(printable(text))


def printable(text: str) -> str:
    """The text without what controls a terminal, for where no markup is read."""
    return CONTROLS.sub("\ufffd", text)


@dataclass
class Session:
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    path: Path | None = None
    status: int = 0
    said_stopped: bool = False
    _out: Console | None = field(default=None, repr=False)
    _err: Console | None = field(default=None, repr=False)

    @property
    def out(self) -> Console:
        if self._out is None:
            self._out = _console(stderr=False)
        return self._out

    @property
    def err(self) -> Console:
        if self._err is None:
            self._err = _console(stderr=True)
        return self._err

    def library(self, *, record: Path | None = None, budget_usd: float | None = None, asks: bool = False) -> Library:
        """The library. With `asks`, what leaves the machine for a remote model is said, once a run."""
        from videmus.library import Library

        library = Library(self.path, record=record, budget_usd=budget_usd)
        if asks and (leaving := library.what_leaves()):
            self.notice(leaving)
        if record and not (library.settings.models.language or library.settings.models.vision):
            self.notice(f"{record} is not written: no language or vision model is configured, so nothing is asked")
        return library

    def show(self, document: dict[str, Any], render: Callable[[Console], None]) -> None:
        """The document for programs, or what `render` prints for people."""
        if self.json:
            _write_json(document)
        else:
            render(self.out)

    def failed(self, error: VidemusError) -> None:
        if self.json:
            _write_json(error.as_json())
            return
        place = f"{plain(error.where)}: " if error.where else ""
        self.err.print(f"[red]error:[/red] {place}{plain(error.what)}", soft_wrap=True)
        if error.next:
            self.err.print(f"  → {plain(error.next)}", soft_wrap=True)

    def stopped(self, what: str, next: str = "") -> None:
        """The user stopped the command: no error, and for programs a document all the same. Said once."""
        if self.said_stopped:
            return
        self.said_stopped = True
        if self.json:
            self.failed(VidemusError(what, next=next))
        else:
            self.err.print(f"{what}. Go on: {next}" if next else what, markup=False, soft_wrap=True)

    def progress(self, tool: str, task: str) -> None:
        """A step that was taken, for those who wait."""
        if not self.quiet and self.err.is_terminal:
            self.err.print(f"[dim]{plain(tool)}: {plain(task)}[/dim]")

    def notice(self, text: str) -> None:
        if not self.quiet:
            self.err.print(f"[yellow]![/yellow] {plain(text)}", soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process with status 1; see `app.run`

    return Terminal(stderr=stderr, highlight=False, emoji=False)  # "ollama:x: …" holds no cross


def _write_json(document: dict[str, Any]) -> None:
    """Where standard output has not every letter, letters are written as JSON's own \\u escapes."""
    whole = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    sys.stdout.write(json.dumps(document, ensure_ascii=not whole) + "\n")


class Notices(logging.Handler):
    """Shows what is logged as a notice: what takes long and is done once, such as joining a model's parts."""

    def __init__(self, session: Session) -> None:
        super().__init__(logging.INFO)
        self.session = session

    def emit(self, record: logging.LogRecord) -> None:
        self.session.notice(record.getMessage())


def exit_status(videos: list[Video]) -> int:
    """0 done (a partial video is done), 1 all failed, 3 some failed."""
    failed = sum(v.state == "failed" for v in videos)
    if not failed:
        return 0
    return 1 if failed == len(videos) else 3
