"""The keyword index behind the store: what finds what, and that it follows the rows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from videmus.model import Evidence, Origin, Scope, Video, evidence_id
from videmus.store.protocol import EVERYTHING, Work
from videmus.store.sqlite import SqliteStore

TEXTS = {
    "numbers": "The rate is 3.5 percent",
    "other": "Room 35 and 13.5 metres",
    "substring": "The board RE16TGK failed",
    "word": "RE16 TGK is the part",
    "chinese": "机器学习很有趣",
    "names": "We write it in C++ and not in C",
    "stem": "Training diverges when the learning rate grows",
}


def row(name: str, text: str, start: int, kind: str = "speech", speaker: str | None = None) -> Evidence:
    id = evidence_id("v1", kind, start, start + 1000, text, speaker)
    return Evidence(id, "v1", start, start + 1000, kind, text, Origin("test"), speaker)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "library")
    opened.put_video(Video("v1", "f1", "One", 100_000, "one.mp4", state="ready"))
    opened.add("test", [row(name, text, 1000 * k) for k, (name, text) in enumerate(TEXTS.items())])
    yield opened
    opened.close()


def found(store: SqliteStore, *words: str, scope: Scope = EVERYTHING) -> set[str]:
    by_text = {text: name for name, text in TEXTS.items()}
    ids = [h.id for h in store.keyword_hits([[w] for w in words], scope, 10)]
    return {by_text[e.text] for e in store.evidence_by_id(ids)}


def test_a_number_is_found_exactly(store):
    assert found(store, "3.5") == {"numbers"}
    assert found(store, "35") == {"other"}


def test_a_stem_finds_its_forms(store):
    assert found(store, "diverg") == {"stem"}


def test_pairs_of_characters_find_words_without_spaces(store):
    assert found(store, "学习") == {"chinese"}


def test_signs_belong_to_names(store):
    assert found(store, "c++") == {"names"}


def test_terms_that_hold_a_piece_are_named_shortest_first(store):
    assert store.containing("re16") == ["re16", "re16tgk"]
    assert store.containing("zzz") == []


def test_frequencies_count_rows(store):
    total, counts = store.frequencies(["the", "3.5", "nowhere"])
    assert total == len(TEXTS)
    assert counts == {"the": 4, "3.5": 1}


def test_phrases_stand_in_order(store):
    assert [h.start_ms for h in store.phrase_hits(["learn", "rate"], Scope(), 5)] == [6000]
    assert store.phrase_hits(["rate", "learn"], Scope(), 5) == []


def test_filters_act_inside_the_search(store):
    assert found(store, "3.5", scope=Scope(start=50_000)) == set()
    assert found(store, "3.5", scope=Scope(video="v1", stream="speech")) == {"numbers"}
    assert found(store, "3.5", scope=Scope(stream="screen")) == set()


@pytest.mark.parametrize("hostile", ['"', "a OR b", "NEAR(", "*", "col:x", "x\x00y", "'; DROP TABLE evidence; --", ""])
def test_no_text_is_read_as_query_syntax(store, hostile):
    store.keyword_hits([[hostile]], Scope(), 5)
    assert store.frequencies([])[0] == len(TEXTS)


def test_rows_that_go_leave_the_index(store):
    store.begin("v1", "test", "another key")
    store.finish(Work("v1", "test", "another key", "done"))
    assert store.frequencies(["3.5"]) == (0, {})
    assert store.keyword_hits([["3.5"]], Scope(), 5) == []


def test_a_rebuilt_index_finds_the_same(store):
    before = store.keyword_hits([["rate"], ["3.5"]], Scope(), 5)
    store.rebuild_indexes()
    assert store.keyword_hits([["rate"], ["3.5"]], Scope(), 5) == before


def test_who_speaks_is_found(store):
    store.add("test", [row("asked", "Why is that?", 50_000, speaker="Student")])
    assert [h.start_ms for h in store.keyword_hits([["student"]], Scope(), 5)] == [50_000]


def test_common_words_bring_no_more_rows_than_the_budget(store, monkeypatch):
    monkeypatch.setattr("videmus.store.fulltext.POSTINGS", 2)
    store.add("test", [row("n", f"common words here number {k}", 60_000 + k) for k in range(20)])
    store.add("test", [row("n", "a rare quokka among common words", 90_000)])
    hits = store.keyword_hits([["common"], ["quokka"]], Scope(), 50)
    assert [h.start_ms for h in hits] == [90_000]  # the rare word alone: the common one would bring 21 rows
    assert store.keyword_hits([["common"], ["word"]], Scope(), 50)  # only common ones: narrowed, not empty


def test_texts_near_spans_are_read_in_order(store):
    from videmus.store.protocol import Span

    rows = store.texts(Scope(), [Span("v1", 900, 2100), Span("v1", 1900, 2500)])
    assert [r.start_ms for r in rows] == [0, 1000, 2000]
    assert store.texts(Scope(stream="screen"), [Span("v1", 0, 9000)]) == []
