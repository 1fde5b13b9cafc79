"""Bounded retries around a model: waits for a busy server, and tells a model once more what its reply must look like.

Asks again after 429, 5xx, time-outs and broken connections (waiting 1, 2, 4 … seconds, or what the server asks for),
and after malformed output (at once, with the reason). Gives up after `attempts`; a refusal (no key, no such model) at
once.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from pydantic import BaseModel

from videmus.model import Cost
from videmus.models.language import (
    CallError,
    Data,
    LanguageModel,
    Layer,
    MalformedError,
    Prompt,
    Reply,
    TransientError,
    added,
)

T = TypeVar("T", bound=BaseModel)

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
DEAD_AFTER = 3
"""Calls in a row that ended in a transient error, after which a call gets one attempt: a dead server is found out
fast."""


class Retrying(Layer):
    """`inner` with at most `attempts` attempts a call; `sleep` and `jitter` (0 to 1) are injectable."""

    def __init__(
        self,
        inner: LanguageModel,
        attempts: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._attempts = max(1, attempts)
        self._sleep = sleep
        self._jitter = jitter
        self._dead = 0
        self._lock = Lock()

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        spent = Cost()
        sent = prompt
        attempts = self._attempts if self._dead < DEAD_AFTER else 1
        for attempt in range(1, attempts + 1):
            try:
                reply = self._inner.ask(sent, result)
            except MalformedError as error:
                self._dead = 0
                spent = added(spent, error.cost)
                error.cost = spent
                if attempt == attempts:
                    raise
                sent = prompt.also(Data("why your last reply could not be used", error.problem))
            except TransientError as error:
                spent = added(spent, error.cost)
                error.cost = spent
                if attempt == attempts:
                    with self._lock:
                        self._dead += 1
                    raise
                self._sleep(self._wait(attempt, error.retry_after))
            except CallError as error:
                error.cost = added(spent, error.cost)
                raise
            else:
                self._dead = 0
                return Reply(reply.value, added(spent, reply.cost), reply.cached)
        raise AssertionError("every attempt returns or raises")

    def _wait(self, attempt: int, asked: float | None) -> float:
        own = FIRST_WAIT_S * float(2 ** (attempt - 1)) * (1 + 0.25 * self._jitter())
        return min(LONGEST_WAIT_S, max(own, asked or 0.0))
