"""What the store asks SQLite for is answered from indexes: no question reads every row of the library."""

from __future__ import annotations

import random

import pytest
from store_material import related, said, video

from videmus.model import Scope
from videmus.store import drafts, rows
from videmus.store.entities import EntityStore
from videmus.store.rows import SELECT, SELECT_BY_VIDEO, TABLES
from videmus.store.scope import visible
from videmus.store.sqlite import SqliteStore

SCOPES = {
    "everything": Scope(),
    "one video": Scope(video="v1"),
    "a span": Scope(video="v1", start=1000, end=2000),
    "a collection": Scope(collection="c"),
    "a recording before a time": Scope(recording="r", before=5000),
    "the time of the question": Scope(at=5000),
    "a span of the clock": Scope(after=1000, before=2000),
    "a speaker": Scope(speaker="Ann", stream="speech"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = SqliteStore(tmp_path_factory.mktemp("library"))
    yield store
    store.close()


def plan(store: SqliteStore, sql: str, parameters) -> list[str]:
    with store._db.reading() as connection:
        return [line for *_, line in connection.execute("EXPLAIN QUERY PLAN " + sql, parameters)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_scopes_rows_are_found_video_by_video(store, table, scope):
    clause = visible(table, SCOPES[scope])
    lines = plan(store, SELECT_BY_VIDEO[table] + " WHERE " + clause.sql, clause.parameters)
    read = next(line for line in lines if f" {table} " in f"{line} ")
    assert read.startswith(f"SEARCH {table} USING INDEX {table}_time (video=?")


@pytest.mark.parametrize("table", [table for table in TABLES if table != "relation"])
def test_rows_by_id_are_found_by_id(store, table):
    clause = visible(table, Scope(at=5))
    sql = SELECT[table] + f" WHERE {clause.sql} AND {table}.id IN (SELECT value FROM json_each('[]'))"
    assert any(
        line.startswith(f"SEARCH {table} USING INDEX sqlite_autoindex_{table}_1 (id=?)")
        for line in plan(store, sql, clause.parameters)
    )


def test_relations_that_are_there_already_are_found_by_their_video_and_time(store):
    """Nothing asks for a relation by its id, so no index holds the ids."""
    values = {"ids": "[]", "videos": "[]", "starts": "[]"}
    for sql, parameters in ((rows._PRESENT["relation"], values), (drafts._SAME["relation"], (1, "graph"))):
        assert any(
            "USING INDEX relation_time (video=? AND start_ms=?)" in line for line in plan(store, sql, parameters)
        )


def test_a_stage_that_is_done_anew_finds_its_rows_by_video(store):
    for table in TABLES:
        sql = f"DELETE FROM {table} WHERE video = 1 AND stage = 'x'"
        assert plan(store, sql, ())[0].startswith(f"SEARCH {table} USING")


def test_fifty_two_hours_of_relations_stay_small(tmp_path):
    """About 14,000 relations in at most 4 MB, with their names, entities and indexes."""
    store = SqliteStore(tmp_path)
    chance = random.Random(3)
    people = [f"Person Number{n}" for n in range(30)]
    things = [f"the {colour} thing {n}" for colour in ("red", "large", "broken") for n in range(150)]
    for day in range(7):
        store.put_video(video(f"day{day}", recorded_at=day * 86_400_000, recording="week"))
        relations = [
            related(
                chance.choice(people),
                "INTERACTS_WITH",
                chance.choice(things),
                n * 13_000,
                n * 13_000 + 9_000,
                of=f"day{day}",
            )
            for n in range(2000)
        ]
        store.add("relations", relations)
    EntityStore(store._db).resolve("week")
    parts = ("name", "relation", "entity", "graph")
    graph = sum(size for name, size in store.sizes().items() if name.removeprefix("library.db: ").startswith(parts))
    assert len(store.relations()) == 14_000
    assert 500_000 < graph <= 4_000_000
    store.close()


def test_a_removed_video_gives_its_room_to_the_next(tmp_path):
    store = SqliteStore(tmp_path)
    sizes = []
    for n in range(4):
        store.put_video(video(f"v{n}"))
        store.add("hear", [said("some words " * 20, k * 1000, of=f"v{n}") for k in range(500)])
        store.remove_video(f"v{n}")
        with store._db.reading() as connection:
            sizes.append(connection.execute("PRAGMA page_count").fetchone()[0])
    assert sizes[-1] <= sizes[0] * 1.5  # four videos' rows would be four times as much
    store.close()
