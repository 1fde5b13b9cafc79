"""Search over a small library: words, meaning, phrases, scopes; tight moments that do not overlap."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from videmus.config import SearchSettings, Settings
from videmus.errors import VectorSpaceError
from videmus.model import Evidence, Origin, Scope, Video, evidence_id
from videmus.models.text_embedding import ScriptedEmbedder
from videmus.search.hybrid import ranking, search
from videmus.store.protocol import EVERYTHING
from videmus.store.sqlite import SqliteStore

EMBEDDER = ScriptedEmbedder(dimension=1024)
LARGE = Settings(search=SearchSettings(whole_rows=0))
"""Settings under which the small library is searched as a large one: from the hits of its indexes."""


def row(kind, start, end, text, video="v1", speaker=None):
    id = evidence_id(video, kind, start, end, text, speaker)
    return Evidence(id, video, start, end, kind, text, Origin("test"), speaker)


TALK = [
    "Welcome everybody to this talk about optimisation.",
    "We begin with gradient descent and its step size.",
    "The learning rate must be 3.5 times smaller here.",
    "If it is too large the training diverges quickly.",
    "Then the loss becomes infinite and nothing helps.",
    "My cat sleeps on the warm sofa all day long.",
    "The board RE16 TGK controls the heating element.",
    "C++ was chosen because it is fast enough for us.",
    "机器学习很有趣。",
    "Thank you for listening and see you next week.",
]
BAKING = ["Bread needs flour.", "Water and salt too.", "The learning of baking takes years."]
ROWS = [
    *(row("speech", 10_000 * k, 10_000 * k + 9000, text, speaker="Ann" if k % 2 else "Ben") for k, text in enumerate(TALK)),
    row("screen", 10_000, 50_000, "Optimisation\n• convexity\n• momentum"),
    row("screen", 200_000, 300_000, "A silent slide about annealing schedules"),
    *(row("speech", 5000 * k, 5000 * k + 4500, text, video="v2") for k, text in enumerate(BAKING)),
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("search") / "library")
    day = 86_400_000
    opened.put_video(
        Video("v1", "f1", "Optimisation", 300_000, "1.mp4", state="ready", collection="ml", recorded_at=day)
    )
    opened.put_video(Video("v2", "f2", "Baking", 15_000, "2.mp4", state="ready", recorded_at=2 * day))
    opened.add("test", ROWS)
    waiting = list(opened.passages_without_vectors(EMBEDDER.name))
    opened.add_vectors(EMBEDDER.name, waiting, EMBEDDER.embed([p.text for p in waiting]))
    yield opened
    opened.close()


@pytest.fixture(params=["whole", "large"])
def find(request, store):
    settings = None if request.param == "whole" else LARGE

    def found(text: str, scope: Scope = EVERYTHING, limit: int = 10):
        return search(store, EMBEDDER, text, scope, limit, settings)

    return found


def first_text(moments):
    return moments[0].text if moments else ""


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("gradient descent", "gradient descent"),
        ("diverging trainings", "training diverges"),  # other forms of the words
        ("3.5", "3.5 times"),
        ("RE16", "RE16 TGK"),
        ("C++", "C++ was"),
        ("学习", "机器学习"),
        ("momentum", "momentum"),  # on the slide alone
        ("annealing schedules", "annealing"),  # on a slide nobody talks over
        ("sofa CAT", "cat sleeps"),
    ],
)
def test_what_is_said_or_shown_is_found(find, text, holds):
    assert holds in first_text(find(text))


def test_a_number_is_not_found_by_its_digits(find):
    assert all("3.5" not in m.text or "35" in m.text for m in find('"35"'))
    assert find('"35"') == []


def test_a_quoted_phrase_must_stand_there(find):
    assert "learning rate" in first_text(find('"learning rate"'))
    assert find('"rate learning"') == []


def test_a_phrase_may_run_over_two_rows(find):
    (moment,) = find('"diverges quickly. Then the loss"')
    assert moment.start_ms <= 30_000
    assert moment.end_ms >= 49_000


def test_moments_are_tight_do_not_overlap_and_name_what_matched(find, store):
    moments = find("learning rate training")
    for m in moments:
        assert m.end_ms - m.start_ms <= SearchSettings().trim_ms
        for other in moments:
            assert other is m or other.video != m.video or other.start_ms >= m.end_ms or other.end_ms <= m.start_ms
    best = {e.text for e in store.evidence_by_id(moments[0].evidence)}
    assert any("learning rate" in text for text in best)
    assert [m.score for m in moments] == sorted((m.score for m in moments), reverse=True)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(video="v2"),
        Scope(collection="ml"),
        Scope(video="v1", start=20_000, end=45_000),
        Scope(stream="screen"),
        Scope(speaker="ann"),
        Scope(before=86_400_000 + 60_000),
        Scope(at=86_400_000 + 45_000),
    ],
)
def test_nothing_outside_the_scope_is_seen(find, store, scope):
    visible = {r.id for r in store.evidence(scope)}
    for text in ("learning", "the training", "salt", "annealing"):
        for moment in find(text, scope):
            assert set(moment.evidence) <= visible
            if scope.end is not None:
                assert moment.video == scope.video


def test_a_scope_finds_what_it_holds(find):
    assert first_text(find("learning", Scope(video="v2"))).endswith("takes years.")
    assert find("learning", Scope(video="v2", start=0, end=4000)) == []
    assert "sleeps" in first_text(find("cat", Scope(speaker="ANN")))


def test_the_limit_is_kept(find):
    assert len(find("the", limit=2)) <= 2
    assert find("learning", limit=0) == []


@pytest.mark.parametrize(
    "hostile", ['"', '" OR "', "NEAR(a b)", "col:x*", "\x00", "';--", "()" * 500, "\ud800", "a" * 10**6]
)
def test_hostile_questions_are_only_text(find, hostile):
    assert isinstance(find(hostile), list)


def test_a_question_without_words_finds_nothing(find):
    assert find("?!") == []


def test_a_long_row_is_cut_to_what_matched(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "Long", 600_000, "l.mp4", state="ready"))
    filler = "and so on and on we talk of this and that without any point. " * 20
    store.add("test", [row("speech", 0, 600_000, filler + "The walrus sings at midnight. " + filler, video="v")])
    (moment,) = search(store, None, "walrus", Scope())
    assert moment.start_ms < 300_000 < moment.end_ms
    assert moment.end_ms - moment.start_ms <= SearchSettings().trim_ms
    assert "walrus" in moment.text
    assert len(moment.text) < len(filler)
    store.close()


def test_without_vectors_words_alone_find_and_it_is_said(store, tmp_path):
    found = ranking(store, None, "gradient", Scope())
    assert found.results
    assert "words alone" in found.notices[0]
    empty = SqliteStore(tmp_path / "library")
    assert "no vectors" in ranking(empty, EMBEDDER, "gradient", Scope()).notices[0]
    empty.close()


def test_an_english_model_is_not_asked_in_another_script(store):
    english = ScriptedEmbedder(dimension=1024, languages=frozenset({"en"}))
    found = ranking(store, english, "学习", Scope())
    assert "机器学习" in found.results[0].moment.text
    assert "script" in found.notices[0]


def test_another_models_vectors_are_not_compared(store):
    with pytest.raises(VectorSpaceError, match="scripted"):
        search(store, ScriptedEmbedder(name="another"), "gradient", Scope())


def test_a_slides_texts_are_found_only_where_they_say_more(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "Slides", 60_000, "s.mp4", state="ready"))
    spoken = ["We use radiant descent here.", "It works."]
    said = [row("speech", 8000 * k, 8000 * k + 8000, text, video="v") for k, text in enumerate(spoken)]
    shown = row("screen", 0, 30_000, "Optimisation of networks", video="v")
    corrected = row("narration", 0, 30_000, "We use gradient descent here. It works.", video="v")
    joined = row(
        "consolidated", 0, 30_000, "Optimisation of networks. We use radiant descent here. It works.", video="v"
    )
    by_model = Origin("slide-texts", model="a model")
    store.add("test", [*said, shown, *(replace(r, origin=by_model) for r in (corrected, joined))])
    assert {m.kind for m in search(store, None, "optimisation networks works", Scope())} <= {"speech", "screen"}
    assert search(store, None, "gradient", Scope())[0].kind == "narration"
    assert search(store, None, "networks", Scope(facet="consolidated"))[0].kind == "consolidated"
    store.close()


def test_a_row_found_by_its_words_counts_as_near_as_it_is_however_many_are_nearer(tmp_path):
    opened = SqliteStore(tmp_path)
    cosines = {
        "gradient gradient": 0.0,
        "the gradient of a long sentence with more words": 0.8,
        "a": 0.9,
        "b": 0.9,
        "c": 0.9,
    }
    for k, text in enumerate(cosines):
        opened.put_video(Video(f"v{k}", f"f{k}", text, 1000, f"{k}.mp4", state="ready"))
        opened.add("test", [row("speech", 0, 1000, text, video=f"v{k}")])
    waiting = list(opened.passages_without_vectors("placed"))
    near = np.array([cosines[p.text] for p in waiting], np.float32)
    opened.add_vectors("placed", waiting, np.stack([near, np.sqrt(1 - near**2)], 1))
    settings = Settings(search=SearchSettings(whole_rows=0, anchors=1))
    assert first_text(search(opened, Placed(), "gradient", EVERYTHING, settings=settings)).startswith("the gradient")
    opened.close()


class Placed(ScriptedEmbedder):
    """Every question lies on the first of two axes."""

    def __init__(self) -> None:
        super().__init__(dimension=2, name="placed")

    def embed_query(self, text):
        return np.array([1, 0], np.float32)
