"""Models that a person brought, installed through the terminal."""

import json


def brought(folder):
    """A faster-whisper folder as small as one can be."""
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"\x06\0\0\0\x0c\0WhisperSpec")
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text(json.dumps({"model": {}}))
    (folder / "vocabulary.txt").write_text("a\n")
    return folder


def test_installed_models_are_named_and_then_listed(terminal, tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEMUS_MODELS", str(tmp_path / "models"))
    usb = brought(tmp_path / "usb" / "faster-whisper-small").parent
    assert terminal.json("models", "install", "--from", usb) == {"installed": ["small"]}
    _, out, _ = terminal("models", "install", "--from", usb)
    assert out == "installed: small\n"
    assert "small" in [model["name"] for model in terminal.json("models")["models"]]


def test_a_folder_without_a_model_is_wrong_usage(terminal, tmp_path):
    assert "no model" in terminal.json("models", "install", "--from", tmp_path, status=2)["error"]["what"]
