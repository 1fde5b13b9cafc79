"""Replies of models, kept by the key of what was asked: a reply that arrived is never paid for twice."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from typing import Any


def reply(connection: sqlite3.Connection, key: str) -> bytes | None:
    found = connection.execute("SELECT reply FROM call WHERE key = ?", (key,)).fetchone()
    return None if found is None else bytes(found[0])


def keep(connection: sqlite3.Connection, key: str, reply: bytes, about: Mapping[str, Any]) -> None:
    """`about` may hold video (an id), stage, provider, model, tokens_in, tokens_out, usd."""
    connection.execute(
        "INSERT OR REPLACE INTO call (key, video, stage, provider, model, tokens_in, tokens_out, usd, at, reply)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            *(about.get(name) for name in ("video", "stage", "provider", "model", "tokens_in", "tokens_out", "usd")),
            time.time_ns() // 1_000_000,
            reply,
        ),
    )
