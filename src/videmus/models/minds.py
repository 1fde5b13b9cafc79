"""The minds that a library works with, each loaded when it is first needed.

Enters: settings, and in tests or by a caller's choice ready-made minds. Leaves: objects of the protocols in this room.
A mind that is not configured is None, and the stages that need it say "not run".
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from videmus.config import Settings

if TYPE_CHECKING:
    from videmus.models.cache import CallCache
    from videmus.models.connect import Connected
    from videmus.models.image_embedding import ImageEmbedder
    from videmus.models.language import LanguageModel
    from videmus.models.speech import SpeechMinds
    from videmus.models.text_embedding import TextEmbedder
    from videmus.models.text_recognition import TextRecogniser


class Minds:
    """Lazily loaded models; safe to ask from several threads (each is loaded once).

    `calls` keeps the replies of language and vision models, `record` is a file that every call is written to, and
    `budget_usd` what they may cost in all.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        calls: CallCache | None = None,
        record: Path | None = None,
        budget_usd: float | None = None,
        embedder: TextEmbedder | None = None,
        text_recogniser: TextRecogniser | None = None,
        speech: SpeechMinds | None = None,
        image_embedder: ImageEmbedder | None = None,
        connected: Connected | None = None,
    ) -> None:
        self.settings = settings
        self._calls = calls
        self._record = record
        self._budget_usd = budget_usd
        self._lock = threading.RLock()
        self._embedder = embedder
        self._text_recogniser = text_recogniser
        self._speech = speech
        self._image_embedder = image_embedder
        self._connected = connected

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

    @property
    def image_embedder(self) -> ImageEmbedder | None:
        """What compares pictures with words; None where none is named in the settings."""
        from videmus.models import image_embedding

        with self._lock:
            if self._image_embedder is None and self.settings.models.image_embedding:
                self._image_embedder = image_embedding.load(self.settings)
            return self._image_embedder

    @property
    def connected(self) -> Connected:
        """The language and vision models. Nothing is sent before the first call."""
        from videmus.models.connect import connect

        with self._lock:
            if self._connected is None:
                self._connected = connect(
                    self.settings.models, cache=self._calls, record=self._record, budget_usd=self._budget_usd
                )
            return self._connected

    @property
    def language(self) -> LanguageModel | None:
        return self.connected.language if self._connected or self._names_a_model() else None

    @property
    def vision(self) -> LanguageModel | None:
        return self.connected.vision if self._connected or self._names_a_model() else None

    def check(self) -> None:
        """Raises UsageError for a language or vision model whose name cannot be right, and ReplayError for a file that
        cannot be recorded to. Nothing is sent or written."""
        if self._names_a_model():
            from videmus.models.connect import check

            check(self.settings.models, self._record)

    def _names_a_model(self) -> bool:
        """Without one, the packages that reach models are not even imported."""
        return bool(self.settings.models.language or self.settings.models.vision)

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()

    @property
    def speech(self) -> SpeechMinds:
        """The speech recognisers by language or name, and the voice detector."""
        from videmus.models.speech import SpeechMinds

        with self._lock:
            if self._speech is None:
                self._speech = SpeechMinds(self.settings.models)
            return self._speech

    def check_speech(self) -> None:
        """Load and use both bundled recognisers and the voice detector. Raises ModelError."""
        import numpy as np

        second = np.zeros(16_384, np.float32)
        self.speech.voice(second)
        self.speech.detector().languages(second)
        self.speech.recogniser("en").recognise([second], "en")
