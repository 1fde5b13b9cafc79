from __future__ import annotations

from collections import Counter

import pytest

from videmus import clock
from videmus.search.aggregates import aggregate, asks_for_counts, described
from videmus.search.ladder import Slots
from week_library import RECORDING, two_days


@pytest.fixture(scope="module")
def graph():
    return two_days().store.graph


@pytest.mark.parametrize(
    "question",
    ["How often did he ride?", "Who usually cooks?", "When did we first meet?", "What is the last thing she took?"],
)
def test_questions_about_many_rows_are_known_by_their_words(question):
    assert asks_for_counts(question)


@pytest.mark.parametrize("question", ["Why does it diverge?", "Where is the red mug?", "What did Tom say about paint?"])
def test_other_questions_are_not(question):
    assert not asks_for_counts(question)


def test_counts_are_over_all_rows_and_not_over_a_sample(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[0][:2])
    slots = Slots(source=person, relation="TALKS_TO")
    found = aggregate(graph, slots, RECORDING)
    rows = [f for f in two_days().store.relations(RECORDING) if f.relation == "TALKS_TO"]
    assert 50 < found.total <= len(rows)
    assert found.total == sum(g.count for g in found.days) == sum(g.count for g in found.hours)
    assert [int(g.key) for g in found.days] == [0, 1]


def test_first_last_and_partners_are_those_of_the_rows(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[2][:2])
    slots = Slots(source=person, relation="TALKS_TO")
    found = aggregate(graph, slots, RECORDING)
    wanted = graph.exactly(person, RECORDING)
    from videmus.store.graph import Wanted

    facts = graph.facts(Wanted(sources=wanted, relation="TALKS_TO"), RECORDING, limit=100_000)
    assert len(facts) == found.total
    assert found.first.start == min(f.start for f in facts) and found.last.start == max(f.start for f in facts)
    assert {g.key: g.count for g in found.partners} == dict(Counter(f.target for f in facts))
    assert set(found.evidence) <= {f.evidence for f in facts}


def test_a_day_narrows_the_counts(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[0][:2])
    both = aggregate(graph, Slots(source=person), RECORDING)
    second = aggregate(graph, Slots(day=2, source=person), RECORDING)
    assert 0 < second.total < both.total
    assert clock.day_number(second.first.start) == 2


def test_counts_read_as_lines_with_days_and_clock_times(graph):
    person = " ".join(two_days().telling.week.vocabulary.people[0][:2])
    text = described(aggregate(graph, Slots(source=person, relation="USES"), RECORDING))
    assert "by day: DAY1 " in text and "first: " in text and f"{person} USES" in text
    assert described(aggregate(graph, Slots(source="Nobody Atall"), RECORDING)) == "no relation fits"
