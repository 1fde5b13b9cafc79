"""The cache of model calls: a reply that was fully received is committed before it is used, and never asked again.

Keyed by content (`language.request_key`): the same question about the same material to the same model, in any run,
video or library. Replies that did not fit are not kept, so that asking again can mend them. Where the replies lie is
not known here: `CallCache` is two methods of whatever store there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from videmus.model import Cost, to_plain
from videmus.models.language import LanguageModel, Layer, Prompt, Reply, request_key

T = TypeVar("T", bound=BaseModel)


class CallCache(Protocol):
    """Where replies are kept; used from several threads, one at a time."""

    def cached_call(self, key: str) -> bytes | None: ...
    def cache_call(self, key: str, reply: bytes, about: Mapping[str, Any]) -> None: ...


class MemoryCache:
    """A cache that ends with the process."""

    def __init__(self) -> None:
        self.replies: dict[str, bytes] = {}
        self.about: dict[str, Mapping[str, Any]] = {}

    def cached_call(self, key: str) -> bytes | None:
        return self.replies.get(key)

    def cache_call(self, key: str, reply: bytes, about: Mapping[str, Any]) -> None:
        self.replies.setdefault(key, reply)
        self.about.setdefault(key, about)


class Cached(Layer):
    """`inner`, asked only what `calls` does not hold. The same call from two threads is asked once."""

    def __init__(self, inner: LanguageModel, calls: CallCache) -> None:
        super().__init__(inner)
        self._calls = calls
        self._lock = Lock()
        self._flying: dict[str, Lock] = {}

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        key = request_key(prompt, result, self.name)
        with self._lock:
            flight = self._flying.setdefault(key, Lock())
        try:
            with flight:
                if (known := self._known(key, result)) is not None:
                    return Reply(known, Cost(), cached=True)
                reply = self._inner.ask(prompt, result)
                provider = self.name.partition(":")[0]
                about = {"stage": prompt.stage, "video": prompt.video, "provider": provider, "model": self.name}
                with self._lock:
                    self._calls.cache_call(key, reply.value.model_dump_json().encode(), about | to_plain(reply.cost))
                return reply
        finally:
            with self._lock:
                self._flying.pop(key, None)

    def _known(self, key: str, result: type[T]) -> T | None:
        with self._lock:
            kept = self._calls.cached_call(key)
        if kept is None:
            return None
        try:
            return result.model_validate_json(kept)
        except ValidationError:  # damaged, or written by a version with another idea of this type: it is asked anew
            return None
