"""`videmus evaluate` against a scripted server: questions made, asked, judged, and written as a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from videmus import cli
from videmus.cli import evaluating
from videmus.cli.session import Session
from videmus.errors import ModelError
from videmus.library import Library
from videmus.models.scripted_server import ScriptedServer, Seen

LECTURE = {
    "videmus_evidence": 1,
    "title": "Optimisation",
    "duration_ms": 40_000,
    "speech": [
        {"start_ms": 0, "end_ms": 9_000, "text": "A large learning rate makes the loss diverge."},
        {"start_ms": 20_000, "end_ms": 29_000, "text": "Momentum accumulates the gradients of earlier steps."},
    ],
}
QUESTION = {
    "id": "q1", "question": "What makes the loss diverge?", "answer": "A large learning rate", "kind": "text",
    "video": "Optimisation", "start_ms": 0, "end_ms": 9_000,
}  # fmt: skip


def model(seen: Seen) -> dict[str, Any]:
    wanted = set(seen.schema["properties"])
    if "verdict" in wanted:
        return {"verdict": "correct", "score": 5, "reason": ""}
    if "grounding" in wanted:
        label = (re.findall(r"\[(E\d+)\][^\n]*\n[^\n]*loss diverge", seen.user) or ["E1"])[0]
        cited = [{"evidence": label, "quote": "makes the loss diverge"}]
        sentence = {"text": "A large learning rate makes it diverge.", "citations": cited, "computed_from": []}
        return {"sentences": [sentence], "grounding": "supported"}
    if "statements" in wanted:
        return {"statements": [], "terms": []}
    return {"answer": "I do not know."}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("VIDEMUS_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").touch()
    (tmp_path / "lecture.json").write_text(json.dumps(LECTURE))
    with Library(tmp_path / "library") as library:
        library.add(str(tmp_path / "lecture.json"))
    (tmp_path / "questions.jsonl").write_text(json.dumps(QUESTION))
    with ScriptedServer(model) as server:
        monkeypatch.setenv("VIDEMUS_MODELS_LANGUAGE", "vllm:scripted")
        monkeypatch.setenv("VIDEMUS_MODELS_BASE_URL", server.url)
        yield tmp_path


def run(folder: Path, *arguments: str) -> None:
    session = Session(json=True, quiet=True, path=folder / "library")
    evaluating.app(args=list(arguments), standalone_mode=False, obj=session)


@pytest.mark.parametrize(
    ("name", "conditions"),
    [
        ("premind", {"all", "vision", "speech", "consolidated"}),
        ("lecture-rag", {"no-context", "global", "filtered"}),
        ("goldfish", {"retrieval", "answer"}),
    ],
)
def test_an_evaluation_writes_a_run_that_says_what_made_it(folder, name, conditions, capsys):
    file = folder / "run.json"
    run(folder, name, str(folder / "questions.jsonl"), "-o", str(file))
    document = json.loads(file.read_text())
    assert json.loads(capsys.readouterr().out) == document
    assert set(document["figures"]) == conditions and document["made_with"]["judge"] == "vllm:scripted"
    assert document["failed"] == 0 and document["cost"]["calls"] > 0
    answered = [o for o in document["outcomes"] if o["condition"] in ("all", "filtered", "answer")]
    assert [o["correct"] for o in answered] == [1.0]


def test_without_a_model_it_says_how_to_set_one(folder, monkeypatch):
    monkeypatch.delenv("VIDEMUS_MODELS_LANGUAGE")
    with pytest.raises(ModelError, match="language model as judge") as caught:
        run(folder, "goldfish", str(folder / "questions.jsonl"))
    assert "VIDEMUS_MODELS_LANGUAGE" in caught.value.next


def test_questions_of_a_lecture_without_slides_are_none(folder, capsys):
    run(folder, "questions", "Optimisation", "-o", str(folder / "made.jsonl"))
    made = json.loads(capsys.readouterr().out)
    assert made["questions"] == 0 and (folder / "made.jsonl").read_text() == ""
    assert len(made["problems"]) == 1 and made["problems"][0].startswith("Optimisation: it has no slides")


def test_footage_questions_are_asked_of_the_agent_and_failures_count_as_wrong(folder: Path):
    options = {"A": "a learning rate", "B": "a bell", "C": "a train", "D": "rain"}
    record = {
        "ID": "1", "type": "EventRecall", "question": "What makes the loss diverge?", "answer": "A",
        "query_time": {"date": "DAY1", "time": "12000000"}, "target_time": {"date": "DAY1", "time": "11000000"},
        **{f"choice_{letter.lower()}": text for letter, text in options.items()},
    }  # fmt: skip
    (folder / "egolife.json").write_text(json.dumps([record]))
    status = cli.main(
        [
            "--library",
            str(folder / "library"),
            "--quiet",
            "evaluate",
            "footage",
            str(folder / "egolife.json"),
            "--condition",
            "captions",
            "-o",
            str(folder / "run.json"),
        ]
    )
    assert status == 0
    run = json.loads((folder / "run.json").read_text())
    assert run["questions"]["count"] == 1
    assert list(run["figures"]) == ["captions"]
    assert run["figures"]["captions"]["EventRecall"]["mean"] == 0.0
    assert [r["window_s"] for r in run["made_with"]["recall"]] == [10, 30, 60, 120, 600, 3600]
