"""What a terminal shows, and never does: long and strange titles, progress, a player that is not there."""

import io
import json
import logging
import re

import pytest
from rich.console import Console

from videmus import cli
from videmus.cli import player
from videmus.cli.progress import Pace, TerminalEvents
from videmus.ingest.stage import Stage
from videmus.model import Video
from videmus.store.protocol import Work

VIDEO = Video("v1", "print", "Talk", 60_000, "talk.mp4")
STAGE = Stage("screen", "reading", 1, (), lambda job: iter(()))


def add(terminal, tmp_path, **about):
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({"videmus_evidence": 1, "duration_ms": 5000, "speech": [], **about}))
    return terminal("add", file)


def test_a_title_cannot_steer_the_terminal(terminal, tmp_path):
    add(terminal, tmp_path, title="\x1b]0;mine\x07\x1b[2Jodd")
    for command in (["list"], ["show", "odd"], ["search", "x"]):
        _, out, err = terminal(*command)
        assert "\x1b" not in out + err
        assert "\x07" not in out + err


def test_colons_round_a_word_are_no_picture(terminal, tmp_path):
    add(terminal, tmp_path, title="ollama:x: or :smile:")
    for command in (["list"], ["show", "ollama"], ["show", ":x:"]):
        assert ":x:" in "".join(terminal(*command)[1:])
    assert "nobody:x: no video" in terminal("show", "nobody:x")[2]


def test_titles_in_any_script_stand_in_the_list(terminal, tmp_path):
    add(terminal, tmp_path, title="机器学习 第一讲 — Übung «α»")
    assert "机器学习 第一讲 — Übung «α»" in terminal("list")[1]


def test_a_second_add_says_that_nothing_was_left_to_do(terminal, talk):
    assert "nothing was left to do" not in terminal("add", talk)[1]
    assert "nothing was left to do" in terminal("add", talk)[1]


def test_between_two_reports_the_bar_goes_on_at_its_speed_and_no_further_than_the_next_may_confirm():
    clock = [0.0]
    events = TerminalEvents(Console(file=io.StringIO(), force_terminal=True, width=100), now=lambda: clock[0])

    def shown():
        out = Console(file=io.StringIO(), width=100)
        out.print(events.bars.get_renderable())
        return " ".join(re.sub(r"[━╸╺]+", "", out.file.getvalue()).split())

    events.stage_started(VIDEO, STAGE)
    clock[0] = 5.0
    assert "left" not in shown() and "%" not in shown(), "nobody knows yet"
    clock[0] = 10.0
    events.stage_progress(VIDEO, STAGE, 10, 100)
    assert "10 %" in shown() and "1:30 left" in shown()
    clock[0] = 20.0
    assert "20 %" in shown() and "1:20 left" in shown()
    clock[0] = 60.0
    assert "30 %" in shown() and "1:10 left" in shown(), "the next report is late: nothing more is claimed"
    events.stage_progress(VIDEO, STAGE, 40, 100)
    assert "40 %" in shown() and "1:30 left" in shown()


def test_a_run_that_goes_on_after_an_interruption_is_as_fast_as_what_it_does_now():
    pace = Pace(0.0)
    pace.report(500, 1000, 1.0)  # done before
    for second in range(10, 200, 10):
        pace.report(500 + second, 1000, float(second))
    assert pace.left(190.0) == pytest.approx(310, rel=0.1)


def test_progress_tells_the_part_done_and_the_time_left():
    screen = io.StringIO()
    clock = [0.0]
    with TerminalEvents(Console(file=screen, force_terminal=True, width=80), now=lambda: clock[0]) as events:
        events.stage_started(VIDEO, STAGE)
        events.bars.refresh()
        before = screen.getvalue()
        for done in (1, 2, 3):
            clock[0] += 5
            events.stage_progress(VIDEO, STAGE, done, 12)
        events.bars.refresh()
    assert "left" not in before
    assert "0 %" not in before
    assert "25 %" in screen.getvalue()
    assert re.search(r"\d:\d\d left", screen.getvalue())


def test_a_stage_that_makes_no_rows_of_its_own_tells_none():
    screen = io.StringIO()
    with TerminalEvents(Console(file=screen, width=80)) as events:
        for rows in (0, 7):
            events.stage_started(VIDEO, STAGE)
            events.stage_ended(VIDEO, STAGE, Work("v1", "screen", "k", "done", None, rows, 3.0))
    lines = screen.getvalue().splitlines()
    assert [line.split("reading")[1].split() for line in lines] == [["3.0", "s"], ["3.0", "s,", "7", "rows"]]
    assert [work.rows for work in events.ran["v1"]] == [0, 7]


