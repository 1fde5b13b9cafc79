"""Times that a question names."""

from __future__ import annotations

import pytest

from videmus.answer.named_times import named_time

MINUTE = 60_000


@pytest.mark.parametrize(
    ("question", "span", "rest"),
    [
        ("What is on the slide at 2:10?", (130_000, 131_000), "What is on the slide?"),
        ("At 12m34s, what does he say?", (754_000, 755_000), "what does he say?"),
        ("what is on screen at 1:02:03", (3_723_000, 3_724_000), "what is on screen"),
        ("What happens at 2 minutes 30 seconds?", (150_000, 151_000), "What happens?"),
        ("What is said at minute 2?", (120_000, 121_000), "What is said?"),
        ("what is shown two minutes in?", (120_000, 121_000), "what is shown?"),
        ("What happens in the first minute?", (0, MINUTE), "What happens?"),
        ("Summarise the first five minutes", (0, 5 * MINUTE), "Summarise"),
        ("What is said between 1:00 and 2:00 about keys?", (MINUTE, 2 * MINUTE), "What is said about keys?"),
        ("What is discussed after 3:00?", (3 * MINUTE, 100 * MINUTE), "What is discussed?"),
        ("What is discussed before 3:00?", (0, 3 * MINUTE), "What is discussed?"),
        ("What is said in the last 30 seconds?", (100 * MINUTE - 30_000, 100 * MINUTE), "What is said?"),
        ("What does she recommend at the end of the lecture?", (95 * MINUTE, 100 * MINUTE), "What does she recommend?"),
        ("How does he begin at the very beginning?", (0, 5 * MINUTE), "How does he begin?"),
        ("What is the second half about?", (50 * MINUTE, 100 * MINUTE), "What is about?"),
        ("Was wird bei 2:10 gesagt?", (130_000, 131_000), "Was wird gesagt?"),
        ("Was sagt sie am Ende?", (95 * MINUTE, 100 * MINUTE), "Was sagt sie?"),
        ("Que dit-elle à la fin ?", (95 * MINUTE, 100 * MINUTE), "Que dit-elle?"),
        ("¿Qué dice al final?", (95 * MINUTE, 100 * MINUTE), "¿Qué dice?"),
    ],
)
def test_a_named_time_is_a_span_of_the_video(question, span, rest):
    found = named_time(question)
    assert found is not None and found.span(100 * MINUTE) == span and found.rest == rest


@pytest.mark.parametrize(
    "question",
    [
        "What happened at the end of the war?",
        "What do you do at the beginning of the year?",
        "Does the class meet at 9:30 am?",
        "In the first two minutes of cooking, what happens?",
        "What should you do in the last minute of the exam?",
        "What ratio is 2:1?",
        "Why does it diverge?",
        "",
    ],
)
def test_times_of_day_and_ends_of_other_things_are_none(question):
    assert named_time(question) is None


def test_a_time_after_the_end_is_nowhere():
    found = named_time("What is said at 2:10?")
    assert found is not None and found.span(60_000) is None


def test_a_short_video_is_its_beginning_and_its_end():
    for question in ("What is said at the beginning?", "What is said at the end?"):
        found = named_time(question)
        assert found is not None and found.span(20_000) == (0, 20_000)
