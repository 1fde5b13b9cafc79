"""How often terms stand in the library, and the ranking of hits over it: kept beside FTS5, and always what FTS5 would say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from store_material import said, video

from videmus.model import Scope
from videmus.store.scope import sought
from videmus.store.sqlite import SqliteStore

WORDS = ["rate", "rates", "gradient", "the", "3.5", "C++", "loss", "学习吧", "Ångström", "it's"]


def spoken(seed: int, of: str, count: int = 40):
    draw = np.random.default_rng(seed)
    texts = [" ".join(draw.choice(WORDS, draw.integers(1, 12))) for _ in range(count)]
    return [
        said(text, 1000 * k, 1000 * k + 900, of=of, kind=("speech", "screen")[k % 2], speaker=("Ann", None)[k % 3 > 0])
        for k, text in enumerate(texts)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "library")
    for seed, name in enumerate(("v1", "v2", "v3")):
        opened.put_video(video(name, collection="c" if name == "v2" else None))
        opened.add("all", spoken(seed, name))
    yield opened
    opened.close()


def by_fts5(store: SqliteStore) -> dict[str, int]:
    with store._db.reading() as connection:
        return dict(connection.execute("SELECT term, doc FROM fulltext_word").fetchall())


def kept(store: SqliteStore) -> dict[str, int]:
    with store._db.reading() as connection:
        return dict(connection.execute("SELECT term, rows FROM fulltext_frequency").fetchall())


def test_every_terms_rows_are_counted_as_rows_come_and_go(store):
    assert kept(store) == by_fts5(store)
    store.add("more", [said("a term that no other row has", 0, 10, of="v3")])
    assert store.frequencies(["rate", "term", "absent"]) == (121, {"rate": by_fts5(store)["rate"], "term": 1})
    store.remove_video("v3")
    assert kept(store) == by_fts5(store)
    assert store.frequencies(["term"]) == (80, {})


def test_indexes_that_are_made_anew_count_the_same(store):
    before = kept(store)
    with store._db.writing() as connection:
        connection.execute("UPDATE fulltext_frequency SET rows = 7")
    store.rebuild_indexes()
    assert kept(store) == before == by_fts5(store)


def test_an_older_library_is_counted_when_it_is_opened(store):
    store.close()
    older = sqlite3.connect(store.folder / "library.db")
    older.execute("DROP TABLE fulltext_frequency")
    older.execute("DELETE FROM migration WHERE name = 'fulltext frequencies'")
    older.commit()
    older.close()
    opened = SqliteStore(store.folder)
    assert kept(opened) == by_fts5(opened)
    assert opened.keyword_hits([["rate"]], Scope(), 5)
    opened.close()


SCOPES = {
    "everything": Scope(),
    "a video": Scope(video="v3"),
    "a collection": Scope(collection="c"),
    "a stream": Scope(stream="screen"),
    "a span": Scope(start=38_000),
    "nothing": Scope(collection="none"),
}


@pytest.mark.parametrize("limit", [1, 7, 500])
@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_hits_are_the_best_of_the_scope_however_deep_they_lie(store, scope, limit):
    clause = sought(scope, unfinished=scope.video is not None)
    with store._db.reading() as connection:
        wanted = connection.execute(
            "SELECT evidence.id, -bm25(fulltext) FROM fulltext JOIN evidence ON evidence.n = fulltext.rowid"
            f" JOIN video ON video.n = evidence.video WHERE fulltext MATCH 'rate OR loss' AND {clause.sql}"
            f" ORDER BY bm25(fulltext), evidence.n LIMIT {limit}",
            clause.parameters,
        ).fetchall()
    found = store.keyword_hits([["rate"], ["loss"]], scope, limit)
    assert [(h.id, h.score) for h in found] == wanted
