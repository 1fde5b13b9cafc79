"""Speech and text embedding behind an address of OpenAI's kind: what a strong server or a provider can do for a weak machine.

`[models] speech = "openai:whisper-1"` and `[models] embedding = "ollama:nomic-embed-text"` (or any provider of `remote` with
`base_url`) take the place of the models on this machine, behind the same protocols. Sound and texts leave the machine
then, which `connect.what_leaves` says. The SDK is imported with the first call; retries are ours and bounded; errors carry
no key.
"""

from __future__ import annotations

import io
import os
import threading
import time
import wave
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from videmus.config import ModelSettings
from videmus.errors import MissingExtraError, ModelError
from videmus.models.remote import OWN_SERVERS, UNREACHED, Address, address
from videmus.models.secrets import OWN_KEY, without_secrets

if TYPE_CHECKING:
    from openai import OpenAI

    from videmus.models.speech import Heard

R = TypeVar("R")

RATE = 16_000
TEXTS_AT_ONCE = 128
"""Texts of one embedding call: some 5,000 tokens, below every provider's limit."""


def is_remote(name: str) -> bool:
    """Whether a speech or embedding model's name means one behind an address: a provider that we know, and a colon."""
    return name.partition(":")[0] in {"openai", *OWN_SERVERS} and ":" in name


class RemoteEmbedder:
    """A text embedder (protocol `text_embedding.TextEmbedder`); its name names its vector space."""

    def __init__(self, name: str, settings: ModelSettings, sleep: Callable[[float], None] = time.sleep) -> None:
        self._endpoint = _Endpoint(name, settings, sleep)
        self._dimension = 0

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def dimension(self) -> int:
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    @property
    def languages(self) -> frozenset[str] | None:
        return None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension). Raises ModelError."""
        rows: list[list[float]] = []
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            rows += self._vectors([text or " " for text in texts[first : first + TEXTS_AT_ONCE]])
        if not rows:
            return np.zeros((0, self._dimension), np.float32)
        vectors = np.asarray(rows, np.float32)
        self._dimension = vectors.shape[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit

    def _vectors(self, batch: list[str]) -> list[list[float]]:
        reply = self._endpoint.asked(
            lambda client: client.embeddings.create(
                model=self._endpoint.address.model, input=batch, encoding_format="float"
            )
        )
        if len(reply.data) != len(batch):
            raise ModelError(
                f"the server gave {len(reply.data)} vectors for {len(batch)} texts", where=self.name, next="try again"
            )
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.embed([text])[0], np.float32)


class RemoteRecogniser:
    """A speech recogniser (protocol `speech.SpeechRecogniser`): each chunk of at most 30 s is one call."""

    multilingual = True

    def __init__(self, name: str, settings: ModelSettings, sleep: Callable[[float], None] = time.sleep) -> None:
        self._endpoint = _Endpoint(name, settings, sleep)
        self.name = name

    def recognise(self, chunks: Sequence[NDArray[np.float32]], language: str) -> list[Heard]:
        """One result for each chunk. Raises ModelError."""
        return [_heard(self._transcribed(chunk, language)) for chunk in chunks]

    def languages(self, chunk: NDArray[np.float32]) -> Mapping[str, float]:
        """The language that the server hears, with certainty as it gives none."""
        heard = str(self._transcribed(chunk, "").get("language") or "").casefold()
        code = _ENGLISH_NAMES.get(heard, heard)
        return {code: 1.0} if len(code) == 2 else {}

    def _transcribed(self, chunk: NDArray[np.float32], language: str) -> Mapping[str, Any]:
        options: dict[str, Any] = {"language": language} if language else {}
        reply = self._endpoint.asked(
            lambda client: client.audio.transcriptions.create(
                model=self._endpoint.address.model,
                file=("speech.wav", _wav(chunk), "audio/wav"),
                response_format="verbose_json",
                timestamp_granularities=["word", "segment"],
                temperature=0.0,
                **options,
            )
        )
        document: Mapping[str, Any] = reply.model_dump()
        return document


_ENGLISH_NAMES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "polish": "pl", "russian": "ru", "ukrainian": "uk", "turkish": "tr", "arabic": "ar", "hindi": "hi", "chinese": "zh",
    "japanese": "ja", "korean": "ko", "swedish": "sv", "danish": "da", "norwegian": "no", "finnish": "fi", "czech": "cs",
    "greek": "el", "hebrew": "he", "hungarian": "hu", "romanian": "ro", "indonesian": "id", "vietnamese": "vi", "thai": "th",
}  # fmt: skip
"""OpenAI's transcriptions name the language by its English name."""


def _heard(document: Mapping[str, Any]) -> Heard:
    from videmus.models.speech import Heard, HeardWord

    segments = document.get("segments") or []
    words = tuple(
        HeardWord(float(w["start"]), float(w["end"]), " " + str(w["word"]).strip(), 1.0)
        for w in document.get("words") or []
    )

    def mean(field: str, otherwise: float) -> float:
        found = [float(s[field]) for s in segments if s.get(field) is not None]
        return sum(found) / len(found) if found else otherwise

    return Heard(
        str(document.get("text") or "").strip(),
        words,
        mean("avg_logprob", 0.0),
        mean("no_speech_prob", 0.0),
        mean("compression_ratio", 1.0),
    )


def _wav(chunk: NDArray[np.float32]) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(chunk, -1, 1) * 32_767).astype("<i2").tobytes())
    return out.getvalue()


class _Endpoint:
    """One address, its client and its bounded retries."""

    def __init__(self, name: str, settings: ModelSettings, sleep: Callable[[float], None]) -> None:
        self.name = name
        self.address: Address = address(name, settings.base_url)
        self._settings = settings
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: OpenAI | None = None

    def asked(self, call: Callable[[OpenAI], R]) -> R:
        """The reply; 429, 5xx, time-outs and broken connections are tried again. Raises ModelError."""
        from videmus.models.retry import FIRST_WAIT_S

        client = self._connected()
        import openai

        for attempt in range(1, self._settings.attempts + 1):
            try:
                return call(client)
            except (openai.RateLimitError, openai.InternalServerError, openai.APIConnectionError) as error:
                if attempt == self._settings.attempts:
                    raise self._failed(f"the server failed: {error}", UNREACHED) from None
                self._sleep(FIRST_WAIT_S * 2 ** (attempt - 1))
            except openai.OpenAIError as error:
                raise self._failed(f"the request was refused: {error}", "see [models] in the settings") from None
        raise AssertionError("every attempt returns or raises")

    def _connected(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                try:
                    from openai import OpenAI
                except ImportError as error:
                    raise MissingExtraError(
                        "needs the package openai", where=self.name, next="pip install 'videmus[models]'"
                    ) from error
                key = os.environ.get(OWN_KEY, "none") if self.address.url else os.environ.get("OPENAI_API_KEY")
                if not key:
                    raise ModelError(
                        "the key is missing", where=self.name, next="set OPENAI_API_KEY in the environment"
                    )
                self._client = OpenAI(
                    api_key=key,
                    base_url=self.address.url or None,
                    max_retries=0,
                    timeout=self._settings.timeout_s,
                )
            return self._client

    def _failed(self, what: str, next: str) -> ModelError:
        return ModelError(" ".join(without_secrets(what).split())[:300], where=self.name, next=next)
