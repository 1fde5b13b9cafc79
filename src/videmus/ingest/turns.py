"""Whose turn it is in a file: an RTTM file beside it (talk.rttm beside talk.wav), else the diarizer that the settings name.

Knows nothing of speech: `perceive.speakers` gives the turns' speakers to the rows.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videmus.errors import SubtitleError
from videmus.ingest.stage import Job
from videmus.media.subtitles import MAX_BYTES
from videmus.media.text_encoding import decoded
from videmus.perceive.speakers import Turn, diarized, load, parse_rttm


def turns_of(job: Job) -> list[Turn]:
    """The turns, by time; none where nobody tells them. An RTTM file that cannot be understood is said and left aside.

    Raises MissingExtraError where the settings name a diarizer that is not installed.
    """
    if file := _file(job.path):
        try:
            return _read(file, job.path)
        except SubtitleError as error:
            job.notices.append(f"its turns are not used: {error}")
    if job.settings.models.diarizer and job.video.has_audio:
        return diarized(
            lambda start, end: _sound(job, start, end), job.video.duration_ms, load(job.settings.models.diarizer)
        )
    return []


def turns_key(job: Job) -> str | None:
    """What tells whether the turns are still those of the last run."""
    file = _file(job.path)
    return (
        hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest() if file else job.settings.models.diarizer or None
    )


def _file(path: Path | None) -> Path | None:
    beside = path.with_suffix(".rttm") if path is not None and path.name else None
    return beside if beside is not None and beside != path and beside.is_file() else None


def _read(file: Path, path: Path | None) -> list[Turn]:
    try:
        size = file.stat().st_size
        data = file.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise SubtitleError(
            f"the file cannot be read: {error.strerror}", where=str(file), next="check its permissions"
        ) from error
    if size > MAX_BYTES:
        raise SubtitleError(f"{size:,} bytes are too much for turns", where=str(file), next="check that it is RTTM")
    turns = parse_rttm(decoded(data)[0], path.stem if path else None)
    if not turns:
        raise SubtitleError("there are no turns in it", where=str(file), next="check that it is RTTM")
    return turns


def _sound(job: Job, start_ms: int, end_ms: int) -> NDArray[np.float32]:
    from videmus.media.audio import SAMPLE_RATE, AudioReader

    job.check_stop()
    reader = AudioReader(job.media, start_ms=start_ms, block=(end_ms - start_ms) * SAMPLE_RATE // 1000)
    return next(iter(reader), np.zeros(0, np.float32))
