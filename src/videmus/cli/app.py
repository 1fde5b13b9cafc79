"""The command table of the terminal: global options, errors and exit statuses. The commands stand in their own modules."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from videmus import __version__
from videmus.cli import adding, asking, evaluating, keeping, people, system
from videmus.cli.session import Session
from videmus.errors import LibraryError, UsageError, VidemusError

EPILOG = "Options of every command, anywhere on the line: --library DIR, --json, --quiet, --verbose."

app = typer.Typer(
    name="videmus",
    help="A memory for video: add lectures, meetings and footage; search and ask; every answer points at its moment.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"videmus {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    library: Annotated[
        Path | None, typer.Option("--library", metavar="DIR", help="The library folder (or VIDEMUS_LIBRARY).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notices.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also what was not run or not used.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    session: Session = context.obj
    session.path, session.quiet, session.verbose = library, quiet, verbose
    if verbose:
        logging.getLogger("videmus").setLevel(logging.INFO)


for module in (adding, asking, people, keeping, evaluating, system):
    module.register(app)


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit status."""
    session = Session(json="--json" in arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL, format="%(name)s: %(message)s")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `videmus list | head` ends quietly
    try:
        result: Any = app(args=arguments, standalone_mode=False, obj=session)
        return result if isinstance(result, int) and result else session.status
    except VidemusError as error:
        session.failed(error)
        return 2 if isinstance(error, UsageError) else 1
    except typer.TyperException as error:
        session.failed(UsageError(error.format_message(), next="videmus --help"))
        return error.exit_code
    except typer.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        session.err.print("stopped")
        return 130
    except OSError as error:
        session.failed(LibraryError(error.strerror or str(error), where=str(error.filename or "")))
        return 1
