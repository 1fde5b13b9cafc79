"""The clamp, by construction: rows planted anywhere in time, scopes drawn at random, every method that reads for a question.

What each scope must show is computed here from the plain meaning in `store/scope.py`, and compared both ways: nothing too
much, nothing too little.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_material import picture_row, piece, related, said, video

from videmus.model import FACET_KIND, Passage, Scope, Video
from videmus.store.graph import Wanted
from videmus.store.protocol import Span
from videmus.store.sqlite import SqliteStore

MINUTE = 60_000
VIDEOS = [
    video("past", recorded_at=0, duration_ms=MINUTE, recording="week", collection="c"),
    video("now", recorded_at=MINUTE, duration_ms=MINUTE, recording="week"),
    video("gap", recorded_at=3 * MINUTE, duration_ms=MINUTE, recording="week", collection="c"),
    video("undated", duration_ms=MINUTE, collection="c"),
    video("elsewhere", recorded_at=MINUTE, duration_ms=MINUTE),
    video("unfinished", recorded_at=0, duration_ms=MINUTE, recording="week", collection="c", state="processing"),
]
SPANS = [(0, 0), (0, 10_000), (5_000, 30_000), (29_999, 30_001), (30_000, 30_000), (40_000, 60_000), (0, 60_000)]
KINDS = ["speech", "screen", "vision", "narration", "summary"]
MODEL = "test-model"


@dataclass(frozen=True)
class Planted:
    id: str
    video: Video
    start: int
    end: int
    kind: str = ""
    speaker: str | None = None


class Library:
    def __init__(self, store: SqliteStore, planted: dict[str, list[Planted]]) -> None:
        self.store, self.planted = store, planted

    def __repr__(self) -> str:
        return "the planted library"

    def __iter__(self):
        return iter((self.store, self.planted))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """(store, {table: planted rows}): every video has every span of every kind of row."""
    store = SqliteStore(tmp_path_factory.mktemp("library"))
    planted: dict[str, list[Planted]] = {"evidence": [], "segment": [], "frame": [], "relation": []}
    for v in VIDEOS:
        store.put_video(v)
        rows = []
        for number, (start, end) in enumerate(SPANS):
            kind = KINDS[number % len(KINDS)]
            speaker = ("Ann", "Zoë", None)[number % 3]
            evidence = said(f"common word of {v.id} {number}", start, end, of=v.id, kind=kind, speaker=speaker)
            segment = piece(start, end, of=v.id)
            frame = picture_row(start, of=v.id, end=start + 20_000)
            relation = related("Ann", "USES", f"thing {number} of {v.id}", start, end, of=v.id)
            planted["evidence"].append(Planted(evidence.id, v, start, end, kind, speaker))
            planted["segment"].append(Planted(segment.id, v, start, end))
            if frame.id not in {p.id for p in planted["frame"]}:
                planted["frame"].append(Planted(frame.id, v, start, start))
            planted["relation"].append(Planted(relation.id, v, start, end))
            rows += [evidence, segment, frame, relation]
        store.add("all", rows)
    passages = [Passage(p.id, 0, "common word", 0, 11) for p in planted["evidence"]]
    store.add_vectors(MODEL, passages, np.eye(8, dtype=np.float16)[[n % 8 for n in range(len(passages))]])
    store.frame_vectors.add(
        MODEL, [p.id for p in planted["frame"]], np.eye(8)[[n % 8 for n in range(len(planted["frame"]))]]
    )
    for world in ("week", "undated", "elsewhere"):
        store.entities.resolve(world)
    yield Library(store, planted)
    store.close()


def sees(scope: Scope, row: Planted, *, evidence: bool) -> bool:
    v = row.video
    if v.state == "processing" and scope.video != v.id:
        return False
    for wanted, value in ((scope.video, v.id), (scope.collection, v.collection), (scope.recording, v.recording)):
        if wanted is not None and wanted != value:
            return False
    if scope.start is not None and not (row.end > scope.start or row.start >= scope.start):
        return False
    if scope.end is not None and not row.start < scope.end:
        return False
    if (scope.after, scope.before, scope.at) != (None, None, None):
        if v.recorded_at is None:
            return False
        start, end = v.recorded_at + row.start, v.recorded_at + row.end
        if scope.after is not None and not (end > scope.after or start >= scope.after):
            return False
        if scope.before is not None and not start < scope.before:
            return False
        if scope.at is not None and end > scope.at:
            return False
    if evidence:
        if scope.stream is not None and row.kind != scope.stream:
            return False
        if scope.facet is not None and row.kind != FACET_KIND[scope.facet]:
            return False
        if scope.speaker is not None and (row.speaker or "").casefold() != scope.speaker.casefold():
            return False
    return True


edges = st.sampled_from([-1, 0, 1, 9_999, 10_000, 29_999, 30_000, 30_001, 60_000]) | st.integers(-10, 70_000)
clocks = st.builds(lambda v, t: v * MINUTE + t, st.integers(0, 4), edges)
optional = lambda strategy: st.none() | strategy  # noqa: E731
scopes = st.builds(
    Scope,
    video=st.sampled_from([None, None, None, *(v.id for v in VIDEOS), "none"]),
    collection=st.sampled_from([None, None, "c", "x"]),
    recording=st.sampled_from([None, None, "week"]),
    start=optional(edges), end=optional(edges), after=optional(clocks), before=optional(clocks), at=optional(clocks),
    stream=st.sampled_from([None, None, None, "speech", "vision"]),
    facet=st.sampled_from([None, None, None, "vision", "speech"]),
    speaker=st.sampled_from([None, None, None, "ANN", "zoë"]),
)  # fmt: skip

NEAR = np.ones(8, np.float32) / np.sqrt(8).astype(np.float32)
WORD = [["common"], ["word"]]
EVIDENCE_READERS = {
    "evidence": lambda s, scope: [e.id for e in s.evidence(scope)],
    "evidence_by_id": None,  # below: it needs the ids
}
SEARCHERS = {
    "keyword_hits": lambda s, scope: [h.id for h in s.keyword_hits(WORD, scope, 1000)],
    "phrase_hits": lambda s, scope: [h.id for h in s.phrase_hits(["common", "word"], scope, 1000)],
    "vector_hits": lambda s, scope: [h.id for h in s.vector_hits(MODEL, NEAR, scope, 1000)],
    "texts": lambda s, scope: [t.id for t in s.texts(scope)],
}
OTHERS = {"videos", "segments", "frames", "relations", "open_readonly_sql", "passages_without_vectors"}


def test_every_method_that_takes_a_scope_is_held_to_it_here():
    """A new method belongs into one of the tables above before it is used."""
    taking = {
        name
        for name, method in inspect.getmembers(SqliteStore, inspect.isfunction)
        if not name.startswith("_") and "scope" in inspect.signature(method).parameters
    }
    assert taking == {*EVIDENCE_READERS, *SEARCHERS, *OTHERS}


SLOW_OK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW_OK
@given(scope=scopes)
def test_every_reader_shows_exactly_what_the_scope_means(library, scope):
    store, planted = library
    wanted = {p.id for p in planted["evidence"] if sees(scope, p, evidence=True)}
    everything = [p.id for p in planted["evidence"]]
    assert {e.id for e in store.evidence(scope)} == wanted
    assert {e.id for e in store.evidence_by_id(everything, scope)} == wanted
    for table, found in (
        ("segment", store.segments(scope)),
        ("frame", store.frames(scope)),
        ("relation", store.relations(scope)),
    ):
        assert {row.id for row in found} == {p.id for p in planted[table] if sees(scope, p, evidence=False)}


@SLOW_OK
@given(scope=scopes)
def test_every_search_shows_exactly_what_the_scope_means(library, scope):
    store, planted = library
    wanted = {p.id for p in planted["evidence"] if sees(scope, p, evidence=True)}
    for name, search in SEARCHERS.items():
        assert set(search(store, scope)) == wanted, name


@SLOW_OK
@given(scope=scopes)
def test_every_frame_search_shows_exactly_what_the_scope_means(library, scope):
    store, planted = library
    wanted = {p.id for p in planted["frame"] if sees(scope, p, evidence=False)}
    assert {f.id for f, _ in store.frame_vectors.nearest(MODEL, NEAR[None], scope, 1000)} == wanted
    example = store.frames(Scope(video="past"))[0]
    assert {f.id for f, _ in store.frame_vectors.alike(example, scope, 1000)} == wanted - {example.id}
    if scope.at is not None:
        starts = {v.id: v.recorded_at for v in VIDEOS}
        for frame in store.frames(scope):
            assert starts[frame.video] + frame.look.end_ms <= scope.at


@SLOW_OK
@given(scope=scopes)
def test_the_graph_shows_exactly_what_the_scope_means(library, scope):
    store, planted = library
    wanted = {p.id for p in planted["relation"] if sees(scope, p, evidence=False)}
    assert {fact.id for fact in store.graph.facts(Wanted(), scope, limit=1000)} == wanted
    assert store.graph.count(Wanted(), scope) == len(wanted)
    assert sum(group.count for group in store.graph.grouped(Wanted(), scope, "relation")) == len(wanted)
    if scope.at is not None:  # no name is known before a relation that bears it has ended
        by_then = (Scope(at=scope.at), Scope(at=scope.at, video="unfinished"))
        said_by_then = {r.target for s in by_then for r in store.relations(s)} | {"Ann"}
        for known in store.graph.entities(scope):
            assert {known.name, *known.aliases} <= said_by_then


@SLOW_OK
@given(scope=scopes)
def test_sql_shows_exactly_what_the_scope_means(library, scope):
    store, planted = library
    with store.open_readonly_sql(scope) as sql:
        for view, table in (("v_evidence", "evidence"), ("v_segments", "segment"), ("v_relations", "relation")):
            wanted = {p.id for p in planted[table] if sees(scope, p, evidence=table == "evidence")}
            assert {id for (id,) in sql.query("SELECT id FROM " + view).rows} == wanted
        names = {name for (name,) in sql.query("SELECT name FROM v_entities WHERE kind = 'object'").rows}
        assert names == {name for (name,) in sql.query("SELECT target FROM v_relations").rows}
        assert {v for (v,) in sql.query("SELECT video FROM v_evidence").rows} <= {
            v for (v,) in sql.query("SELECT video FROM v_videos").rows
        }


@SLOW_OK
@given(scope=scopes)
def test_videos_are_those_that_overlap_the_scopes_clock(library, scope):
    store, _ = library
    for v in store.videos(scope):
        whole = next(x for x in VIDEOS if x.id == v.id)
        if scope.at is not None:
            assert whole.recorded_at <= scope.at
            assert whole.recorded_at + v.duration_ms <= scope.at
    shown = {v.id for v in store.videos(scope)}
    assert {e.video for e in store.evidence(scope)} <= shown


def test_spans_of_texts_are_inside_the_scope(library):
    store, planted = library
    scope = Scope(at=MINUTE + 30_000)
    spans = [Span(v.id, 0, 10 * MINUTE) for v in VIDEOS]
    assert {t.id for t in store.texts(scope, spans)} == {
        p.id for p in planted["evidence"] if sees(scope, p, evidence=True) and p.end > 0
    }


@SLOW_OK
@given(scope=scopes)
def test_passages_to_embed_are_inside_the_scope(library, scope):
    store, planted = library
    found = {p.evidence for p in store.passages_without_vectors("another-model", scope)}
    assert found <= {
        p.id for p in planted["evidence"] if sees(scope, p, evidence=True) or p.video.state == "processing"
    }
