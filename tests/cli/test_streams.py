"""Where the output goes: a reader that leaves, a closed stream, letters that an encoding lacks, narrow terminals."""

import io
import json
import sys

import pytest

from videmus import cli


@pytest.fixture
def exercise(terminal, tmp_path):
    """The terminal over a library that holds a talk called Übung 学习."""
    file = tmp_path / "talk.json"
    about = {"videmus_evidence": 1, "title": "Übung 学习", "duration_ms": 5000}
    file.write_text(json.dumps({**about, "speech": [{"start_ms": 0, "end_ms": 900, "text": "Größe"}]}))
    terminal.json("add", file)
    return terminal


@pytest.fixture
def in_ascii(exercise, monkeypatch):
    """Gives the output and error of a command on a system whose encoding is ASCII, and its status."""

    def run(*arguments):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True) for _ in range(2)]
        with monkeypatch.context() as changed:
            changed.setattr(sys, "stdout", streams[0])
            changed.setattr(sys, "stderr", streams[1])
            status = ran(exercise, *arguments)
        return (status, *(stream.buffer.getvalue().decode("ascii") for stream in streams))

    return run


def ran(terminal, *arguments):
    return cli.main(["--library", str(terminal.library), *arguments])


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["show", "nobody", "--json"]])
def test_a_reader_that_left_ends_the_command_quietly_in_its_errors_too(exercise, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdout", Gone())
    assert ran(exercise, *arguments) == 141


def test_output_that_is_closed_goes_nowhere(exercise, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert ran(exercise, "list") == 0
    sys.stdout.close()


def test_letters_that_the_terminal_has_not_are_question_marks(in_ascii):
    status, out, _ = in_ascii("list")
    assert (status, "?bung ??" in out) == (0, True)
    status, _, err = in_ascii("show", "Größe")
    assert (status, "Gr??e: no video of that id or title" in err) == (2, True)


def test_json_loses_no_letter_in_any_encoding(in_ascii):
    status, out, _ = in_ascii("list", "--json")
    assert (status, json.loads(out)["videos"][0]["title"]) == (0, "Übung 学习")


def test_an_export_that_would_lose_letters_says_how_to_keep_them(in_ascii, tmp_path):
    status, out, err = in_ascii("export", "bung", "--format", "srt")
    assert (status, out, "-o FILE writes UTF-8" in err) == (2, "", True)
    assert in_ascii("export", "bung", "--format", "srt", "-o", str(tmp_path / "talk.srt"))[0] == 0
    assert "Größe" in (tmp_path / "talk.srt").read_text("utf-8")


def test_a_narrow_terminal_lists_a_video_a_line(exercise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = exercise("list")
    (line,) = out.splitlines()
    assert line.endswith("  Übung 学习 · 0:05 · ready")
