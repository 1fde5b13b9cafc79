"""A library whose relations were kept in the earlier way answers as before, in less room."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from store_material import HOUR, related, video

from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import row_of
from videmus.model import Origin, Relation, Scope
from videmus.store import migrations
from videmus.store.graph import Wanted
from videmus.store.sqlite import SqliteStore

STEP = "numbered relations"
WEEK = Scope(recording="week")


def said(source: str, relation: str, target: str, minute: int, of: str) -> Relation:
    start = minute * 60_000
    return row_of(
        of,
        start,
        start + 9_000,
        source,
        "person",
        relation,
        target,
        "person",
        "e0123456789abcdef",
        0.57,
        Origin("graph"),
    )


def filled(folder: Path) -> SqliteStore:
    store = SqliteStore(folder)
    for n in range(2):
        store.put_video(video(f"day{n}", recorded_at=(24 * n + 9) * HOUR, recording="week"))
    store.add("graph", [said("Anna", "TALKS_TO", "Tom", n, "day0") for n in range(40)])
    store.add(
        "graph", [said("Jojo", ALSO_CALLED, "Anna Keller", 50, "day0"), said("Jojo", "TALKS_TO", "Tom", 3, "day1")]
    )
    store.add("graph", [related("Anna Keller", "USES", f"mug {n}", n * 60_000, of="day1") for n in range(9)])
    store.put_video(video("gone", recorded_at=0, recording="week"))
    store.add("graph", [said("Mara", "MENTIONS", "Tom", n, "gone") for n in range(5)])
    store.remove_video("gone")
    store.begin("day1", "graph", "key")  # its rows came without one: those of the key wait in a draft
    store.add("graph", [said("Mara", "WAVES_AT", "Tom", 7, "day1")])
    store.entities.resolve("week")
    store.entities.merge("week", "Tom", "Tommy Hill")
    return store


def answers(store: SqliteStore) -> list[object]:
    everything: list[object] = [
        store.relations(),
        store.unfinished("day1", "graph"),
        store.digest("day1", ["graph"]),
        store.graph.entities(WEEK),
        store.entities.history("week"),
    ]
    for scope in (WEEK, Scope(recording="week", at=10 * HOUR)):
        everything += [store.graph.facts(Wanted(), scope), store.graph.facts(Wanted(relation="talks_to"), scope)]
        everything += [store.graph.grouped(Wanted(), scope, by) for by in ("relation", "day", "source", "evidence")]
        with store.open_readonly_sql(scope) as sql:
            everything += [sql.query("SELECT * FROM v_relations").rows, sql.query("SELECT * FROM v_entities").rows]
    return everything


@pytest.fixture
def older(tmp_path, monkeypatch):
    """A library without the step, with the rows of `filled` as they were kept before it."""
    filled(tmp_path / "now").close()
    steps = migrations.MIGRATIONS
    before = steps[: [name for name, _ in steps].index(STEP)]
    monkeypatch.setattr(migrations, "MIGRATIONS", before)
    SqliteStore(tmp_path / "older").close()
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    connection = sqlite3.connect(tmp_path / "older" / "library.db")
    connection.execute("ATTACH ? AS now", (str(tmp_path / "now" / "library.db"),))
    tables = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT NULL")
    ]
    for table in tables:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        if table.startswith(("fulltext", "migration")) or not columns:
            continue
        name = "(SELECT name FROM now.name AS said WHERE said.n = kept.relation)"
        as_before = {"relation": name, "confidence": "confidence / 100.0"} if table.endswith("relation") else {}
        taken = [as_before.get(column, column) for column in columns]
        connection.execute(f"DELETE FROM {table}")
        connection.execute(f"INSERT INTO {table} SELECT {', '.join(taken)} FROM now.{table} AS kept")
    connection.execute("DELETE FROM name WHERE kind = 'relation'")
    connection.execute(
        "UPDATE sqlite_sequence SET seq = (SELECT seq FROM now.sqlite_sequence WHERE name = 'relation')"
        " WHERE name = 'relation'"
    )
    connection.commit()
    connection.close()
    return tmp_path


def test_an_older_graph_gives_the_same_answers(older):
    now = SqliteStore(older / "now")
    upgraded = SqliteStore(older / "older")
    assert answers(upgraded) == answers(now)
    assert len(upgraded.relations(WEEK)) == 51 and len(upgraded.unfinished("day1", "graph")) == 1
    now.close()
    upgraded.close()


def test_an_older_graph_goes_on_as_a_new_one(older):
    """Rows that are there are not added again, numbers do not come back, drafts are published, removals reach the entities."""
    stores = [SqliteStore(older / "now"), SqliteStore(older / "older")]
    for store in stores:
        with store._db.reading() as connection:
            before = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'relation'").fetchone()
        assert store.add("graph", store.relations(Scope(video="day0"))) == 0
        assert store.add("graph", [said("Anna", "SEES", "Tom", 55, "day0")]) == 1
        with store._db.reading() as connection:
            assert connection.execute("SELECT max(n) FROM relation").fetchone() == (before[0] + 1,)
        store.entities.resolve("week")
    assert answers(stores[1]) == answers(stores[0])
    for store in stores:
        store.remove_video("day0")
        assert store.relations(Scope(video="day0")) == []
        with store._db.reading() as connection:
            ends = connection.execute("SELECT count(*) FROM relation_end").fetchone()[0]
            assert ends == connection.execute("SELECT count(*) FROM relation").fetchone()[0]
    assert answers(stores[1]) == answers(stores[0])
    for store in stores:
        store.close()
