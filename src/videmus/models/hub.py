"""Folders of ONNX models: fetched from a hub once and then taken from this machine; and the JSON files in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from videmus.errors import ModelError


def fetched(name: str, patterns: Sequence[str], kind: str, next: str) -> Path:
    """The folder of a hub's model ("owner/name"), with the files that fit `patterns`.

    Raises ModelError (the `kind` of model and what to do `next` in it) where it is not here and cannot be fetched.
    """
    from huggingface_hub import snapshot_download

    try:
        try:
            return Path(snapshot_download(name, allow_patterns=list(patterns), local_files_only=True))
        except Exception:  # noqa: BLE001 - the hub's client raises many kinds; whatever it was, it is not here yet
            return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except Exception as error:  # as above, and every error of the network
        raise ModelError(
            f"the {kind} model is neither on this machine nor could it be fetched: {error}", where=name, next=next
        ) from error


def settings(file: Path) -> dict[str, Any]:
    """What a JSON file of a model's folder says; nothing where it is not there. Raises ModelError for a damaged one."""
    try:
        found = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except ValueError as error:
        raise ModelError("not valid JSON", where=str(file), next="fetch the model again") from error
    return found if isinstance(found, dict) else {}
