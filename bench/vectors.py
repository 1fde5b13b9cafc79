"""Speed of search and recall of filtered vector search in a library of many passages.

    bench/vectors.py [--rows 100000] [--library FOLDER] [--questions 300]

The library is made up: rows of 8 to 30 words drawn with the frequencies of English (Zipf), vectors near a few thousand
topics, 1,000 videos in collections that hold 1, 10 and 100 of them. Prints recall@10 against an exact search where filters
leave 0.1, 1, 10 and 100 %, and the time of a whole search, question embedding included.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videmus.config import Settings
from videmus.model import Evidence, Origin, Scope, Video, evidence_id
from videmus.models.text_embedding import load
from videmus.search.hybrid import search
from videmus.store.sqlite import SqliteStore

VIDEOS = 1_000
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "is",
    "it",
    "that",
    "we",
    "this",
    "you",
    "for",
    "on",
    "are",
    "as",
    "with",
]
LETTERS = "bcdfghjklmnprstvw"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--library", type=Path)
    arguments = parser.parse_args()
    embedder = load(Settings())
    draw = random.Random(1)
    vocabulary = [*COMMON, *_words(draw, 30_000)]
    weights = [1 / (k + 3) for k in range(len(vocabulary))]
    with tempfile.TemporaryDirectory() as temporary:
        store = SqliteStore(arguments.library or Path(temporary) / "library")
        if not store.videos():
            began = time.perf_counter()
            _fill(store, embedder.name, arguments.rows, vocabulary, weights, draw)
            print(f"made {arguments.rows} rows in {time.perf_counter() - began:.0f} s")
        began = time.perf_counter()
        store.vector_hits(embedder.name, _vectors(1, 5)[0], Scope(), 10)
        print(f"first search (index loaded or made): {time.perf_counter() - began:.1f} s")
        _recall(store, embedder.name, arguments.questions)
        one = store.videos()[7].id
        for name, scope in (
            ("whole library", Scope()),
            ("one collection of 10 %", Scope(collection="c1")),
            ("one video", Scope(video=one)),
            ("one stream", Scope(stream="speech")),
        ):
            times, processor = [], []
            for _ in range(arguments.questions):  # new ones: the embedder remembers what it was asked
                text = "what does the speaker say about " + " ".join(
                    draw.choices(vocabulary, weights, k=draw.randint(2, 8))
                )
                began, worked = time.perf_counter(), time.process_time()
                search(store, embedder, text, scope, 10)
                times.append(1000 * (time.perf_counter() - began))
                processor.append(1000 * (time.process_time() - worked))
            p50, p99 = np.percentile(times, [50, 99])
            cpu50, cpu99 = np.percentile(processor, [50, 99])
            print(
                f"search, {name:24s} p50 {p50:6.1f} ms  p99 {p99:6.1f} ms"
                f"  (processor time, both cores together: p50 {cpu50:.1f} ms, p99 {cpu99:.1f} ms)",
                flush=True,
            )
        store.close()


def _words(draw: random.Random, count: int) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(draw.choice(LETTERS) + draw.choice("aeiou") for _ in range(draw.randint(2, 4)))] = None
    return list(made)


def _fill(
    store: SqliteStore, model: str, count: int, vocabulary: list[str], weights: list[float], draw: random.Random
) -> None:
    per_video = count // VIDEOS
    vectors = _vectors(count, 0)
    for v in range(VIDEOS):
        collection = "c1" if v < VIDEOS // 10 else "c2" if v < VIDEOS // 10 + VIDEOS // 100 else None
        video = Video(
            f"v{v}", f"f{v}", f"Video {v}", per_video * 5000, f"v{v}.mp4", state="ready", collection=collection
        )
        rows = []
        for k in range(per_video):
            text = " ".join(draw.choices(vocabulary, weights, k=draw.randint(8, 30)))
            id = evidence_id(video.id, "speech", 5000 * k, 5000 * k + 4900, text)
            rows.append(Evidence(id, video.id, 5000 * k, 5000 * k + 4900, "speech", text, Origin("bench")))
        store.put_video(video)
        store.add("bench", rows)
        waiting = list(store.passages_without_vectors(model, Scope(video=video.id)))
        store.add_vectors(model, waiting, vectors[v * per_video : v * per_video + len(waiting)])


def _vectors(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors round 3,000 topics, as far from their topic as passages of one talk are from each other."""
    topics = np.random.default_rng(0).normal(size=(3_000, 384)).astype(np.float32)
    noise = np.random.default_rng(seed)
    vectors = topics[noise.integers(0, 3_000, count)] + noise.normal(size=(count, 384)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _recall(store: SqliteStore, model: str, questions: int) -> None:
    for name, scope in (
        ("0.1 %", Scope(video="v7")),
        ("1 %", Scope(collection="c2")),
        ("10 %", Scope(collection="c1")),
        ("100 %", Scope()),
    ):
        shares, times = [], []
        for query in _vectors(min(questions, 100), 9):
            began = time.perf_counter()
            found = store.vector_hits(model, query, scope, 10)
            times.append(1000 * (time.perf_counter() - began))
            wanted = _exact(store, model, query, scope)
            shares.append(len({h.id for h in found} & wanted) / max(1, min(10, len(wanted))))
        print(f"recall@10, filter leaves {name:6s} {np.mean(shares):.4f}  {np.median(times):.1f} ms", flush=True)


def _exact(store: SqliteStore, model: str, query: NDArray[np.float32], scope: Scope) -> set[str]:
    """The true ten: the same store, its graph switched off."""
    settings = store._vectors._spaces[model]._settings
    store._vectors._spaces[model]._settings = type(settings)(hnsw_from=10**9, exact_below=10**9)
    try:
        return {h.id for h in store.vector_hits(model, query, scope, 10)}
    finally:
        store._vectors._spaces[model]._settings = settings


if __name__ == "__main__":
    main()
