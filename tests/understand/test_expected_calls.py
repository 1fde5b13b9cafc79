"""The estimate before anything is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from videmus.config import ModelSettings, PremindSettings, Settings
from videmus.models.connect import priced
from videmus.understand.plan import Known, expected_calls

SETTINGS = Settings()
HOUR = 3_600_000


def calls(known: Known, settings: Settings = SETTINGS) -> dict[str, int]:
    return {stage.stage: stage.calls for stage in expected_calls(known, settings)}


def test_an_hour_of_lecture_is_some_fifty_slides_of_at_most_four_calls():
    found = calls(Known(HOUR))
    assert found["keywords"] == found["vision"] == found["consolidation"] == 50
    assert sum(found[s] for s in ("keywords", "vision", "critic", "consolidation")) <= 4 * 50


def test_what_is_known_is_taken_and_not_guessed():
    found = calls(Known(HOUR, slides=8, looks=14, spoken_characters=2_000))
    assert found["vision"] == 8 and found["scene"] == 14 and found["summary-map"] == 1


def test_footage_is_clips_and_no_slides():
    found = calls(Known(160_000, clips=((0, 80_000), (80_000, 160_000)), looks=0))
    assert found["clip"] == 2 and "vision" not in found and "scene" not in found


def test_what_was_seen_or_belongs_to_a_recording_is_fused_and_related():
    sees = replace(SETTINGS, models=ModelSettings(vision="openai:gpt-4.1"))
    seen = calls(Known(HOUR, slides=0, looks=14), sees)
    assert seen["captions"] == 120 and seen["graph"] == 9
    assert "captions" not in calls(Known(HOUR, slides=8, looks=14), sees), "a lecture"
    assert "captions" not in calls(Known(HOUR, slides=0, looks=14)), "nobody sees it"
    assert calls(Known(HOUR, slides=8, looks=14, recording=True), sees)["captions"] == 120
    assert "captions" not in calls(Known(HOUR, slides=0, looks=0))
    assert calls(Known(HOUR, slides=0, looks=0, recording=True))["captions"] == 120


@pytest.mark.parametrize("off", ["keywords", "vision", "consolidation", "critic"])
def test_a_stage_that_is_switched_off_costs_nothing(off):
    settings = replace(SETTINGS, premind=replace(PremindSettings(), **{off: False}))
    assert off not in calls(Known(HOUR), settings)


def test_a_video_of_no_length_asks_nothing():
    assert calls(Known(0)) == {}


def test_more_video_costs_more_and_the_price_follows():
    models = ModelSettings(vision="openai:gpt-4.1")
    costs = [
        sum(cost.usd or 0 for _, cost in priced(expected_calls(Known(minutes * 60_000), SETTINGS), models))
        for minutes in (5, 30, 60)
    ]
    assert 0 < costs[0] < costs[1] < costs[2] < 10
