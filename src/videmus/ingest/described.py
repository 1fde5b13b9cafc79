"""Which descriptions of what is seen are used instead of a vision model: a file that the user named, or one beside the video."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from videmus.errors import SubtitleError
from videmus.exports.captions_file import Caption, beside, read
from videmus.ingest.stage import Job
from videmus.model import Evidence, Origin, SceneDetail, evidence_id
from videmus.perceive.scene import VERSION


def captions_file(job: Job) -> Path | None:
    """The file that the user named, else the one beside the video."""
    return None if job.path is None else job.options.captions or beside(job.path)


def captions_of(job: Job) -> list[Caption] | None:
    """The captions to use, or None. A file beside the video that cannot be understood is said, and a vision model is used.

    Raises SubtitleError where there is no such model, and where the file that the user named cannot be understood or is gone:
    what was made of it stays.
    """
    from videmus.media.probe import probe

    file = captions_file(job)
    if file is None:
        return None
    try:
        video = probe(job.media).video
        return read(file, (video.fps if video else None) or 0.0)
    except SubtitleError as error:
        if job.options.captions or job.minds.vision is None:
            raise
        job.notices.append(f"its captions are not used: {error}")
        return None


def captions_key(job: Job) -> str | None:
    """What tells whether the captions are still those of the last run."""
    file = captions_file(job)
    return hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest() if file and file.is_file() else None


def described(job: Job, captions: list[Caption]) -> Iterator[Evidence]:
    """Scene rows out of captions; their origin says so."""
    origin = Origin("scene", VERSION, None, {"from": "captions"})
    for caption in captions:
        id = evidence_id(job.video.id, "scene", caption.start_ms, caption.end_ms, caption.text)
        yield Evidence(
            id, job.video.id, caption.start_ms, caption.end_ms, "scene", caption.text, origin, detail=SceneDetail()
        )
