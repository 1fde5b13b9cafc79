"""Vectors: exact and HNSW search, filters inside, caches that may be lost, spaces that never mix."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from videmus.config import VectorSettings
from videmus.errors import VectorSpaceError
from videmus.model import Evidence, Origin, Passage, Scope, Video, evidence_id
from videmus.store.sqlite import SqliteStore
from videmus.store.vectors import Vectors

DIMENSION = 16
SMALL_GRAPH = VectorSettings(hnsw_from=100, exact_below=20, tail=50)


def rows(count: int, video: str = "v1", first: int = 0) -> list[Evidence]:
    return [
        Evidence(
            evidence_id(video, "speech", 1000 * k, 1000 * k + 900, f"row {k}"),
            video, 1000 * k, 1000 * k + 900, "speech" if k % 2 else "screen", f"row {k}", Origin("test"),
        )
        for k in range(first, first + count)
    ]  # fmt: skip


def unit(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "library")
    opened._vectors.settings = SMALL_GRAPH
    for video in ("v1", "v2"):
        opened.put_video(Video(video, video, video, 10_000_000, f"{video}.mp4", state="ready"))
    yield opened
    opened.close()


def fill(store: SqliteStore, count: int, model: str = "m", video: str = "v1", first: int = 0) -> np.ndarray:
    store.add("test", rows(count, video, first))
    waiting = list(store.passages_without_vectors(model, Scope(video=video)))
    vectors = unit(len(waiting), seed=first)
    assert store.add_vectors(model, waiting, vectors) == len(waiting)
    return vectors


def exact(vectors: np.ndarray, query: np.ndarray, allowed: np.ndarray, count: int = 10) -> list[int]:
    cosines = vectors.astype(np.float16).astype(np.float32) @ query
    cosines[~allowed] = -9
    return [int(k) for k in np.argsort(-cosines, kind="stable")[: min(count, int(allowed.sum()))]]


def test_passages_wait_until_they_have_a_vector(store):
    fill(store, 5)
    assert list(store.passages_without_vectors("m")) == []
    assert len(list(store.passages_without_vectors("another"))) == 5
    assert store.vector_models() == {"m": 5}


def test_a_long_row_waits_for_its_remaining_passages_alone(store):
    text = " ".join(f"word{k}" for k in range(100))
    id = evidence_id("v1", "speech", 0, 9000, text)
    store.add("test", [Evidence(id, "v1", 0, 9000, "speech", text, Origin("test"))])
    waiting = list(store.passages_without_vectors("m"))
    assert len(waiting) == 3
    store.add_vectors("m", waiting[:2], unit(2))
    assert list(store.passages_without_vectors("m")) == waiting[2:]


@pytest.mark.parametrize("count", [60, 400])  # exact, and by the graph
def test_the_nearest_rows_are_those_of_an_exact_search(store, count):
    vectors = fill(store, count)
    query = unit(1, seed=99)[0]
    found = [h.start_ms // 1000 for h in store.vector_hits("m", query, Scope(), 10)]
    wanted = exact(vectors, query, np.ones(count, bool))
    assert len(set(found) & set(wanted)) >= 9
    assert found[0] == wanted[0]


@pytest.mark.parametrize("scope", [Scope(start=0, end=3000), Scope(start=100_000, end=140_000), Scope(stream="screen")])
def test_filters_act_inside_the_search(store, scope):
    vectors = fill(store, 400)
    query = unit(1, seed=7)[0]
    times = np.arange(400) * 1000
    allowed = np.ones(400, bool)
    if scope.end is not None:
        allowed = (times < scope.end) & (times + 900 > (scope.start or 0))
    if scope.stream:
        allowed = np.arange(400) % 2 == 0
    found = [h.start_ms // 1000 for h in store.vector_hits("m", query, scope, 10)]
    assert all(allowed[k] for k in found)
    assert len(set(found) & set(exact(vectors, query, allowed))) >= min(9, int(allowed.sum()))


@pytest.mark.parametrize(
    "scope", [Scope(collection="c"), Scope(stream="screen"), Scope(collection="c", stream="screen")]
)
def test_an_exact_search_compares_what_the_scope_leaves_wherever_it_lies(store, scope):
    store._vectors.settings = VectorSettings()
    parts = [fill(store, 40, video="v1"), fill(store, 30, video="v2", first=40), fill(store, 40, video="v1", first=70)]
    store.edit_video("v1", collection="c")
    vectors, query = np.concatenate(parts), unit(1, seed=4)[0]
    allowed = np.ones(110, bool)
    if scope.collection:
        allowed[40:70] = False
    if scope.stream:
        allowed[1::2] = False
    found = store.vector_hits("m", query, scope, 10)
    wanted = exact(vectors, query, allowed)
    assert [h.start_ms // 1000 for h in found] == wanted
    assert [h.score for h in found] == pytest.approx([float(vectors[k] @ query) for k in wanted], abs=1e-3)


def test_the_passages_of_given_rows_are_compared_in_their_order(store):
    text = " ".join(f"word{k}" for k in range(100))
    long = Evidence(evidence_id("v1", "speech", 0, 9000, text), "v1", 0, 9000, "speech", text, Origin("test"))
    store.add("test", [long])
    other = fill(store, 3, video="v2")[0]
    for model, seed in (("another", 6), ("m", 5)):
        waiting = list(store.passages_without_vectors(model))
        store.add_vectors(model, waiting, unit(len(waiting), seed))
    passages = [p for p in waiting if p.evidence == long.id]
    query = unit(1, seed=8)[0]
    id = next(h.id for h in store.vector_hits("m", other, Scope(video="v2"), 1))
    found = store.similarities("m", query, [id, long.id, "absent"])
    mine = [s for s in found if s.evidence == long.id]
    assert {s.evidence for s in found} == {id, long.id}
    assert [(s.first, s.last) for s in mine] == [(p.first, p.last) for p in passages]
    at = [waiting.index(p) for p in passages]
    assert [s.cosine for s in mine] == pytest.approx([float(unit(len(waiting), 5)[k] @ query) for k in at], abs=1e-3)


def test_a_video_in_progress_is_not_seen(store):
    fill(store, 5)
    store.edit_video("v1", state="processing")
    assert store.vector_hits("m", unit(1)[0], Scope(), 5) == []


def test_rows_that_go_and_rows_that_come_are_followed(store):
    fill(store, 300)
    query = unit(1, seed=300)[0]  # what the first of the new rows will be
    assert store.vector_hits("m", query, Scope(), 5)
    fill(store, 30, video="v2", first=300)
    assert store.vector_hits("m", query, Scope(), 1)[0].video == "v2"
    store.remove_video("v2")
    assert all(h.video == "v1" for h in store.vector_hits("m", query, Scope(), 50))
    assert store.vector_models() == {"m": 300}


def graph_file(store: SqliteStore) -> Path:
    (file,) = (store.folder / "vectors").glob("*.hnsw")
    return file


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped", "foreign", "empty"])
def test_a_lost_or_damaged_graph_is_made_anew(store, tmp_path, damage):
    fill(store, 300)
    query = unit(1, seed=5)[0]
    before = store.vector_hits("m", query, Scope(), 10)
    file = graph_file(store)
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        file.write_bytes(whole[:-100] + bytes([whole[-100] ^ 255]) + whole[-99:])
    elif damage == "foreign":
        file.write_bytes(b"SQLite format 3\x00" * 100)
    else:
        file.write_bytes(b"")
    store._vectors = Vectors(store.folder / "vectors", SMALL_GRAPH)  # as another process would see it
    assert store.vector_hits("m", query, Scope(), 10) == before
    assert graph_file(store).stat().st_size > 1000
    assert not list((store.folder / "vectors").glob("*.partial"))


def test_another_process_takes_the_graph_from_its_file(store, monkeypatch):
    fill(store, 300)
    query = unit(1, seed=5)[0]
    before = store.vector_hits("m", query, Scope(), 10)
    monkeypatch.setattr("videmus.store.vector_space.Space._extend", lambda self: pytest.fail("made anew"))
    store._vectors = Vectors(store.folder / "vectors", SMALL_GRAPH)
    assert store.vector_hits("m", query, Scope(), 10) == before


def test_vectors_of_two_models_are_never_compared(store):
    fill(store, 5)
    with pytest.raises(VectorSpaceError, match="made by m") as caught:
        store.vector_hits("another", unit(1)[0], Scope(), 5)
    assert "rebuild" in caught.value.next
    with pytest.raises(VectorSpaceError):
        store.vector_hits("m", np.ones(3, np.float32), Scope(), 5)
    with pytest.raises(VectorSpaceError):
        store.add_vectors("m", [Passage(rows(1)[0].id, 9, "x", 0, 1)], np.ones((1, 3), np.float16))


def test_a_forgotten_models_vectors_are_gone(store):
    fill(store, 5)
    store.remove_vectors("m")
    assert store.vector_models() == {}
    assert store.vector_hits("m", unit(1)[0], Scope(), 5) == []


def test_a_read_only_cache_folder_costs_only_the_file(store):
    store._vectors.folder = Path("/dev/null/nowhere")
    fill(store, 300)
    assert len(store.vector_hits("m", unit(1)[0], Scope(), 10)) == 10


def test_cosines_of_given_rows_are_exact(store):
    vectors = fill(store, 10)
    query = unit(1, seed=3)[0]
    ids = [*[r.id for r in rows(10)][2:4], "unknown"]
    found = store.similarities("m", query, ids)
    wanted = {id: round(float(v @ query), 2) for id, v in zip(ids, vectors[2:4], strict=False)}
    assert {s.evidence: round(s.cosine, 2) for s in found} == wanted


def test_the_graph_can_be_made_before_a_search_needs_it(store):
    store.prepare_vectors("m")  # nothing yet: no file, no error
    fill(store, 60)
    store.prepare_vectors("m")
    assert not list((store.folder / "vectors").glob("*.hnsw"))
    fill(store, 300, first=60)
    store.prepare_vectors("m")
    assert graph_file(store).stat().st_size > 1000
