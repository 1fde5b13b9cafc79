"""Vectors of what has none yet: passages by a text model, pictures by an image–text model; each batch is committed.

Knows nothing of jobs: `progress` is told (done, in all), and may end the work by raising.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from videmus.model import Scope
from videmus.store.protocol import Store

if TYPE_CHECKING:
    from videmus.models.image_embedding import ImageEmbedder
    from videmus.models.text_embedding import TextEmbedder

PASSAGES_AT_ONCE = 256
"""A second of work on two cores."""

FRAMES_AT_ONCE = 64

Progress = Callable[[int, int], None]


def embed_passages(
    store: Store,
    embedder: TextEmbedder,
    scope: Scope,
    language: str | None = None,
    progress: Progress = lambda done, total: None,
) -> int:
    """Passages of the scope; those in a language that the model was not trained for are left to the words. Returns how
    many got a vector."""
    from videmus.models.text_embedding import suits

    passages = store.passages_without_vectors(embedder.name, scope)
    waiting = [p for p in passages if suits(embedder, language, p.text)]
    for first in range(0, len(waiting), PASSAGES_AT_ONCE):
        progress(first, len(waiting))
        batch = waiting[first : first + PASSAGES_AT_ONCE]
        store.add_vectors(embedder.name, batch, embedder.embed([p.text for p in batch]).astype("float16"))
    if waiting:
        store.prepare_vectors(embedder.name)
    return len(waiting)


def embed_frames(
    store: Store, embedder: ImageEmbedder, scope: Scope, progress: Progress = lambda done, total: None
) -> int:
    """Frames of the scope. Returns how many got a vector."""
    vectors = store.frame_vectors
    waiting = vectors.without(embedder.name, scope)
    done = 0
    for first in range(0, len(waiting), FRAMES_AT_ONCE):
        progress(first, len(waiting))
        batch = waiting[first : first + FRAMES_AT_ONCE]
        shown = embedder.embed_pictures([store.picture(frame) for frame in batch])
        done += vectors.add(embedder.name, [frame.id for frame in batch], shown)
    if done:
        vectors.prepare(embedder.name)
    return done
