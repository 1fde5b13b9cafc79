"""A small library made through the terminal, and a way to call it as a program does."""

import json

import pytest

from videmus import cli

TALK = {
    "videmus_evidence": 1,
    "title": "Tides",
    "duration_ms": 120_000,
    "speech": [
        {"start_ms": 0, "end_ms": 8_000, "text": "The Moon pulls the water nearest to it.", "speaker": "Ann"},
        {"start_ms": 8_000, "end_ms": 16_000, "text": "The plant at La Rance makes 240 megawatts.", "speaker": "Bob"},
        {"start_ms": 60_000, "end_ms": 68_000, "text": "Neap tides come at the quarter moons.", "speaker": "Ann"},
    ],
    "screen": [{"start_ms": 0, "end_ms": 60_000, "text": "What makes a tide\nMotor RE16 TGK, 3.5 V"}],
}
RIVERS = {
    "videmus_evidence": 1,
    "title": "Rivers",
    "duration_ms": 30_000,
    "speech": [{"start_ms": 0, "end_ms": 9_000, "text": "Rivers carry sand to the sea."}],
}


class Terminal:
    def __init__(self, library, capsys):
        self.library, self.capsys = library, capsys

    def __call__(self, *arguments):
        """(exit status, standard output, standard error)."""
        self.capsys.readouterr()
        status = cli.main(["--library", str(self.library), *map(str, arguments)])
        caught = self.capsys.readouterr()
        return status, caught.out, caught.err

    def json(self, *arguments, status=0):
        """The one document on standard output."""
        given, out, err = self(*arguments, "--json")
        assert given == status, out + err
        return json.loads(out)


@pytest.fixture
def talk(tmp_path):
    file = tmp_path / "tides.json"
    file.write_text(json.dumps(TALK))
    return file


@pytest.fixture
def rivers(tmp_path):
    file = tmp_path / "rivers.json"
    file.write_text(json.dumps(RIVERS))
    return file


@pytest.fixture
def terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("VIDEMUS_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").touch()
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path / "library", capsys)


@pytest.fixture
def library(terminal, talk, rivers):
    """The terminal over a library that holds both talks."""
    terminal.json("add", talk, rivers, "--collection", "course")
    return terminal
