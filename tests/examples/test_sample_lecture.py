"""The committed sample lecture is what its truth says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from videmus.media.decode import frames_at
from videmus.media.probe import probe

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLES / "sample_lecture.json").read_text("utf-8"))
    return found


def test_the_file_is_small_and_as_long_as_said(truth: dict[str, Any]):
    path = EXAMPLES / "sample_lecture.mp4"
    found = probe(path)
    assert path.stat().st_size <= 5 * 2**20
    assert found.duration_ms == pytest.approx(truth["video"]["duration"] * 1000, abs=100)
    assert found.video is not None and found.video.shown == (1280, 720) and found.has_audio


def test_every_build_comes_on_screen_when_said(truth: dict[str, Any]):
    """Outside the camera box the picture is still within a build and changes at its start, and only there."""
    times: list[int] = []
    for step in truth["steps"]:
        start, end = round(step["start"] * 1000), round(step["end"] * 1000)
        times += [start, (start + end) // 2, end - 100]
    left, top, right, bottom = (x // 4 for x in truth["video"]["camera_box"])
    pictures = []
    for picture in frames_at(EXAMPLES / "sample_lecture.mp4", times, width=320):
        still = picture.rgb.astype(int)
        still[top - 2 : bottom + 2, left - 2 : right + 2] = 0
        pictures.append(still)
    changes = [np.abs(a - b).max() for a, b in pairwise(pictures)]
    between = [change for n, change in enumerate(changes) if n % 3 == 2]
    within = [change for n, change in enumerate(changes) if n % 3 != 2]
    assert min(between) > 60 and max(within) < 30


def test_slides_cover_the_lecture_without_a_gap(truth: dict[str, Any]):
    ends = [0.0, *(step["end"] for step in truth["steps"])]
    assert [step["start"] for step in truth["steps"]] == ends[:-1]
    assert ends[-1] == truth["video"]["duration"]


def test_it_holds_what_a_lecture_memory_is_tried_with(truth: dict[str, Any]):
    runs = truth["slide_runs"]
    assert max(run["n_builds"] for run in runs) >= 4
    assert [run["slide_id"] for run in runs if run["returns"]] == ["picture"]
    assert [q["modality"] for q in truth["questions"]][:4] == ["speech", "slide", "both", "none"]
    twins = [run["text"].split("\n") for run in runs if run["slide_id"] in truth["near_duplicate_slides"][0]]
    assert twins[0][0] == twins[1][0] and twins[0] != twins[1]
    for utterance in truth["utterances"]:
        (run,) = [r for r in runs if r["start"] <= utterance["start"] and utterance["end"] <= r["end"]]
        assert run["slide_id"] == utterance["slide_id"]


def test_answers_stand_only_where_they_are_said_to_stand(truth: dict[str, Any]):
    speech = " ".join(u["text"] for u in truth["utterances"]).lower()
    slides = " ".join(run["text"] for run in truth["slide_runs"]).lower()
    assert "liverpool" in speech and "liverpool" not in slides
    assert "14 m" in slides and "bristol" not in speech
    assert "tsunami" not in speech + slides
    for question in truth["questions"]:
        assert (question["answer"] is None) == (question["modality"] == "none") == (not question["evidence"])
