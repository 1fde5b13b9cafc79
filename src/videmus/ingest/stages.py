"""Every stage, in the order of the data: the whole ingest, top down.

Each takes the rows of the stages that it `reads` and gives new ones; what a stage needs is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from videmus.ingest.stage import Job, Kept, Produced, Stage
from videmus.ingest.transcript import subtitles_of, transcript_key
from videmus.model import Frame, Scope

EMBED_AT_ONCE = 256
"""Passages whose vectors are committed together: a second of work on two cores."""


def hear(job: Job) -> Iterator[Produced]:
    """Subtitles where they are, else recognised speech."""
    from videmus.perceive import speech

    if cues := subtitles_of(job):
        yield from speech.from_cues(job.video.id, cues, language=job.video.language)
        return
    yield from speech.hear(
        job.media,
        job.video.id,
        job.minds,
        job.settings,
        language=job.options.language,
        speech_model=job.options.speech_model,
        done=job.done,
        progress=job.progress,
        notice=job.notices.append,
    )


def watch(job: Job) -> Iterator[Produced]:
    """What was on screen from when to when: one kept picture for each look."""
    from videmus.media.pictures import encode
    from videmus.perceive.changes import looks

    kept = {row.id for row in job.done}
    seen = looks(
        job.media, job.video.id, job.settings.screen, progress=lambda ms: job.progress(ms, job.video.duration_ms)
    )
    for look in seen:
        if look.frame.id not in kept:
            path = f"{job.video.id}/{look.frame.at_ms:09}.jpg"
            yield Kept(replace(look.frame, picture=path), encode(look.image))


def read(job: Job) -> Iterator[Produced]:
    """The text on screen, each row from its appearing to its going."""
    from videmus.perceive.screen import read_screen

    frames = job.frames()
    pictures = ((frame, _picture(job, frame)) for frame in job.steps(frames))
    yield from read_screen(job.video.id, pictures, job.minds.text_recogniser, job.settings.reading, done=job.done)


def windows(job: Job) -> Iterator[Produced]:
    from videmus.segment.windows import windows

    rows = job.evidence("speech", "screen", "scene")
    yield from windows(job.video.id, job.video.duration_ms, rows, job.settings.windows)


def clips(job: Job) -> Iterator[Produced]:
    from videmus.segment.clips import clips

    yield from clips(job.video.id, job.video.duration_ms, job.settings.clips)


def index(job: Job) -> Iterator[Produced]:
    """Vectors of the passages that have none yet; full text follows the rows by itself."""
    embedder = job.minds.embedder
    waiting = list(job.store.passages_without_vectors(embedder.name, Scope(video=job.video.id)))
    for done in range(0, len(waiting), EMBED_AT_ONCE):
        job.progress(done, len(waiting))
        batch = waiting[done : done + EMBED_AT_ONCE]
        job.store.add_vectors(embedder.name, batch, embedder.embed([p.text for p in batch]).astype("float16"))
        job.check_stop()
    yield from ()


# ---------------------------------------------------------------- reasons why a stage does not run


def no_sound(job: Job) -> str | None:
    if job.path is not None and subtitles_of(job):
        return None
    return no_file(job) or (None if job.video.has_audio else "there is no sound in it, and no subtitles")


def no_file(job: Job) -> str | None:
    return None if job.path else "there is no media file, only what was known of it"


def no_pictures(job: Job) -> str | None:
    return no_file(job) or (None if job.video.has_video else "there are no pictures in it")


def has_slides(job: Job) -> str | None:
    return "it is a presentation: it has slides" if job.segments("slide") else None


# ---------------------------------------------------------------- what enters a stage's key


def _of(*sections: str) -> Callable[[Job], Mapping[str, Any]]:
    """The settings sections that change a stage's rows."""
    return lambda job: {name: asdict(getattr(job.settings, name)) for name in sections}


def _hearing(job: Job) -> Mapping[str, Any]:
    return {**_of("speech")(job), **asdict(replace(job.options, subtitles=None)), "subtitles": transcript_key(job)}


def _picture(job: Job, frame: Frame) -> Any:
    from videmus.media.pictures import decode

    return decode(job.store.picture(frame), where=frame.picture)


STAGES: tuple[Stage, ...] = (
    Stage("speech", "hearing", 1, (), hear, skip=no_sound, settings=_hearing),
    Stage("changes", "watching", 1, (), watch, skip=no_pictures, settings=_of("screen")),
    Stage("screen", "reading", 1, ("changes",), read, skip=no_pictures, settings=_of("reading")),
    Stage("windows", "windows", 1, ("speech", "screen"), windows, settings=_of("windows")),
    Stage("index", "indexing", 1, ("speech", "screen"), index, model=lambda job: job.minds.embedder.name),
)
