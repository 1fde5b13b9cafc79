"""`models`, `config`, `doctor`: what this machine and this library have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from videmus.cli.session import Session
from videmus.typed import free


def register(app: typer.Typer) -> None:
    app.add_typer(models_app, name="models")
    app.add_typer(cache_app, name="cache")
    app.command()(config)
    app.command()(doctor)


models_app = typer.Typer(help="List and install models.", rich_markup_mode=None)


@models_app.callback(invoke_without_command=True)
def models(context: typer.Context) -> None:
    """List and install models."""
    if context.invoked_subcommand is not None:
        return
    from videmus.models import weights

    session: Session = context.obj
    listed = weights.listed()
    document = {
        "models": [
            {"name": w.name, "kind": w.kind, "from": w.source, "bytes": w.size, "ok": w.ok, "detail": w.detail}
            for w in listed
        ]
    }

    def lines(console: object) -> None:
        for item in listed:
            mark = "[green]✓[/green]" if item.ok else "[red]✗[/red]"
            session.out.print(
                f"{mark} {item.name:<28} {item.kind:<10} [dim]{item.source}, {item.size / 1e6:.0f} MB; {item.detail}[/dim]",
                soft_wrap=True,
            )

    session.show(document, lines)


@models_app.command("install")
def install(
    context: typer.Context,
    source: Annotated[Path, typer.Option("--from", metavar="DIR", help="A folder that holds a model's files.")],
) -> None:
    """Take a model from files that you brought (a faster-whisper folder, or ONNX with tokenizer.json)."""
    from videmus.models import weights

    session: Session = context.obj
    names = [model.name for model in weights.install_from(source)]
    session.show({"installed": names}, lambda console: console.print(f"installed: {', '.join(names)}", markup=False))


cache_app = typer.Typer(help="Keep or take replies of models.", rich_markup_mode=None)


@cache_app.command("export")
def export_cache(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there.")] = False,
) -> None:
    """Write every reply that was paid for to a file."""
    session: Session = context.obj
    free(file, force)
    with session.library() as library:
        count = library.store.export_calls(file)
    session.show({"replies": count, "file": str(file)}, lambda console: console.print(f"{count} replies in {file}"))


@cache_app.command("import")
def import_cache(context: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE", exists=True)]) -> None:
    """Take replies from such a file: what was asked there is not asked again here."""
    session: Session = context.obj
    with session.library() as library:
        count = library.store.import_calls(file)
    session.show({"new": count}, lambda console: console.print(f"{count} new replies"))


def config(context: typer.Context) -> None:
    """Show the settings and their file."""
    from dataclasses import asdict

    from videmus import config as settings

    session: Session = context.obj
    values = asdict(settings.load())
    file = settings.user_file()

    def lines(console: object) -> None:
        session.out.print(f"# {file}{'' if file.is_file() else ' (not there: these are the defaults)'}", markup=False)
        for section, pairs in values.items():
            session.out.print(f"\n[{section}]", markup=False)
            for name, value in pairs.items():
                session.out.print(f"{name} = {settings.as_toml(value)}", markup=False, soft_wrap=True)

    session.show({"file": str(file), "settings": values}, lines)


def doctor(
    context: typer.Context,
    offline: Annotated[bool, typer.Option("--offline", help="Prove that nothing needs the network.")] = False,
) -> None:
    """Check this machine and the library.

    Which models and tools are there, the disk used, and whether the library is whole.
    """
    from videmus.doctor import checks

    session: Session = context.obj
    found = checks(session.path, offline=offline)
    document = {"checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "next": c.next} for c in found]}

    def lines(console: object) -> None:
        from rich.markup import escape

        for check in found:
            mark = "[green]✓[/green]" if check.ok else "[red]✗[/red]"
            session.out.print(f"{mark} {check.name:<20} {escape(check.detail)}", soft_wrap=True)
            if check.next:
                session.out.print(f"  → {escape(check.next)}", soft_wrap=True)

    session.show(document, lines)
    session.status = 0 if all(c.ok for c in found) else 1
