"""Answers without a model: verbatim, cited, or refused."""

from collections.abc import Iterator

import pytest

from videmus.answer.citations import folded
from videmus.answer.extractive import REFUSAL, answer, confidence, features
from videmus.config import Settings
from videmus.model import Answer, Evidence, Origin, Scope, Video, evidence_id
from videmus.models.text_embedding import load
from videmus.search.hybrid import ranking
from videmus.store.protocol import EVERYTHING
from videmus.store.sqlite import SqliteStore


def row(kind, start, end, text, speaker=None):
    return Evidence(
        evidence_id("v", kind, start, end, text, speaker), "v", start, end, kind, text, Origin("t"), speaker
    )


ROWS = [
    row("speech", 0, 5000, "Good morning, today we look at how bread is baked.", "baker"),
    row("speech", 5000, 11_000, "Flour, water and salt are mixed for ten minutes.", "baker"),
    row("speech", 11_000, 16_000, "How hot should the oven be for bread?", "guest"),
    row("speech", 16_000, 21_000, "Heat it up to two hundred and thirty degrees.", "baker"),
    row("speech", 21_000, 27_000, "The crust becomes brown because of the Maillard reaction.", "baker"),
    row("screen", 0, 30_000, "Sourdough\n• starter: 120 g\n• proof: 14 hours in the refrigerator"),
]


@pytest.fixture(scope="module")
def embedder():
    return load(Settings())


@pytest.fixture(scope="module")
def store(tmp_path_factory, embedder) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("ask") / "library")
    opened.put_video(Video("v", "f", "Baking", 30_000, "/films/baking.mp4", state="ready"))
    opened.add("test", ROWS)
    waiting = list(opened.passages_without_vectors(embedder.name))
    opened.add_vectors(embedder.name, waiting, embedder.embed([p.text for p in waiting]))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ask(store, embedder):
    return lambda question, scope=EVERYTHING: answer(store, embedder, question, scope)


def test_sentences_are_verbatim_and_cited(ask, store):
    given: Answer = ask("Why does the crust turn brown?")
    assert given.grounding == "supported"
    assert "Maillard reaction" in given.text
    assert given.text.count("[1]") == 1
    for sentence, citation in zip(given.sentences, given.citations, strict=True):
        (source,) = store.evidence_by_id([citation.evidence])
        assert sentence.text == citation.quote
        assert folded(citation.quote) in folded(source.text)
        assert sentence.citations == (citation.n,)
    assert given.citations[0].url == "file:///films/baking.mp4#t=21"


def test_what_only_a_slide_says_is_cited_from_it(ask):
    given = ask("How long does the dough proof in the refrigerator?")
    assert given.citations[0].kind == "screen"
    assert "14 hours" in given.text


def test_of_a_slide_the_line_that_answers_is_quoted(ask):
    given = ask("How long does the dough proof in the refrigerator?")
    assert given.citations[0].quote == "• proof: 14 hours in the refrigerator"


def test_a_question_about_what_a_slide_is_titled_is_answered_by_its_points(ask):
    given = ask("What belongs to sourdough?")
    assert "Sourdough\n• starter: 120 g\n• proof: 14 hours in the refrigerator" in [c.quote for c in given.citations]


def test_a_question_that_was_asked_is_answered_by_what_follows_it(ask):
    given = ask("How hot should the oven be?")
    assert given.citations[0].quote == "Heat it up to two hundred and thirty degrees."


def test_who_asked_is_a_word_of_the_question(ask):
    assert any("How hot" in c.quote for c in ask("What did the guest ask about the oven?").citations)


@pytest.mark.parametrize(
    "question", ["What is the capital of Mongolia?", "Who won the chess tournament in 1972?", "xyzzy?"]
)
def test_what_is_not_said_is_refused_without_citations(ask, question):
    given = ask(question)
    assert (given.text, given.grounding, given.citations, given.sentences) == (REFUSAL, "unsupported", (), ())
    assert given.steps[0].detail["words not found"]


