"""Any history of a library, step by step beside a plain picture of what must be in it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from store_material import JPEG, picture_row, piece, related, said, video

from videmus.model import Evidence, Frame, Row, Scope
from videmus.store.protocol import Work
from videmus.store.sqlite import IMPORTED, SqliteStore

VIDEOS = st.sampled_from(["v1", "v2"])
STAGES = st.sampled_from(["hear", "read"])
KEYS = st.sampled_from(["k1", "k2"])
SLOTS = st.lists(st.integers(0, 5), min_size=1, max_size=4)


def rows_of(video_id: str, stage: str, slots: list[int]) -> list[Row]:
    made: list[Row] = []
    for n in slots:
        at = n * 10_000 + (0 if stage == "hear" else 5_000)
        made += [
            said(f"spoken {stage} {n}", at, of=video_id),
            piece(at, at + 500, of=video_id),
            picture_row(at, of=video_id),
            related("Ann", "USES", f"thing {n}", at, of=video_id),
        ]
    return made


class Histories(RuleBasedStateMachine):
    """`rows` is {(video, stage): {id: row}}, `work` {(video, stage): (key, state)}, `drafts` {(video, stage): (key, rows)}
    where rows of an earlier key are there until the new ones are whole."""

    @initialize()
    def new(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="videmus-history-"))
        self.store = SqliteStore(self.folder)
        self.rows: dict[tuple[str, str], dict[str, Row]] = {}
        self.work: dict[tuple[str, str], tuple[str, str]] = {}
        self.drafts: dict[tuple[str, str], tuple[str, dict[str, Row]]] = {}
        self.videos: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(id=VIDEOS)
    def a_video_is_put(self, id: str) -> None:
        self.store.put_video(video(id, recorded_at=0))
        self.videos.add(id)

    @rule(id=VIDEOS)
    def a_video_is_removed(self, id: str) -> None:
        self.store.remove_video(id)
        self.videos.discard(id)
        self.rows = {key: rows for key, rows in self.rows.items() if key[0] != id}
        self.work = {key: work for key, work in self.work.items() if key[0] != id}
        self.drafts = {key: draft for key, draft in self.drafts.items() if key[0] != id}

    @precondition(lambda self: self.videos)
    @rule(id=VIDEOS, stage=STAGES, key=KEYS)
    def a_stage_begins(self, id: str, stage: str, key: str) -> None:
        if id not in self.videos:
            return
        before = self.work.get((id, stage))
        wanted = before is None or (before != (key, "done") and before[0] != IMPORTED)
        assert self.store.begin(id, stage, key) == wanted
        if wanted:
            drafted = self.drafts.get((id, stage))
            if drafted is not None and drafted[0] != key:
                del self.drafts[id, stage]
            goes_on = drafted[0] == key if drafted else before is not None and before[0] == key
            if not goes_on and self.rows.get((id, stage)):
                self.drafts[id, stage] = (key, {})
            self.work[id, stage] = (key, "running")

    @precondition(lambda self: self.work)
    @rule(data=st.data(), state=st.sampled_from(["done", "failed", "skipped"]))
    def a_stage_ends(self, data: st.DataObject, state: str) -> None:
        id, stage = data.draw(st.sampled_from(sorted(self.work)))
        key, _ = self.work[id, stage]
        self.store.finish(Work(id, stage, key, state))
        if key != IMPORTED:
            self.work[id, stage] = (key, state)
            if state == "done" and self.drafts.get((id, stage), ("", {}))[0] == key:
                self.rows[id, stage] = self.drafts.pop((id, stage))[1]

    @precondition(lambda self: self.videos)
    @rule(id=VIDEOS, stage=STAGES, slots=SLOTS)
    def rows_are_added(self, id: str, stage: str, slots: list[int]) -> None:
        if id not in self.videos:
            return
        rows = rows_of(id, stage, slots)
        drafted = self.drafts.get((id, stage))
        there = drafted[1] if drafted else self.rows.setdefault((id, stage), {})
        new = {row.id: row for row in rows if row.id not in there}
        pictures = {row.id: JPEG for row in rows if isinstance(row, Frame)}
        assert self.store.add(stage, rows, pictures) == len(new)
        there.update(new)

    @precondition(lambda self: self.videos)
    @rule(id=VIDEOS, stage=STAGES, slots=SLOTS)
    def rows_are_imported(self, id: str, stage: str, slots: list[int]) -> None:
        if id not in self.videos:
            return
        rows = [row for row in rows_of(id, stage, slots) if not isinstance(row, Frame)]
        self.store.import_rows(id, stage, rows)
        self.rows[id, stage] = {row.id: row for row in rows}
        self.drafts.pop((id, stage), None)
        self.work[id, stage] = (IMPORTED, "done")

    @rule()
    def the_library_is_opened_again(self) -> None:
        self.store.close()
        self.store = SqliteStore(self.folder)

    @rule()
    def indexes_are_made_anew(self) -> None:
        self.store.rebuild_indexes()

    @invariant()
    def everything_is_as_it_must_be(self) -> None:
        if not hasattr(self, "store"):
            return
        assert {v.id for v in self.store.videos()} == self.videos
        for id in ("v1", "v2"):
            for stage in ("hear", "read"):
                wanted = self.rows.get((id, stage), {})
                assert {row.id: row for row in self.store.stage_rows(id, stage)} == wanted
                if id in self.videos:
                    begun = self.drafts[id, stage][1] if (id, stage) in self.drafts else wanted
                    assert {row.id: row for row in self.store.unfinished(id, stage)} == begun
            assert {w.stage: (w.key, w.state) for w in self.store.work(id)} == {
                stage: work for (video_id, stage), work in self.work.items() if video_id == id
            }
        rows = [row for stage in self.rows.values() for row in stage.values()]
        evidence = {row.id for row in rows if isinstance(row, Evidence)}
        assert {hit.id for hit in self.store.keyword_hits([["spoken"]], Scope(), 1000)} == evidence
        with self.store.open_readonly_sql() as sql:
            assert {id for (id,) in sql.query("SELECT id FROM v_evidence").rows} == evidence

    @invariant()
    def every_picture_has_its_frame_once_the_library_is_swept(self) -> None:
        if hasattr(self, "store"):
            frames = [row for stage in self.rows.values() for row in stage.values() if isinstance(row, Frame)]
            assert all(self.store.picture(frame) == JPEG for frame in frames)
            assert all(check.ok for check in self.store.check())


Histories.TestCase.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
TestHistories = Histories.TestCase
