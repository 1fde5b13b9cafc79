"""The measures of retrieval, by examples worked out by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.errors import UsageError
from videmus.evaluate.retrieval import Asked, Found, area_under_curve, hit, interval, read_bundle, read_questions, score


@pytest.mark.parametrize(
    ("moment", "found", "right"),
    [
        ((10_000, 20_000), (10_000, 20_000), True),
        ((10_000, 20_000), (0, 60_000), True),  # holds all of it
        ((10_000, 20_000), (16_000, 22_000), True),  # 4 of the shorter's 6 s
        ((10_000, 20_000), (18_000, 30_000), False),  # 2 s of 10
        ((10_000, 20_000), (20_000, 30_000), False),
        ((10_000, 20_000), (15_000, 16_000), False),  # inside, but under 2 s
        ((10_000, 10_500), (9_000, 12_000), True),  # an instant counts as 2 s
        ((10_000, 12_000), (11_000, 13_000), True),  # half of a short moment
    ],
)
def test_a_hit_shares_half_of_the_shorter_and_two_seconds(moment, found, right):
    assert hit([moment], Found("v", *found)) is right


def test_figures_count_ranks_misses_and_seconds():
    asked = [Asked(str(k), "v", f"question {k}", 0, 10_000) for k in range(3)]
    wrong, right = Found("w", 0, 10_000), Found("v", 0, 10_000)
    found = score(asked, {"0": [right], "1": [wrong, right]})
    assert (found.questions, found.recall_1, found.recall_5) == (3, 1 / 3, 2 / 3)
    assert found.mrr == pytest.approx((1 + 1 / 2) / 3)
    assert found.seconds == pytest.approx((10 + 20 + 0) / 3)


def test_a_question_asked_of_two_moments_is_right_at_each():
    asked = [Asked("a", "v", "Same?", 0, 5000), Asked("b", "v", "same?", 50_000, 55_000)]
    results = {"a": [Found("v", 50_000, 55_000)]}
    assert score(asked[:1], results, asked).recall_1 == 1
    assert score(asked[:1], results).recall_1 == 0


def test_no_questions_are_no_figure():
    with pytest.raises(UsageError):
        score([], {})


def test_the_area_is_the_share_of_pairs_in_order():
    assert area_under_curve([3, 4], [1, 2]) == 1
    assert area_under_curve([1, 2], [3, 4]) == 0
    assert area_under_curve([1, 3], [1, 2]) == (0.5 + 0 + 1 + 1) / 4
    with pytest.raises(UsageError):
        area_under_curve([], [1])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_the_area_equals_counting_all_pairs(right, wrong):
    pairs = [(a > b) + (a == b) / 2 for a in right for b in wrong]
    assert area_under_curve(right, wrong) == pytest.approx(sum(pairs) / len(pairs))


def test_an_interval_holds_the_mean_and_narrows_with_more_values():
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 1000
    low, high = interval(few)
    assert low < 0.5 < high
    narrow = interval(many, rounds=100)
    assert narrow[1] - narrow[0] < (high - low) / 3
    assert interval(few) == interval(few)


def test_questions_and_bundles_are_read(tmp_path):
    line = {"id": "q", "video": "v", "question": "Why?", "start_ms": 0, "end_ms": 5}
    (tmp_path / "q.jsonl").write_text(json.dumps(line) + "\n")
    assert read_questions(tmp_path / "q.jsonl") == [Asked("q", "v", "Why?", 0, 5)]
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(UsageError, match="not a question") as caught:
        read_questions(tmp_path / "bad.jsonl")
    assert "line 1" in caught.value.where
    bundle = {
        "videmus_evidence": 1,
        "title": "T",
        "duration_ms": 9,
        "speech": [{"start_ms": 0, "end_ms": 5, "text": "hi"}],
    }
    (tmp_path / "b.json").write_text(json.dumps(bundle))
    video, rows = read_bundle(tmp_path / "b.json")
    assert (video.title, video.duration_ms, rows[0].text, rows[0].video) == ("T", 9, "hi", video.id)
