"""The figures of a week and a year of footage, each against the bound that it has to keep.

    python bench/week.py resolution ladder size future growth year ingest     (or: all; --seed N makes other weeks)

Everything is made: a synthetic week (`videmus.evaluate.week`) whose vocabulary is not the one that the rules were written
against, and a year out of it by repetition. Nothing is downloaded. `ingest` goes the way of `videmus add`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")

from videmus import clock
from videmus.answer.agent_tools import Parts
from videmus.config import GraphSettings, Settings
from videmus.evaluate.week import Telling, make_week
from videmus.evaluate.week.extractor import scripted_extractor, truth_of
from videmus.evaluate.week.files import hour_files, write
from videmus.evaluate.week.leaks import leaks, plant
from videmus.evaluate.week.questions import true_facts
from videmus.graph import nouns
from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import extract
from videmus.model import Frame, Origin, Relation, Scope, Video, content_id, frame_id
from videmus.search.ladder import Slots, climb
from videmus.segment.hierarchy import Leaf, grow
from videmus.segment.timeline import recording_video
from videmus.store.frame_vectors import FrameVectors
from videmus.store.sqlite import SqliteStore
from videmus.understand.captions import captions

SETTINGS = GraphSettings()
WEEK = Scope(recording="week")


class Built:
    """A week in a library, with the true entities of its relations."""

    def __init__(self, folder: Path, telling: Telling) -> None:
        self.telling = telling
        self.files = list(hour_files(telling))
        self.store = SqliteStore(folder)
        self.truth: dict[str, tuple[str, str]] = {}
        self.relations: list[Relation] = []
        self.leaves: list[Leaf] = []
        model = scripted_extractor(self.files, telling.week.vocabulary)
        for file in self.files:
            video = file.video("week")
            rows = file.rows(video.id)
            self.store.put_video(video)
            self.store.add("import", rows)
            made = list(captions(video, rows, SETTINGS.caption_ms))
            self.store.add("captions", made)
            self.leaves += [Leaf(file.start + c.start_ms, file.start + c.end_ms, c) for c in made]
            found = list(extract(made, [r for r in rows if r.kind == "speech"], model, SETTINGS))
            self.store.add("graph", found)
            self.relations += found
            self.truth |= truth_of(found, file, video, made)
        entities = self.store.entities
        entities.keep_same_nouns("week", nouns.same_nouns(entities.things("week"), model))
        entities.resolve("week")


def main() -> None:
    measures: dict[str, Callable[[Path, int], None]] = {
        "resolution": resolution,
        "ladder": ladder,
        "size": size,
        "growth": growth,
        "future": future,
        "year": year,
        "frames": frames,
        "ingest": ingest,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="+", choices=[*measures, "all"])
    parser.add_argument(
        "--seed", type=int, default=0, help="the first week's; the figures in the documentation are of 0"
    )
    given = parser.parse_args()
    for name in measures if "all" in given.measures else given.measures:
        folder = Path(tempfile.mkdtemp(prefix=f"videmus-{name}-"))
        try:
            measures[name](folder, given.seed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def told(what: str, value: str, bound: str, kept: bool) -> None:
    print(f"{'ok  ' if kept else 'MISS'} {what}: {value} (bound {bound})", flush=True)


# ---------------------------------------------------------------- the week


def resolution(folder: Path, first: int) -> None:
    """Pairwise F1 over all mentions of people, things and places, on three weeks of each vocabulary."""
    for words in ("second", "first"):
        for seed in range(first, first + 3):
            built = Built(folder / f"{words}{seed}", make_week(seed, words=words))
            meant = _entities(built)
            pairs = {kind: [] for kind in "ptl"}
            for relation in built.relations:
                if relation.id in built.truth and relation.relation != ALSO_CALLED:
                    for found, true in zip(meant[relation.id], built.truth[relation.id], strict=True):
                        pairs[true[0]].append((found, true))
            whole = _f1([p for found in pairs.values() for p in found])
            parts = ", ".join(
                f"{n} {_f1(pairs[k])[2]:.3f}" for k, n in (("p", "people"), ("t", "things"), ("l", "places"))
            )
            told(
                f"entity resolution, {words} vocabulary, seed {seed}, {len(built.relations)} relations",
                f"precision {whole[0]:.3f}, recall {whole[1]:.3f}, F1 {whole[2]:.3f} ({parts})", "F1 .95", whole[2] >= 0.95,
            )  # fmt: skip
            built.store.close()


def _entities(built: Built) -> dict[str, tuple[str, str]]:
    facts = built.store.graph.facts(_everything(), WEEK, limit=10**7)
    return {f.id: (f.source_entity, f.target_entity) for f in facts}


def _everything():
    from videmus.store.graph import Wanted

    return Wanted()


def _f1(pairs: Iterable[tuple[str, str]]) -> tuple[float, float, float]:
    both = Counter(pairs)
    found, true = Counter(), Counter()
    for (f, t), count in both.items():
        found[f] += count
        true[t] += count

    def pairs_in(counts: Iterable[int]) -> float:
        return sum(n * (n - 1) / 2 for n in counts)

    right, guessed, wanted = pairs_in(both.values()), pairs_in(found.values()), pairs_in(true.values())
    return right / max(1, guessed), right / max(1, wanted), 2 * right / max(1, guessed + wanted)


def ladder(folder: Path, seed: int, tries: int = 2_000) -> None:
    """True slots with name variants, wrong times, a missing relation, and all three: the right row among the 50."""
    built = Built(folder / "library", make_week(seed))
    words = built.telling.week.vocabulary
    shared = {given for given, count in Counter(p[0] for p in words.people).items() if count > 1}
    facts = list(true_facts(built.telling))
    chance = random.Random(1 + seed)

    def variant(name: str) -> str:
        for given, family, short, nickname, _ in words.people:
            if name == f"{given} {family}":
                return f"{given} {family[0]}." if given in shared else chance.choice((given, short, nickname))
        for noun, other, mark, *_ in words.things:
            if name == f"{mark} {noun}":
                return chance.choice((f"the {mark} {noun}", f"{mark} {noun}s", f"{mark} {other}"))
        return name

    hits: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    seconds = []
    for n in range(tries):
        line, source, relation, target = chance.choice(facts)
        slots = Slots(
            clock.day_number(line.start), line.start % clock.DAY_MS, line.end % clock.DAY_MS, source, target, relation
        )
        kind = ("true", "name variants", "wrong time", "no relation", "all three")[n % 5]
        if kind in ("name variants", "all three"):
            slots = replace(slots, source=variant(source), target=variant(target))
        if kind in ("wrong time", "all three"):
            start = max(0, (slots.start or 0) + chance.choice((-1, 1)) * chance.randrange(5, 90) * clock.MINUTE_MS)
            slots = replace(slots, start=start, end=start + 30_000)
        if kind in ("no relation", "all three"):
            slots = replace(slots, relation=None)
        began = time.perf_counter()
        climbed = climb(built.store.graph, slots, WEEK, SETTINGS, first_day=0)
        seconds.append(time.perf_counter() - began)
        asked[kind] += 1
        hits[kind] += any(
            r.fact.start <= line.end and r.fact.end >= line.start and r.fact.relation == relation for r in climbed.rows
        )
    share = hits.total() / asked.total()
    each = ", ".join(f"{k} {hits[k] / asked[k]:.3f}" for k in asked)
    told(f"ladder, the right row among 50, {tries} tries", f"{share:.4f} ({each})", ".98", share >= 0.98)
    told("ladder on the week, p50 / p95", f"{_p(seconds, 50):.1f} / {_p(seconds, 95):.1f} ms", "-", True)
    built.store.close()


def size(folder: Path, seed: int) -> None:
    """What the relations and entities of 52 hours take in library.db, pages counted by SQLite itself."""
    built = Built(folder / "library", make_week(seed))
    tables = (
        "relation",
        "relation_end",
        "relation_also",
        "entity",
        "entity_alias",
        "entity_word",
        "entity_link",
        "name",
    )
    with built.store._db.reading() as connection:
        sql = "SELECT name FROM sqlite_master WHERE tbl_name IN (SELECT value FROM json_each(?))"
        names = [name for (name,) in connection.execute(sql, (json.dumps(tables),))]
        try:
            total = sum(
                connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = ?", (n,)).fetchone()[0] or 0
                for n in names
            )
        except Exception as error:  # noqa: BLE001 - an SQLite built without dbstat
            print(f"size: this SQLite has no dbstat ({error})")
            return
    count = len(built.store.relations(WEEK))
    of_14000 = total / count * 14_000
    told(
        f"graph store, {count} relations", f"{total / 2**20:.2f} MB, {of_14000 / 2**20:.2f} MB for 14,000",
        "4 MB", total <= 4 * 2**20,
    )  # fmt: skip
    built.store.close()


def growth(folder: Path, seed: int) -> None:
    """The hierarchy: one more hour makes that hour and its day anew and takes the rest over."""
    built = Built(folder / "library", make_week(seed))
    videos = [file.video("week") for file in built.files]
    whole = recording_video("week", videos)
    last = built.files[-1].start
    before = [x for x in built.leaves if x.start < last]
    began = time.perf_counter()
    nodes = list(grow(whole, before))
    first = time.perf_counter() - began
    began = time.perf_counter()
    after = list(grow(whole, built.leaves, [n.summary for n in nodes]))
    second = time.perf_counter() - began
    made = Counter(n.level for n in after if n.made)
    print(
        f"     hierarchy: {len(nodes)} nodes in {first:.1f} s; an hour more makes {dict(made)} in {second:.1f} s",
        flush=True,
    )
    began = time.perf_counter()
    built.store.entities.resolve("week")
    print(f"     names of the week resolved anew in {time.perf_counter() - began:.1f} s", flush=True)
    built.store.close()


def future(folder: Path, first: int, tries: int = 10_000) -> None:
    """Facts planted anywhere, every tool asked at random times."""
    seen = 0
    began = time.perf_counter()
    for seed in (first, first + 1):
        built = Built(folder / f"library{seed}", make_week(20 + seed, days=4, hours=8))
        facts = plant(built.files, "week", 60, seed)
        for fact in facts:
            built.store.add("planted", fact.rows)
        built.store.entities.resolve("week")
        parts = Parts(built.store, built.store.graph, built.store.frame_vectors, Settings())
        for line in leaks(parts, facts, WEEK, tries // 2, seed):
            seen += 1
            print(f"     leak: {line}", flush=True)
        built.store.close()
    told(
        f"no future, {tries} tries over all tools, {time.perf_counter() - began:.0f} s", f"{seen} leaks", "0", seen == 0
    )


def ingest(folder: Path, seed: int) -> None:
    """The week as evidence files, added whole without models; then one more hour."""
    from videmus import Library

    files = write(make_week(seed), folder / "files")
    last = folder / "last"
    last.mkdir()
    files[-1].rename(last / files[-1].name)
    with Library(folder / "library") as library:
        whole, whole_cpu = _timed(lambda: library.add(folder / "files", recording="week"))
        more, more_cpu = _timed(lambda: library.add(last / files[-1].name, recording="week"))
        told(
            f"52 hours as {len(files) - 1} evidence files, added whole",
            f"{whole / 60:.1f} min ({whole_cpu / 60:.1f} min of processor time)", "10 min", whole <= 600,
        )  # fmt: skip
        told("one more hour", f"{more:.1f} s ({more_cpu:.1f} s of processor time)", "20 s", more <= 20)
        relations = library.store.relations(WEEK)
        print(
            f"     {len(relations)} relations by rules, {len(library.store.evidence(WEEK))} rows of evidence",
            flush=True,
        )


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of processor time: on a busy machine the two differ."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


# ---------------------------------------------------------------- the year


def year(folder: Path, seed: int, relations: int = 700_000) -> None:
    """The week's relations again and again over a year."""
    built = Built(folder / "week", make_week(seed))
    store = SqliteStore(folder / "year")
    weeks = -(-relations // len(built.relations))
    began = time.perf_counter()
    for week in range(weeks):
        shift = week * 7 * clock.DAY_MS
        rename: dict[str, str] = {}
        for file in built.files:
            video = file.video("year")
            rename[video.id] = content_id("v", video.id, week)
            print_ = f"{video.fingerprint}:{week}"
            store.put_video(
                replace(
                    video, id=rename[video.id], fingerprint=print_, recorded_at=file.start + shift, recording="year"
                )
            )
        rows = [replace(r, id=content_id("r", r.id, week), video=rename[r.video]) for r in built.relations]
        store.add("graph", rows)
    print(f"     {weeks * len(built.relations)} relations in {time.perf_counter() - began:.0f} s", flush=True)
    began = time.perf_counter()
    store.entities.resolve("year")
    print(f"     resolved in {time.perf_counter() - began:.0f} s", flush=True)
    _year_ladder(store, built, weeks)
    store.close()
    built.store.close()


def _year_ladder(store: SqliteStore, built: Built, weeks: int) -> None:
    chance = random.Random(2)
    facts = list(true_facts(built.telling))
    seconds = []
    for n in range(400):
        line, source, relation, target = chance.choice(facts)
        start = line.start + chance.randrange(weeks) * 7 * clock.DAY_MS
        day = clock.day_number(start)
        slots = Slots(day, start % clock.DAY_MS, start % clock.DAY_MS + 30_000, source, target, relation)
        if n % 4 == 1:
            slots = replace(slots, start=60_000, end=120_000)
        if n % 4 == 2:
            slots = replace(slots, relation=None, day=None, start=None, end=None)
        if n % 4 == 3:
            slots = replace(slots, source=source.split()[0], day=None, start=None, end=None)
        scope = Scope(recording="year", at=start + clock.DAY_MS) if n % 2 else Scope(recording="year")
        began = time.perf_counter()
        climb(store.graph, slots, scope, SETTINGS, first_day=0)
        seconds.append(time.perf_counter() - began)
    p50 = _p(seconds, 50)
    told(
        "a year's ladder, p50 / p95 / p99",
        f"{p50:.1f} / {_p(seconds, 95):.1f} / {_p(seconds, 99):.1f} ms",
        "50 ms",
        p50 <= 50,
    )


def frames(folder: Path, seed: int, count: int = 600_000, dimension: int = 512) -> None:
    """A year's frames, 2,500 videos of an hour, with random unit vectors in clusters."""
    import numpy as np

    noise = np.random.default_rng(3 + seed)
    centres = noise.normal(size=(3_000, dimension)).astype(np.float32)
    store = SqliteStore(folder / "library")
    videos = [
        Video(
            content_id("v", n), f"f{n}", f"hour {n}", clock.HOUR_MS, f"{n}.mp4", "ready",
            recorded_at=n // 7 * clock.DAY_MS + (8 + n % 7) * clock.HOUR_MS, recording="year",
        )
        for n in range(2_500)
    ]  # fmt: skip
    each = -(-count // len(videos))
    began = time.perf_counter()
    made = 0
    for video in videos:
        rows = _frames(video, each)
        store.put_video(video)
        store.add("frames", rows)
        which = (np.arange(len(rows)) // 40 + noise.integers(3_000)) % 3_000
        vectors = centres[which] + 0.7 * noise.normal(size=(len(rows), dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        store.frame_vectors.add("made", [f.id for f in rows], vectors)
        made += len(rows)
    print(f"     {made} frames embedded in {time.perf_counter() - began:.0f} s", flush=True)
    began = time.perf_counter()
    store.frame_vectors.prepare("made")
    print(f"     the index over them is made in {time.perf_counter() - began:.0f} s", flush=True)
    space = FrameVectors(store._db, store.folder / "vectors")
    began = time.perf_counter()
    space.nearest("made", centres[:1] / np.linalg.norm(centres[0]), Scope(), 50)
    print(f"     first search of another process {time.perf_counter() - began:.1f} s", flush=True)
    seconds, recall = [], []
    with store._db.reading() as connection:
        blobs = connection.execute("SELECT value FROM frame_vector ORDER BY n").fetchall()
    matrix = np.frombuffer(b"".join(b for (b,) in blobs), np.float16).reshape(len(blobs), dimension)
    del blobs
    for n in range(60):
        queries = centres[noise.integers(3_000, size=1 + n % 3)] + 0.5 * noise.normal(size=(1 + n % 3, dimension))
        queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
        at = int(noise.integers(30, 357)) * clock.DAY_MS
        scope = Scope(recording="year", at=at) if n % 2 else Scope(recording="year")
        began = time.perf_counter()
        found = store.frame_vectors.nearest("made", queries, scope, 50)
        seconds.append(time.perf_counter() - began)
        if n < 12 and scope.at is None:
            best = np.full(len(matrix), -2.0, np.float32)
            for first in range(0, len(best), 65_536):
                part = matrix[first : first + 65_536].astype(np.float32)
                best[first : first + len(part)] = (part @ queries.T).max(1)
            floor = np.partition(best, -50)[-50]
            recall.append(sum(score >= floor - 1e-3 for _, score in found) / 50)
    p50 = _p(seconds, 50)
    told(
        f"a year's frame search, {made} frames, p50 / p95", f"{p50:.1f} / {_p(seconds, 95):.1f} ms, recall of the exact 50 "
        f"{statistics.mean(recall):.3f}", "50 ms", p50 <= 50,
    )  # fmt: skip


def _frames(video: Video, count: int) -> list[Frame]:
    step = max(1, video.duration_ms // count)
    times = range(0, video.duration_ms, step)
    origin = Origin("frames")
    return [
        Frame(frame_id(video.id, at), video.id, at, f"{video.id}/{at:09d}.jpg", f"{at:016x}", 640, 360, origin)
        for at in list(times)[:count]
    ]


def _p(seconds: list[float], percent: int) -> float:
    """A percentile in milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


if __name__ == "__main__":
    sys.exit(main())
