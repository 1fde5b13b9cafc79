from __future__ import annotations

import pytest
from store_material import video

from videmus.errors import NotFoundError, UsageError
from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import row_of
from videmus.model import Evidence, Origin, Scope, Video, evidence_id
from videmus.store.graph import Wanted
from videmus.store.sqlite import SqliteStore

HOUR = 3_600_000
WEEK = Scope(recording="week")
RULES = Origin("graph", 1, None, {"extractor": "rules"})


def film(id="v1", day=0, recording: str | None = "week") -> Video:
    return video(id, recorded_at=day * 24 * HOUR + 10 * HOUR, recording=recording)


def related(source, relation, target, minute=0, of="v1", kind="person"):
    start = minute * 60_000
    said = evidence_id(of, "speech", start, start + 1_000, f"{source} {target}", source)
    return row_of(of, start, start + 1_000, source, "person", relation, target, kind, said, 0.75, RULES)


def spoken(speaker, minute, of="v1"):
    start = minute * 60_000
    id = evidence_id(of, "speech", start, start + 1_000, "x", speaker)
    return Evidence(id, of, start, start + 1_000, "speech", "x", Origin("t"), speaker)


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(film())
    store.put_video(film("v2", day=1))
    yield store
    store.close()


def put(store, *rows):
    store.add("graph", rows)
    return store.entities.resolve("week")


def names(store, scope=WEEK):
    return {e.name: e for e in store.graph.entities(scope)}


def test_an_entity_has_all_its_names_across_days(store):
    put(store, related("Anna Keller", "TALKS_TO", "Tom"), related("Anna", "TALKS_TO", "Tom", 5, "v2"))
    anna = names(store)["Anna Keller"]
    assert set(anna.aliases) == {"Anna Keller", "Anna"} and anna.relations == 2
    assert anna.last - anna.first == 24 * HOUR + 5 * 60_000 + 1_000


def test_adding_the_same_rows_again_inflates_nothing(store):
    rows = [related("Anna", "TALKS_TO", "Tom"), related("Tom", "USES", "red mug", 1, kind="object")]
    put(store, *rows)
    before = store.graph.entities(WEEK)
    put(store, *rows)
    assert store.graph.entities(WEEK) == before and len(store.relations(WEEK)) == 2


