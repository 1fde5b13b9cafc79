"""The minds that a library works with, each loaded when it is first needed.

Enters: settings, and in tests or by a caller's choice ready-made minds. Leaves: objects of the protocols in this room.
A mind that is not configured is None, and the stages that need it say "not run".
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from videmus.config import Settings

if TYPE_CHECKING:
    from videmus.models.text_embedding import TextEmbedder
    from videmus.models.text_recognition import TextRecogniser

T = TypeVar("T")


class Minds:
    """Lazily loaded models; safe to ask from several threads (each is loaded once)."""

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: TextEmbedder | None = None,
        text_recogniser: TextRecogniser | None = None,
    ) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._embedder = embedder
        self._text_recogniser = text_recogniser

    @property
    def embedder(self) -> TextEmbedder:
        from videmus.models import text_embedding

        with self._lock:
            if self._embedder is None:
                self._embedder = text_embedding.load(self.settings)
            return self._embedder

    @property
    def text_recogniser(self) -> TextRecogniser:
        from videmus.models import text_recognition

        with self._lock:
            if self._text_recogniser is None:
                self._text_recogniser = text_recognition.load(self.settings)
            return self._text_recogniser
