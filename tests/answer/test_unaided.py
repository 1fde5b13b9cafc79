"""Without a language model: small talk, times, slides, when something is spoken of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from videmus.answer.small_talk import small_talk
from videmus.answer.unaided import answer
from videmus.config import Settings
from videmus.model import Evidence, Origin, Scope, Segment, Video, content_id, evidence_id, segment_id
from videmus.models.text_embedding import load
from videmus.store.sqlite import SqliteStore

V, W = (content_id("v", name) for name in ("tides", "bread"))

TIDES = Scope(video=V)


def row(kind: Any, start_s: float, end_s: float, text: str, video: str = V, speaker: str | None = None) -> Evidence:
    first, last = round(start_s * 1000), round(end_s * 1000)
    id = evidence_id(video, kind, first, last, text, speaker)
    return Evidence(id, video, first, last, kind, text, Origin("t"), speaker)


def slide(number: int, start_s: int, end_s: int, title: str, video: str = V) -> Segment:
    first, last = start_s * 1000, end_s * 1000
    return Segment(
        segment_id(video, "slide", first, last), video, first, last, "slide", Origin("slides"), number, title, title
    )


ROWS = [
    row("screen", 0, 20, "Why the sea rises\nA short lecture"),
    row("screen", 20, 60, "Two bulges\nnear and far"),
    row("screen", 60, 100, "Spring and neap\n• spring: Sun and Moon in line"),
    row("screen", 100, 120, "Two bulges\nnear and far"),
    row("speech", 2, 8, "Today we ask why the ocean comes and goes twice a day."),
    row("speech", 22, 28, "The moon pulls the near side of the ocean harder than the far side."),
    row("speech", 30, 36, "So the ocean has two bulges, one on each side of the earth."),
    row("speech", 62, 68, "Spring tides come when the sun and the moon pull together."),
    row("speech", 70, 76, "A week later the neap tides are almost lazy."),
    row("speech", 110, 118, "Mind the water on your way home to the harbour."),
]
BREAD = [row("speech", 3, 9, "Bread is baked at two hundred degrees.", W)]
DECK = [
    slide(1, 0, 20, "Why the sea rises"),
    slide(2, 20, 60, "Two bulges"),
    slide(3, 60, 100, "Spring and neap"),
    slide(2, 100, 120, "Two bulges"),
]


@pytest.fixture(scope="module")
def embedder():
    return load(Settings())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, embedder) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("unaided") / "library")
    opened.put_video(Video(V, "f1", "Tides", 120_000, "/t.mp4", "ready"))
    opened.put_video(Video(W, "f2", "Bread", 60_000, "/b.mp4", "ready"))
    opened.add("t", [*ROWS, *BREAD])
    opened.add("slides", DECK)
    waiting = list(opened.passages_without_vectors(embedder.name))
    opened.add_vectors(embedder.name, waiting, embedder.embed([p.text for p in waiting]))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ask(store, embedder):
    return lambda question, scope=TIDES: answer(store, embedder, question, scope, None, Settings())


def quoted(given) -> list[str]:
    return [c.quote for c in given.citations]


@pytest.mark.parametrize(
    "text",
    ["hello", "Hi there!", "good morning everyone", "thanks", "thank you very much", "ok", "yes", "test", "testing 1 2 3",
     "?", "…", "👍", "你好", "danke"],
)  # fmt: skip
def test_small_talk_is_answered_kindly_and_cites_nothing(ask, text):
    given = ask(text)
    assert given.grounding == "unsupported" and not given.citations and "Ask about" in given.text


@pytest.mark.parametrize(
    "text", ["tides", "hello world programs", "what is this?", "how are tides made?", "学习", "the test set"]
)
def test_what_is_looked_up_is_no_small_talk(text):
    assert small_talk(text) is None


@pytest.mark.parametrize("text", ["xyzzy", "asdf qwer zxcv", "entropy", "H", "4711"])
def test_a_word_that_nobody_says_is_not_said(ask, text):
    given = ask(text, Scope())
    assert given.grounding == "unsupported" and not given.citations


def test_a_word_alone_is_looked_up(ask):
    assert any("neap" in q for q in quoted(ask("neap")))


def test_the_slide_at_a_time_is_its_text(ask):
    given = ask("What is on the slide at 1:10?")
    assert (given.grounding, quoted(given)) == ("supported", [ROWS[2].text])


def test_what_is_said_at_a_time_is_the_sentence_then_and_its_neighbours(ask):
    assert quoted(ask("What is said at 1:12?")) == [ROWS[7].text, ROWS[8].text]


def test_what_happens_in_a_span_are_its_slides_and_what_is_said(ask):
    given = ask("What happens in the first minute?")
    assert [s.text for s in given.sentences][:2] == ["0:00 Why the sea rises", "0:20 Two bulges"]
    assert ROWS[5].text in quoted(given) and ROWS[7].text not in quoted(given)


def test_a_question_with_a_time_is_answered_from_that_time(ask):
    given = ask("What about the ocean in the last 20 seconds?")
    assert all(c.start_ms >= 100_000 for c in given.citations)
    assert ask("What does the moon pull in the first minute?").citations[0].evidence == ROWS[5].id


def test_a_question_that_finds_nothing_in_its_time_is_asked_of_the_whole(ask):
    assert ROWS[7].text in quoted(ask("When the sun and the moon pull together at 0:05, what comes?"))


def test_a_time_after_the_end_is_said(ask):
    given = ask("What is on the slide at 12:30?")
    assert (given.text, given.grounding) == ("The video ends at 2:00.", "unsupported")


def test_a_time_of_several_videos_is_told_of_each(ask):
    given = ask("What is said at 0:05?", Scope())
    assert {s.text for s in given.sentences} == {f"Tides: {ROWS[4].text}", f"Bread: {BREAD[0].text}"}


def test_the_end_is_of_the_video_that_the_question_is_about(ask):
    assert quoted(ask("What should one mind on the way home at the end?", Scope())) == [ROWS[9].text]


def test_slides_are_counted_and_cited(ask):
    given = ask("How many slides are there?")
    assert (given.sentences[0].text, given.grounding) == ("3 different slides, in 4 showings.", "derivable")
    assert quoted(given) == ["Why the sea rises", "Two bulges", "Spring and neap"]


def test_how_often_a_slide_is_shown_is_counted_with_its_times(ask):
    given = ask("How many times is the slide 'Two bulges' on screen?")
    assert (given.sentences[0].text, given.grounding) == (
        "Two bulges is shown twice: 0:20–1:00, 1:40–2:00.",
        "derivable",
    )
    assert [c.start_ms for c in given.citations] == [20_000, 100_000]


def test_slides_are_listed_with_their_times(ask):
    texts = [s.text for s in ask("List all slides").sentences]
    assert texts == ["0:00 Why the sea rises", "0:20 Two bulges", "1:00 Spring and neap"]


@pytest.mark.parametrize(
    "question", ["What is on slide 3?", "What does the third slide show?", "What is on the last slide?"]
)
def test_a_slide_is_named_by_its_number(ask, question):
    assert quoted(ask(question)) == [ROWS[2].text]


def test_what_slide_asks_about_something_else_is_no_question_about_slides(ask):
    assert ask("How many minutes does each slide take?").grounding in ("unsupported", "partial")


def test_when_something_is_spoken_of_is_told_with_the_time(ask):
    for question in ("When does she talk about neap tides?", "When are neap tides mentioned?"):
        given = ask(question)
        assert given.sentences[0].text == f"1:10 {ROWS[8].text}", question


def test_what_a_video_names_is_listed_and_not_counted(ask):
    given = ask("How many tides are mentioned in the lecture?")
    assert given.grounding == "partial"
    assert {ROWS[7].text, ROWS[8].text} <= set(quoted(given))


def test_sentences_are_told_as_they_stand_in_the_answer(store, embedder):
    told: list = []
    given = answer(store, embedder, "Why has the ocean two bulges?", Scope(video=V), None, Settings(), told.append)
    assert told == list(given.sentences) and told
    for sentence in given.sentences:
        assert all(c.quote in sentence.text for c in given.citations if c.n in sentence.citations)


@pytest.mark.parametrize("question", ["why?", "what?", "How many videos are there?", "Who is mentioned in the video?"])
def test_a_question_that_names_nothing_says_so(ask, question):
    given = ask(question)
    assert given.grounding == "unsupported" and not given.citations and "names nothing" in given.text


def test_who_speaks_is_told_by_introductions_and_the_first_page(tmp_path, embedder):
    rows = [
        row("screen", 0, 20, "The tides\nAnna Berg, Kiel"),
        row("speech", 2, 6, "Hello, my name is Anna Berg from Kiel."),
        row("speech", 8, 12, "Tides come and go twice a day."),
    ]
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video(V, "f1", "Tides", 120_000, "/t.mp4", "ready"))
    store.add("t", rows)
    for question in ("Who is the speaker?", "What is the name of the lecturer in the video?", "Who is speaking?"):
        given = answer(store, embedder, question, TIDES, None, Settings())
        assert (given.grounding, quoted(given)) == ("partial", [rows[1].text, rows[0].text]), question
    store.close()


def test_a_slide_is_named_by_its_title(ask):
    assert quoted(ask("What does the slide titled 'Spring and neap' show?")) == [ROWS[2].text]


def test_what_is_asked_of_a_slide_is_answered_from_its_time(ask):
    given = ask("What is said about the ocean on slide 2?")
    assert given.citations and all(20_000 <= c.start_ms < 60_000 for c in given.citations)


def test_the_first_minute_is_summarised(ask):
    given = ask("Summarise the first minute")
    assert {ROWS[4].text, ROWS[6].text} <= set(quoted(given)) and ROWS[7].text not in quoted(given)
