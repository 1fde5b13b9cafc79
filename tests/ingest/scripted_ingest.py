"""An ingest of scripted stages, as a program: each line on standard input starts one, in a fork that may be killed.

The line is the version of the stages: another one makes other rows.
"""

import hashlib
import os
import sys
from pathlib import Path

from videmus.config import Settings
from videmus.ingest.pipeline import Silent, outcome, run
from videmus.ingest.stage import Job, Kept, Options, Stage
from videmus.model import Evidence, Frame, Origin, Video, evidence_id, frame_id
from videmus.models.minds import Minds
from videmus.store.sqlite import SqliteStore

VIDEO = Video("v1", "print", "talk", 60_000, "talk.mp4")


def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # whole lines, from two threads


def work(text):  # some milliseconds, so that rows are committed in several bursts
    for _ in range(3000):
        text = hashlib.sha256(text.encode()).hexdigest()
    return text


def row(kind, stage, start_ms, text, sources=()):
    id = evidence_id("v1", kind, start_ms, start_ms + 1000, text)
    return Evidence(id, "v1", start_ms, start_ms + 1000, kind, text, Origin(stage), sources=sources)


def hear(job):
    done = {r.start_ms for r in job.done}
    for n in range(25):
        if n * 1000 not in done:
            tell("heard", n)
            yield row("speech", "hear", n * 1000, f"said {version} " + work(str(n)))


def watch(job):
    done = {r.id for r in job.done}
    for n in range(20):
        if frame_id("v1", n * 2000) not in done:
            tell("watched", n)
            hash = f"{version:016}"
            frame = Frame(frame_id("v1", n * 2000), "v1", n * 2000, f"v1/{n:05}.jpg", hash, 4, 3, Origin("watch"))
            yield Kept(frame, work(f"picture {n}").encode() * 500)


def describe(job):
    pictures = job.pictures()
    done = {r.start_ms for r in job.done}
    for frame in job.frames():
        if frame.at_ms not in done:
            key = f"describe {frame.id}"
            reply = job.store.cached_call(key)
            if reply is None:
                tell("asked", frame.at_ms)
                reply = work(pictures(frame.id).decode()).encode()
                job.store.cache_call(key, reply, {"video": "v1", "stage": "describe"})
                tell("kept", frame.at_ms)
            yield row("scene", "describe", frame.at_ms, reply.decode())


def narrate(job):
    for said in job.evidence("speech"):
        yield row("narration", "narrate", said.start_ms, work(said.text), (said.id,))


def stages():
    return [
        Stage("hear", "hear", version, (), hear),
        Stage("watch", "watch", version, (), watch),
        Stage("describe", "describe", version, ("watch",), describe),
        Stage("narrate", "narrate", version, ("hear",), narrate),
    ]


class Telling(Silent):
    def stage_started(self, video, stage):
        tell("started", stage.name)

    def stage_ended(self, video, stage, work):
        tell("ended", stage.name, work.state)


def ingest(folder):
    store = SqliteStore(Path(folder))
    with store.lease("v1"):
        if store.video("v1") is None:
            store.put_video(VIDEO)
        done = run(Job(VIDEO, None, Settings(), Options(), Minds(Settings()), store), stages(), Telling())
        ended = outcome(done)
        store.edit_video("v1", state=ended.state, reason=ended.reason)
    store.close()


for line in sys.stdin:
    version = int(line)
    child = os.fork()
    if child == 0:
        tell(os.getpid())
        ingest(sys.argv[1])
        os._exit(0)
    os.waitpid(child, 0)
    tell("over")