def test_an_empty_scope_is_refused(ask):
    assert ask("Why does the crust turn brown?", Scope(start=28_000, stream="speech")).grounding == "unsupported"


def test_confidence_falls_with_each_missing_name(store, embedder):
    def sure(question: str) -> float:
        return confidence(ranking(store, embedder, question, Scope(), 5))

    assert sure("Why is the crust brown?") > sure("Why is the crust of Ciabatta from 1982 brown?")
    assert 0 <= sure("xyzzy") < 0.3
    assert features(ranking(store, embedder, "the crust of Ciabatta in 1982", Scope(), 5)).missing_names == 2


def test_answers_work_by_words_alone(store):
    given = answer(store, None, "What are flour, water and salt mixed for?", Scope())
    assert "ten minutes" in given.text


def test_a_transcript_without_punctuation_is_quoted_in_passages(tmp_path, embedder):
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "T", 400_000, "t.mp4", state="ready"))
    text = "WE SPOKE OF MANY THINGS " * 60 + "THE TELESCOPE SAW FOUR MOONS OF JUPITER " + "AND OF OTHERS TOO " * 60
    store.add("test", [row("speech", 0, 400_000, text)])
    given = answer(store, None, "Which moons did the telescope see?", Scope())
    assert "MOONS OF JUPITER" in given.text
    assert len(given.citations[0].quote.split()) <= 40
    store.close()


def test_a_label_of_a_picture_comes_with_what_is_said_over_it(tmp_path, embedder):
    rows = [
        row("screen", 0, 20_000, "outer hull | inner hull"),
        row("speech", 0, 6000, "Between the two of them lies the ballast water."),
        row("speech", 6000, 12_000, "Without it the ship would roll over in a storm."),
        row("speech", 40_000, 46_000, "Lunch is served at noon."),
    ]
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "Ships", 50_000, "/films/ships.mp4", state="ready"))
    store.add("test", rows)
    waiting = list(store.passages_without_vectors(embedder.name))
    store.add_vectors(embedder.name, waiting, embedder.embed([p.text for p in waiting]))
    given = answer(store, embedder, "Why is there an outer hull and an inner hull?", EVERYTHING)
    store.close()
    assert given.citations[0].kind == "screen"
    assert "roll over in a storm" in given.text
    assert "Lunch" not in given.text


def library_of(folder, rows, embedder=None, length_ms=60_000):
    store = SqliteStore(folder / "library")
    store.put_video(Video("v", "f", "T", length_ms, "/films/t.mp4", state="ready"))
    store.add("test", rows)
    if embedder is not None:
        waiting = list(store.passages_without_vectors(embedder.name))
        store.add_vectors(embedder.name, waiting, embedder.embed([p.text for p in waiting]))
    return store


TALK = [
    row("speech", 0, 4000, "Excuse me, how many minutes should I plan for each slide?", "student"),
    row("speech", 5000, 6000, "Good question.", "lecturer"),
    row("speech", 6000, 10_000, "Estimate between two and three.", "lecturer"),
    row("speech", 20_000, 24_000, "Transactions can be cancelled by either party.", "lecturer"),
    row("speech", 24_000, 28_000, "That is because both hold the other's key.", "lecturer"),
    row("speech", 40_000, 43_000, "Each participant of the study played", "lecturer"),
    row("speech", 43_000, 46_000, "one match for thirty minutes.", "lecturer"),
    row(
        "screen",
        18_000,
        30_000,
        "Transactions and their cancelling\nTransactions can be cancelled by either party\nkeys | 5",
    ),
]


@pytest.fixture(scope="module")
def talk(tmp_path_factory, embedder):
    opened = library_of(tmp_path_factory.mktemp("talk"), TALK, embedder)
    yield lambda question: answer(opened, embedder, question, EVERYTHING)
    opened.close()


