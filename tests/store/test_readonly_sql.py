"""A language model's SQL: what it may read, and that nothing else comes of it, however it is written."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest
from store_material import HOUR, one_of_each, piece, related, said, video

from videmus.config import StoreSettings
from videmus.errors import QueryError
from videmus.model import Scope
from videmus.store.sqlite import SqliteStore
from videmus.store.views import FUNCTIONS, VIEWS, described

DAY = 24 * HOUR
QUICK = StoreSettings(sql_seconds=0.2, sql_memory_mb=64)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A recording of two days and an undated lecture; the secret is in the second day."""
    store = SqliteStore(tmp_path_factory.mktemp("library"), QUICK)
    store.put_video(video("day1", recorded_at=10 * DAY + 9 * HOUR, recording="week", title="Monday"))
    store.put_video(video("day2", recorded_at=11 * DAY + 9 * HOUR, recording="week", title="Tuesday"))
    store.put_video(video("talk", collection="course"))
    store.put_video(video("half", recorded_at=0, state="processing"))
    for id, words in (("day1", "breakfast"), ("day2", "secret"), ("talk", "lecture"), ("half", "unfinished")):
        store.add("hear", [said(f"{words} {n}", n * 1000, of=id, speaker="Ann") for n in range(20)])
        store.add("slides", [piece(0, 9000, of=id, title=words)])
        store.add("graph", [related("Ann", "MENTIONS", words, n * 1000, of=id) for n in range(5)])
    yield store
    store.close()


def rows(store: SqliteStore, sql: str, scope: Scope | None = None):
    with store.open_readonly_sql(scope or Scope()) as open_sql:
        return open_sql.query(sql).rows


def test_every_view_has_the_columns_that_the_model_is_told(store):
    with store.open_readonly_sql() as sql:
        for name, view in VIEWS.items():
            columns = sql.query("SELECT * FROM " + name).columns
            told = [part.split("(")[0].strip() for part in view.columns.replace("inside the video", "").split(",")]
            assert list(columns) == told
            assert f"{name}({view.columns})" in described()


def test_rows_are_counted_by_day_and_hour(store):
    found = rows(store, "SELECT day, substr(time, 1, 2), count(*) FROM v_evidence WHERE day IS NOT NULL GROUP BY 1, 2")
    assert found == ((1, "09", 20), (2, "09", 20))


@pytest.mark.parametrize("name", VIEWS)
def test_no_view_shows_the_future_another_collection_or_an_unfinished_video(store, name):
    at_noon_of_the_first_day = Scope(at=10 * DAY + 12 * HOUR)
    assert "secret" not in str(rows(store, f"SELECT * FROM {name}", at_noon_of_the_first_day))
    assert "Tuesday" not in str(rows(store, f"SELECT * FROM {name}", at_noon_of_the_first_day))
    course = str(rows(store, f"SELECT * FROM {name}", Scope(collection="course")))
    assert "breakfast" not in course and "secret" not in course
    assert "unfinished" not in str(rows(store, f"SELECT * FROM {name}"))


def test_a_row_in_progress_at_the_time_of_the_question_is_not_seen(store):
    at = Scope(at=10 * DAY + 9 * HOUR + 2500)
    assert rows(store, "SELECT text FROM v_evidence", at) == (("breakfast 0",), ("breakfast 1",))
    assert rows(store, "SELECT count(*) FROM v_relations", at) == ((2,),)
    assert rows(store, "SELECT count(*) FROM v_segments", at) == ((0,),)
    assert rows(store, "SELECT video, duration_ms FROM v_videos", at) == (("day1", 2500),)


def test_the_first_day_of_a_recording_is_not_told_before_it_comes(store):
    assert "week" not in str(rows(store, "SELECT * FROM first_day", Scope(at=5 * DAY)))
    assert "week" in str(rows(store, "SELECT * FROM first_day", Scope(at=15 * DAY)))
    assert rows(store, "SELECT day FROM v_videos WHERE video = 'day2'", Scope(after=11 * DAY)) == ((2,),)


def test_a_scope_narrows_by_speaker_span_and_stream(store):
    assert rows(store, "SELECT count(*) FROM v_evidence", Scope(speaker="ANN", video="talk", start=1000, end=3000)) == (
        (2,),
    )
    assert rows(store, "SELECT count(*) FROM v_evidence", Scope(stream="screen")) == ((0,),)


@pytest.mark.parametrize("name", ["x' OR 1=1 --", "'; DROP TABLE evidence; --", "a\x00b", '"', "{library}", "Ünï"])
def test_a_scope_of_strange_names_is_only_a_name(tmp_path, name):
    store = SqliteStore(tmp_path)
    store.put_video(video("v1", collection=name))
    store.put_video(video("v2"))
    for id in ("v1", "v2"):
        store.add("hear", [said("text", of=id, speaker=name)])
    assert rows(store, "SELECT video FROM v_evidence", Scope(collection=name, speaker=name)) == (("v1",),)
    store.close()


