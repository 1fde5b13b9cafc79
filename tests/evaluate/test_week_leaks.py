from __future__ import annotations

from dataclasses import replace

import pytest

from videmus.answer.agent_tools import TOOLS, PlannedStep, use
from videmus.evaluate.week import make_week
from videmus.evaluate.week.leaks import leaks, plant
from week_library import RECORDING, build


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    library = build(tmp_path_factory.mktemp("leaks") / "library", make_week(8, days=2, hours=2))
    facts = plant(library.files, "week", 30)
    for fact in facts:
        library.store.add("planted", fact.rows)
    library.store.entities.resolve("week")
    return library, facts


def test_no_tool_sees_what_was_planted_after_the_time_of_the_question(planted):
    library, facts = planted
    assert list(leaks(library.parts(), facts, RECORDING, 250, seed=4)) == []


def test_the_same_facts_are_found_once_their_time_is_past(planted):
    """The search for leaks would find one: without a time of the question every tool finds the planted word."""
    library, facts = planted
    fact = facts[0]
    steps = {
        "transcript": {"queries": [fact.word]},
        "screen": {"queries": [fact.word]},
        "captions": {"queries": [fact.word]},
        "summaries": {"queries": [fact.word]},
        "frames": {"queries": [fact.word]},
        "graph": {"source": fact.word},
        "sql": {"sql": f"SELECT text FROM v_evidence WHERE text LIKE '%{fact.word}%'"},
    }
    assert set(steps) == set(TOOLS) - {"look"}
    for tool, given in steps.items():
        step = PlannedStep(tool=tool, task="t", **given)
        late = use(library.parts(), step, replace(RECORDING, at=fact.known_from), 0)
        early = use(library.parts(), step, replace(RECORDING, at=fact.known_from - 1), 0)
        assert fact.word in f"{late.text} {[r.text for r in late.rows]}".lower(), tool
        assert fact.word not in f"{early.text} {[r.text for r in early.rows]}".lower(), tool


def test_a_leak_would_be_told(planted):
    """Facts said to be known later than they are: what the tools rightly show is then a leak."""
    library, facts = planted
    late = [replace(f, known_from=f.known_from + 10 * 3_600_000) for f in facts]
    assert list(leaks(library.parts(), late, RECORDING, 60, seed=1))


def test_a_nickname_learned_later_does_not_apply(planted):
    library, _ = planted
    graph = library.store.graph
    everyone = graph.entities(RECORDING, "person")
    stated = next(
        r for r in library.store.relations(RECORDING) if r.relation == "ALSO_CALLED" and not r.source.startswith("Zq")
    )
    video = library.store.video(stated.video)
    known_from = video.recorded_at + stated.end_ms
    nick, full = stated.source, stated.target
    assert any(nick in e.aliases and full in e.aliases for e in everyone)
    before = graph.entities(replace(RECORDING, at=known_from - 1), "person")
    assert not any(nick in e.aliases and full in e.aliases for e in before)
