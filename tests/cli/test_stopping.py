"""Ctrl-C: soon, and with word of how to go on."""

import signal
import threading

import pytest

from videmus import cli
from videmus.cli.stopping import stops_soon
from videmus.library import Library


@pytest.fixture
def left():
    """The exit statuses with which the process would have ended."""
    return []


def press():
    signal.raise_signal(signal.SIGINT)


def test_the_first_ctrl_c_interrupts_and_leaves_the_handler_as_it_was(left):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stops_soon(lambda: None, leave=left.append):
        press()
    assert signal.getsignal(signal.SIGINT) is before
    assert left == []


def test_work_that_does_not_end_ends_with_the_process(left):
    told = []
    gone = threading.Event()

    def leave(status):
        left.append(status)
        gone.set()

    with pytest.raises(KeyboardInterrupt), stops_soon(lambda: told.append("bye"), grace_s=0.01, leave=leave):
        try:
            press()
        finally:
            assert gone.wait(10)
    assert (told, left) == (["bye"], [130])


def test_a_second_ctrl_c_ends_at_once(left):
    with pytest.raises(KeyboardInterrupt), stops_soon(lambda: None, grace_s=60, leave=left.append):
        try:
            press()
        finally:
            press()
    assert left == [130]


def test_a_stopped_add_says_how_to_go_on_to_people_and_to_programs(terminal, talk, monkeypatch):
    monkeypatch.setattr(Library, "add_all", lambda *given, **options: press())
    status, out, err = terminal("add", talk)
    assert (status, out) == (130, "")
    assert "videmus retry" in err
    assert terminal.json("add", talk, status=130)["error"]["what"] == "stopped; what was done is kept"


def test_an_add_that_is_killed_politely_says_the_same(terminal, talk, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(Library, "add_all", lambda *given, **options: signal.raise_signal(signal.SIGTERM))
    status, _, err = terminal("add", talk)
    assert (status, "videmus retry" in err) == (143, True)
    assert signal.getsignal(signal.SIGTERM) is before


def test_any_other_command_that_is_stopped_gives_programs_a_document_too(terminal, monkeypatch):
    monkeypatch.setattr(Library, "videos", lambda *given, **options: press())
    assert terminal.json("list", status=130)["error"]["what"] == "stopped"


def test_a_fault_of_our_own_is_a_document_and_no_traceback(terminal, monkeypatch):
    def fault(*given, **options):
        raise ZeroDivisionError("x")

    monkeypatch.setattr(Library, "videos", fault)
    error = terminal.json("list", status=1)["error"]
    assert "ZeroDivisionError" in error["what"]
    assert "report" in error["next"]
    assert "Traceback" not in terminal("list")[2]


def test_a_reader_that_goes_away_ends_the_command_quietly(terminal, monkeypatch):
    def gone(*given, **options):
        raise BrokenPipeError

    monkeypatch.setattr(Library, "videos", gone)
    assert terminal("list")[0] == 141


def test_nothing_typed_is_answered_with_the_help(capsys):
    assert cli.main([]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith("Usage:")
