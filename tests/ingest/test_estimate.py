"""The estimate of a video that was never looked at, against what adding it asks of the models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from material import make_video
from videmus.config import ModelSettings, Settings
from videmus.ingest import estimate
from videmus.library import Library

SAMPLE = Path(__file__).parents[2] / "examples" / "sample_lecture.mp4"
MODELS = ModelSettings(language="vllm:m", vision="vllm:m")


@pytest.fixture
def library(tmp_path):
    with Library(tmp_path / "library", settings=replace(Settings(), models=MODELS)) as library:
        yield library


def calls(given: estimate.Estimate) -> dict[str, int]:
    return {stage: cost.calls for stage, cost in given.stages}


def filmed(path: Path, seconds: int = 8) -> Path:
    """Structure everywhere, another scene every two seconds."""
    noise = np.random.default_rng(1)
    scenes = [noise.integers(0, 255, (9, 16, 3), np.uint8).repeat(20, 0).repeat(20, 1) for _ in range(seconds // 2)]
    return make_video(path, [(40 * n, scenes[40 * n // 2_000]) for n in range(25 * seconds)])


def test_a_lecture_is_estimated_by_a_look_at_it(library):
    given = library.estimate([SAMPLE])
    found = calls(given)
    assert 0.7 * 40 <= sum(found.values()) <= 1.3 * 40, "adding it asks 40"
    assert found["scene"] == 11 and 6 <= found["keywords"] == found["consolidation"] <= 9
    assert not {"captions", "graph", "clip"} & set(found), "these do not run for slides"
    assert given.rests_on[0].startswith("sample_lecture.mp4: by its first 2:51 of 2:51: 11 pictures to describe, ")
    assert library.videos() == []


def test_a_part_of_a_recording_gets_captions_too(library):
    assert {"captions", "graph"} <= set(calls(library.estimate([SAMPLE], recording="week")))


def test_footage_is_described_in_clips_and_has_no_slides(library, tmp_path):
    found = calls(library.estimate([filmed(tmp_path / "walk.mp4")]))
    assert found["clip"] == 1 and found["scene"] >= 2 and {"captions", "graph"} <= set(found)
    assert not {"keywords", "vision", "consolidation"} & set(found)


def test_of_many_files_some_are_looked_at_and_the_others_are_like_them(library, tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "ALL_LOOKED_MS", 1_000)
    one = calls(library.estimate([filmed(tmp_path / "a.mp4")]))
    filmed(tmp_path / "b.mp4", 12)
    both = library.estimate([tmp_path / "a.mp4", tmp_path / "b.mp4"])
    assert both.rests_on[1].startswith("b.mp4: taken to be like the files before it of 0:12")
    assert calls(both)["clip"] == 2 and calls(both)["scene"] > 2 * one["scene"]


def test_without_a_model_nothing_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "glance", lambda *arguments: pytest.fail("it looked"))
    with Library(tmp_path / "library") as library:
        assert library.estimate([SAMPLE]) == estimate.Estimate(())
