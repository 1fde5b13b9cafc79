"""What a library's store can do. SQLite is the embedded default (`sqlite.py`); a server's store passes the same suite.

Enters: rows as `model` defines them. Leaves: rows. Knows nothing of media, models or questions. Everything that a query
may not see (another collection, the future of `Scope.at`) is excluded here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.model import Evidence, EvidenceKind, Frame, Passage, Row, Scope, Segment, SegmentKind, Video

WorkState = Literal["running", "done", "failed", "skipped"]


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
    """One match of a search primitive: an evidence row (or a window), the passage in it, and a raw score, higher is better."""

    id: str
    video: str
    start_ms: int
    end_ms: int
    kind: str
    score: float
    passage: int | None = None


class Store(Protocol):
    # ------------------------------------------------------------ videos
    def put_video(self, video: Video) -> None: ...
    def video(self, id: str) -> Video | None: ...
    def video_by_fingerprint(self, fingerprint: str) -> Video | None: ...
    def videos(self, scope: Scope = Scope()) -> list[Video]: ...
    def remove_video(self, id: str) -> None:
        """Remove the video, all that was derived from it, its work and its pictures."""

    # ------------------------------------------------------------ the ledger
    def begin(self, video: str, stage: str, key: str) -> bool:
        """Start a stage's work. False when this very key is already done.

        Under the same key, rows committed by a killed or failed run stay (the stage goes on from them); under another
        key the stage's old rows are removed in the same transaction.
        """

    def finish(self, work: Work) -> None: ...
    def work(self, video: str) -> list[Work]: ...
    def digest(self, video: str, stages: Sequence[str]) -> str:
        """A digest of the rows that these stages made of the video and of a person's corrections to them."""

    # ------------------------------------------------------------ rows
    def add(self, stage: str, rows: Iterable[Row], pictures: Mapping[str, bytes] = {}) -> int:
        """Commit rows of one stage in one transaction; rows already there (same id) are left. Returns how many were new.

        `pictures` maps frame ids to JPEG bytes; each is on disk before its row is committed.
        """

    def stage_rows(self, video: str, stage: str) -> list[Row]: ...
    def evidence(
        self,
        scope: Scope = Scope(),
        kinds: Sequence[EvidenceKind] | None = None,
        limit: int | None = None,
    ) -> list[Evidence]: ...
    def evidence_by_id(self, ids: Sequence[str]) -> list[Evidence]:
        """In the order asked; unknown ids are left out."""

    def segments(self, scope: Scope = Scope(), kind: SegmentKind | None = None) -> list[Segment]: ...
    def frames(self, scope: Scope = Scope()) -> list[Frame]: ...
    def picture(self, frame: Frame) -> bytes: ...

    # ------------------------------------------------------------ vectors and search (see fulltext.py and vectors.py)
    def passages_without_vectors(self, model: str, scope: Scope = Scope()) -> Iterator[Passage]: ...
    def add_vectors(self, model: str, passages: Sequence[Passage], vectors: NDArray[np.float16]) -> None: ...

    # ------------------------------------------------------------ model calls: a reply that arrived is never paid for twice
    def cached_call(self, key: str) -> bytes | None: ...
    def cache_call(self, key: str, reply: bytes, about: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...
