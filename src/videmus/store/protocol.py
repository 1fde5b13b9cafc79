"""What a library's store can do. SQLite is the embedded default (`sqlite.py`); a server's store passes the same suite.

Enters: rows as `model` defines them. Leaves: rows. Knows nothing of media, models or questions. Everything that a query
may not see (another collection, the future of `Scope.at`) is excluded here and nowhere else: what each field of a scope
means is written in `scope.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from videmus.model import Evidence, EvidenceKind, Frame, Passage, Relation, Row, Scope, Segment, SegmentKind, Video

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from videmus.store.checks import Check
    from videmus.store.entities import EntityStore
    from videmus.store.frame_vectors import FrameVectors
    from videmus.store.graph import GraphStore
    from videmus.store.speakers import SpeakerStore
    from videmus.store.views import ReadonlySql

WorkState = Literal["running", "done", "failed", "skipped"]

EVERYTHING = Scope()
"""The scope that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Work:
    """One entry of the ledger: what a stage did for a video under one key.

    `state` "skipped" means not run, and `reason` says why (no vision model). `rows` counts what it committed,
    `calls`, `tokens_in`, `tokens_out`, `usd` what its model calls cost (usd None: price unknown).
    """

    video: str
    stage: str
    key: str
    state: WorkState
    reason: str | None = None
    rows: int = 0
    seconds: float = 0.0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One match of a search primitive: an evidence row (or a window), the passage in it, a raw score (higher is better)."""

    id: str
    video: str
    start_ms: int
    end_ms: int
    kind: str
    score: float
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """An evidence row as search reads it, without its detail."""

    id: str
    video: str
    start_ms: int
    end_ms: int
    kind: EvidenceKind
    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A span of one video."""

    video: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Similarity:
    """How near one passage of an evidence row is to a question: the cosine; `first` and `last` are offsets in its text."""

    evidence: str
    first: int
    last: int
    cosine: float


