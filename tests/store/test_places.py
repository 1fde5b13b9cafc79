"""Videos by the place that they are at: found by index, however many the library holds."""

from videmus.store import videos
from videmus.store.sqlite import SqliteStore


def test_the_videos_at_a_place_are_found_without_reading_the_others(tmp_path):
    store = SqliteStore(tmp_path / "library")
    with store._db.reading() as connection:
        plan = [line for *_, line in connection.execute("EXPLAIN QUERY PLAN " + videos.AT, {"sources": "[]"})]
    store.close()
    assert any("place USING COVERING INDEX place_source" in line for line in plan), plan
    assert not any(line.startswith("SCAN video") for line in plan), plan
