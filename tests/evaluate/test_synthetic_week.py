from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from videmus import clock
from videmus.errors import UsageError
from videmus.evaluate.week import make_week
from videmus.evaluate.week.files import hour_files, write
from videmus.evaluate.week.vocabulary import vocabulary
from videmus.graph.entities import ALSO_CALLED


def test_a_week_is_fifty_two_hours_over_seven_days():
    week = make_week(1).week
    assert sum(end - start for start, end in week.sessions) == 52 * clock.HOUR_MS
    assert {clock.day_number(start) for start, _ in week.sessions} == set(range(1, 8))


def test_the_same_seed_gives_the_same_week_and_another_one_another():
    assert make_week(3, days=1, hours=1).lines == make_week(3, days=1, hours=1).lines
    assert make_week(3, days=1, hours=1).lines != make_week(4, days=1, hours=1).lines


def test_any_length_is_made_to_the_slot():
    for days, hours in ((1, 0.5), (3, 10), (2, 7.25)):
        week = make_week(0, days=days, hours=hours).week
        assert sum(e - s for s, e in week.sessions) == int(hours * 120) * 30_000


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), days=st.integers(1, 7), hours=st.floats(0, 12))
@example(seed=0, days=7, hours=1.0)  # an errand begins in a session's last half minute
@example(seed=2, days=1, hours=9.3)  # and in the week's
@example(seed=1, days=2, hours=38.5)  # the second morning begins where the first evening ends
def test_whatever_the_length_every_line_lies_inside_its_file_and_files_do_not_overlap(seed, days, hours):
    telling = make_week(seed, days=days, hours=min(hours, days * 19.25))
    files = list(hour_files(telling))
    assert sum(len(file.lines) for file in files) == len(telling.seen())
    assert all(one.start + one.duration_ms <= other.start for one, other in itertools.pairwise(files))
    for file in files:
        for stream in ("speech", "scene"):
            for row in file.document()[stream]:
                assert 0 <= row["start_ms"] < row["end_ms"] <= file.duration_ms <= clock.HOUR_MS


@pytest.mark.parametrize(("days", "hours"), [(0, 1), (1, -1), (1, 20), (2, 40)])
def test_more_hours_than_days_have_are_refused(days, hours):
    with pytest.raises(UsageError, match="do not fit"):
        make_week(0, days=days, hours=hours)


def test_names_vary_as_people_speak():
    telling = make_week(2)
    people = telling.week.vocabulary.people
    forms: Counter[str] = Counter()
    for line in telling.seen():
        for relation in line.relations:
            if line.stream == "scene" and relation.source_name:
                given, family, short, nickname, _ = people[int(relation.source[1:])]
                name = relation.source_name
                known = {short: "nickname", nickname: "nickname", given: "plain", f"{given} {family}": "plain"}
                forms[known.get(name, "misspelt")] += 1
    whole = forms.total()
    assert 0.17 < forms["nickname"] / whole < 0.23 and 0.035 < forms["misspelt"] / whole < 0.065
    assert len({p[0] for p in people}) == len(people) - 1, "two people share a given name"
    missing = sum(line.missing for line in telling.lines) / len(telling.lines)
    assert 0.03 < missing < 0.07


def test_every_invented_nickname_is_explained_once():
    telling = make_week(2)
    stated = [r for line in telling.lines for r in line.relations if r.relation == ALSO_CALLED]
    assert len(stated) == len({r.source for r in stated}) == 6


def test_the_two_vocabularies_share_no_names_things_or_verbs():
    first, second = vocabulary("first"), vocabulary("second")
    words = [
        {w for p in v.people for w in p[:4]}
        | {t[0] for t in v.things}
        | {verb for kind in (v.use, v.take, v.put, v.give) for verb, _ in kind}
        for v in (first, second)
    ]
    assert not words[0] & words[1] and len(second.things) == 40 and len(second.people) == 6


def test_relations_are_stated_by_the_words_of_their_line():
    for line in make_week(6, days=1, hours=2).seen():
        for relation in line.relations:
            spoken = f"{line.speaker or ''} {line.text}".casefold()
            if relation.target_kind == "person" and line.stream == "scene":
                assert relation.target_name.casefold() in spoken


def test_the_week_is_written_as_evidence_files_named_by_the_clock(tmp_path):
    telling = make_week(1, days=2, hours=6)
    paths = write(telling, tmp_path / "week")
    starts = [clock.clock_from_name(p.name) for p in paths]
    assert starts == [f.start for f in hour_files(telling)] and starts == sorted(starts)
    documents = [json.loads(p.read_text("utf-8")) for p in paths]
    assert all(d["videmus_evidence"] == 1 and d["duration_ms"] <= clock.HOUR_MS for d in documents)
    count = sum(len(d["speech"]) + len(d["scene"]) for d in documents)
    assert count == len(telling.seen())
    for document in documents:
        for row in (*document["speech"], *document["scene"]):
            assert 0 <= row["start_ms"] < row["end_ms"] <= document["duration_ms"]


def test_a_thing_is_where_it_was_put():
    """The hidden state holds together: what is given was taken before, in the same episode."""
    events = make_week(4, days=1, hours=3).week.events
    held: dict[int, int] = {}
    for event in events:
        if event.kind == "take":
            held[event.thing] = event.who
        if event.kind in ("put", "give"):
            assert held[event.thing] == event.who
            if event.kind == "give":
                held[event.thing] = event.other
