"""Which subtitles are used for a video instead of recognition: a file beside it, or a stream inside it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from videmus.errors import SubtitleError
from videmus.ingest.sources import kind_of
from videmus.ingest.stage import Job
from videmus.media.subtitles import Subtitles, embedded, find_sidecar, read


def subtitles_of(job: Job) -> Subtitles | None:
    """The subtitles to use, or None: there are none, or the user wants recognition (`--transcribe`).

    A file beside the video that cannot be understood is said, and recognition is used. A transcript that was added
    for itself must be understood: its SubtitleError is raised.
    """
    if job.path is None or (job.options.transcribe and kind_of(job.path) != "subtitles"):
        return None
    if kind_of(job.path) == "subtitles":
        return read(job.path)
    if file := _file(job):
        try:
            return read(file)
        except SubtitleError as error:
            job.notices.append(f"its subtitles are not used: {error}")
    return embedded(job.path, job.options.language)


def transcript_key(job: Job) -> str | None:
    """What tells whether the subtitles are still those of the last run."""
    if job.path is None or job.options.transcribe:
        return None
    file = job.path if kind_of(job.path) == "subtitles" else _file(job)
    return hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest() if file else None


def _file(job: Job) -> Path | None:
    """The file of subtitles: the one that the user named, else one beside the video.

    Raises SubtitleError where the named one is gone: what was made of it stays.
    """
    assert job.path is not None
    named = job.options.subtitles
    if named and not named.is_file():
        next = "put the file back, or add the video with other subtitles"
        raise SubtitleError("the subtitles that were named for it are not there", where=str(named), next=next)
    return named or find_sidecar(job.path, job.options.language)
