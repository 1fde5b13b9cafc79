"""Every stage, in the order of the data: the whole ingest, top down.

Each takes the rows of the stages that it `reads` and gives new ones; what a stage needs is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from videmus.errors import MediaError
from videmus.ingest.stage import Job, Kept, Produced, Stage
from videmus.media.subtitles import Subtitles
from videmus.model import Evidence, Frame, Origin, Passage

# ---------------------------------------------------------------- reasons why a stage does not run


def no_file(job: Job) -> str | None:
    return None if job.path else "there is no media file, only what was known of it"


def no_pictures(job: Job) -> str | None:
    return no_file(job) or (None if job.video.has_video else "there are no pictures in it")


def _of(*sections: str) -> Callable[[Job], Mapping[str, Any]]:
    """The settings sections that change a stage's rows."""
    return lambda job: {name: asdict(getattr(job.settings, name)) for name in sections}