HOSTILE = [
    # writes
    "INSERT INTO v_evidence VALUES (1)", "DELETE FROM evidence", "UPDATE video SET title = 'x'", "DROP TABLE video",
    "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "ALTER TABLE video ADD x", "REINDEX", "VACUUM", "ANALYZE",
    "VACUUM INTO '/tmp/stolen.db'", "BEGIN", "COMMIT", "SAVEPOINT s", "WITH x AS (SELECT 1) DELETE FROM video",
    "WITH x AS (SELECT 1) INSERT INTO video SELECT * FROM x", "SELECT 1; DROP TABLE video", "SELECT 1; SELECT 2",
    "/* SELECT */ DELETE FROM video", "-- SELECT\nDELETE FROM video", "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT 1",
    "REPLACE INTO video VALUES (1)", "CREATE TRIGGER t AFTER INSERT ON video BEGIN SELECT 1; END",
    # attach, pragma, the schema, files, extensions
    "ATTACH ':memory:' AS x", "ATTACH '/etc/passwd' AS x", "DETACH temp", "PRAGMA query_only = OFF", "PRAGMA table_info(video)",
    "PRAGMA database_list", "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_table_info('video')",
    "SELECT * FROM pragma_function_list", "SELECT * FROM sqlite_master", "SELECT sql FROM temp.sqlite_master",
    "SELECT * FROM sqlite_schema", "SELECT * FROM sqlite_temp_schema", "SELECT * FROM sqlite_sequence",
    "SELECT seq FROM sqlite_sequence", "SELECT * FROM sqlite_stat1",
    "SELECT count(*) FROM sqlite_temp_master", "SELECT load_extension('/tmp/x.so')", "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')", "SELECT * FROM dbstat", "SELECT * FROM sqlite_dbpage", "SELECT * FROM sqlite_stmt",
    "SELECT * FROM bytecode('SELECT 1')", "SELECT fts3_tokenizer('x')", "SELECT * FROM json_each('[1]')",
    "SELECT * FROM generate_series(1, 1000000000)", "SELECT edit('x')", "SELECT sqlite_compileoption_get(1)",
    # past the views to the tables
    "SELECT * FROM evidence", "SELECT text FROM evidence", "SELECT count(*) FROM evidence", "SELECT 1 FROM evidence",
    "SELECT * FROM main.evidence", "SELECT * FROM temp.evidence", "SELECT rowid FROM video", "SELECT * FROM work",
    "SELECT reply FROM call", "SELECT * FROM migration", "SELECT * FROM fulltext", "SELECT * FROM fulltext('secret')",
    "WITH v_evidence AS (SELECT * FROM evidence) SELECT * FROM v_evidence",
    "WITH v_videos AS (SELECT title FROM video) SELECT * FROM v_videos",
    "SELECT (SELECT title FROM video LIMIT 1)", "SELECT * FROM v_evidence JOIN evidence USING (id)",
    "SELECT * FROM (SELECT * FROM evidence) AS v_evidence", "SELECT * FROM v_evidence WHERE id IN (SELECT id FROM evidence)",
    "SELECT id FROM v_evidence UNION SELECT id FROM evidence", "SELECT * FROM v_evidence WHERE EXISTS (SELECT * FROM video)",
    "SELECT text FROM v_evidence ORDER BY (SELECT max(title) FROM video)", "SELECT * FROM v_evidence, name",
    # much out of little
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT x + 1 FROM r) SELECT max(x) FROM r",
    "SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(100000000))", "SELECT randomblob(1000000000)",
    "SELECT printf('%.*c', 100000000, 'x')", "SELECT format('%1000000000d', 1)", "SELECT quote(zeroblob(100000000))",
    "SELECT char(1, 2)", "SELECT load('x')", "SELECT " + ", ".join("1" for _ in range(200)),
    "SELECT " + "(" * 500 + "1" + ")" * 500, "SELECT " + " + ".join("1" for _ in range(500)),
    " UNION ALL ".join("SELECT 1" for _ in range(50)), "SELECT '" + "x" * 50_000 + "'", "SELECT ?", "SELECT :name", "SELECT @x",
    "SELECT text LIKE '" + "%a" * 300 + "' FROM v_evidence",
    # joins without end
    "SELECT count(*) FROM " + ", ".join(f"v_evidence AS a{n}" for n in range(8)),
    "SELECT group_concat(a.text) FROM " + ", ".join(f"v_evidence AS {c}" for c in "abcdefgh"),
    "SELECT a.text FROM " + ", ".join(f"v_evidence AS {c}" for c in "abcdefgh") + " ORDER BY 1",
    "SELECT DISTINCT a.id || b.id || c.id || d.id || e.id FROM " + ", ".join(f"v_evidence AS {c}" for c in "abcdef")
    + " ORDER BY 1 DESC",
    "SELECT sum(length(replace(replace(replace(a.text, '', 'x'), 'b', hex('x')), 'a', b.text))) FROM v_evidence a, v_evidence b",
    # not SQL
    "", ";", "   ", "SELECT", "SELEC 1", "hello", "SELECT 'x", "SELECT \x00", "SELECT \ud800", "SELECT * FROM v_nothing",
    "SELECT nothing FROM v_evidence", "SELECT CAST(x'ff' AS TEXT)", "SELECT abs(-9223372036854775808)",
]  # fmt: skip


