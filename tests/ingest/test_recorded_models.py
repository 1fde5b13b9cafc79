"""A library made with a recorded model is made again from the recording, bit by bit, and a dead model leaves its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from videmus.config import ModelSettings, Settings
from videmus.library import Library
from videmus.model import Evidence, Scope
from videmus.models.minds import Minds
from videmus.models.scripted_server import Fault, ScriptedServer, Seen

SAID = [
    "Gradient descent follows the slope of the loss.",
    "A large learning rate of 0.9 makes it diverge.",
    "Momentum accumulates the gradients of earlier steps.",
]
LECTURE = {
    "videmus_evidence": 1,
    "title": "Optimisation",
    "duration_ms": 200_000,
    "speech": [{"start_ms": 60_000 * n, "end_ms": 60_000 * n + 9_000, "text": text} for n, text in enumerate(SAID)],
}


def model(seen: Seen) -> dict[str, Any]:
    """Every piece is a statement, every statement a sentence of the summary; other stages get what their schema needs."""
    wanted = set(seen.schema["properties"])
    if "statements" in wanted:
        found = re.findall(r"^\[(P\d+)\] \S+ (.*)$", seen.user, re.M)
        return {"statements": [{"text": text, "pieces": [label]} for label, text in found], "terms": ["learning rate"]}
    if "chapters" in wanted:
        found = re.findall(r"^\[(S\d+)\] \S+ (.*)$", seen.user, re.M)
        lines = [{"text": text, "statements": [label]} for label, text in found]
        return {"chapters": [{"title": "All", "begins": "S1"}], "summary": lines, "terms": []}
    return {"paragraph": "Someone speaks.", "relations": [], "supports": [], "groups": []}


@pytest.fixture
def lecture(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "lecture.json"
    file.write_text(json.dumps(LECTURE))
    yield file


def made(folder: Path, lecture: Path, models: ModelSettings, **more: Any) -> tuple[str | None, list[Evidence]]:
    settings = replace(Settings(), models=models)
    with Library(folder, settings=settings, minds=Minds(settings, **more)) as library:
        video = library.add(str(lecture))
        assert not isinstance(video, list)
        return video.reason, library.store.evidence(Scope(video=video.id))


def test_the_same_rows_come_out_of_the_recording(tmp_path, lecture):
    record = tmp_path / "calls.jsonl"
    with ScriptedServer(model) as server:
        models = ModelSettings(language="vllm:m", base_url=server.url)
        reason, live = made(tmp_path / "live", lecture, models, record=record)
    assert reason is None
    summary = next(r for r in live if r.kind == "summary" and r.text.startswith("Gradient"))
    assert summary.origin.model == "vllm:m" and summary.detail.terms == ("learning rate",)
    reason, replayed = made(tmp_path / "replayed", lecture, ModelSettings(language=f"replay:{record}"))
    assert reason is None and replayed == live


def test_a_recording_of_another_lecture_says_which_call_it_lacks(tmp_path, lecture):
    record = tmp_path / "calls.jsonl"
    with ScriptedServer(model) as server:
        made(tmp_path / "live", lecture, ModelSettings(language="vllm:m", base_url=server.url), record=record)
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**LECTURE, "speech": [{"start_ms": 0, "end_ms": 900, "text": "Rivers carry sand."}]}))
    reason, rows = made(tmp_path / "other", other, ModelSettings(language=f"replay:{record}"))
    assert reason is not None and "recording does not hold this call" in reason and "Rivers carry sand" in reason
    assert [r.text for r in rows if r.kind == "speech"] == ["Rivers carry sand."], "what needs no model is done"


def test_a_dead_model_leaves_the_video_partial_with_the_reason_and_a_retry_mends_it(tmp_path, lecture):
    dead = True
    with ScriptedServer(lambda seen: Fault(503, "out of order") if dead else model(seen)) as server:
        settings = replace(Settings(), models=ModelSettings(language="vllm:m", base_url=server.url, attempts=1))
        with Library(tmp_path / "library", settings=settings) as library:
            video = library.add(str(lecture))
            assert not isinstance(video, list)
            assert video.state == "partial" and "out of order" in (video.reason or "")
            assert library.search("momentum gradients"), "what needs no model is there"
            dead = False
            mended = library.retry(video.id)
            assert [v.state for v in mended] == ["ready"] if isinstance(mended, list) else mended.state == "ready"
            assert any(r.kind == "summary" and r.origin.model for r in library.evidence(video.id))


def test_a_file_that_is_no_recording_is_named_with_its_line(tmp_path, lecture):
    file = tmp_path / "none.jsonl"
    file.write_text("{}\n")
    reason, _ = made(tmp_path / "library", lecture, ModelSettings(language=f"replay:{file}"))
    assert reason is not None and "no line of a recording" in reason and "none.jsonl, line 1" in reason
