"""The terminal: parses what was typed, calls `Library`, shows what came back. Holds no logic of its own."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

GLOBAL_FLAGS = ("--json", "--quiet", "-q", "--verbose", "-v")
GLOBAL_OPTIONS = ("--library",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 failed, 2 wrong usage, 3 some videos failed, 130 stopped."""
    from videmus.cli import app

    _prepare_streams()
    front, rest = _hoisted(list(sys.argv[1:] if argv is None else argv))
    status = app.run(front + rest, json="--json" in front)
    if argv is None:
        _leave(status)
    return status


def _prepare_streams() -> None:
    """A letter that a stream's encoding does not have is written as "?"; what goes to a closed stream goes nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - while the process lives
        elif isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="replace")


def _leave(status: int) -> None:
    from videmus.cli.stopping import READER_GONE

    if status == READER_GONE:  # what is still buffered goes nowhere, without a word
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _hoisted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Global options may stand anywhere before `--`: they, which go before the command, and the rest."""
    front: list[str] = []
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        if argument == "--":
            rest += [argument, *queue]
            break
        if argument in GLOBAL_FLAGS or argument.startswith(tuple(f"{name}=" for name in GLOBAL_OPTIONS)):
            front.append(argument)
        elif argument in GLOBAL_OPTIONS:
            front += [argument, queue.pop(0) if queue else ""]
        else:
            rest.append(argument)
    return front, rest