def test_neither_the_question_nor_a_filler_is_quoted_where_a_reply_follows(talk):
    given = talk("How many minutes should one plan for each slide?")
    assert given.citations[0].quote == "Estimate between two and three."
    assert not {c.quote for c in given.citations} & {"Good question.", TALK[0].text}


def test_a_reason_in_the_next_sentence_is_quoted_with_what_it_is_the_reason_of(talk):
    given = talk("Why can transactions be cancelled by either party?")
    assert given.sentences[0].text == f"{TALK[3].text} {TALK[4].text}"
    first, second = given.sentences[0].citations
    assert [c.evidence for c in given.citations if c.n in (first, second)] == [TALK[3].id, TALK[4].id]


def test_what_is_said_and_shown_is_told_once(talk):
    given = talk("Can transactions be cancelled by either party?")
    assert " ".join(s.text for s in given.sentences).count("cancelled by either party") == 1


def test_a_sentence_over_two_rows_is_quoted_whole(talk):
    given = talk("What did each participant of the study play?")
    assert given.sentences[0].text == "Each participant of the study played one match for thirty minutes."
    assert given.sentences[0].citations == (1, 2)


def test_a_number_that_nobody_says_makes_the_answer_partial(tmp_path, embedder):
    rows = [row("speech", 0, 5000, "The harbour of the town has large cranes for the ships.")]
    store = library_of(tmp_path, rows, embedder)
    assert (
        answer(store, embedder, "What has the harbour of the town for the ships?", EVERYTHING).grounding == "supported"
    )
    assert answer(store, embedder, "How many cranes has the harbour of the town?", EVERYTHING).grounding == "partial"
    store.close()


def test_a_wrapped_line_of_a_slide_is_one_sentence(tmp_path, embedder):
    page = (
        "Channels\n" + "\n".join(f"Point {n} of this long list of points on the page" for n in range(6))
        + "\nStates are added one after the other, and validity is\nenforced by revealing the private keys"
    )  # fmt: skip
    store = library_of(tmp_path, [row("screen", 0, 9000, page)], embedder)
    given = answer(store, embedder, "How is the validity of states enforced?", EVERYTHING)
    assert "validity is\nenforced by revealing the private keys" in given.citations[0].quote
    store.close()


def test_a_question_whose_form_alone_is_found_is_refused(tmp_path, embedder):
    rows = [
        row("speech", 0, 5000, "Perfect secrecy requires keys to be as long as the message."),
        row("speech", 5000, 9000, "It is used for the work of diplomats."),
    ]
    store = library_of(tmp_path, rows, embedder)
    for question in ("How long is the exam?", "How does photosynthesis work?"):
        assert answer(store, embedder, question, EVERYTHING).grounding == "unsupported", question
    store.close()


def test_an_answer_that_holds_less_than_half_of_the_question_is_partial(tmp_path, embedder):
    rows = [row("speech", 0, 5000, "Its pull is a little less than half of the pull of the moon.")]
    store = library_of(tmp_path, rows, embedder)
    assert answer(store, embedder, "What is the pull of the moon?", EVERYTHING).grounding == "supported"
    given = answer(store, embedder, "What is the mass, age and diameter of the moon?", EVERYTHING)
    assert given.grounding in ("partial", "unsupported")
    store.close()


def test_a_sentence_about_the_talk_s_own_course_is_not_quoted_beside_others(tmp_path, embedder):
    rows = [
        row("screen", 0, 20_000, "outer hull | inner hull"),
        row("speech", 0, 6000, "Now back to our picture and to the question that I promised."),
        row("speech", 6000, 12_000, "Without ballast between them the ship would roll over in a storm."),
    ]
    store = library_of(tmp_path, rows, embedder)
    given = answer(store, embedder, "Why is there an outer hull and an inner hull?", EVERYTHING)
    assert [c.evidence for c in given.citations] == [rows[0].id, rows[2].id]
    store.close()
