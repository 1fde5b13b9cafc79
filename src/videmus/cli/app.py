"""The command table of the terminal: global options, errors and exit statuses. The commands stand in their own modules."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from videmus import __version__
from videmus.cli import adding, asking, evaluating, keeping, people, system
from videmus.cli.session import Notices, Session
from videmus.cli.stopping import READER_GONE, STOPPED
from videmus.errors import LibraryError, UsageError, VidemusError

EPILOG = "Options of every command, anywhere before a --: --library DIR, --json, --quiet, --verbose."

log = logging.getLogger(__name__)

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


def _version(context: typer.Context, asked: bool) -> None:
    if asked:
        session: Session = context.obj
        session.show({"version": __version__}, lambda console: console.print(f"videmus {__version__}"))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    library: Annotated[
        str | None, typer.Option("--library", metavar="DIR", help="The library folder (or VIDEMUS_LIBRARY).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notices.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also what was not run or not used.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    session: Session = context.obj
    if library == "":
        raise UsageError("--library needs a folder", next="videmus --library DIR …")
    session.path = Path(library) if library else None
    session.quiet, session.verbose = quiet, verbose
    if verbose:
        logging.getLogger("videmus").setLevel(logging.INFO)


for module in (adding, asking, people, keeping, evaluating, system):
    module.register(app)


def run(arguments: list[str], *, json: bool = False) -> int:
    """Run one command line, its global options before the command; returns the exit status."""
    try:
        return _run(arguments, json)
    except BrokenPipeError:  # `videmus list | head` ends quietly, in an error's document too
        return READER_GONE


def _run(arguments: list[str], json: bool) -> int:
    session = Session(json=json)
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL, format="%(name)s: %(message)s")
    notices = logging.getLogger("videmus.notices")
    notices.setLevel(logging.INFO)
    notices.handlers = [Notices(session)]
    try:
        result: Any = app(args=arguments, prog_name="videmus", standalone_mode=False, obj=session)
        if result == STOPPED:  # typer's own word for Ctrl-C
            session.stopped("stopped")
        sys.stdout.flush()
        return result if isinstance(result, int) and result else session.status
    except VidemusError as error:
        session.failed(error)
        return 2 if isinstance(error, UsageError) else 1
    except typer.TyperException as error:
        return _misused(session, error)
    except typer.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        session.stopped("stopped")
        return STOPPED
    except BrokenPipeError:  # no file of ours: see `run`
        raise
    except OSError as error:
        remedy = "check the path, its permissions and the space on the disk"
        session.failed(LibraryError(error.strerror or str(error), where=str(error.filename or ""), next=remedy))
        return 1
    except Exception as error:
        log.exception("videmus %s", " ".join(arguments))
        what = f"a fault in Videmus, {type(error).__name__}: {error}"
        session.failed(VidemusError(what, next="the same command with --verbose shows where; please report it"))
        return 1
    finally:
        notices.handlers = []


def _misused(session: Session, error: typer.TyperException) -> int:
    """Wrong usage. A command given without anything, to a person, is answered with its help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "videmus"
    if type(error).__name__ == "NoArgsIsHelpError" and not session.json:
        typer.echo(error.format_message(), err=True)
        return error.exit_code
    what = "no command was given" if type(error).__name__ == "NoArgsIsHelpError" else error.format_message()
    session.failed(UsageError(what, next=f"{command} --help"))
    return error.exit_code
