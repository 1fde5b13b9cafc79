"""The measures of slide segmentation, on cases worked out by hand."""

from __future__ import annotations

import json
import subprocess

import pytest

from videmus.errors import UsageError, VidemusError
from videmus.evaluate.segmentation import (
    Span,
    Truth,
    pyscenedetect,
    read_m3av,
    read_made,
    read_mavils,
    scored,
    utterances_right,
)

TRUTH = Truth(60_000, (Span(0, 20_000, "a"), Span(20_000, 30_000, "b"), Span(40_000, 60_000, "a")))


def test_the_truth_itself_scores_one_everywhere():
    score = scored(TRUTH, TRUTH.spans)
    assert (score.f1, score.iou, score.boundary_f1, score.boundary_error_ms, score.identity_f1) == (1, 1, 1, 0, 1)
    assert score.invented == 0


def test_a_segment_that_merges_two_detects_the_longer():
    score = scored(TRUTH, [Span(0, 30_000, 1), Span(40_000, 60_000, 1)])
    assert score.f1 == pytest.approx(2 * 1 * (2 / 3) / (1 + 2 / 3))
    assert score.iou == pytest.approx((20 / 30 + 1) / 3)


def test_a_segment_where_no_slide_is_shown_is_invented_and_counts_neither_way():
    score = scored(TRUTH, [*TRUTH.spans, Span(31_000, 39_000, 9)])
    assert score.invented == 1 and score.precision == 1 and score.f1 == 1


def test_a_boundary_a_little_off_is_found_and_its_error_told():
    score = scored(TRUTH, [Span(0, 20_400, "x"), Span(20_400, 30_000, "y"), Span(40_000, 60_000, "x")])
    assert score.boundary_f1 == 1 and score.boundary_error_ms == pytest.approx(400 / 3)
    far = scored(TRUTH, [Span(0, 21_500, "x"), Span(21_500, 30_000, "y"), Span(40_000, 60_000, "x")])
    assert far.boundary_f1 == pytest.approx(2 / 3)


def test_identity_counts_pairs_that_are_said_to_be_one_slide():
    missed = scored(TRUTH, [Span(0, 20_000, 1), Span(20_000, 30_000, 2), Span(40_000, 60_000, 3)])
    assert missed.identity_f1 == 0
    confused = scored(TRUTH, [Span(0, 20_000, 1), Span(20_000, 30_000, 1), Span(40_000, 60_000, 1)])
    assert confused.identity_f1 == pytest.approx(0.5)


def test_nothing_found_where_nothing_is_shown_is_right():
    score = scored(Truth(10_000, ()), [])
    assert (score.f1, score.iou, score.invented) == (1, 1, 0)


def test_utterances_are_right_on_any_showing_of_their_slide():
    truth = Truth(60_000, TRUTH.spans, (Span(1_000, 2_000, "a"), Span(21_000, 22_000, "b"), Span(33_000, 34_000, None)))
    found = [Span(0, 20_000, 1), Span(20_000, 30_000, 2), Span(40_000, 60_000, 1)]
    assert utterances_right(truth, found, [found[2], found[1], None]) == 1
    assert utterances_right(truth, found, [found[1], found[1], found[0]]) == 0.5


def test_made_lectures_are_read_without_the_runs_that_show_no_slide(tmp_path):
    runs = [{"start": 0, "end": 1.5, "slide_id": "p1"}, {"start": 1.5, "end": 3, "slide_id": None}]
    file = tmp_path / "made.json"
    file.write_text(json.dumps({"video": {"duration": 3.0}, "slide_runs": runs, "utterances": []}), "utf-8")
    assert read_made(file) == Truth(3_000, (Span(0, 1_500, "p1"),))


def test_mavils_pages_of_one_group_are_one_showing(tmp_path):
    said = [{"start": s, "end": s + 1, "slide": p} for s, p in ((0, 3), (2, 4), (5, -1), (7, 4), (9, 6))]
    file = tmp_path / "labels.json"
    file.write_text(json.dumps({"cells": {"duration": 12, "page_groups": [[3, 4]], "utterances": said}}), "utf-8")
    truth = read_mavils(file)["cells"]
    assert truth.spans == (Span(0, 5_000, 3), Span(7_000, 9_000, 3), Span(9_000, 10_000, 6))
    assert [u.slide for u in truth.utterances] == [3, 3, None, 3, 6]


def test_m3av_segments_and_utterances_are_read(tmp_path):
    (tmp_path / "ocr").mkdir()
    (tmp_path / "speech").mkdir()
    segments = [{"name": "X-1.jpg", "start": 0, "end": 15.45}, {"name": "X-2.jpg", "start": 15.45, "end": 51.5}]
    (tmp_path / "ocr" / "seg_speech_ocr.json").write_text(json.dumps(segments), "utf-8")
    (tmp_path / "speech" / "final+timestamps.json").write_text(json.dumps([{"timestr": "0016000_0017500"}]), "utf-8")
    truth = read_m3av(tmp_path)
    assert truth.spans == (Span(0, 15_450, "X-1"), Span(15_450, 51_500, "X-2"))
    assert truth.utterances == (Span(16_000, 17_500, "X-2"),)


@pytest.mark.parametrize("text", ["not json", "[1]", '{"video": {}}'])
def test_files_of_another_shape_are_named(tmp_path, text):
    file = tmp_path / "odd.json"
    file.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"odd\.json"):
        read_made(file)


def test_the_peer_runs_as_a_process_of_its_own_and_its_scenes_are_read(tmp_path):
    def run(command, **_):
        assert command[0] == "peer/bin/python" and command[3] == "adaptive"
        return subprocess.CompletedProcess(command, 0, "[[[0.0, 1.5], [1.5, 4.0]], 2.5, 2.25]\n", "")

    [result] = pyscenedetect("peer/bin/python", [tmp_path / "a.mp4"], run=run)
    assert result.spans == (Span(0, 1_500), Span(1_500, 4_000)) and result.cpu_seconds == 2.25


def test_a_peer_that_is_not_there_says_how_to_get_it(tmp_path):
    def run(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "ModuleNotFoundError: No module named 'scenedetect'")

    with pytest.raises(VidemusError, match="pip install scenedetect"):
        pyscenedetect("python", [tmp_path / "a.mp4"], run=run)
