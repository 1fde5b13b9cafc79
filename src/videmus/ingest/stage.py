"""What one stage is: a generator that takes a video's earlier rows and yields new ones.

Enters: a `Job` (the video, its file, the settings, the models, what the stage already committed). Leaves: rows, and
pictures to go with frame rows. A stage never writes; `pipeline` commits what it yields and keeps the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from videmus.config import Settings
from videmus.errors import LibraryError
from videmus.model import Cost, Evidence, EvidenceKind, Frame, Row, Scope, Segment, SegmentKind, Video
from videmus.models.minds import Minds
from videmus.store.protocol import Store

if TYPE_CHECKING:
    from videmus.models.language import LanguageModel

T = TypeVar("T")


class Progress(Protocol):
    """Told how far a stage is; `total` 0 means that nobody knows."""

    def __call__(self, done: int, total: int) -> None: ...


class Stopped(Exception):
    """The user asked to stop; what was committed stays and the next run goes on from there."""


class Changed(Exception):
    """The video's file was written to while it was read: what was made of it is of no one content, and void."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user said of this file on the command line, beyond the settings. None: nothing; what was said before holds."""

    transcribe: bool | None = None
    language: str | None = None
    speech_model: str | None = None
    subtitles: Path | None = None
    captions: Path | None = None


@dataclass(slots=True)
class Meter:
    """What a stage's model calls cost so far, and what went wrong for single pieces while the rest was done."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0
    problems: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock, repr=False)

    def add(self, stage: str, cost: Cost) -> None:
        """Count a call; called from the threads that make them."""
        with self.lock:
            self.calls += cost.calls
            self.tokens_in += cost.tokens_in
            self.tokens_out += cost.tokens_out
            self.usd = None if self.usd is None or cost.usd is None else self.usd + cost.usd

    @property
    def problem(self) -> str | None:
        return "; ".join(self.problems) or None


@dataclass(frozen=True, slots=True)
class Kept:
    """A frame row and its picture as JPEG bytes: the picture is written before the row."""

    frame: Frame
    jpeg: bytes


Produced = Row | Kept


@dataclass(slots=True)
class Job:
    """One video's way through one stage. `done` holds the rows that an interrupted run of this stage committed; `holds`
    tells whether the file is still what it was when the run began."""

    video: Video
    path: Path | None
    settings: Settings
    options: Options
    minds: Minds
    store: Store
    stop: Event = field(default_factory=Event)
    done: Sequence[Row] = ()
    progress: Progress = lambda done, total: None
    notices: list[str] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)
    holds: Callable[[], bool] = lambda: True

    def evidence(self, *kinds: EvidenceKind) -> list[Evidence]:
        return self.store.evidence(Scope(video=self.video.id), kinds)

    def segments(self, kind: SegmentKind) -> list[Segment]:
        return self.store.segments(Scope(video=self.video.id), kind)

    def frames(self) -> list[Frame]:
        return self.store.frames(Scope(video=self.video.id))

    def done_evidence(self) -> list[Evidence]:
        return [row for row in self.done if isinstance(row, Evidence)]

    def steps(self, items: Sequence[T]) -> Iterator[T]:
        """The items one by one, with progress."""
        for done, item in enumerate(items):
            self.progress(done, len(items))
            yield item

    def problem(self, text: str) -> None:
        """One piece could not be done; the rest goes on, and a retry mends it alone."""
        self.meter.problems.append(text)

    def check_stop(self) -> None:
        """Raises Stopped when the user asked to stop; for stages that commit by themselves."""
        if self.stop.is_set():
            raise Stopped

    def metered(self, model: LanguageModel) -> LanguageModel:
        """The model, its calls counted for this stage."""
        from videmus.models.language import Tally

        return Tally(model, self.meter.add)

    def pictures(self) -> Callable[[str], bytes]:
        """Gives the kept JPEG of a frame id; it raises LibraryError when the frame is gone."""
        known = {f.id: f for f in self.frames()}

        def picture(frame: str) -> bytes:
            if frame not in known:
                raise LibraryError("the frame is not in the library", where=frame, next="videmus retry")
            return self.store.picture(known[frame])

        return picture

    @property
    def media(self) -> Path:
        """The media file; only stages whose `skip` names its absence may ask for it."""
        assert self.path is not None
        return self.path


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline.

    `reads` names the stages whose rows it takes: when they change, it runs again. `model` and `settings` enter its
    key, and with `marks` what a person marked on its own rows (an undone correction). `skip` gives the reason why it
    does not run for this video, or None.
    """

    name: str
    title: str
    version: int
    reads: tuple[str, ...]
    run: Callable[[Job], Iterator[Produced]]
    skip: Callable[[Job], str | None] = lambda job: None
    model: Callable[[Job], str | None] = lambda job: None
    settings: Callable[[Job], Mapping[str, Any]] = lambda job: {}
    marks: bool = False
    origins: tuple[str, ...] = ()

    @property
    def makes(self) -> tuple[str, ...]:
        """The stage names that the origins of its rows bear: its own, or those of its steps."""
        return self.origins or (self.name,)
