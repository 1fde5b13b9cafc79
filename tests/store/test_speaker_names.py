from __future__ import annotations

import pytest
from store_material import said, video

from videmus.errors import NotFoundError, UsageError
from videmus.graph.extract import row_of
from videmus.model import Origin, Scope
from videmus.store.sqlite import SqliteStore

HOUR = 3_600_000


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(video("v1", recorded_at=10 * HOUR, recording="week"))
    store.put_video(video("v2", recorded_at=12 * HOUR, recording="week"))
    store.add(
        "hear",
        [said("hello", 0, speaker="S1"), said("good day", 2_000, speaker="S2"), said("and so on", 9_000, speaker="S1")],
    )
    store.add("hear", [said("again", 0, of="v2", speaker="S1")])
    yield store
    store.close()


def shown(store, at=None, video="v1"):
    return [row.speaker for row in store.speakers.named(store.evidence(Scope(video=video)), at)]


def test_voices_are_listed_with_how_much_they_say(store):
    voices = store.speakers.voices(Scope(video="v1"))
    assert [(v.label, v.name, v.utterances, v.spoken_ms) for v in voices] == [
        ("S1", "S1", 2, 2_000),
        ("S2", "S2", 1, 1_000),
    ]


def test_a_label_is_called_by_a_name_in_its_video_alone(store):
    store.speakers.name("S1", "Anna", ["v1"])
    assert shown(store) == ["Anna", "S2", "Anna"] and shown(store, video="v2") == ["S1"]


def test_two_labels_are_merged_by_one_name(store):
    store.speakers.merge(["S1", "S2"], "Anna", ["v1"])
    assert set(shown(store)) == {"Anna"}
    assert store.speakers.undo() and shown(store) == ["S1", "S2", "S1"]


def test_a_span_of_a_label_is_split_off(store):
    store.speakers.name("S1", "Anna", ["v1"])
    store.speakers.name("S1", "Tom", ["v1"], start_ms=5_000)
    assert shown(store) == ["Anna", "S2", "Tom"]
    store.speakers.undo()
    assert shown(store) == ["Anna", "S2", "Anna"]
    store.speakers.undo()
    assert shown(store) == ["S1", "S2", "S1"]
    with pytest.raises(UsageError, match="nothing to undo"):
        store.speakers.undo()
    assert [g.undone for g in store.speakers.history()] == [True, True]


def test_a_part_of_a_label_that_was_split_off_is_listed_as_a_speaker_of_its_own(store):
    def listed(at=None):
        return [
            (v.label, v.name, v.utterances, v.spoken_ms, v.first_ms) for v in store.speakers.voices(Scope("v1", at=at))
        ]

    store.add("hear", [said("so it is", 12_000, speaker="S1")])
    store.speakers.name("S1", "Tom", ["v1"], start_ms=5_000)
    assert listed() == [("S1", "Tom", 2, 2_000, 9_000), ("S1", "S1", 1, 1_000, 0), ("S2", "S2", 1, 1_000, 2_000)]
    assert listed(10 * HOUR + 11_000) == [("S1", "S1", 2, 2_000, 0), ("S2", "S2", 1, 1_000, 2_000)]
    store.speakers.name("S1", "Anna", ["v1"])
    assert [(name, count) for _, name, count, _, _ in listed()] == [("Anna", 3), ("S2", 1)]


def test_a_span_in_which_nothing_of_a_label_begins_is_refused(store):
    with pytest.raises(UsageError, match="no utterance of S1 begins in that span") as caught:
        store.speakers.name("S1", "Tom", ["v1", "v2"], start_ms=9_500)
    assert "nearest begins at 0:09 in v1" in caught.value.next and store.speakers.history() == []
    store.speakers.name("S1", "Tom", ["v1", "v2"], start_ms=9_000)
    assert [given.video for given in store.speakers.history()] == ["v1"]


def test_a_name_given_later_does_not_apply_to_an_earlier_question(store):
    store.speakers.name("S1", "Anna", ["v1"])
    end = 10 * HOUR + 10_000
    assert shown(store, end - 1) == ["S1", "S2", "S1"] and shown(store, end) == ["Anna", "S2", "Anna"]


def test_a_scope_finds_a_speaker_by_label_and_by_name(store):
    store.speakers.name("S1", "Anna", ["v1"])
    assert [r.text for r in store.evidence(Scope(speaker="anna"))] == ["hello", "and so on"]
    assert [r.text for r in store.evidence(Scope(speaker="S1"))] == ["hello", "and so on", "again"]
    early = Scope(speaker="Anna", at=10 * HOUR + 5_000)
    assert store.evidence(early) == []
    store.speakers.undo()
    assert store.evidence(Scope(speaker="anna")) == []


def test_names_survive_hearing_the_video_anew(store):
    store.speakers.name("S1", "Anna", ["v1"])
    store.remove_video("v1")
    store.put_video(video("v1", recorded_at=10 * HOUR, recording="week"))
    store.add("hear", [said("hello once more", 0, speaker="S1")])
    assert shown(store) == ["Anna"]


def test_a_label_that_nobody_has_is_an_error(store):
    with pytest.raises(NotFoundError, match="S9"):
        store.speakers.name("S9", "Anna", ["v1"])
    with pytest.raises(UsageError):
        store.speakers.name("S1", "  ", ["v1"])
    assert store.speakers.history() == []


def test_the_graph_knows_a_named_voice_under_its_name(store):
    origin = Origin("graph", 1)
    row = row_of("v1", 0, 1_000, "SPEAKER_01", "person", "TALKS_TO", "Tom", "person", "e1", 0.6, origin)
    store.add("graph", [row])
    store.add("hear", [said("hi", 20_000, speaker="SPEAKER_01")])
    store.speakers.name("SPEAKER_01", "Anna", ["v1"])
    store.entities.resolve("week")
    (anna,) = [e for e in store.graph.entities(Scope(), "person") if "Anna" in e.aliases]
    assert anna.relations == 1
