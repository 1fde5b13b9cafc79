from __future__ import annotations

import io

import pytest
from PIL import Image

from videmus.config import AgentSettings, Settings
from videmus.errors import VectorSpaceError
from videmus.ingest.embedding import embed_frames
from videmus.model import Evidence, Frame, Origin, Scope, Video, evidence_id, frame_id
from videmus.models.image_embedding import ScriptedImageEmbedder
from videmus.search.frames import find_frames, frames_like
from videmus.store import frame_vectors
from videmus.store.protocol import EVERYTHING
from videmus.store.sqlite import SqliteStore

COLOURS = ("red", "green", "blue", "yellow")
HOUR = 3_600_000


def jpeg(colour):
    out = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two videos on two days, a frame every second, the colour changing every ten seconds."""
    store = SqliteStore(tmp_path_factory.mktemp("frames") / "library")
    for number, id in enumerate(("v1", "v2")):
        begins = number * 24 * HOUR
        store.put_video(Video(id, f"f{id}", id, 80_000, f"{id}.mp4", "ready", recorded_at=begins, recording="week"))
        rows, pictures = [], {}
        for second in range(80):
            colour = COLOURS[second // 10 % 4]
            at = second * 1_000
            hash = f"{(COLOURS.index(colour) * 0x1111_1111_1111_1111) ^ second:016x}"
            row = Frame(frame_id(id, at), id, at, f"{id}/{at:09d}.jpg", hash, 32, 32, Origin("frames"))
            rows.append(row)
            pictures[row.id] = jpeg(colour)
        store.add("frames", rows, pictures)
        text = "A red wall, brightly lit."
        scene = Evidence(evidence_id(id, "scene", 0, 10_000, text), id, 0, 10_000, "scene", text, Origin("t"))
        store.add("scene", [scene])
    yield store
    store.close()


@pytest.fixture(scope="module")
def embedded(store):
    embed_frames(store, ScriptedImageEmbedder(), Scope())
    return store


def colours(found):
    return {COLOURS[f.frame.at_ms // 10_000 % 4] for f in found.frames}


def find(store, *queries, scope=EVERYTHING, limit=None, **agent):
    settings = Settings(agent=AgentSettings(**agent))
    return find_frames(store, store.frame_vectors, ScriptedImageEmbedder(), queries, scope, settings, limit=limit)


def test_frames_are_embedded_once(embedded):
    assert embed_frames(embedded, ScriptedImageEmbedder(), Scope()) == 0
    assert embedded.frame_vectors.count("colours") == 160


def test_a_frame_is_ranked_by_its_best_likeness_and_not_by_how_many_queries_hit_it(embedded):
    found = find(embedded, "red", "blue", limit=8)
    assert found.by == "pictures" and colours(found) == {"red", "blue"}
    scores = [f.score for f in found.frames]
    assert scores == sorted(scores, reverse=True)
    alone = find(embedded, "red", limit=8)
    assert {f.frame.id for f in alone.frames} & {f.frame.id for f in found.frames}


def test_frames_are_spread_in_time_and_at_most_fifty(embedded):
    found = find(embedded, "red green blue yellow", frame_gap_ms=2_000)
    assert 20 < len(found.frames) <= 50
    for one in found.frames:
        near = [
            o for o in found.frames if o.frame.video == one.frame.video and abs(o.frame.at_ms - one.frame.at_ms) < 2_000
        ]
        assert near == [one]


def test_the_scope_acts_inside_the_search(embedded):
    found = find(embedded, "red", scope=Scope(video="v2"), limit=5)
    assert {f.frame.video for f in found.frames} == {"v2"} and len(found.frames) == 5
    early = find(embedded, "red", scope=Scope(at=45_000), limit=50)
    assert early.frames and all(f.frame.video == "v1" and f.frame.at_ms <= 45_000 for f in early.frames)
    narrow = find(embedded, "red", scope=Scope(after=24 * HOUR, before=24 * HOUR + 5_000), limit=50)
    assert {f.frame.video for f in narrow.frames} == {"v2"} and max(f.frame.at_ms for f in narrow.frames) <= 5_000


def test_more_like_this_frame_needs_no_model(store):
    frame = store.frames(Scope(video="v1"))[0]
    found = frames_like(store.frame_vectors, frame, Scope(), limit=6)
    assert found.by == "likeness" and colours(found) == {"red"}
    assert frame.id not in {f.frame.id for f in found.frames}


def test_without_an_image_model_text_leads_to_frames_and_says_so(store):
    found = find_frames(store, store.frame_vectors, None, ["red wall"], Scope(), Settings())
    assert found.by == "text" and "no image–text model" in found.notice
    assert colours(found) == {"red"} and found.moments


def test_vectors_of_two_models_are_never_compared(embedded):
    embedder = ScriptedImageEmbedder("other")
    assert find_frames(embedded, embedded.frame_vectors, embedder, ["red wall"], Scope(), Settings()).by == "text"
    with pytest.raises(VectorSpaceError, match="colours"):
        embedded.frame_vectors.nearest("other", embedder.embed_queries(["red"]), Scope(), 5)


@pytest.fixture
def inverted(embedded, monkeypatch, tmp_path):
    """The same frames as a large library would search them."""
    monkeypatch.setattr(frame_vectors, "EXACT", 20)
    monkeypatch.setattr(frame_vectors, "NARROW", 5)
    return lambda: frame_vectors.FrameVectors(embedded._db, tmp_path)


def nearest(vectors, text="red", scope=EVERYTHING, limit=10):
    return vectors.nearest("colours", ScriptedImageEmbedder().embed_queries([text]), scope, limit)


def test_an_inverted_file_finds_what_comparing_all_finds(embedded, inverted):
    for scope in (EVERYTHING, Scope(video="v2"), Scope(at=45_000), Scope(after=24 * HOUR, before=24 * HOUR + 3_000)):
        found = nearest(inverted(), scope=scope)
        assert [s for _, s in found] == pytest.approx([s for _, s in nearest(embedded.frame_vectors, scope=scope)])


def test_the_inverted_file_is_kept_and_a_damaged_one_made_anew(inverted, tmp_path, monkeypatch):
    first = nearest(inverted())
    made = []
    build = frame_vectors._inverted_file
    monkeypatch.setattr(frame_vectors, "_inverted_file", lambda matrix: made.append(1) or build(matrix))
    assert nearest(inverted()) == first and not made
    (kept,) = tmp_path.glob("*.ivf")
    kept.write_bytes(b"damaged")
    assert nearest(inverted()) == first and made == [1]


def test_frames_added_and_removed_are_followed_without_making_it_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(frame_vectors, "EXACT", 20)
    monkeypatch.setattr(frame_vectors, "NARROW", 5)
    store = SqliteStore(tmp_path / "library")

    def add(id, colours):
        store.put_video(Video(id, id, id, 100_000, id, "ready"))
        rows = [
            Frame(frame_id(id, k * 1000), id, k * 1000, f"{id}/{k}.jpg", "0" * 16, 8, 8, Origin("f"))
            for k in range(len(colours))
        ]
        store.add("frames", rows, {r.id: jpeg(c) for r, c in zip(rows, colours, strict=True)})
        embed_frames(store, ScriptedImageEmbedder(), EVERYTHING)

    add("v1", ["red", "green"] * 20)
    monkeypatch.setattr(frame_vectors, "_inverted_file", None)
    add("v2", ["blue"] * 10)
    assert {f.video for f, _ in nearest(store.frame_vectors, "blue")} == {"v2"}
    store.remove_video("v2")
    assert {f.video for f, _ in nearest(store.frame_vectors, "blue")} == {"v1"}
    store.close()


def test_a_removed_video_takes_its_frames_vectors_along(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "t", 1_000, "x", "ready"))
    row = Frame(frame_id("v", 0), "v", 0, "v/0.jpg", "0" * 16, 8, 8, Origin("frames"))
    store.add("frames", [row], {row.id: jpeg("red")})
    embed_frames(store, ScriptedImageEmbedder(), Scope())
    store.remove_video("v")
    assert store.frame_vectors.count("colours") == 0
    store.close()
