"""What belongs to a whole recording and to no single file: which names are one entity, and the summaries by hours and days.

Runs after the files of an `add` were brought up to date. Summaries grow upward; what no new row touches is taken over, so
that another hour costs that hour and its day.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

from videmus.config import Settings
from videmus.errors import ModelError
from videmus.graph.nouns import same_nouns
from videmus.ingest.pipeline import Events, run
from videmus.ingest.stage import Job, Options
from videmus.ingest.stages import STAGES
from videmus.model import Evidence, Row, Scope, Video
from videmus.models.language import Tally
from videmus.models.minds import Minds
from videmus.segment.hierarchy import Leaf, Node, grow
from videmus.segment.timeline import is_recording, recording_video, timeline
from videmus.store.protocol import Store, Work

STAGE = "hierarchy"


def update(
    store: Store, minds: Minds, settings: Settings, events: Events, stop: threading.Event, changed: Sequence[Video]
) -> None:
    """Bring the recordings of these videos up to date, and the entities of all of them."""
    for recording in dict.fromkeys(v.recording for v in changed if v.recording):
        _summarise(store, minds, settings, events, stop, recording)
    for world in dict.fromkeys(v.recording or v.id for v in changed):
        if things := store.entities.things(world):
            try:
                if minds.language:
                    store.entities.keep_same_nouns(world, same_nouns(things, minds.language))
            except ModelError as error:
                events.notice(f"{world}: which nouns mean one thing was not asked: {error}")
        store.entities.resolve(world)


def _summarise(
    store: Store, minds: Minds, settings: Settings, events: Events, stop: threading.Event, name: str
) -> None:
    members = [v for v in store.videos(Scope(recording=name)) if not is_recording(v)]
    parts = timeline(name, members).placed
    if not parts:
        if members:
            events.notice(f"no file of recording {name} has a clock time: give --recorded-at, or names that tell it")
        else:
            for left in store.videos(Scope(recording=name)):
                store.remove_video(left.id)
        return
    whole = recording_video(name, members)
    store.put_video(whole)
    leaves = [
        _leaf(part.video, row) for part in parts for row in store.evidence(Scope(video=part.video.id), ["caption"])
    ]
    previous = [row for row in store.stage_rows(whole.id, STAGE) if isinstance(row, Evidence)]
    tally = Tally(minds.language) if minds.language else None
    problems: list[str] = []
    nodes = list(grow(whole, leaves, previous, settings.hierarchy, tally, problems.append))
    for problem in problems:
        events.notice(f"{name}: {problem}")
    key = hashlib.blake2b("".join(node.summary.id for node in nodes).encode(), digest_size=16).hexdigest()
    with store.lease(whole.id):
        if store.begin(whole.id, STAGE, key):
            rows = _rows(nodes)
            store.add(STAGE, rows)
            spent = tally.cost if tally else None
            store.finish(
                Work(
                    whole.id,
                    STAGE,
                    key,
                    "failed" if problems else "done",
                    "; ".join(problems) or None,
                    len(rows),
                    calls=spent.calls if spent else 0,
                    usd=spent.usd if spent else 0.0,
                ),
                whole=True,  # what a model could not sum up is summed up without it
            )
        job = Job(whole, None, settings, Options(), minds, store, stop)
        run(job, [stage for stage in STAGES if stage.name == "index"], events)


def _leaf(video: Video, row: Evidence) -> Leaf:
    began = video.recorded_at or 0
    return Leaf(began + row.start_ms, began + row.end_ms, row)


def _rows(nodes: Sequence[Node]) -> list[Row]:
    return [row for node in nodes for row in (node.summary, node.segment)]