def file_digest(folder: Path) -> str:
    connection = sqlite3.connect(folder / "library.db")
    text = "\n".join(connection.iterdump())
    connection.close()
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@pytest.fixture(scope="module")
def hostile_sql(store):
    before = file_digest(store.folder)
    sql = store.open_readonly_sql(Scope(at=10 * DAY + 12 * HOUR))
    yield sql
    sql.close()
    assert file_digest(store.folder) == before


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_sql_is_refused_or_stopped_with_a_way_on(hostile_sql, number):
    with pytest.raises(QueryError) as caught:
        hostile_sql.query(HOSTILE[number])
    assert caught.value.next
    assert hostile_sql._schema not in str(caught.value)
    str(caught.value).encode()
    assert hostile_sql.query("SELECT count(*) FROM v_evidence").rows == ((20,),)  # and the next query works


def test_what_is_refused_for_its_time_says_how_long_it_ran(hostile_sql):
    with pytest.raises(QueryError, match=r"ran longer than 0\.2 seconds") as caught:
        hostile_sql.query("SELECT count(*) FROM " + ", ".join(f"v_evidence AS a{n}" for n in range(8)))
    assert "narrow the time" in caught.value.next


def test_memory_that_grows_stops_the_query(store):
    patient = SqliteStore(store.folder, StoreSettings(sql_seconds=60, sql_memory_mb=32))
    with patient.open_readonly_sql() as sql, pytest.raises(QueryError, match="needed more than 32 MB"):
        sql.query(
            "SELECT DISTINCT a.id || b.id || c.id || d.id || e.id || a.text FROM "
            + ", ".join(f"v_evidence AS {c}" for c in "abcdef")
            + " ORDER BY 1 DESC"
        )
    patient.close()


def test_rows_and_bytes_beyond_the_limits_are_cut_and_said(tmp_path):
    store = SqliteStore(tmp_path, StoreSettings(sql_rows=5, sql_bytes=2_000))
    store.put_video(video())
    store.add("hear", [said("short", n * 1000) for n in range(6)] + [said("long " * 300, 10**6 + n) for n in range(3)])
    with store.open_readonly_sql() as sql:
        five = sql.query("SELECT text FROM v_evidence WHERE text = 'short' LIMIT 5")
        assert len(five.rows) == 5 and not five.truncated
        six = sql.query("SELECT text FROM v_evidence WHERE text = 'short'")
        assert len(six.rows) == 5 and six.truncated
        long = sql.query("SELECT text FROM v_evidence WHERE text <> 'short'")
        assert len(long.rows) == 1 and long.truncated
    store.close()


def test_the_listed_functions_all_exist():
    connection = sqlite3.connect(":memory:")
    known = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    connection.close()
    assert FUNCTIONS - known <= {"unixepoch"}  # of SQLite 3.38
    assert not FUNCTIONS & {"load_extension", "zeroblob", "randomblob", "printf", "format", "hex", "quote", "char"}


def test_useful_sql_works(store):
    with store.open_readonly_sql() as sql:
        for text in (
            "WITH h AS (SELECT day, substr(time, 1, 2) AS hour FROM v_evidence) SELECT day, hour, count(*) FROM h GROUP BY 1, 2",
            "SELECT target, count(*) AS n, min(day) FROM v_relations GROUP BY target HAVING n > 1 ORDER BY n DESC",
            "SELECT text FROM v_evidence WHERE text LIKE '%break%' AND lower(speaker) = 'ann' LIMIT 3",
            "select row_number() over (order by start_ms) as n, id from v_evidence order by n desc limit 1",
            "-- the first\nSELECT * FROM v_relations ORDER BY clock_start LIMIT 1;",
            "VALUES (1)",
            "SELECT r.source, e.text FROM v_relations r LEFT JOIN v_evidence e ON e.id = r.evidence LIMIT 1",
        ):
            assert sql.query(text).rows


def test_a_model_reads_what_is_committed_while_it_is_open(tmp_path):
    store = SqliteStore(tmp_path)
    store.put_video(video())
    with store.open_readonly_sql() as sql:
        assert sql.query("SELECT count(*) FROM v_evidence").rows == ((0,),)
        store.add("all", one_of_each())
        assert sql.query("SELECT count(*) FROM v_evidence").rows == ((2,),)
    store.close()
