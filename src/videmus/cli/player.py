"""Opening a moment on the user's screen: a player that can seek, else whatever the system opens links with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import webbrowser
from pathlib import Path

from videmus.answer.citations import NAMED


def play(url: str, path: Path | None, at_ms: int) -> str:
    """Start a player without waiting for it; returns what was done in one line."""
    if url.startswith(NAMED):
        return f"there is no video of it to play, only what an evidence file says; the moment is {url}"
    if not has_screen():
        return f"there is no screen here to play it on; the moment is {url}"
    seconds = f"{at_ms / 1000:.3f}"
    target = str(path) if path else url
    commands = {
        "mpv": ["mpv", f"--start={seconds}", "--", target],
        "vlc": ["vlc", f"--start-time={seconds}", target],
        "ffplay": ["ffplay", "-loglevel", "error", "-ss", seconds, "-i", target],
    }
    for name, command in commands.items():
        if shutil.which(name):
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return f"opened in {name}"
    if webbrowser.open(url):
        return f"opened {url}"
    return f"no player was found; the moment is {url}"


def has_screen() -> bool:
    """Whether windows can be opened; over a plain SSH connection, say, they cannot."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
