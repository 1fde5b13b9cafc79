from __future__ import annotations

import json
from dataclasses import replace

import pytest

from videmus import clock
from videmus.answer.agent_tools import available
from videmus.config import Settings
from videmus.errors import ModelError, UsageError
from videmus.evaluate import egolife, video_mme
from videmus.evaluate.footage import (
    CONDITIONS,
    Asked,
    FootageQuestion,
    chosen,
    condition,
    evaluate,
    of_week,
    recall_at_windows,
)
from videmus.evaluate.runs import Outcome, figures
from videmus.evaluate.week.questions import questions
from videmus.model import Answer, Cost, Evidence, Origin, Step, Video
from week_library import RECORDING, two_days

RECORD = {
    "ID": 7,
    "query_time": {"date": "DAY2", "time": 9094208},
    "type": "EntityLog",
    "question": "Who had the drill last?",
    "choice_a": "Ann",
    "choice_b": "Bob",
    "choice_c": "Cid",
    "choice_d": "Dee",
    "answer": "B",
    "target_time": {"date": "DAY1", "time": "11210217"},
    "keywords": "drill",
    "trigger": "t",
    "reason": "because",
}


def written(tmp_path, *records):
    file = tmp_path / "qa.json"
    file.write_text(json.dumps(list(records)))
    return file


def test_an_egolife_question_is_read_with_its_clock_times(tmp_path):
    (question,) = egolife.read(written(tmp_path, RECORD))
    assert question.asked_at == clock.parse_clock("DAY2 09:09:42.400")
    assert question.moments == (clock.parse_clock("DAY1 11:21:02.850"),)
    assert (question.options, question.answer, question.kind) == (("Ann", "Bob", "Cid", "Dee"), "B", "EntityLog")


def test_what_tells_the_answers_way_is_not_read(tmp_path):
    (question,) = egolife.read(written(tmp_path, RECORD))
    assert "because" not in repr(question) and "keywords" not in repr(question)


@pytest.mark.parametrize(
    ("target", "count"),
    [
        ({"date": "DAY1", "time_list": ["11210217", "12000000"]}, 2),
        ("DAY1 11210217_12000000 DAY3 09000000", 3),
        ([{"date": "DAY1", "time": "11210217"}, {"date": "DAY2", "time": 9000000}], 2),
        (None, 0),
    ],
)
def test_true_moments_are_read_in_every_form(tmp_path, target, count):
    (question,) = egolife.read(written(tmp_path, {**RECORD, "target_time": target}))
    assert len(question.moments) == count


@pytest.mark.parametrize(
    "target",
    [
        {"date": "DAY1_DAY2", "time": "11102500_09000500"},
        {"date": "DAY1, DAY2", "time_list": ["11102500", 9000500]},
        {"date": ["DAY1", "DAY2"], "time": [11102500, 9000500]},
        {"time": "11102500_09000500", "date": "DAY1_DAY2"},
        {"date": "DAY1", "time": "11102500_DAY2_09000500"},
        "DAY1_DAY2 11102500_09000500",
    ],
)
def test_each_of_several_days_goes_with_its_own_time(tmp_path, target):
    (question,) = egolife.read(written(tmp_path, {**RECORD, "target_time": target}))
    assert question.moments == (clock.parse_clock("DAY1 11:10:25"), clock.parse_clock("DAY2 09:00:05"))


def test_days_and_times_that_do_not_pair_are_no_guess(tmp_path):
    target = {"date": "DAY1_DAY2", "time": "11102500_09000500_10000000"}
    with pytest.raises(UsageError, match="2 days and 3 times") as caught:
        egolife.read(written(tmp_path, {**RECORD, "target_time": target}))
    assert "record 1" in caught.value.where


def test_a_time_that_is_no_frame_is_an_error_unless_centiseconds_are_asked_for(tmp_path):
    file = written(tmp_path, {**RECORD, "query_time": {"date": "DAY1", "time": "11094299"}})
    with pytest.raises(UsageError, match="frame 99"):
        egolife.read(file)
    assert egolife.read(file, "centiseconds")[0].asked_at == clock.parse_clock("DAY1 11:09:42.990")


@pytest.mark.parametrize("change", [{"answer": "E"}, {"choice_c": None, "query_time": None}, {"answer": ""}])
def test_a_record_that_is_none_is_named(tmp_path, change):
    with pytest.raises(UsageError) as caught:
        egolife.read(written(tmp_path, RECORD, {**RECORD, **change}))
    assert "record 2" in caught.value.where


