"""What every store does, whatever it keeps its rows in. A store's test class inherits this and gives a `store` fixture."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from store_material import HOUR, JPEG, one_of_each, picture_row, piece, related, said, video, words

from videmus.errors import LibraryError, NotFoundError, QueryError, UsageError
from videmus.model import Origin, Scope
from videmus.store.protocol import Store, Work


class StoreContract:
    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    # ------------------------------------------------------------ videos

    def test_a_video_comes_back_as_it_was_put(self, store):
        given = video(
            recorded_at=-5, collection="c", recording="r", language="de", reason="why", state="partial",
            has_audio=False, added_at=7, options={"language": "de", "transcribe": True},
        )  # fmt: skip
        store.put_video(given)
        assert store.video("v1") == given
        assert store.video_by_fingerprint("print of v1") == given
        assert store.video("v2") is None
        assert store.video_by_fingerprint("v1") is None

    def test_putting_a_video_again_replaces_what_is_known_and_keeps_its_rows(self, store):
        store.put_video(video())
        store.add("hear", [said("hello")])
        store.put_video(video(title="Better"))
        assert [v.title for v in store.videos()] == ["Better"]
        assert [e.text for e in store.evidence()] == ["hello"]

    def test_two_videos_of_the_same_content_are_refused(self, store):
        store.put_video(video())
        with pytest.raises(LibraryError, match="same content"):
            store.put_video(video("v2", fingerprint="print of v1"))
        assert [v.id for v in store.videos()] == ["v1"]

    def test_editing_changes_single_fields_of_the_latest_state(self, store):
        store.put_video(video())
        store.put_video(video(state="partial"))
        edited = store.edit_video("v1", title="New", recorded_at=5)
        assert edited == video(title="New", recorded_at=5, state="partial") == store.video("v1")

    def test_an_unknown_video_and_an_identity_are_not_edited(self, store):
        with pytest.raises(NotFoundError):
            store.edit_video("v1", title="New")
        store.put_video(video())
        with pytest.raises(UsageError, match="fingerprint"):
            store.edit_video("v1", fingerprint="other")

    def test_videos_are_listed_in_the_order_added_and_by_scope(self, store):
        store.put_video(video("v2", collection="c", recording="r"))
        store.put_video(video("v1", collection="c"))
        store.put_video(video("v0", state="processing"))
        assert [v.id for v in store.videos()] == ["v2", "v1", "v0"]
        assert [v.id for v in store.videos(Scope(collection="c"))] == ["v2", "v1"]
        assert [v.id for v in store.videos(Scope(recording="r"))] == ["v2"]
        assert [v.id for v in store.videos(Scope(video="v1"))] == ["v1"]

    def test_a_video_in_progress_is_as_long_as_it_was_at_the_time_of_the_question(self, store):
        store.put_video(video("past", recorded_at=0, duration_ms=1000))
        store.put_video(video("now", recorded_at=2000, duration_ms=HOUR))
        store.put_video(video("future", recorded_at=9000))
        store.put_video(video("unknown"))
        assert [(v.id, v.duration_ms) for v in store.videos(Scope(at=5000))] == [("past", 1000), ("now", 3000)]

    def test_every_place_of_a_video_is_remembered(self, store):
        store.put_video(video(source="/b.mp4"))
        store.note_place("v1", "/copy.mp4")
        store.edit_video("v1", source="/a.mp4")
        assert store.places("v1") == ["/a.mp4", "/b.mp4", "/copy.mp4"]

    def test_videos_are_found_by_the_place_that_they_are_at_now(self, store):
        store.put_video(video("v1", source="/a.mp4"))
        store.put_video(video("v2", source="/b.mp4"))
        store.put_video(video("v3", source="/a.mp4"))
        store.note_place("v2", "/a.mp4")
        store.edit_video("v3", source="/c.mp4")
        assert [v.id for v in store.videos_at(["/a.mp4"])] == ["v1"]
        assert [v.id for v in store.videos_at(["/c.mp4", "/b.mp4"])] == ["v2", "v3"]
        assert store.videos_at(["/d.mp4"]) == store.videos_at([]) == []

    def test_removing_a_video_leaves_nothing_of_it_and_all_of_the_others(self, store):
        for id in ("v1", "v2"):
            store.put_video(video(id))
            store.begin(id, "all", "k")
            rows = one_of_each(id)
            store.add("all", rows, {rows[3].id: JPEG})
            store.set_mark(id, "all", "subject", True)
            store.cache_call(f"key of {id}", b"reply", {"video": id})
        store.remove_video("v1")
        assert [v.id for v in store.videos()] == ["v2"]
        assert store.stage_rows("v1", "all") == []
        assert store.stage_rows("v2", "all") == one_of_each("v2")
        assert store.work("v1") == [] and len(store.work("v2")) == 1
        assert store.cached_call("key of v1") is None and store.cached_call("key of v2") == b"reply"
        assert store.picture(picture_row(0, of="v2")) == JPEG
        with pytest.raises(LibraryError):
            store.picture(picture_row(0, of="v1"))
        with pytest.raises(NotFoundError):
            store.marks("v1", "all")
        store.remove_video("v1")

    # ------------------------------------------------------------ rows

    def test_rows_of_every_kind_come_back_equal(self, store):
        store.put_video(video())
        assert store.add("all", one_of_each()) == 5
        assert store.stage_rows("v1", "all") == one_of_each()

    def test_rows_that_are_there_are_left_and_not_counted(self, store):
        store.put_video(video())
        store.add("hear", [said("hello"), said("hello")])
        assert store.add("hear", [replace(said("hello"), segment="other"), said("world", 5000)]) == 1
        assert [(e.text, e.segment) for e in store.evidence()] == [("hello", None), ("world", None)]

    def test_a_row_of_a_video_that_is_not_there_is_refused_and_nothing_of_its_batch_stays(self, store):
        store.put_video(video())
        with pytest.raises(NotFoundError, match="not in the library"):
            store.add("hear", [said("hello"), said("world", of="v9")])
        assert store.evidence() == []

    def test_a_long_detail_and_any_text_survive(self, store):
        store.put_video(video())
        text = "学习 Å ﷺ \u202e 3.5 \x00 '\"; DROP TABLE evidence; --" + " word" * 500
        row = said(text, detail=words(text))
        store.add("hear", [row])
        assert store.evidence() == [row]

    def test_half_a_character_is_refused_with_its_place(self, store):
        store.put_video(video())
        row = replace(said("x"), text="before \ud800 after")
        with pytest.raises(UsageError, match="lone surrogate") as caught:
            store.add("hear", [row])
        assert "before" in caught.value.where and caught.value.where.isascii()
        assert store.evidence() == []

    def test_evidence_is_asked_by_id_in_the_order_asked(self, store):
        store.put_video(video())
        first, second = said("a", 0), said("b", 5000)
        store.add("hear", [first, second])
        assert store.evidence_by_id([second.id, "none", first.id]) == [second, first]
        assert store.evidence_by_id([second.id, first.id], Scope(end=4000)) == [first]

    def test_evidence_is_ordered_by_time_and_limited(self, store):
        store.put_video(video())
        store.add("hear", [said("c", 9000), said("a", 1000), said("b", 2000)])
        assert [e.text for e in store.evidence(limit=2)] == ["a", "b"]
        assert [e.text for e in store.evidence(kinds=["screen"])] == []
        assert [e.text for e in store.evidence(kinds=["screen", "speech"])] == ["a", "b", "c"]

    def test_segments_are_asked_by_kind(self, store):
        store.put_video(video())
        store.add("slides", [piece(0, 9), piece(0, 9, "window"), piece(3, 5)])
        assert [(s.start_ms, s.kind) for s in store.segments(kind="slide")] == [(0, "slide"), (3, "slide")]
        assert len(store.segments()) == 3

    def test_a_video_in_processing_shows_its_rows_only_where_it_is_named(self, store):
        store.put_video(video(state="processing"))
        store.add("all", one_of_each())
        assert store.evidence() == store.segments() == store.frames() == store.relations() == []
        named = Scope(video="v1")
        assert len(store.evidence(named)) == 2
        assert [len(rows) for rows in (store.segments(named), store.frames(named), store.relations(named))] == [1, 1, 1]
        store.edit_video("v1", state="failed", reason="no sound")
        assert len(store.evidence()) == 2

    # ------------------------------------------------------------ pictures

    def test_a_picture_lies_beside_its_row(self, store):
        store.put_video(video())
        frame = picture_row(5)
        store.add("see", [frame], {frame.id: JPEG})
        assert store.picture(frame) == JPEG == store.picture_path(frame).read_bytes()

    def test_a_picture_that_would_leave_the_library_is_refused(self, store):
        store.put_video(video())
        for name in ("../library.db", "/etc/passwd", "v1/../../x", "", "C:x", "a\\b", "v1/\0"):
            frame = replace(picture_row(5), picture=name)
            with pytest.raises(LibraryError, match="inside"):
                store.add("see", [frame], {frame.id: JPEG})
            with pytest.raises(LibraryError, match="inside"):
                store.picture(frame)
        assert store.frames() == []

    def test_a_picture_never_replaces_one_of_another_video(self, store):
        for id in ("v1", "v2"):
            store.put_video(video(id))
        mine = picture_row(5)
        store.add("see", [mine], {mine.id: JPEG})
        intruder = replace(picture_row(5, of="v2"), picture=mine.picture)
        with pytest.raises(LibraryError, match="inside its video's folder"):
            store.add("see", [intruder], {intruder.id: b"other"})
        assert store.picture(mine) == JPEG and store.frames(Scope(video="v2")) == []

    @pytest.mark.parametrize("id", ["", "../v1", "a/b", "a\\b", ".hidden", "nul\0", "C:x", "x" * 65, "-rf", "a b"])
    def test_an_id_that_cannot_name_a_file_is_refused(self, store, id):
        with pytest.raises(UsageError, match="cannot be a video's id"):
            store.put_video(video(id))
        assert store.videos() == []

    def test_a_picture_without_its_row_is_a_mistake(self, store):
        store.put_video(video())
        with pytest.raises(UsageError, match="f9"):
            store.add("see", [picture_row(5)], {"f9": JPEG})
        assert store.frames() == []

    # ------------------------------------------------------------ the ledger

    def test_a_finished_key_is_never_computed_twice(self, store):
        store.put_video(video())
        assert store.begin("v1", "hear", "k")
        store.finish(Work("v1", "hear", "k", "done", rows=3, seconds=1.5, calls=2, tokens_in=5, tokens_out=6, usd=None))
        assert not store.begin("v1", "hear", "k")
        assert store.work("v1") == [
            Work("v1", "hear", "k", "done", rows=3, seconds=1.5, calls=2, tokens_in=5, tokens_out=6, usd=None)
        ]

    def test_a_new_key_replaces_the_stages_old_rows_and_no_others_once_its_own_are_whole(self, store):
        store.put_video(video())
        store.begin("v1", "hear", "k")
        store.add("hear", [said("old")])
        store.add("read", [said("slide", kind="screen")])
        store.finish(Work("v1", "hear", "k", "done"))
        assert store.begin("v1", "hear", "k2")
        assert store.unfinished("v1", "hear") == []
        assert store.add("hear", [said("new", 5000)]) == 1
        assert store.add("hear", [said("new", 5000), said("newer", 9000)]) == 1
        assert [e.text for e in store.unfinished("v1", "hear")] == ["new", "newer"]
        assert {e.text for e in store.evidence()} == {"old", "slide"}
        assert [h.id for h in store.keyword_hits([["new"]], Scope(), 9)] == []
        assert [w.state for w in store.work("v1")] == ["running"]
        store.finish(Work("v1", "hear", "k2", "done"))
        assert [e.text for e in store.evidence()] == ["slide", "new", "newer"]
        assert store.unfinished("v1", "hear") == store.stage_rows("v1", "hear")
        assert [h.id for h in store.keyword_hits([["new"]], Scope(), 9)] == [said("new", 5000).id]
        assert store.keyword_hits([["old"]], Scope(), 9) == []

    @pytest.mark.parametrize("ended", ["running", "failed", "skipped"])
    def test_work_that_does_not_end_well_costs_nothing_that_was_there(self, store, ended):
        store.put_video(video())
        old = one_of_each()
        store.begin("v1", "all", "k")
        store.add("all", old, {old[3].id: JPEG})
        store.finish(Work("v1", "all", "k", "done"))
        digest = store.digest("v1", ["all"])
        store.begin("v1", "all", "k2")
        store.add("all", [said("half"), picture_row(7)], {picture_row(7).id: b"new"})
        if ended != "running":
            store.finish(Work("v1", "all", "k2", ended, reason="the tape broke"))
        assert store.stage_rows("v1", "all") == old and store.digest("v1", ["all"]) == digest
        assert store.picture(old[3]) == JPEG and all(c.ok and "without" not in c.detail for c in store.check())
        store.rebuild_indexes()
        assert store.begin("v1", "all", "k2")  # the same key goes on
        assert store.unfinished("v1", "all") == [said("half"), picture_row(7)]
        store.finish(Work("v1", "all", "k2", "done"))
        assert store.stage_rows("v1", "all") == [said("half"), picture_row(7)]
        assert store.picture(picture_row(7)) == b"new" and not store.picture_path(old[3]).exists()

    def test_a_third_key_begins_anew_and_forgets_what_the_second_left(self, store):
        store.put_video(video())
        store.add("all", [said("old")])
        for key, n in (("k2", 1), ("k3", 2)):
            store.begin("v1", "all", key)
            assert store.unfinished("v1", "all") == []
            store.add("all", [picture_row(n)], {picture_row(n).id: JPEG})
            store.finish(Work("v1", "all", key, "failed"))
        assert not store.picture_path(picture_row(1)).exists() and store.picture_path(picture_row(2)).exists()
        assert store.stage_rows("v1", "all") == [said("old")]
        store.remove_video("v1")
        store.put_video(video())
        assert store.begin("v1", "all", "k3")
        assert store.unfinished("v1", "all") == []

    def test_rows_that_a_new_key_makes_again_keep_their_vectors(self, store):
        store.put_video(video())
        same, goes = said("alpha beta", detail=words("alpha")), said("gamma", 5000)
        store.begin("v1", "hear", "k")
        store.add("hear", [same, goes])
        store.finish(Work("v1", "hear", "k", "done"))
        passages = list(store.passages_without_vectors("m"))
        store.add_vectors("m", passages, np.eye(len(passages), dtype=np.float32))
        anew = replace(same, origin=Origin("hear", 2, "better"))
        store.begin("v1", "hear", "k2")
        store.add("hear", [anew, said("delta", 5000)])
        store.finish(Work("v1", "hear", "k2", "done"))
        assert store.stage_rows("v1", "hear") == [anew, said("delta", 5000)]
        assert [p.text for p in store.passages_without_vectors("m")] == ["delta"]

    def test_rows_that_are_whole_though_the_work_failed_are_seen(self, store):
        store.put_video(video())
        store.add("hear", [said("old")])
        store.begin("v1", "hear", "k2")
        store.add("hear", [said("new")])
        store.finish(Work("v1", "hear", "k2", "failed", "one was summed up without a model"), whole=True)
        assert [e.text for e in store.evidence()] == ["new"]

    @pytest.mark.parametrize("ended", ["running", "failed", "skipped"])
    def test_under_the_same_key_a_run_goes_on_from_the_rows_that_are_there(self, store, ended):
        store.put_video(video())
        store.begin("v1", "hear", "k")
        store.add("hear", [said("half")])
        if ended != "running":
            store.finish(Work("v1", "hear", "k", ended, reason="killed"))
        assert store.begin("v1", "hear", "k")
        assert [e.text for e in store.stage_rows("v1", "hear")] == ["half"]

    def test_a_failed_stage_keeps_its_reason_until_it_runs_again(self, store):
        store.put_video(video())
        store.begin("v1", "hear", "k")
        store.finish(Work("v1", "hear", "k", "failed", reason="no sound at 12:34"))
        assert [w.reason for w in store.work("v1")] == ["no sound at 12:34"]
        store.begin("v1", "hear", "k")
        assert [w.reason for w in store.work("v1")] == [None]

    def test_work_for_a_video_that_is_gone_is_refused(self, store):
        with pytest.raises(NotFoundError):
            store.begin("v1", "hear", "k")
        with pytest.raises(NotFoundError):
            store.finish(Work("v1", "hear", "k", "done"))

    def test_imported_rows_are_their_stages_truth(self, store):
        store.put_video(video())
        store.add("hear", [said("computed")])
        assert store.import_rows("v1", "hear", [said("a"), said("b", 5)]) == 2
        assert not store.begin("v1", "hear", "some key")
        store.finish(Work("v1", "hear", "some key", "skipped", "no media"))
        assert not store.begin("v1", "hear", "another key")
        assert [e.text for e in store.evidence()] == ["a", "b"]
        assert [(w.state, w.rows) for w in store.work("v1")] == [("done", 2)]
        store.import_rows("v1", "hear", [said("c")])
        assert [e.text for e in store.evidence()] == ["c"]

    def test_the_digest_follows_content_and_nothing_else(self, store):
        store.put_video(video())
        empty = store.digest("v1", ["hear"])
        store.add("hear", [said("a", detail=words("a")), said("b", 5000)])
        both = store.digest("v1", ["hear"])
        assert both not in (empty, store.digest("v1", ["hear", "read"]), store.digest("v1", ["read"]))
        store.begin("v1", "hear", "again")
        store.add("hear", [said("b", 5000)])
        store.add("hear", [said("a", detail=words("a"))])
        store.finish(Work("v1", "hear", "again", "done"))
        assert store.digest("v1", ["hear", "hear"]) == both
        store.begin("v1", "hear", "once more")
        store.add("hear", [said("a", detail=words("a", 7)), said("b", 5000)])
        store.finish(Work("v1", "hear", "once more", "done"))
        assert store.digest("v1", ["hear"]) != both

    def test_the_digest_of_every_kind_of_row_changes_with_the_row(self, store):
        store.put_video(video())
        seen = set()
        for number, row in enumerate(one_of_each()):
            store.add(f"stage {number}", [row])
            seen.add(store.digest("v1", [f"stage {number}"]))
        store.put_video(video("v2"))
        assert store.digest("v2", ["stage 0"]) not in seen and len(seen) == 5

    def test_a_persons_mark_changes_the_digest_and_outlives_the_rows(self, store):
        store.put_video(video())
        plain = store.digest("v1", ["hear"], marks_of=["narrate"])
        store.set_mark("v1", "narrate", "c1", {"undone": True})
        marked = store.digest("v1", ["hear"], marks_of=["narrate"])
        assert marked != plain and store.digest("v1", ["hear"]) != marked
        store.begin("v1", "narrate", "k")
        store.begin("v1", "narrate", "k2")
        assert store.marks("v1", "narrate") == {"c1": {"undone": True}}
        store.set_mark("v1", "narrate", "c1", None)
        assert store.marks("v1", "narrate") == {}
        assert store.digest("v1", ["hear"], marks_of=["narrate"]) == plain

    # ------------------------------------------------------------ leases

    def test_one_worker_at_a_time_has_a_video(self, store):
        store.put_video(video())
        with store.lease("v1"):
            assert store.busy("v1") and not store.busy("v2")
            with pytest.raises(LibraryError, match="working on this video"), store.lease("v1", wait=False):
                pytest.fail("two hold the lease")
            with pytest.raises(LibraryError, match="working on this video"):
                store.remove_video("v1")
            with store.lease("v2", wait=False):
                pass
        assert not store.busy("v1")
        with store.lease("v1", wait=False):
            pass

    def test_a_second_worker_waits_for_the_first(self, store):
        order = []

        def second() -> None:
            with store.lease("v1"):
                order.append("second")

        with store.lease("v1"):
            thread = Thread(target=second)
            thread.start()
            thread.join(0.05)
            order.append("first")
        thread.join(10)
        assert order == ["first", "second"]

    # ------------------------------------------------------------ scopes

    def test_a_span_sees_what_overlaps_it(self, store):
        store.put_video(video())
        store.add(
            "all",
            [said("before", 0, 1000), said("across", 500, 1500), said("point", 1000, 1000), said("after", 2000, 3000)],
        )
        store.add("all", [piece(0, 1000), piece(999, 1001), picture_row(999), picture_row(1000), picture_row(2000)])
        scope = Scope(start=1000, end=2000)
        assert [e.text for e in store.evidence(scope)] == ["across", "point"]
        assert [s.start_ms for s in store.segments(scope)] == [999]
        assert [f.at_ms for f in store.frames(scope)] == [1000]

    def test_streams_facets_and_speakers_narrow_evidence(self, store):
        store.put_video(video())
        store.add("all", [said("a", speaker="Zoë Ångström"), said("b", kind="narration"), said("c", kind="vision")])
        assert [e.text for e in store.evidence(Scope(stream="speech"))] == ["a"]
        assert [e.text for e in store.evidence(Scope(facet="speech"))] == ["b"]
        assert [e.text for e in store.evidence(Scope(facet="vision"))] == ["c"]
        assert [e.text for e in store.evidence(Scope(speaker=" ZOË ångström"))] == ["a"]
        assert [e.text for e in store.evidence(Scope(speaker="ZOE\u0308 A\u030angstro\u0308m"))] == ["a"]
        assert store.evidence(Scope(speaker="Zoë")) == []
        assert store.evidence(Scope(stream="speech", facet="vision")) == []

    def test_clock_scopes_see_rows_by_the_time_of_the_recording(self, store):
        store.put_video(video("v1", recorded_at=10 * HOUR))
        store.put_video(video("v2", recorded_at=20 * HOUR))
        store.put_video(video("v3"))
        for id in ("v1", "v2", "v3"):
            store.add("hear", [said(f"first of {id}", 0, 1000, of=id), said(f"second of {id}", 5000, 6000, of=id)])
        assert [e.text for e in store.evidence(Scope(at=10 * HOUR + 5999))] == ["first of v1"]
        assert [e.text for e in store.evidence(Scope(at=10 * HOUR + 6000))] == ["first of v1", "second of v1"]
        assert [e.text for e in store.evidence(Scope(after=10 * HOUR + 1000, before=20 * HOUR + 1))] == [
            "second of v1", "first of v2",
        ]  # fmt: skip

    def test_at_the_time_of_the_question_a_look_lasts_till_then(self, store):
        store.put_video(video(recorded_at=1000))
        store.add("see", [picture_row(0, end=400), picture_row(500, end=9000)])
        assert [f.look.end_ms for f in store.frames(Scope(at=2000))] == [400, 1000]
        assert [f.look.end_ms for f in store.frames()] == [400, 9000]

    # ------------------------------------------------------------ calls

    def test_a_reply_is_kept_until_its_video_goes(self, store):
        assert store.cached_call("k") is None
        store.cache_call("k", b"\x00reply", {"video": "v1", "stage": "s", "provider": "p", "model": "m", "usd": None})
        assert store.cached_call("k") == b"\x00reply"
        store.cache_call("k", b"newer", {})
        assert store.cached_call("k") == b"newer"

    # ------------------------------------------------------------ SQL for a model

    def test_sql_reads_the_views_and_writes_nothing(self, store):
        store.put_video(video(recorded_at=3 * 24 * HOUR + 14 * HOUR, recording="week"))
        store.add("all", one_of_each())
        with store.open_readonly_sql() as sql:
            assert sql.query("SELECT text, day, time, speaker FROM v_evidence WHERE kind = 'speech'").rows == (
                ("we begin here", 1, "14:00:00", "Zoë"),
            )
            assert sql.query("SELECT source, relation, target FROM v_relations").rows == (("Zoë", "USES", "red mug"),)
            with pytest.raises(QueryError):
                sql.query("DELETE FROM v_evidence")
        assert len(store.evidence()) == 2

    # ------------------------------------------------------------ upkeep

    def test_a_sound_library_says_so(self, store):
        store.put_video(video())
        frame = picture_row(5)
        store.add("see", [frame], {frame.id: JPEG})
        assert [check.ok for check in store.check()] == [True, True, True]
        assert store.sizes()["frames"] == len(JPEG)
        assert store.sizes()["library.db: frame"] > 0

    def test_a_missing_picture_and_an_interrupted_run_are_named(self, store):
        store.put_video(video(state="processing"))
        store.add("see", [picture_row(5)])
        _, pictures, runs = store.check()
        assert not pictures.ok and "v1/000000005.jpg" in pictures.detail and pictures.next
        assert not runs.ok and "Title of v1" in runs.detail and "retry" in runs.next
        with store.lease("v1"):
            assert store.check()[2].ok

    def test_relations_are_read_in_scope(self, store):
        store.put_video(video(recorded_at=0))
        store.add("graph", [related("Ann", "USES", "mug", 5000), related("Ann", "TALKS_TO", "Bob", 0)])
        assert [r.relation for r in store.relations()] == ["TALKS_TO", "USES"]
        assert [r.relation for r in store.relations(Scope(at=5000))] == ["TALKS_TO"]
