"""Record and replay: every call and its answer in a file of JSON lines, from which a run repeats without a model, bit
by bit.

    {"videmus_calls": 1, "role": "vision", "model": "openai:gpt-4.1", "sees": true, "concurrency": 8}
    {"key": "…", "role": "vision", "stage": "critic", "video": "v…", "asks": "first words", "reply": {…}, "cost": {…}}

A call is known by its content. One that failed is recorded as failed, and fails again, unless it was answered later.
Pictures are not written, only their digests inside the key. A recording that is there goes on: what a retry asks stands
behind what the run before it asked, and both are replayed as one.
"""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any, TextIO, TypeVar

from pydantic import BaseModel

from videmus.errors import ReplayError
from videmus.model import Cost, to_plain
from videmus.models.language import CallError, Data, LanguageModel, Layer, Prompt, Reply, parsed, request_key

T = TypeVar("T", bound=BaseModel)

VERSION = 1
ASKS = 200
"""Characters of a prompt's last piece of material that a recording shows, so that a person can find a call in it."""


class Recording:
    """A file that calls are appended to, each line complete before the next; shared by all models of a run.

    Raises ReplayError where the file cannot be written, or is there and is no recording.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._heads = heads_of(path)
        try:
            _without_torn_line(path)
            self._file: TextIO = path.open("a", encoding="utf-8")
        except OSError as error:
            raise _unwritable(path, error) from error

    def begin(self, head: dict[str, Any]) -> None:
        """Note which model answers a role. Raises ReplayError where the file holds another model's replies."""
        before = self._heads.get(head["role"])
        check_model(self._path, before, head["model"])
        entry = {"videmus_calls": VERSION, **head}
        if before != entry:
            self._heads[head["role"]] = entry
            self.write(entry)

    def write(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
            self._file.flush()

    def close(self) -> None:
        with self._lock:
            self._file.close()


class Recorded(Layer):
    """`inner`, with every call and its answer written to `recording` under a role ("language", "vision")."""

    def __init__(self, inner: LanguageModel, recording: Recording, role: str) -> None:
        super().__init__(inner)
        self._recording = recording
        self._role = role
        recording.begin({"role": role, "model": inner.name, "sees": inner.sees, "concurrency": inner.concurrency})

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        about = {"key": request_key(prompt, result), "role": self._role, **_described(prompt)}
        try:
            reply = self._inner.ask(prompt, result)
        except CallError as error:
            self._recording.write({**about, "error": error.as_json()["error"], "cost": to_plain(error.cost)})
            raise
        self._recording.write({**about, "reply": reply.value.model_dump(mode="json"), "cost": to_plain(reply.cost)})
        return reply


class Replayed:
    """The model of a recording: answers what the file holds, under the recorded model's name and at its cost.

    Raises ReplayError when the file is no recording, holds no calls of this role, or (in `ask`) not this call.
    """

    def __init__(self, path: Path, role: str) -> None:
        self._path = path
        self._answers: dict[str, dict[str, Any]] = {}
        heads: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(_lines(path), 1):
            try:
                entry = json.loads(line)
                if "videmus_calls" in entry:
                    heads[entry["role"]] = entry
                elif entry["role"] == role and "error" in self._answers.get(entry["key"], {"error": None}):
                    self._answers[entry["key"]] = entry
            except (ValueError, TypeError, KeyError):
                raise ReplayError(
                    "this is no line of a recording",
                    where=f"{path}, line {number}",
                    next="record anew with --record FILE",
                ) from None
        if role not in heads:
            raise ReplayError(
                f"the recording holds no {role} model", where=str(path), next="record anew with --record FILE"
            )
        self._head = heads[role]

    @property
    def name(self) -> str:
        return str(self._head["model"])

    @property
    def sees(self) -> bool:
        return bool(self._head["sees"])

    @property
    def concurrency(self) -> int:
        return int(self._head["concurrency"])

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        key = request_key(prompt, result)
        entry = self._answers.get(key)
        if entry is None:
            about = _described(prompt)
            raise ReplayError(
                f"the recording does not hold this call: stage {about['stage']}, {about['asks']!r}",
                where=f"{self._path}, call {key}",
                next="record anew with --record FILE",
            )
        cost = Cost(**entry["cost"]) if "usd" in entry["cost"] else Cost(**entry["cost"], usd=None)
        if "error" in entry:
            error = CallError(entry["error"]["what"], where=entry["error"]["where"], next=entry["error"]["next"])
            error.cost = cost
            raise error
        return Reply(parsed(json.dumps(entry["reply"]), result), cost)

    def close(self) -> None:
        """Nothing is open."""


def heads_of(path: Path) -> dict[str, dict[str, Any]]:
    """The heads of the recording at `path` by role; none where it is not there yet.

    Raises ReplayError for another kind of file, and for a place where none can be written.
    """
    heads: dict[str, dict[str, Any]] = {}
    try:
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "there is no such folder")
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        if not path.is_file():
            return heads
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if number == 1 and b'"videmus_calls"' not in line:
                    raise ReplayError(
                        "the file is there, and is no recording", where=str(path), next="name another file"
                    )
                if b'"videmus_calls"' in line and "videmus_calls" in (entry := json.loads(line)):
                    heads[entry["role"]] = entry
    except OSError as error:
        raise _unwritable(path, error) from error
    except (ValueError, KeyError):
        raise ReplayError(
            "this is no line of a recording", where=f"{path}, line {number}", next="name another file"
        ) from None
    return heads


def check_model(path: Path, head: dict[str, Any] | None, model: str) -> None:
    """Raises ReplayError where a role's head in the recording at `path` names another model."""
    if head and head["model"] != model:
        raise ReplayError(
            f"this recording holds the replies of {head['model']}, not of {model}",
            where=str(path),
            next="name another file",
        )


def _without_torn_line(path: Path) -> None:
    """Take away what a killed run wrote of its last line: what comes next begins a line."""
    if not path.is_file():
        return
    with path.open("r+b") as file:
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)


def _unwritable(path: Path, error: OSError) -> ReplayError:
    return ReplayError(f"cannot write the recording: {error.strerror}", where=str(path), next="name another file")


def _described(prompt: Prompt) -> dict[str, str | None]:
    texts = [p.text for p in prompt.parts if isinstance(p, Data)] or [prompt.instructions]
    return {"stage": prompt.stage, "video": prompt.video, "asks": texts[-1][:ASKS]}


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ReplayError(f"cannot read the recording: {error}", where=str(path), next="check the path") from error