def test_a_clip_without_a_title_is_shown_by_what_is_said_in_it(library):
    assert "The Moon pulls the water" in library("show", "Tides")[1]


@pytest.fixture
def on_the_web(terminal, tmp_path):
    """The terminal over a library that knows of a talk on the web."""
    add(terminal, tmp_path, title="Talk", duration_ms=120_000, source="https://talks.example/talk.mp4")
    return terminal


def test_without_a_screen_open_tells_the_link(on_the_web, monkeypatch):
    monkeypatch.setattr(player, "has_screen", lambda: False)
    status, out, _ = on_the_web("open", "Talk", "1:05")
    assert status == 0
    assert out.strip().endswith("https://talks.example/talk.mp4#t=65")


def test_with_a_player_open_starts_it_at_the_moment(on_the_web, monkeypatch):
    started = []
    monkeypatch.setattr(player, "has_screen", lambda: True)
    monkeypatch.setattr(player.shutil, "which", lambda name: name == "vlc")
    monkeypatch.setattr(player.subprocess, "Popen", lambda command, **options: started.append(command))
    assert "opened in vlc" in on_the_web("open", "Talk", "0:30.5")[1]
    assert started[0] == ["vlc", "--start-time=30.500", "https://talks.example/talk.mp4#t=30.5"]


@pytest.mark.parametrize("format", ["srt", "vtt", "md", "chapters"])
def test_an_export_to_programs_is_one_document_and_writes_no_file(library, tmp_path, format):
    before = set(tmp_path.iterdir())
    given = library.json("export", "Tides", "--format", format)
    assert given == {"format": format, "text": library("export", "Tides", "--format", format)[1]}
    assert set(tmp_path.iterdir()) == before
    assert library.json("export", "Tides", "--format", "json")["videmus_evidence"] == 1


def test_remove_without_a_person_to_ask_removes_nothing(library):
    status, _, err = library("remove", "Rivers")
    assert status == 2
    assert "--yes" in err
    assert len(library.json("list")["videos"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [["list", "--library"], ["--library", "", "list"], ["add", ""], ["add", "ftp://a/b.mp4"], ["show", "i"]],
)
def test_what_names_nothing_is_wrong_usage(library, arguments):
    assert library(*arguments)[0] == 2


def test_after_two_dashes_a_word_is_no_option(library):
    status, out, _ = library("search", "--", "--json")
    assert (status, out) == (0, "nothing found\n")


def test_pictures_and_sound_are_not_cut_out_of_a_transcript(terminal, tmp_path):
    file = tmp_path / "said.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:04,000\nOnly words.\n")
    terminal.json("add", file)
    for command in (["frame", "said", "2"], ["clip", "said", "1", "3"]):
        assert "only text" in terminal.json(*command, status=2)["error"]["what"]


def test_help_of_a_wrong_command_line_is_that_of_the_command(capsys):
    assert cli.main(["models", "install"]) == 2
    assert "videmus models install --help" in capsys.readouterr().err


def test_every_line_of_a_moment_is_indented(library):
    _, out, _ = library("search", "RE16")
    assert "\n   What makes a tide\n   Motor RE16 TGK, 3.5 V\n" in out


@pytest.mark.parametrize("total", [4_000, None])
def test_an_address_that_is_fetched_shows_how_far_it_is(total):
    screen = io.StringIO()
    with TerminalEvents(Console(file=screen, force_terminal=True, width=80)) as events:
        for done in (1_000, 3_000):
            events.fetching("http://example.org/a.mp4", done, total)
        events.bars.refresh()
        assert "fetching" in screen.getvalue()
        assert ("75 %" in screen.getvalue()) == (total is not None)
        if total:
            events.fetching("http://example.org/a.mp4", total, total)
        events.video(VIDEO, 1, 1)
        assert not events.bars.tasks


def test_what_is_done_once_and_takes_long_is_a_notice(terminal, monkeypatch):
    def joins(*given, **options):
        logging.getLogger("videmus.notices").info("putting the parts of %s together; once", "[base]")
        return []

    monkeypatch.setattr("videmus.library.Library.videos", joins)
    _, out, err = terminal("list", "--json")
    assert json.loads(out) == {"videos": []}
    assert err.strip() == "! putting the parts of [base] together; once"
    assert terminal("list", "--json", "--quiet")[2] == ""


@pytest.mark.parametrize(("answer", "left", "status"), [("n", 2, 1), ("y", 1, 0)])
def test_remove_asks_a_person(library, monkeypatch, answer, left, status):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    given, _, err = library("remove", "Rivers")
    assert given == status
    assert "Remove 'Rivers'" in err
    assert ("nothing was removed" in err) == (status == 1)
    assert len(library.json("list")["videos"]) == left
