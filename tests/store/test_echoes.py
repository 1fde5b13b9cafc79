"""Rows put together without a model repeat their sources: a search finds the sources, and the rows where it names them."""

import pytest

from videmus.model import Evidence, Origin, Scope, Video, evidence_id
from videmus.store.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path):
    with_rows = SqliteStore(tmp_path / "library")
    with_rows.put_video(Video("v1", "p", "talk", 9000, "t.mp4", state="ready"))

    def row(kind, text, model=None):
        return Evidence(evidence_id("v1", kind, 0, 9, text), "v1", 0, 9, kind, text, Origin(kind, 1, model))

    with_rows.add("speech", [row("speech", "the tide rises")])
    with_rows.add(
        "slide-texts", [row("consolidated", "Tides: the tide rises"), row("vision", "a tide chart", "openai:x")]
    )
    yield with_rows
    with_rows.close()


def kinds(hits):
    return sorted(hit.kind for hit in hits)


def test_a_search_leaves_echoes_out_and_keeps_what_a_model_wrote(store):
    assert kinds(store.keyword_hits([["tide"]], Scope(), 10)) == ["speech", "vision"]


def test_a_search_that_names_the_stream_finds_them(store):
    assert kinds(store.keyword_hits([["tide"]], Scope(stream="consolidated"), 10)) == ["consolidated"]
    assert kinds(store.keyword_hits([["tide"]], Scope(facet="consolidated"), 10)) == ["consolidated"]


def test_echoes_get_no_vectors(store):
    assert {p.text for p in store.passages_without_vectors("m")} == {"the tide rises", "a tide chart"}
