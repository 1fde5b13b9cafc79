"""A small made week in a library, built once for all tests that only read it."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from videmus import clock
from videmus.answer.agent_tools import Parts
from videmus.config import GraphSettings, Settings
from videmus.evaluate.week import Telling, make_week
from videmus.evaluate.week.extractor import scripted_extractor
from videmus.evaluate.week.files import HourFile, hour_files
from videmus.graph import extract, nouns
from videmus.model import Scope
from videmus.segment.hierarchy import Leaf, grow
from videmus.segment.timeline import recording_video
from videmus.store.sqlite import SqliteStore
from videmus.understand.captions import captions

RECORDING = Scope(recording="week")


@dataclass(frozen=True)
class WeekLibrary:
    telling: Telling
    files: tuple[HourFile, ...]
    store: SqliteStore

    def parts(self, **given) -> Parts:
        return Parts(self.store, self.store.graph, self.store.frame_vectors, given.pop("settings", Settings()), **given)


def build(folder: Path, telling: Telling, settings: GraphSettings | None = None) -> WeekLibrary:
    settings = settings or GraphSettings()
    files = tuple(hour_files(telling))
    model = scripted_extractor(files, telling.week.vocabulary)
    store = SqliteStore(folder)
    leaves = []
    videos = []
    for file in files:
        video = file.video("week")
        videos.append(video)
        rows = file.rows(video.id)
        store.put_video(video)
        store.add("import", rows)
        made = list(captions(video, rows, settings.caption_ms))
        store.add("captions", made)
        leaves += [Leaf(file.start + c.start_ms, file.start + c.end_ms, c) for c in made]
        store.add("graph", extract.extract(made, [r for r in rows if r.kind == "speech"], model, settings))
    whole = recording_video("week", videos)
    store.put_video(whole)
    for node in grow(whole, leaves):
        store.add("hierarchy", [node.segment, node.summary])
    store.entities.keep_same_nouns("week", nouns.same_nouns(store.entities.things("week"), model))
    store.entities.resolve("week")
    return WeekLibrary(telling, files, store)


@functools.cache
def two_days() -> WeekLibrary:
    """Six hours over two days. Read only."""
    return build(Path(tempfile.mkdtemp(prefix="videmus-week-")) / "library", make_week(5, days=2, hours=6))


def at(text: str) -> int:
    return clock.parse_clock(text)
