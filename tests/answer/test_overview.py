"""Questions about whole videos without a language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from videmus.answer.overview import overview
from videmus.config import SummarySettings
from videmus.exports.chapters import chapters
from videmus.model import Evidence, Origin, Scope, Sentence, SummaryDetail, Video, content_id, evidence_id
from videmus.store.sqlite import SqliteStore
from videmus.understand.summary import summarised

TALK, OTHER = (content_id("v", name) for name in ("talk", "other"))
VIDEO = Video(TALK, "fp1", "Optimisation", 400_000, "/talks/optimisation.mp4", "ready")


def row(video: str, kind: Any, start_s: int, text: str, **more: Any) -> Evidence:
    first, last = start_s * 1000, (start_s + 9) * 1000
    return Evidence(evidence_id(video, kind, first, last, text), video, first, last, kind, text, Origin("t"), **more)


SPOKEN = [
    row(TALK, "speech", 60 * n, text)
    for n, text in enumerate([
        "Gradient descent is an optimiser that follows the slope. Now to something else.",
        "The second optimiser is momentum, which accumulates gradients.",
        "We had a break.",
        "Adam is the optimiser that most people use today.",
    ])
]  # fmt: skip
MODEL_MADE = row(
    OTHER, "summary", 0, "It teaches how to fry onions.",
    detail=SummaryDetail("video", (("It teaches how to fry onions.", ("e-gone",)),)),
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("overview") / "library")
    opened.put_video(VIDEO)
    opened.put_video(Video(OTHER, "fp2", "Cooking", 60_000, "/films/cooking.mp4", "ready"))
    opened.add("speech", SPOKEN)
    opened.add("summary", list(summarised(VIDEO, SPOKEN, None, SummarySettings())))
    opened.add("summary", [MODEL_MADE])
    yield opened
    opened.close()


def test_what_it_is_about_are_its_own_sentences_at_their_times(store):
    told: list[Sentence] = []
    given = overview(store, "What is this lecture about?", "about", Scope(video=TALK), told.append)
    assert given is not None and given.grounding == "supported" and list(given.sentences) == told
    rows = {r.id: r for r in [*SPOKEN, *store.evidence(Scope(video=TALK), ["summary"])]}
    quotes = {c.n: c for c in given.citations}
    assert all(c.quote in rows[c.evidence].text and c.video == TALK for c in given.citations)
    said = [s for s in given.sentences if all(rows[quotes[n].evidence].kind == "speech" for n in s.citations)]
    assert len(said) >= 3 and all(quotes[s.citations[0]].quote in s.text for s in said)


def test_what_it_is_about_has_the_chapters_with_their_times(store):
    given = overview(store, "What is this lecture about?", "about", Scope(video=TALK))
    assert given is not None
    texts = [s.text for s in given.sentences]
    found = chapters(VIDEO, [], store.evidence(Scope(video=TALK), ["summary"]))
    assert len(found) > 1
    for chapter in found:
        minutes, seconds = divmod(chapter.start_ms // 1000, 60)
        assert f"{minutes}:{seconds:02} {chapter.title}" in texts


def test_key_terms_are_cited_each_where_it_stands(tmp_path):
    said = [
        row(TALK, "speech", 10 * n, f"Gradient descent meets the learning rate, the {nth} time of many.")
        for n, nth in enumerate(["first", "second", "third"])
    ]
    opened = SqliteStore(tmp_path / "library")
    opened.put_video(VIDEO)
    opened.add("speech", said)
    opened.add("summary", list(summarised(VIDEO, said, None, SummarySettings())))
    given = overview(opened, "What is this lecture about?", "about", Scope(video=TALK))
    opened.close()
    assert given is not None
    (terms,) = [s for s in given.sentences if s.text.startswith("Key terms: ")]
    quotes = [c.quote for c in given.citations if c.n in terms.citations]
    assert terms.text == f"Key terms: {', '.join(quotes)}." and "learning rate" in quotes


def test_a_part_of_a_video_is_told_by_the_sentences_said_in_it(store):
    given = overview(store, "Summarise it", "about", Scope(video=TALK, start=50_000, end=100_000))
    assert given is not None and [c.evidence for c in given.citations] == [SPOKEN[1].id]


def test_a_sentence_that_a_model_wrote_is_cited_at_the_summary(store):
    given = overview(store, "Summarize the video", "about", Scope(video=OTHER))
    assert given is not None and given.text == "It teaches how to fry onions. [1]"
    assert given.citations[0].evidence == MODEL_MADE.id


def test_several_videos_are_told_of_together(store):
    given = overview(store, "What are these videos about?", "about", Scope())
    assert given is not None and {c.video for c in given.citations} == {TALK, OTHER}


def test_a_list_is_every_sentence_that_names_the_thing_in_order_of_time(store):
    given = overview(store, "List all optimisers mentioned in this lecture", "list", Scope(video=TALK))
    assert given is not None
    assert [c.evidence for c in given.citations] == [SPOKEN[0].id, SPOKEN[1].id, SPOKEN[3].id]
    assert given.sentences[0].text == "Gradient descent is an optimiser that follows the slope."
    assert given.grounding == "partial", "that these are all, nobody has checked"


def test_a_slide_s_list_is_told_whole_and_once(tmp_path):
    pages = [
        row(TALK, "screen", 0, "Optimisers\n• SGD"),
        row(TALK, "screen", 10, "Optimisers\n• SGD\n• Momentum\n• Adam"),
        row(TALK, "speech", 30, "Which optimisers are there?"),
    ]
    opened = SqliteStore(tmp_path / "library")
    opened.put_video(VIDEO)
    opened.add("t", pages)
    given = overview(opened, "List all optimisers", "list", Scope(video=TALK))
    opened.close()
    assert given is not None and [c.quote for c in given.citations] == [pages[1].text]


@pytest.mark.parametrize(
    ("question", "kind"),
    [("List all zebras", "list"), ("Why does it diverge?", "moments"), ("List everything", "list")],
)
def test_where_there_is_nothing_of_the_kind_the_best_matches_answer(store, question, kind):
    assert overview(store, question, kind, Scope(video=TALK)) is None


def test_a_video_without_a_summary_has_none_to_tell(store):
    assert overview(store, "What is it about?", "about", Scope(video="v-unknown")) is None
