"""Frames that fit a question: by image–text similarity where a model embedded them, else by screen and scene text, said so.

Enters: a store, an image embedder (or None), 1 to 3 short queries, a scope. Leaves: frames ranked by their best similarity
over the queries, spread in time. Source: EGAgent (arXiv 2601.18157), section 3.3; its released code sorts by how many
queries hit a frame, which keeps the latest of the best hundred and not the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from videmus.config import Settings
from videmus.model import Frame, Moment, Scope
from videmus.models.image_embedding import ImageEmbedder
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import search
from videmus.store.frame_vectors import FrameVectors
from videmus.store.protocol import Store

OVERSAMPLED = 6
"""So many times the wanted frames are ranked before they are spread in time."""


@dataclass(frozen=True, slots=True)
class FoundFrame:
    """A frame with its score: a cosine, or for text the score of the moment that it is shown in."""

    frame: Frame
    score: float


@dataclass(frozen=True, slots=True)
class FoundFrames:
    """`by` says how they were found: "pictures", "text" or "likeness". `notice` is for the user. `moments` are the
    texts that led to frames, where text did."""

    frames: tuple[FoundFrame, ...]
    by: str
    notice: str = ""
    moments: tuple[Moment, ...] = ()


def find_frames(
    store: Store,
    vectors: FrameVectors,
    embedder: ImageEmbedder | None,
    queries: Sequence[str],
    scope: Scope,
    settings: Settings,
    *,
    text_embedder: TextEmbedder | None = None,
    limit: int | None = None,
) -> FoundFrames:
    """At most `limit` frames (default: the agent's setting, 50), best first.

    Raises VectorSpaceError when the frames' vectors come from another model than `embedder`.
    """
    wanted = [q.strip() for q in queries if q.strip()][: settings.agent.frame_queries]
    limit = limit or settings.agent.frames
    if not wanted:
        return FoundFrames((), "text", "no query")
    seen = replace(scope, stream=None, facet=None, speaker=None)
    if embedder is not None and vectors.count(embedder.name):
        nearest = vectors.nearest(embedder.name, embedder.embed_queries(wanted), seen, limit * OVERSAMPLED)
        ranked = [FoundFrame(frame, score) for frame, score in nearest]
        return FoundFrames(tuple(_spread(ranked, settings.agent.frame_gap_ms)[:limit]), "pictures")
    reason = "no image–text model is configured" if embedder is None else "no frame was embedded yet"
    return _by_text(
        store, text_embedder, wanted, seen, settings, limit, f"{reason}: frames were found by screen and scene text"
    )


def frames_like(
    vectors: FrameVectors, frame: Frame, scope: Scope, limit: int = 20, *, gap_ms: int = 2_000
) -> FoundFrames:
    """Frames that look like this one, by the bits of their perceptual hashes, without a model; it is not among them."""
    ranked = [FoundFrame(other, score) for other, score in vectors.alike(frame, scope, limit * OVERSAMPLED)]
    return FoundFrames(tuple(_spread(ranked, gap_ms)[:limit]), "likeness")


def _spread(ranked: Sequence[FoundFrame], gap_ms: int) -> list[FoundFrame]:
    """Without frames that lie closer than `gap_ms` to a better one of their video."""
    kept: list[FoundFrame] = []
    times: dict[tuple[str, int], list[int]] = {}
    for found in ranked:
        video, at = found.frame.video, found.frame.at_ms
        cell = at // max(1, gap_ms)
        near = [t for c in (cell - 1, cell, cell + 1) for t in times.get((video, c), [])]
        if any(abs(at - t) < gap_ms for t in near):
            continue
        times.setdefault((video, cell), []).append(at)
        kept.append(found)
    return kept


def _by_text(
    store: Store,
    embedder: TextEmbedder | None,
    queries: Sequence[str],
    scope: Scope,
    settings: Settings,
    limit: int,
    notice: str,
) -> FoundFrames:
    moments: dict[tuple[str, int], Moment] = {}
    for stream in ("screen", "scene"):
        for query in queries:
            for moment in search(store, embedder, query, replace(scope, stream=stream), limit, settings):
                key = (moment.video, moment.start_ms)
                if key not in moments or moments[key].score < moment.score:
                    moments[key] = moment
    ordered = sorted(moments.values(), key=lambda m: -m.score)[:limit]
    ranked = []
    for moment in ordered:
        inside = replace(scope, video=moment.video, start=moment.start_ms, end=max(moment.end_ms, moment.start_ms + 1))
        frames = store.frames(inside) or _before(store, scope, moment)
        ranked += [FoundFrame(f, moment.score) for f in frames]
    return FoundFrames(tuple(_spread(ranked, settings.agent.frame_gap_ms)[:limit]), "text", notice, tuple(ordered))


def _before(store: Store, scope: Scope, moment: Moment) -> list[Frame]:
    """The frame that was on screen when the moment began."""
    earlier = store.frames(replace(scope, video=moment.video, start=None, end=moment.start_ms + 1))
    return [max(earlier, key=lambda f: f.at_ms)] if earlier else []
