"""kill -9 in the middle of an ingest, and two ingests of one video at once: the same rows as without, nothing done twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from videmus.model import Scope
from videmus.store.sqlite import SqliteStore

STAGES = ("hear", "watch", "describe", "narrate")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fork and no kill -9 there")


class Ingests:
    """Ingests of one library, one process each, all forked from one that has imported what they need."""

    def __init__(self, folder: Path) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("scripted_ingest.py")), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, kill_after: int | None = None, version: int = 1) -> list[str]:
        """What one ingest told until it ended, or until it was killed after so many lines."""
        self._parent.stdin.write(f"{version}\n")
        self._parent.stdin.flush()
        child = int(self._parent.stdout.readline())
        told: list[str] = []
        while (line := self._parent.stdout.readline().strip()) != "over":
            told.append(line)
            if len(told) == kill_after:
                os.kill(child, signal.SIGKILL)
        return told

    def close(self) -> list[str]:
        """Wait for what is at work; what it told since it was last asked."""
        told, errors = self._parent.communicate(timeout=30)
        assert not errors, errors
        return told.splitlines()


def everything(folder: Path):
    """(rows by stage, pictures, state) of the library's one video."""
    store = SqliteStore(folder)
    rows = {stage: store.stage_rows("v1", stage) for stage in STAGES}
    pictures = {frame.picture: store.picture(frame) for frame in store.frames(Scope(video="v1"))}
    state = store.video("v1").state
    checks = store.check()
    store.close()
    assert all(check.ok for check in checks), checks
    return rows, pictures, state


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    ingests = Ingests(folder)
    told = ingests.run()
    ingests.close()
    assert [told.count(f"started {stage}") for stage in STAGES] == [1, 1, 1, 1]
    rows, _, state = made = everything(folder)
    assert {stage: len(found) for stage, found in rows.items()} == {
        "hear": 25,
        "watch": 20,
        "describe": 20,
        "narrate": 25,
    }
    assert state == "ready"
    return made


def test_an_ingest_killed_at_25_random_moments_ends_with_the_same_rows_and_redoes_no_finished_stage(
    tmp_path, uninterrupted
):
    chance = random.Random(12)
    ingests = Ingests(tmp_path)
    told: list[str] = []
    kills = 0
    for _ in range(25):
        lines = ingests.run(kill_after=chance.randrange(1, 14))
        kills += "ended narrate done" not in lines or "ended describe done" not in lines
        told += lines
    told += ingests.run()
    assert everything(tmp_path) == uninterrupted
    for stage in STAGES:
        ended = told.index(f"ended {stage} done")
        assert f"started {stage}" not in told[ended:]
    asked, kept = (Counter(line for line in told if line.startswith(word)) for word in ("asked", "kept"))
    assert len(asked) == 20
    assert set(kept.values()) == {1}  # a reply that was kept is never asked for again
    assert kills >= 10
    ingests.close()


def test_rows_made_anew_take_the_old_ones_places_whole_at_whichever_moment_it_is_killed(tmp_path, uninterrupted):
    chance = random.Random(7)
    made_anew, fresh = Ingests(tmp_path / "anew"), Ingests(tmp_path / "fresh")
    made_anew.run()
    fresh.run(version=2)
    old, new = uninterrupted[0], everything(tmp_path / "fresh")
    between = 0
    for _ in range(12):
        made_anew.run(kill_after=chance.randrange(1, 40), version=2)
        store = SqliteStore(tmp_path / "anew")
        for stage in STAGES:
            rows = store.stage_rows("v1", stage)
            assert rows in (old[stage], new[0][stage])
            between += rows == old[stage] and bool(store.unfinished("v1", stage))
        assert [check.name for check in store.check() if not check.ok] in (["runs"], [])
        store.close()
    made_anew.run(version=2)
    assert everything(tmp_path / "anew") == new
    assert between >= 4, "it was killed amid stages, too"
    made_anew.close()
    fresh.close()


def test_two_ingests_of_one_video_take_turns_and_the_second_finds_all_done(tmp_path, uninterrupted):
    pair = [Ingests(tmp_path) for _ in range(2)]
    for one in pair:  # both at once: neither waits for the other to be told to begin
        one._parent.stdin.write("1\n")
        one._parent.stdin.flush()
    told = [one.close() for one in pair]
    starts = Counter(line for lines in told for line in lines if line.startswith("started"))
    assert starts == {f"started {stage}": 1 for stage in STAGES}
    assert everything(tmp_path) == uninterrupted


def test_rows_of_an_ingest_at_work_are_not_found_by_a_search(tmp_path):
    ingests = Ingests(tmp_path)
    ingests.run(kill_after=12)
    store = SqliteStore(tmp_path)
    assert store.keyword_hits([["said"]], Scope(), 10) == []
    assert store.evidence() == []
    assert not store.busy("v1")
    assert [check.name for check in store.check() if not check.ok] == ["runs"]
    ingests.run()
    assert len(store.keyword_hits([["said"]], Scope(), 100)) == 25
    store.close()
    ingests.close()
