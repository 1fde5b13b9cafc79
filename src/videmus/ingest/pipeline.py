"""One video through its stages: what is already done is skipped, what was interrupted goes on, each failure gets a reason.

Stages whose inputs are ready run side by side (speech beside screen: both leave Python most of the time). Rows are
committed as they come. The ledger decides what runs: see `stage_key`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Protocol

from videmus.errors import VidemusError
from videmus.ingest.stage import Changed, Job, Kept, Meter, Produced, Progress, Stage, Stopped
from videmus.model import Row, Video, VideoState
from videmus.store.protocol import Work, WorkState

log = logging.getLogger(__name__)

UNREADABLE = "unreadable"
"""The key of work that failed before its key was known: no later run takes it for its own."""

LANES = 2
"""Stages at a time. Measured on two cores: recognising speech and reading slides side by side, with one thread each,
takes less time than one after the other with two threads each."""

BURST_S = 0.05
"""Rows that come faster than this share a transaction."""


class Events(Protocol):
    """What a user interface hears of an ingest. `Silent` hears nothing.

    `fetching` tells the bytes of an address that are here and, where the server says it, how many there will be.
    """

    def fetching(self, address: str, done: int, total: int | None) -> None: ...
    def video(self, video: Video, number: int, of: int) -> None: ...
    def stage_started(self, video: Video, stage: Stage) -> None: ...
    def stage_progress(self, video: Video, stage: Stage, done: int, total: int) -> None: ...
    def stage_ended(self, video: Video, stage: Stage, work: Work) -> None: ...
    def notice(self, text: str) -> None: ...


class Silent:
    def fetching(self, address: str, done: int, total: int | None) -> None: ...
    def video(self, video: Video, number: int, of: int) -> None: ...
    def stage_started(self, video: Video, stage: Stage) -> None: ...
    def stage_progress(self, video: Video, stage: Stage, done: int, total: int) -> None: ...
    def stage_ended(self, video: Video, stage: Stage, work: Work) -> None: ...
    def notice(self, text: str) -> None: ...


def run(job: Job, stages: Sequence[Stage], events: Events) -> list[Work]:
    """Bring one video up to date. Returns the work of every stage.

    Raises Stopped when the user asked to stop, and Changed, once what ran has ended, when the file was written to.
    """
    waiting = list(stages)
    finished: set[str] = set()
    running: dict[Future[Work], Stage] = {}
    results: dict[str, Work] = {}
    changed = not job.holds()
    names = {stage.name for stage in stages}
    with ThreadPoolExecutor(LANES, thread_name_prefix="videmus") as pool:
        try:
            while running or (waiting and not changed):
                free = 0 if changed else LANES - len(running)
                for stage in [s for s in waiting if not ({*s.reads} & names) - finished][:free]:
                    waiting.remove(stage)
                    running[
                        pool.submit(_run_stage, replace(job, done=(), notices=[], meter=Meter()), stage, events)
                    ] = stage
                for future in _some_done(running):
                    stage = running.pop(future)
                    results[stage.name] = future.result()
                    finished.add(stage.name)
                changed = changed or not job.holds()
        except BaseException:
            job.stop.set()  # the other lane ends after the row it is at; leaving the pool waits for it
            raise
    if changed:
        raise Changed
    return [results[stage.name] for stage in stages]


def _some_done(running: dict[Future[Work], Stage]) -> list[Future[Work]]:
    """Those that ended; waits in short steps, so that Ctrl-C is heard at once on every platform."""
    while True:
        done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
        if done:
            return list(done)


def stage_key(job: Job, stage: Stage) -> str:
    """What decides whether a stage's work is still valid: itself, its model and settings, and all that it reads."""
    read = job.store.digest(job.video.id, stage.reads, (stage.name,) if stage.marks else ())
    parts = [stage.name, stage.version, stage.model(job), stage.settings(job), read]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _run_stage(job: Job, stage: Stage, events: Events) -> Work:
    if job.stop.is_set():
        raise Stopped
    video, store = job.video, job.store
    began = time.monotonic()
    state: WorkState = "done"
    reason: str | None = None
    key = UNREADABLE  # until it is known: what the stage's settings are read from may itself be broken
    try:
        key = stage_key(job, stage)
        reason = stage.skip(job)
        before = next((w for w in store.work(video.id) if w.stage == stage.name), None)
        if reason and before and before.state == "done" and before.rows:
            return before  # what was made where it could run stays: a model that is not here now loses nothing
        if reason:
            state = "skipped"
        elif not store.begin(video.id, stage.name, key):
            return next(w for w in store.work(video.id) if w.stage == stage.name)
        else:
            job.done = store.unfinished(video.id, stage.name)
            job.progress = _progress(job, stage, events)
            events.stage_started(video, stage)
            _commit(job, stage, stage.run(job))
            reason = job.meter.problem
    except Stopped:
        raise
    except VidemusError as error:
        reason = str(error)
    except Exception as error:
        log.exception("stage %s of %s", stage.name, video.source)
        reason = f"fault in Videmus, {type(error).__name__}: {error}"
    if reason and state != "skipped":
        state = "failed"
    rows = len((store.unfinished if state == "done" else store.stage_rows)(video.id, stage.name))
    meter = job.meter
    seconds = time.monotonic() - began
    work = Work(
        video.id, stage.name, key, state, reason, rows, seconds, meter.calls, meter.tokens_in, meter.tokens_out, meter.usd
    )  # fmt: skip
    store.finish(work)
    for notice in job.notices:
        events.notice(f"{video.title}: {notice}")
    events.stage_ended(video, stage, work)
    return work


def _progress(job: Job, stage: Stage, events: Events) -> Progress:
    """Tells the events, and is where a stage ends that yields nothing for long when the user asked to stop."""

    def told(done: int, total: int) -> None:
        job.check_stop()
        events.stage_progress(job.video, stage, done, total)

    return told


def _commit(job: Job, stage: Stage, produced: Iterator[Produced]) -> None:
    """Commit rows as they come; those made before a fault or a stop as well."""
    rows: list[Row] = []
    pictures: dict[str, bytes] = {}
    last = time.monotonic()
    try:
        for item in produced:
            if isinstance(item, Kept):
                pictures[item.frame.id] = item.jpeg
                rows.append(item.frame)
            else:
                rows.append(item)
            if job.stop.is_set():
                raise Stopped
            if time.monotonic() - last > BURST_S:
                job.store.add(stage.name, rows, pictures)
                rows, pictures = [], {}
                last = time.monotonic()
    finally:
        job.store.add(stage.name, rows, pictures)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A video's state after its stages, with the reason in one line."""

    state: VideoState
    reason: str | None


def outcome(work: Sequence[Work]) -> Outcome:
    """`ready` when nothing failed, `failed` when nothing came of it, `partial` between."""
    failed = [w for w in work if w.state == "failed"]
    if not failed:
        return Outcome("ready", None)
    reason = "; ".join(f"{w.stage}: {w.reason}" for w in failed)
    return Outcome("partial" if any(w.rows for w in work) else "failed", reason)
