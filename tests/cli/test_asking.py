"""`show`, `ask` and `chat` against a scripted server: what a user sees of summaries, options, and a reply that is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from videmus import cli
from videmus.library import Library
from videmus.models.scripted_server import ScriptedServer, Seen

LECTURE = {
    "videmus_evidence": 1,
    "title": "Optimisation",
    "duration_ms": 40_000,
    "speech": [
        {"start_ms": 0, "end_ms": 9_000, "text": "A large learning rate makes the loss diverge."},
        {"start_ms": 20_000, "end_ms": 29_000, "text": "Momentum accumulates the gradients of earlier steps."},
        {
            "start_ms": 30_000,
            "end_ms": 39_000,
            "text": "With momentum the learning rate may be smaller; momentum helps.",
        },
    ],
}


def label_of(seen: Seen, words: str) -> str:
    found = re.search(rf"\[(E\d+)\][^\n]*\n[^\n]*{words}", seen.user)
    return found.group(1) if found else "E1"


def model(seen: Seen) -> dict[str, Any]:
    wanted = set(seen.schema["properties"])
    cited = [{"evidence": label_of(seen, "loss diverge"), "quote": "makes the loss diverge"}]
    sentence = {"text": "A large learning rate makes it diverge.", "citations": cited, "computed_from": []}
    if "option" in wanted:
        return {"option": "B", "sentences": [sentence], "grounding": "supported"}
    if "grounding" in wanted:
        return {"sentences": [sentence], "grounding": "supported"}
    if "question" in wanted:  # a follow-up question that is to stand alone
        return {"nonsense": True} if "what does it need" in seen.user else {"question": "What makes the loss diverge?"}
    return {"statements": [], "terms": []}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("VIDEMUS_LIBRARY", str(tmp_path / "library"))
    (tmp_path / "lecture.json").write_text(json.dumps(LECTURE))
    with Library() as library:
        library.add(str(tmp_path / "lecture.json"))
    with ScriptedServer(model) as server:
        monkeypatch.setenv("VIDEMUS_MODELS_LANGUAGE", "vllm:scripted")
        monkeypatch.setenv("VIDEMUS_MODELS_BASE_URL", server.url)
        yield server


def document(capsys: pytest.CaptureFixture[str], *command: str) -> Any:
    assert cli.main([*command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_show_tells_summary_key_terms_and_chapters(server, capsys):
    shown = document(capsys, "show", "Optimisation")
    assert "loss diverge" in shown["summary"] and shown["terms"]
    assert [set(chapter) for chapter in shown["chapters"]] == [{"start_ms", "end_ms", "title", "text"}]
    assert cli.main(["show", "Optimisation"]) == 0
    printed = capsys.readouterr().out
    assert "summary  A large learning rate makes the loss diverge." in printed
    assert "key terms  " in printed and re.search(r"chapters\n +0:00 ", printed)


def test_several_options_cost_one_call_where_one_search_suffices(server, capsys):
    options = ("--option", "momentum", "--option", "a large learning rate")
    for mode in ((), ("--quick",)):
        given = document(capsys, "ask", "What makes the loss diverge?", *options, *mode)
        assert given["answer"] == "B. a large learning rate. A large learning rate makes it diverge. [1]"
        assert given["citations"][0]["quote"] == "makes the loss diverge"
        assert (given["grounding"], [step["tool"] for step in given["steps"]]) == ("supported", ["retrieve", "choose"])
    assert len(server.seen) == 1, "the second time the reply is kept"


def test_verbose_shows_what_was_asked_for_and_what_was_not_used(server, capsys):
    assert cli.main(["ask", "What makes the loss diverge?", "--video", "Optimisation", "--limit", "7", "-v"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"asked for 7 moments of: video v\w+", printed)
    unused = printed.partition("retrieved and not used:")[2]
    assert "Momentum accumulates" in unused and "loss diverge" not in unused


def test_a_lost_reply_ends_one_question_of_a_conversation_and_not_the_conversation(server, capsys, monkeypatch):
    typed = ["What makes the loss diverge?", "And what does it need?", "Once more, why?", ""]
    monkeypatch.setattr("videmus.cli.asking._typed", lambda session: typed.pop(0))
    assert cli.main(["chat"]) == 0
    told = capsys.readouterr()
    assert told.out.count("makes it diverge. [1]") == 2 and told.err.count("error:") == 1
    assert not typed
