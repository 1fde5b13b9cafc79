"""Replies of models, kept by the key of what was asked: a reply that arrived is never paid for twice."""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from videmus.errors import UsageError

_ABOUT = ("stage", "provider", "model", "tokens_in", "tokens_out", "usd")


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


def lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Every kept reply as one line of JSON, for another machine. Videos are not named: a reply belongs to its question."""
    sql = f"SELECT key, reply, {', '.join(_ABOUT)} FROM call ORDER BY key"  # noqa: S608 - names of our own
    for key, reply, *about in connection.execute(sql):
        plain = {"key": key, "reply": base64.b64encode(reply).decode(), **dict(zip(_ABOUT, about, strict=True))}
        yield json.dumps(plain, ensure_ascii=False) + "\n"


def take(connection: sqlite3.Connection, given: Iterable[str]) -> int:
    """Keep the replies of such lines; those that are here already stay. Returns how many are new. Raises UsageError."""
    new = 0
    for number, line in enumerate(given, 1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
            key, reply = str(plain["key"]), base64.b64decode(plain["reply"], validate=True)
            about = {name: plain.get(name) for name in _ABOUT}
        except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
            raise UsageError(
                "no kept reply", where=f"line {number}", next="give a file of `videmus cache export`"
            ) from error
        if any(isinstance(value, (dict, list)) for value in about.values()):
            raise UsageError("no kept reply", where=f"line {number}", next="give a file of `videmus cache export`")
        if connection.execute("SELECT 1 FROM call WHERE key = ?", (key,)).fetchone() is None:
            keep(connection, key, reply, about)
            new += 1
    return new