def test_removing_a_video_removes_its_relations_and_what_only_it_named(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Anna", "TALKS_TO", "Mara", 1, "v2"))
    store.remove_video("v2")
    assert set(names(store)) == {"Anna", "Tom"} and names(store)["Anna"].relations == 1
    store.entities.resolve("week")
    assert set(names(store)) == {"Anna", "Tom"}
    store.remove_video("v1")
    assert store.graph.entities(WEEK) == [] and store.entities.forget_empty() == 1


RELATIONS = "SELECT source, target, said_source, said_target FROM v_relations ORDER BY clock_start"


def told(store, sql, scope=WEEK):
    with store.open_readonly_sql(scope) as views:
        return views.query(sql).rows


def test_sql_shows_people_as_they_are_known_and_as_they_were_named(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Anna Keller", "USES", "red mug", 30, kind="object"))
    assert told(store, RELATIONS) == (
        ("Anna Keller", "Tom", "Anna", "Tom"),
        ("Anna Keller", "red mug", "Anna Keller", "red mug"),
    )
    assert told(store, "SELECT name, kind, said FROM v_entities") == (
        ("Anna Keller", "person", "Anna"),
        ("Anna Keller", "person", "Anna Keller"),
        ("Tom", "person", "Tom"),
        ("red mug", "object", "red mug"),
    )
    assert told(store, "SELECT count(*), count(DISTINCT name) FROM v_entities") == ((4, 3),)


def test_sql_shows_no_name_and_no_merge_that_was_learned_later(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Anna Keller", "TALKS_TO", "Tom", 30))
    store.entities.merge("week", "Thomas Reed", "Tom", at=10 * HOUR + 20 * 60_000)
    first = {
        minute: told(store, RELATIONS, Scope(recording="week", at=10 * HOUR + minute * 60_000))[0]
        for minute in (5, 25, 35)
    }
    assert first[5] == ("Anna", "Tom", "Anna", "Tom")
    assert first[25] == ("Anna", "Thomas Reed", "Anna", "Tom")
    assert first[35] == ("Anna Keller", "Thomas Reed", "Anna", "Tom")
    store.entities.undo("week")
    assert told(store, RELATIONS)[0] == ("Anna Keller", "Tom", "Anna", "Tom")


def test_sql_knows_the_names_of_the_scopes_own_worlds_by_its_time_alone(store):
    store.put_video(film("v3", recording="other"))
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Mara", "TALKS_TO", "Tom", 30))
    store.add("graph", [related("Zoe", "TALKS_TO", "Tom", 3, "v3")])
    store.entities.resolve("other")
    early = Scope(recording="week", at=10 * HOUR + 5 * 60_000)
    assert sorted(told(store, "SELECT name FROM known_name", early)) == [("Anna",), ("Tom",)]
    assert sorted(told(store, "SELECT name FROM known_name")) == [("Anna",), ("Mara",), ("Tom",)]


def test_sql_shows_what_is_not_resolved_yet_as_it_was_named(store):
    store.add("graph", [related("Anna", "TALKS_TO", "Tom")])
    assert told(store, RELATIONS) == (("Anna", "Tom", "Anna", "Tom"),)


def test_two_recordings_do_not_share_people(store):
    store.put_video(film("v3", recording="other"))
    put(store, related("Anna", "TALKS_TO", "Tom"))
    store.add("graph", [related("Anna", "TALKS_TO", "Tom", 3, "v3")])
    store.entities.resolve("other")
    assert sorted(store.graph.worlds()) == ["other", "week"]
    assert len(store.graph.exactly("Anna", Scope())) == 2 and len(store.graph.exactly("Anna", WEEK)) == 1


def test_facts_carry_the_fullest_name_and_the_name_in_the_row(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Anna Keller", "TALKS_TO", "Tom", 1))
    facts = store.graph.facts(Wanted(sources=store.graph.exactly("anna keller", WEEK)), WEEK)
    assert [(f.source, f.said_source) for f in facts] == [("Anna Keller", "Anna Keller"), ("Anna Keller", "Anna")]
    assert facts[0].start == 10 * HOUR + 60_000 and facts[0].by_rules


def test_a_full_name_learned_later_does_not_name_what_is_asked_about_before(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Anna Keller", "TALKS_TO", "Tom", 30))
    early = Scope(recording="week", at=10 * HOUR + 5 * 60_000)
    (fact,) = store.graph.facts(Wanted(), early)
    assert fact.source == "Anna"
    assert store.graph.exactly("Anna Keller", early) == frozenset()
    assert [e.aliases for e in store.graph.entities(early, "person")] == [("Anna",), ("Tom",)]


def test_a_window_and_the_nearest_rows_are_read_in_order_of_time(store):
    put(store, *(related("Anna", "TALKS_TO", "Tom", m) for m in range(50)))
    at = 10 * HOUR + 20 * 60_000
    near = store.graph.facts(Wanted(), WEEK, near=at, limit=3)
    assert [(f.start - at) // 60_000 for f in near] == [0, -1, 1] or [abs(f.start - at) for f in near] == [
        0,
        60_000,
        60_000,
    ]
    inside = store.graph.facts(Wanted(start=at, end=at + 180_000), WEEK)
    assert sorted(f.start for f in inside) == [at, at + 60_000, at + 120_000]
    assert store.graph.count(Wanted(start=at, end=at + 180_000), WEEK) == 3


def test_nothing_fits_an_unknown_name(store):
    put(store, related("Anna", "TALKS_TO", "Tom"))
    assert store.graph.facts(Wanted(sources=frozenset()), WEEK) == []
    assert store.graph.count(Wanted(targets=frozenset()), WEEK) == 0
    assert store.graph.grouped(Wanted(sources=frozenset()), WEEK, "day") == []


def test_words_pet_forms_and_sounds_lead_to_an_entity(store):
    put(store, related("Thomas Reed", "USES", "green folder", kind="object"))
    (thomas,) = store.graph.exactly("Thomas Reed", WEEK)
    for written in ("Tom", "Reed", "Tomas", "Thomas Read"):
        assert thomas in store.graph.by_words(written, WEEK), written
    assert store.graph.by_words("folders", WEEK, "object") == store.graph.exactly("green folder", WEEK)
    assert store.graph.by_words("zebra", WEEK) == frozenset()


def test_counts_join_what_was_linked_by_the_time_of_the_question(store):
    put(
        store,
        related("Jojo", "TALKS_TO", "Tom"),
        related("Bernard Hale", "TALKS_TO", "Tom", 1),
        related("Jojo", ALSO_CALLED, "Bernard Hale", 30),
    )
    groups = store.graph.grouped(Wanted(), WEEK, "source")
    assert [(g.key, g.count) for g in groups] == [("Bernard Hale", 2)]
    early = Scope(recording="week", at=10 * HOUR + 10 * 60_000)
    assert {g.key: g.count for g in store.graph.grouped(Wanted(), early, "source")} == {"Jojo": 1, "Bernard Hale": 1}


def test_a_statement_of_a_name_is_never_given_as_an_answer(store):
    put(store, related("Jojo", ALSO_CALLED, "Bernard Hale"))
    assert store.graph.facts(Wanted(), WEEK) == [] and store.graph.count(Wanted(), WEEK) == 0


def test_merge_split_and_undo_keep_a_history(store):
    put(
        store,
        related("Ace", "TALKS_TO", "Tom"),
        related("Bernard Hale", "TALKS_TO", "Tom", 1),
        related("Anna", "USES", "Tom", 2),
    )
    store.add("speech", [spoken("Ace", 40)])
    merged = store.entities.merge("week", "Bernard Hale", "Ace")
    assert merged.learned_at == 10 * HOUR + 40 * 60_000 + 1_000, "known from the end of what was seen so far"
    assert set(names(store)["Bernard Hale"].aliases) == {"Ace", "Bernard Hale"}
    early = Scope(recording="week", at=10 * HOUR + 30 * 60_000)
    assert "Ace" in names(store, early), "a question about an earlier time does not profit"
    assert store.entities.undo("week").action == "merge"
    assert {"Ace", "Bernard Hale"} <= set(names(store))
    assert [(e.action, e.undone) for e in store.entities.history("week")] == [("merge", True)]
    with pytest.raises(UsageError, match="nothing to undo"):
        store.entities.undo("week")


def test_a_split_parts_what_was_taken_for_one_and_undo_joins_it_again(store):
    put(store, related("Anna Keller", "TALKS_TO", "Tom"), related("Anna", "TALKS_TO", "Tom", 1))
    assert "Anna" not in names(store)
    store.entities.split("week", "Anna", "Anna Keller")
    assert {"Anna", "Anna Keller"} <= set(names(store))
    store.entities.undo("week")
    assert "Anna" not in names(store)


def test_decisions_outlive_adding_a_video_again(store):
    rows = [related("Ace", "TALKS_TO", "Tom"), related("Bernard Hale", "TALKS_TO", "Tom", 1)]
    put(store, *rows)
    store.entities.merge("week", "Bernard Hale", "Ace", at=0)
    store.remove_video("v1")
    store.put_video(film())
    put(store, *rows)
    assert set(names(store)["Bernard Hale"].aliases) == {"Ace", "Bernard Hale"}


def test_names_that_nobody_bears_cannot_be_decided_about(store):
    put(store, related("Anna", "TALKS_TO", "Tom"))
    with pytest.raises(NotFoundError, match="Zoe"):
        store.entities.merge("week", "Zoe", "Yves")
    with pytest.raises(UsageError, match="same name"):
        store.entities.merge("week", "Anna", "anna")


def test_a_diarizers_label_is_another_person_in_each_file(store):
    put(store, related("SPEAKER_01", "TALKS_TO", "Tom"), related("SPEAKER_01", "TALKS_TO", "Tom", 1, "v2"))
    assert sum(name.startswith("SPEAKER_01") for name in names(store)) == 2


def test_a_video_without_recording_is_a_world_of_its_own(store):
    store.put_video(film("v4", recording=None))
    store.add("graph", [related("Anna", "TALKS_TO", "Tom", 0, "v4")])
    assert store.graph.world_of("v4") == "v4"
    store.entities.resolve("v4")
    assert {e.world for e in store.graph.entities(Scope(video="v4"))} == {"v4"}
    with pytest.raises(NotFoundError):
        store.graph.world_of("nope")


def test_the_scope_holds_for_every_question(store):
    put(store, related("Anna", "TALKS_TO", "Tom"), related("Mara", "TALKS_TO", "Tom", 1, "v2"))
    only = Scope(video="v2")
    assert [f.source for f in store.graph.facts(Wanted(), only)] == ["Mara"]
    assert {e.name for e in store.graph.entities(only, "person")} == {"Mara", "Tom"}
    assert [(g.key, g.count) for g in store.graph.grouped(Wanted(), only, "source")] == [("Mara", 1)]
