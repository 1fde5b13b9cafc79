"""Watched folders: what is in them is added, then what appears there or changes.

Knows nothing of how a file is added: `add` does it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from videmus.errors import UsageError
from videmus.ingest.pipeline import Events
from videmus.ingest.sources import in_folder
from videmus.model import Video

WATCH_SECONDS = 2.0
"""How often a watched folder is looked at."""


def watch(
    folders: Sequence[str],
    add: Callable[[Sequence[str]], list[Video]],
    events: Events,
    stop: threading.Event,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[Video]:
    """Until `stop` is set or Ctrl-C; returns what was added. Patterns as in `sources`. Raises UsageError for what is no
    folder."""
    paths = [Path(f).expanduser().resolve() for f in folders]
    if missing := [str(p) for p in paths if not p.is_dir()]:
        raise UsageError("only folders are watched", where=", ".join(missing), next="name a folder")
    seen: dict[str, tuple[int, int] | None] | None = None
    added: dict[str, Video] = {}
    while not stop.is_set():
        now = {str(s): _stamp(s.path) for p in paths for s in in_folder(p, include, exclude)}
        before = seen or {}
        if new := [name for name, stamp in now.items() if before.get(name) != stamp and Path(name).exists()]:
            added |= {video.id: video for video in add(new)}
        if seen is None or new:
            events.notice("watching; Ctrl-C ends")
        seen = now
        try:
            stop.wait(WATCH_SECONDS)
        except KeyboardInterrupt:
            break
    return list(added.values())


def _stamp(path: Path | None) -> tuple[int, int] | None:
    if path is None or not path.exists():
        return None
    found = path.stat()
    return found.st_size, found.st_mtime_ns