class Store(Protocol):
    @property
    def folder(self) -> Path:
        """Where the library's own files lie."""

    @property
    def read_only(self) -> bool:
        """Whether the library can be read but not changed."""

    # ------------------------------------------------------------ videos
    def put_video(self, video: Video) -> None:
        """Insert, or replace what is known of the video with this id."""

    def edit_video(self, id: str, **changes: Any) -> Video:
        """Change single fields and leave the others as they are now, whoever wrote them. Raises NotFoundError."""

    def video(self, id: str) -> Video | None: ...
    def video_by_fingerprint(self, fingerprint: str) -> Video | None: ...
    def videos(self, scope: Scope = EVERYTHING) -> list[Video]:
        """In the order added, in every state. Under `at` a video in progress is as long as it was then."""

    def videos_at(self, sources: Sequence[str]) -> list[Video]:
        """The videos whose `source` is one of these paths or addresses, in the order added, without reading all others."""

    def note_place(self, video: str, source: str) -> None:
        """Remember another path or address where this content lies (a copy)."""

    def places(self, video: str) -> list[str]:
        """Every path or address where the video's content was seen; its `source` is among them."""

    def remove_video(self, id: str) -> None:
        """Remove the video, all that was derived from it, its work, its model calls and its pictures.

        Raises LibraryError while another process holds the video's lease.
        """

    # ------------------------------------------------------------ the ledger
    def lease(self, video: str, wait: bool = True) -> AbstractContextManager[None]:
        """This process alone works on the video until the block ends; the lease of a killed process is free.

        With `wait`, another holder is waited for; without, it raises LibraryError that names it.
        """

    def busy(self, video: str) -> bool:
        """Whether some process holds the video's lease: "processing" without one is an interrupted run."""

    def begin(self, video: str, stage: str, key: str) -> bool:
        """Start a stage's work. False when this very key is already done, or the stage's rows were imported.

        Under the same key, rows committed by a killed or failed run stay (the stage goes on from them, see `unfinished`).
        Under another key the stage's old rows stay, and are all that is seen, until `finish` says that the new ones are
        whole. Raises NotFoundError for no such video.
        """

    def unfinished(self, video: str, stage: str) -> list[Row]:
        """What the work that was begun last has committed so far, seen or not, in the order of `stage_rows`."""

    def finish(self, work: Work, *, whole: bool | None = None) -> None:
        """Record how a stage ended. Where its rows are `whole` (default: where it is done) they take the place of those
        of an earlier key, in the same transaction. Work over imported rows leaves no trace.
        """

    def work(self, video: str) -> list[Work]:
        """In the order in which the stages last changed state."""

    def digest(self, video: str, stages: Sequence[str], marks_of: Sequence[str] = ()) -> str:
        """A digest of the rows that these stages made of the video and of a person's marks on them.

        Of the stages in `marks_of` only the marks count: a stage whose own rows a person corrected names itself there.
        """

    def set_mark(self, video: str, stage: str, subject: str, value: Any) -> None:
        """What a person says of a derived row (`subject`: an id within the stage's rows); None takes it back.

        Marks outlive the recomputation of the rows; the stages read them.
        """

    def marks(self, video: str, stage: str) -> dict[str, Any]:
        """{subject: value} of a stage, as set by `set_mark`."""

    # ------------------------------------------------------------ rows
    def add(self, stage: str, rows: Iterable[Row], pictures: Mapping[str, bytes] = {}) -> int:
        """Commit rows of one stage in one transaction; rows already there (same id) are left. Returns the number of new ones.

        `pictures` maps frame ids to JPEG bytes; each is on disk before its row is committed. Raises NotFoundError when
        a row's video is not in the library (any more).
        """

    def import_rows(self, video: str, stage: str, rows: Iterable[Row], pictures: Mapping[str, bytes] = {}) -> int:
        """Rows of an evidence file become the stage's rows, in place of those that are there. Returns their number.

        From then on they are that stage's truth: `begin` says that it is done.
        """

    def stage_rows(self, video: str, stage: str) -> list[Row]:
        """What a stage made of a video, whatever the video's state: evidence, segments, frames, relations, by time."""

    def evidence(
        self,
        scope: Scope = EVERYTHING,
        kinds: Sequence[EvidenceKind] | None = None,
        limit: int | None = None,
    ) -> list[Evidence]:
        """By video and time. A video that is still being processed shows its rows only where the scope names it."""

    def evidence_by_id(self, ids: Sequence[str], scope: Scope = EVERYTHING) -> list[Evidence]:
        """In the order asked; unknown ids, and those that the scope does not see, are left out."""

    def segments(self, scope: Scope = EVERYTHING, kind: SegmentKind | None = None) -> list[Segment]: ...
    def frames(self, scope: Scope = EVERYTHING) -> list[Frame]:
        """By video and time. Under `at` a look that was still on then ends there."""

    def relations(self, scope: Scope = EVERYTHING) -> list[Relation]:
        """By video and time, with names as extracted."""

    def picture(self, frame: Frame) -> bytes:
        """The frame's JPEG. Raises LibraryError when the file is gone."""

    def picture_path(self, frame: Frame) -> Path:
        """Where the frame's JPEG lies."""

    # ------------------------------------------------------------ vectors and search (see fulltext.py and vectors.py)
    def passages_without_vectors(self, model: str, scope: Scope = EVERYTHING) -> Iterator[Passage]:
        """The passages that this model has not embedded yet, by video and time."""

    def add_vectors(self, model: str, passages: Sequence[Passage], vectors: NDArray[np.floating]) -> int:
        """Commit the vectors of passages, of unit length; passages whose row is gone are left out. Returns how many.

        Raises VectorSpaceError when the dimension is not the one that this model's vectors have.
        """

    def prepare_vectors(self, model: str) -> None:
        """Make the index over one model's vectors now, where they are many, so that no search waits for it."""

    def vector_models(self) -> dict[str, int]:
        """The embedding models that the library holds vectors of, and how many."""

    def remove_vectors(self, model: str) -> None:
        """Forget one model's vectors."""

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """The number of rows in the library, and for each term that it holds the number of rows with it."""

    def containing(self, piece: str, limit: int = 20) -> list[str]:
        """Terms of the library that hold `piece` inside, the shortest first."""

    def keyword_hits(self, words: Sequence[Sequence[str]], scope: Scope, limit: int) -> list[Hit]:
        """Rows by BM25, best first; each word is a list of terms that count as it."""

    def phrase_hits(self, phrase: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        """Rows that hold these terms one after the other."""

    def vector_hits(self, model: str, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[Hit]:
        """The nearest passages' rows by cosine, best first, each row once.

        Raises VectorSpaceError when the library's vectors come from another model alone, or have another dimension.
        """

    def similarities(self, model: str, vector: NDArray[np.float32], rows: Sequence[str]) -> list[Similarity]:
        """The cosine of every passage of these rows (by id) that has a vector."""

    def texts(self, scope: Scope, spans: Sequence[Span] | None = None, limit: int | None = None) -> list[Text]:
        """The rows that the scope sees (and that overlap one of `spans`), by video and time."""

    def rebuild_indexes(self) -> None:
        """Make full text and vectors anew from the rows, and delete pictures that no row names."""

    def open_readonly_sql(self, scope: Scope = EVERYTHING) -> ReadonlySql:
        """SELECT over the named views, clamped by the scope. Close it."""

    # ------------------------------------------------------------ model calls: a reply that arrived is never paid twice
    def cached_call(self, key: str) -> bytes | None: ...
    def cache_call(self, key: str, reply: bytes, about: Mapping[str, Any]) -> None:
        """Commit a model's reply. `about` may hold video, stage, provider, model, tokens_in, tokens_out, usd."""

    # ------------------------------------------------------------ upkeep
    def check(self) -> list[Check]:
        """Is the library sound: its file, its pictures, its runs. Changes nothing."""

    def sizes(self) -> dict[str, int]:
        """Bytes by folder and by table."""

    def export_calls(self, file: Path) -> int:
        """Write every kept reply to a file, one a line; returns how many."""

    def import_calls(self, file: Path) -> int:
        """Keep the replies of such a file; returns how many are new. Raises UsageError, and then none is kept."""

    # ------------------------------------------------------------ who is who
    @property
    def graph(self) -> GraphStore:
        """Questions about relations, by names as known at the scope's `at`."""

    @property
    def entities(self) -> EntityStore:
        """Which names are one entity, and what people decided about them."""

    @property
    def frame_vectors(self) -> FrameVectors:
        """Vectors of kept pictures, and likeness by hash."""

    @property
    def speakers(self) -> SpeakerStore:
        """Names that people gave to voices."""

    def close(self) -> None: ...