def test_video_mme_is_read_flat_nested_and_as_lines(tmp_path):
    flat = {
        "video_id": "001", "videoID": "fFjv93ACGo8", "duration": "long", "question_id": "001-1", "task_type": "Counting",
        "question": "How many?", "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."], "answer": "C",
    }  # fmt: skip
    (question,) = video_mme.read(written(tmp_path, flat))
    assert (question.video, question.options[2], question.kind) == ("fFjv93ACGo8", "Three.", "Counting")
    nested = {
        "video_id": "001",
        "duration": "short",
        "questions": [{k: flat[k] for k in ("question_id", "question", "options", "answer")}],
    }
    lines = tmp_path / "q.jsonl"
    lines.write_text(json.dumps(flat) + "\n" + json.dumps(nested) + "\n")
    assert [q.video for q in video_mme.read(lines)] == ["fFjv93ACGo8", "001"]
    assert len(video_mme.read(lines, "long")) == 1
    with pytest.raises(UsageError, match="no letter"):
        video_mme.read(written(tmp_path, {**flat, "answer": "F"}))


def answered(letter, evidence=()):
    step = Step("choose", "q", letter, tuple(evidence), detail={"option": letter})
    return Answer(f"{letter}. text", "supported", steps=(step,), cost=Cost(calls=3))


QUESTIONS = [
    FootageQuestion(f"q{n}", ("EntityLog", "TaskMaster")[n % 2], "?", ("a", "b", "c", "d"), "A", 0, (100_000,))
    for n in range(4)
]


def test_failures_count_as_wrong_and_kinds_are_shown_micro_and_macro():
    def ask(question, settings):
        if question.id == "q3":
            raise ModelError("gone")
        return answered("A" if question.id != "q1" else "B")

    asked = evaluate(QUESTIONS, ask, ["everything"], Settings())
    table = figures([a.outcome for a in asked])["everything"]
    assert table["all"].mean == 0.5 and table["all"].n == 4
    assert table["EntityLog"].mean == 1.0 and table["TaskMaster"].mean == 0.0 and table["macro"].mean == 0.5
    assert [a.outcome.error is not None for a in asked] == [False, False, False, True]


def test_no_option_is_wrong():
    asked = evaluate(
        QUESTIONS[:1], lambda q, s: Answer("The library does not say.", "unsupported"), ["graph"], Settings()
    )
    assert asked[0].outcome.correct == 0.0 and "no option" in asked[0].outcome.verdict


def test_a_letter_is_taken_from_the_trace_the_text_or_the_only_option_named():
    options = ("the loft", "the ferry", "a quarry", "the chapel")
    assert chosen(answered("C"), options) == "C"
    assert chosen(Answer("(B) because", "supported"), options) == "B"
    assert chosen(Answer("They were in the chapel then.", "supported"), options) == "D"
    assert chosen(Answer("In the loft or the ferry.", "supported"), options) == ""


def test_conditions_switch_tools_off_and_the_control_differs_by_the_graph_alone():
    with_graph, without = (dict(CONDITIONS[c]) for c in ("captions and graph", "captions"))
    assert {k for k in with_graph if with_graph[k] != without[k]} == {"graph"}
    parts = two_days().parts()
    tools = available(replace(parts, settings=condition(Settings(), "captions")), RECORDING)
    assert tools == ["captions"]


def test_recall_grows_with_the_window_and_what_was_retrieved_stands_beside_it():
    video = Video("v", "f", "t", 10**7, "x", recorded_at=0)
    near = Evidence("e1", "v", 112_000, 115_000, "speech", "x", Origin("t"))
    far = Evidence("e2", "v", 400_000, 410_000, "speech", "x", Origin("t"))
    asked = [Asked(Outcome("q0", "k", "c", 1.0), ("e1", "e2"))]
    found = recall_at_windows(QUESTIONS[:1], asked, {"e1": near, "e2": far}, {"v": video})
    assert [(r.window_s, r.share) for r in found] == [(10, 0), (30, 1), (60, 1), (120, 1), (600, 1), (3600, 1)]
    assert found[0].retrieved_s == 13.0


def test_the_weeks_questions_are_of_five_kinds_with_evidence_before_they_are_asked():
    telling = two_days().telling
    made = questions(telling, each=4)
    assert {q.kind for q in made} == set(egolife.KINDS)
    for question in made:
        assert len(set(question.options)) == 4 and question.answer_text in question.options
        assert question.evidence and all(end <= question.asked_at for _, end in question.evidence)
    assert questions(telling, each=4) == made
    assert of_week(made)[0].moments == tuple(start for start, _ in made[0].evidence)
