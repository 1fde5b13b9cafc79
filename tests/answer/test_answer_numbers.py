"""The rule of numbers in answers, which questions are about whole videos, and what a follow-up question means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.answer.chat import Exchange, leans, standalone
from videmus.answer.numbers import traced
from videmus.answer.routing import route
from videmus.model import Evidence, Origin
from videmus.models.scripted import ScriptedModel

ROW = Evidence("e1", "v1", 60_000, 75_000, "speech", "", Origin("t"))


def standing(sentence: str, evidence: str, *computed_from: str) -> str:
    return traced(sentence, [ROW], [evidence], computed_from).standing


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It takes 78.6 %.", "accuracy 78.6%"),
        ("It takes 1,000 steps.", "1000 steps"),
        ("It takes three steps.", "3 steps"),
        ("It takes 25 steps.", "twenty-five steps"),
        ("It costs 3 million.", "3,000,000"),
        ("It costs 3,5 Euro.", "3.5 Euro"),
        ("The model is RE16.", "re16 TGK"),
        ("It is -2 degrees.", "minus 2 degrees"),
        ("One of them rose.", "some rose"),
        ("It is said at 1:05.", "nothing"),
        ("No number here.", "nothing"),
    ],
)
def test_a_number_that_stands_in_its_evidence(sentence, evidence):
    assert standing(sentence, evidence) == "stands"


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It takes 79 %.", "accuracy 78.6%"),
        ("It is 35.", "3.5"),
        ("It is 3.5.", "35 and 3 and 5"),
        ("It costs 3 billion.", "3 million"),
        ("The model is RE17.", "RE16"),
        ("It takes four steps.", "3 steps"),
        ("It is -2.", "2"),
        ("It is said at 9:59.", "nothing"),
    ],
)
def test_a_number_that_does_not_is_untraced(sentence, evidence):
    assert standing(sentence, evidence) == "untraced"


@pytest.mark.parametrize(
    ("sentence", "evidence", "operands"),
    [
        ("It rose by 9.6 points.", "from 69.0 to 78.6", ["69.0", "78.6"]),
        ("Together 12.", "3 apples, 4 pears, 5 plums", ["3", "4", "5"]),
        ("It fell by 20 %.", "from 50 to 40", ["40", "50"]),
        ("Twice 21 is 42.", "21 times 2", ["21", "2"]),
        ("The mean is 4.", "3 and 5", ["3", "5"]),
        ("That is 33.3 %.", "1 of 3", ["1", "3"]),
        ("Three are named.", "7 and 8 and 9", ["7", "8", "9"]),
    ],
)
def test_a_computed_number_is_derivable_and_the_arithmetic_is_checked(sentence, evidence, operands):
    assert standing(sentence, evidence, *operands) == "derivable"


@pytest.mark.parametrize(
    ("sentence", "evidence", "operands"),
    [
        ("It rose by 9.7 points.", "from 69.0 to 78.6", ["69.0", "78.6"]),
        ("It rose by 9.6 points.", "from 69.0", ["69.0", "78.6"]),
        ("It is 7.", "nothing", ["3", "4"]),
        ("It is 12.", "3 and 4", []),
        ("It is 1.", "0 of 0", ["0", "0"]),
    ],
)
def test_arithmetic_that_does_not_come_out_or_rests_on_nothing_is_untraced(sentence, evidence, operands):
    assert standing(sentence, evidence, *operands) == "untraced"


@given(st.integers(2, 9999), st.integers(2, 9999))
def test_sums_and_differences_are_found_whatever_the_numbers(a, b):
    assert standing(f"Together {a + b}.", f"{a} and {b}", str(a), str(b)) in ("derivable", "stands")
    assert standing(f"Together {10**9 + a}.", f"{a} and {b}", str(a), str(b)) == "untraced"


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=4))
def test_no_sentence_makes_it_fail(sentence, operands):
    assert standing(sentence, "10 of 20", *operands) in ("stands", "derivable", "untraced")


def test_huge_operands_do_not_run_away():
    assert standing("It is 5.", "9" * 50 + " and 0.001", "9" * 50, "0.001", *["9" * 50] * 30) == "untraced"


# ---------------------------------------------------------------- routing


@pytest.mark.parametrize(
    "question",
    [
        "What is this lecture about?", "what's the video about", "Summarize the talk", "TL;DR", "What are the main topics?",
        "Give me an overview of this lecture", "What topics are covered in this lecture?", "What happens in the video?",
        "Can you summarize this video for me?", "Worum geht es in diesem Vortrag?", "De quoi parle cette vidéo ?",
        "¿De qué trata este vídeo?", "这个视频讲了什么",
        "give me a short overview", "What is the topic?", "What does the speaker talk about?",
        "What is being discussed in the video?", "What is the lecturer explaining?",
    ],
)  # fmt: skip
def test_questions_about_a_whole_video(question):
    assert route(question) == "about"


@pytest.mark.parametrize(
    "question",
    [
        "List all algorithms mentioned",
        "Name every country shown",
        "Which models are mentioned in this lecture?",
        "how many times does she mention coffee",
    ],
)
def test_questions_that_list_all_of_a_kind(question):
    assert route(question) == "list"


@pytest.mark.parametrize(
    "question",
    [
        "Why does it diverge?", "What is the learning rate about?", "What are the key points of gradient descent?",
        "How do I summarize data in Excel?", "What does the lecture say about momentum?", "list the steps of the proof",
        "What is the outline of a proof by induction?", "What happens in the video after the dog barks?",
        "What does the speaker say about keys?", "Give me the outline of a proof", "What is mentioned about tides?",
    ],
)  # fmt: skip
def test_questions_about_a_moment(question):
    assert route(question) == "moments"


# ---------------------------------------------------------------- conversations

HISTORY = [Exchange("What is momentum?", "It accumulates gradients.")]


def test_a_follow_up_is_asked_as_it_would_stand_alone():
    model = ScriptedModel([{"question": "Why does  momentum help?"}])
    assert standalone("And why does it help?", HISTORY, model) == "Why does momentum help?"
    assert "accumulates gradients" in str(model.prompts[0].parts)


def test_a_question_that_leans_on_nothing_costs_no_call():
    model = ScriptedModel([])
    assert standalone("Which optimiser converges fastest here overall?", HISTORY, model).startswith("Which")
    assert standalone("And why?", [], model) == "And why?"
    assert model.prompts == []


def test_without_a_model_the_question_before_lends_its_words():
    assert standalone("And why?", HISTORY, None) == "What is momentum? And why?"


def test_what_leans():
    assert leans("why?") and leans("How large is it in practice then?") and leans("它有多大")
    assert not leans("Which activation function saturates for large inputs?")
