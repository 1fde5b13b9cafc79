"""Retrieval and refusal on sets of questions: this project beside BM25 and plain reciprocal rank fusion.

    bench/retrieval.py DATA [DATA ...] [--library FOLDER] [--every N] [--refusal]

DATA is a folder with questions.jsonl and bundles/*.json. The libraries are made below --library (kept between runs) or in
a temporary folder. Prints recall@1 / @5 and seconds@5 within the video and over the whole set, each with the figures of
the two halves of the videos, so that a choice that only one half likes is seen.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from videmus.config import Settings
from videmus.evaluate.retrieval import (
    Asked,
    Found,
    area_under_curve,
    interval,
    ranks,
    read_bundle,
    read_questions,
    score,
)
from videmus.ingest.embedding import embed_passages
from videmus.model import Moment, Scope
from videmus.models.text_embedding import TextEmbedder, load
from videmus.search.hybrid import ranking, search
from videmus.store.protocol import EVERYTHING
from videmus.store.sqlite import SqliteStore
from videmus.store.words import stem, words

Results = Mapping[str, Sequence[Found]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every Nth question")
    parser.add_argument("--refusal", action="store_true", help="also ask each video another video's questions")
    parser.add_argument("--baselines", action="store_true")
    arguments = parser.parse_args()
    settings = Settings()
    embedder = load(settings)
    for data in arguments.data:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (arguments.library or Path(temporary)) / data.name
            store, names = library(folder, sorted((data / "bundles").glob("*.json")), embedder)
            every = read_questions(data / "questions.jsonl")
            asked = every[:: arguments.every]
            print(f"{data.name}: {len(asked)} questions, {len(names)} videos")
            ids = {name: id for id, name in names.items()}

            def found(moments: Sequence[Moment], names: Mapping[str, str] = names) -> list[Found]:
                return [Found(names[m.video], m.start_ms, m.end_ms) for m in moments]

            def ask(one: Asked, within: bool, store: SqliteStore = store, ids: Mapping[str, str] = ids) -> list[Moment]:
                scope = Scope(video=ids[one.video]) if within else Scope()
                return search(store, embedder, one.question, scope, 5, settings)

            began = time.perf_counter()
            show("within the video", asked, {q.id: found(ask(q, True)) for q in asked}, every)
            show("whole library", asked, {q.id: found(ask(q, False)) for q in asked}, every)
            print(f"  {(time.perf_counter() - began) / 2 / len(asked) * 1000:.1f} ms a question")
            if arguments.baselines:
                for name, fuse in (("BM25 of rows", bm25), ("reciprocal rank, BM25 + cosine", reciprocal)):
                    show(f"{name}, within", asked, {q.id: found(fuse(store, embedder, q, ids)) for q in asked}, every)
            if arguments.refusal:
                refusal(store, embedder, settings, asked, ids)
            store.close()


def library(folder: Path, bundles: Sequence[Path], embedder: TextEmbedder) -> tuple[SqliteStore, dict[str, str]]:
    """A store with the bundles' rows and vectors (made once), and the bundles' names by video id."""
    store = SqliteStore(folder)
    names = {}
    for bundle in bundles:
        video, rows = read_bundle(bundle)
        names[video.id] = bundle.stem
        if store.video(video.id) is None:
            store.put_video(replace(video, state="ready"))
            store.add("bundle", rows)
    embed_passages(store, embedder, EVERYTHING)
    return store, names


def show(name: str, asked: Sequence[Asked], results: Results, every: Sequence[Asked]) -> None:
    whole = score(asked, results, every)
    low, high = interval([float(r == 0) for r in ranks(asked, results, every)], rounds=300)
    videos = sorted({q.video for q in asked})
    halves = []
    for half in (0, 1):
        mine = [q for q in asked if videos.index(q.video) % 2 == half]
        part = score(mine, results, every)
        halves.append(f"{part.recall_1:.3f}/{part.recall_5:.3f}")
    print(
        f"  {name:34s} recall@1 {whole.recall_1:.3f} [{low:.3f}, {high:.3f}]  @5 {whole.recall_5:.3f}  mrr {whole.mrr:.3f}"
        f"  seconds@5 {whole.seconds:.0f}  halves {' '.join(halves)}",
        flush=True,
    )


def refusal(
    store: SqliteStore, embedder: TextEmbedder, settings: Settings, asked: Sequence[Asked], ids: Mapping[str, str]
) -> None:
    """Each video is asked its own questions and as many of the next video's; the confidence should tell them apart."""
    from videmus.answer.extractive import confidence

    videos = sorted({q.video for q in asked})
    following = dict(zip(videos, videos[1:] + videos[:1], strict=True))
    right: list[float] = []
    wrong: list[float] = []
    refused = [0, 0]
    for one in asked:
        for kept, video in ((right, one.video), (wrong, following[one.video])):
            found = ranking(store, embedder, one.question, Scope(video=ids[video]), 5, settings)
            sure = confidence(found, settings.answer)
            kept.append(sure)
            refused[kept is wrong] += sure < settings.answer.least_confidence
    print(
        f"  refusal: area under the curve {area_under_curve(right, wrong):.3f};"
        f" own questions refused {refused[0] / len(right):.3f}, another video's {refused[1] / len(wrong):.3f}"
    )


Baseline = Callable[[SqliteStore, TextEmbedder, Asked, Mapping[str, str]], list[Moment]]


def bm25(store: SqliteStore, embedder: TextEmbedder, one: Asked, ids: Mapping[str, str]) -> list[Moment]:
    """The rows of the video by SQLite's BM25, as they are."""
    scope = Scope(video=ids[one.video])
    hits = store.keyword_hits([[stem(w)] for w in words(one.question)], scope, 5)
    return [Moment(h.video, "", h.start_ms, h.end_ms, "speech", "", h.score, (h.id,)) for h in hits]


def reciprocal(store: SqliteStore, embedder: TextEmbedder, one: Asked, ids: Mapping[str, str]) -> list[Moment]:
    """Plain reciprocal rank fusion (Cormack et al. 2009, k = 60) of the two lists of rows."""
    scope = Scope(video=ids[one.video])
    lists = [
        store.keyword_hits([[stem(w)] for w in words(one.question)], scope, 50),
        store.vector_hits(embedder.name, embedder.embed_query(one.question), scope, 50),
    ]
    spans: dict[tuple[int, int], float] = {}
    for hits in lists:
        for rank, h in enumerate(hits):
            spans[h.start_ms, h.end_ms] = spans.get((h.start_ms, h.end_ms), 0) + 1 / (60 + rank)
    best = sorted(spans, key=lambda span: -spans[span])[:5]
    return [Moment(ids[one.video], "", a, z, "speech", "", spans[a, z], ()) for a, z in best]


if __name__ == "__main__":
    main()
