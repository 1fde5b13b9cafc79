from __future__ import annotations

import random
from dataclasses import replace

import pytest

from videmus import clock
from videmus.config import GraphSettings
from videmus.evaluate.week.questions import true_facts
from videmus.search.ladder import Slots, climb
from week_library import RECORDING, at, two_days

SETTINGS = GraphSettings()


@pytest.fixture(scope="module")
def graph():
    return two_days().store.graph


@pytest.fixture(scope="module")
def facts():
    return list(true_facts(two_days().telling))


def slots_of(fact):
    line, source, relation, target = fact
    day = clock.day_number(line.start)
    return Slots(day, line.start % clock.DAY_MS, line.end % clock.DAY_MS, source, target, relation)


def holds(climbed, fact):
    line, _, relation, _ = fact
    return any(
        r.fact.start <= line.end and r.fact.end >= line.start and r.fact.relation == relation for r in climbed.rows
    )


def share_found(graph, facts, change, tries=250):
    chance = random.Random(3)
    chosen = [chance.choice(facts) for _ in range(tries)]
    return sum(holds(climb(graph, change(slots_of(f), chance), RECORDING, SETTINGS), f) for f in chosen) / tries


def test_true_slots_find_their_row(graph, facts):
    assert share_found(graph, facts, lambda slots, chance: slots) >= 0.98


def test_a_wrong_time_finds_the_row_all_the_same(graph, facts):
    def shifted(slots, chance):
        start = max(0, slots.start + chance.choice((-1, 1)) * chance.randrange(5, 90) * clock.MINUTE_MS)
        return replace(slots, start=start, end=start + 30_000)

    assert share_found(graph, facts, shifted) >= 0.97


def test_a_missing_relation_finds_the_row(graph, facts):
    assert share_found(graph, facts, lambda slots, chance: replace(slots, relation=None)) >= 0.98


def test_given_names_find_the_row(graph, facts):
    shared = {p[0] for p in two_days().telling.week.vocabulary.people[-2:]}

    def first_names(slots, chance):
        given = slots.source.split()[0]
        return slots if given in shared else replace(slots, source=given)

    assert share_found(graph, facts, first_names) >= 0.98


def test_rungs_run_strictest_first_and_the_first_over_three_rows_ends_the_ladder(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[0][:2])
    climbed = climb(graph, Slots(1, 0, 1000, person, None, "TALKS_TO"), RECORDING, SETTINGS)
    assert [r.name for r in climbed.rungs] == ["exact", "any time"]
    assert climbed.rungs[0].found == 0 and climbed.rungs[1].found > 3
    assert {r.rung for r in climbed.rows} == {"any time"}


def test_the_result_is_the_union_and_each_row_bears_its_strictest_rung(graph):
    enough = replace(SETTINGS, ladder_enough=10_000)
    person = " ".join(two_days().telling.week.vocabulary.people[0][:2])
    climbed = climb(graph, Slots(2, None, None, person, "scullery", "INTERACTS_WITH"), RECORDING, enough)
    names = [r.name for r in climbed.rungs]
    order = [names.index(r.rung) for r in climbed.rows]
    assert order == sorted(order) and len({r.fact.id for r in climbed.rows}) == len(climbed.rows)
    assert names[-1] == "target" and len(climbed.rows) == SETTINGS.ladder_rows and climbed.more


def test_a_name_that_nobody_bears_is_found_by_its_words_and_sounds(graph):
    climbed = climb(graph, Slots(source="Teo Banks", target=None, relation="USES"), RECORDING, SETTINGS)
    assert climbed.rows and {r.rung for r in climbed.rows} == {"words"}
    assert any(r.fact.source == "Theodore Banks" for r in climbed.rows)


def test_an_unknown_name_finds_nothing_and_every_rung_is_logged(graph):
    climbed = climb(graph, Slots(source="Qwxzy", target="Vbnmk", relation="USES"), RECORDING, SETTINGS)
    assert climbed.rows == () and all(r.found == 0 for r in climbed.rungs)
    assert all(r.filters for r in climbed.rungs)


def test_no_rung_sees_past_the_time_of_the_question(graph, facts):
    asked = at("DAY1 12:00:00")
    for line, source, relation, target in facts[-40:]:
        assert line.start > asked
        climbed = climb(graph, Slots(2, None, None, source, target, relation), replace(RECORDING, at=asked), SETTINGS)
        assert all(r.fact.end <= asked for r in climbed.rows)


def test_rows_nearest_to_the_asked_time_stay_when_there_are_too_many(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[1][:2])
    few = replace(SETTINGS, ladder_rows=5)
    asked = Slots(1, 10 * clock.HOUR_MS, 10 * clock.HOUR_MS + 1000, person, None, None)
    middle = at("DAY1 10:00:00")
    near = [abs(r.fact.start - middle) for r in climb(graph, asked, RECORDING, few).rows]
    wide = [abs(r.fact.start - middle) for r in climb(graph, asked, RECORDING, SETTINGS).rows]
    assert near == sorted(wide)[:5]
