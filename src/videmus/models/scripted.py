"""A scripted model, for tests of Videmus and of programs that use it: it answers what a function or a list says.

    model = ScriptedModel(lambda prompt, result: {"description": "A slide about sorting."})
    model = ScriptedModel([{"answer": "yes"}, ModelError("the server is gone")])

Replies are validated as a remote model's are; what was asked is in `prompts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeVar

from pydantic import BaseModel

from videmus.errors import ModelError
from videmus.model import Cost
from videmus.models.language import MalformedError, Prompt, Reply, parsed

T = TypeVar("T", bound=BaseModel)

Answer = BaseModel | Mapping[str, Any] | str | Exception
Script = Callable[[Prompt, type[BaseModel]], Answer] | Sequence[Answer]


CALL = Cost(calls=1, tokens_in=100, tokens_out=20, usd=0.0)


class ScriptedModel:
    """Answers by `script`: a function of the prompt and the wanted type, or a list used up in order.

    An answer is a reply, plain data for one, raw text as a model would write it, or an exception that is raised.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        sees: bool = True,
        concurrency: int = 1,
        cost: Cost = CALL,
    ) -> None:
        self._script = script
        self._name = name
        self._sees = sees
        self._concurrency = concurrency
        self._cost = cost
        self._lock = Lock()
        self.prompts: list[Prompt] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._sees

    @property
    def concurrency(self) -> int:
        return self._concurrency

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(prompt)
        if prompt.pictures and not self._sees:
            raise ModelError("this model takes no pictures", where=self._name, next="configure a vision model")
        if callable(self._script):
            answer = self._script(prompt, result)
        elif number < len(self._script):
            answer = self._script[number]
        else:
            raise ModelError(f"the script has {len(self._script)} answers, this is call {number + 1}", where=self._name)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, BaseModel):
            answer = answer.model_dump(mode="json")
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Reply(_parsed(text, result, self._cost), self._cost)

    def asked(self, stage: str) -> list[Prompt]:
        """The prompts of one stage, in the order asked."""
        return [p for p in self.prompts if p.stage == stage]

    def close(self) -> None:
        """Nothing is open."""


def _parsed(text: str, result: type[T], cost: Cost) -> T:
    try:
        return parsed(text, result)
    except MalformedError as error:
        error.cost = cost
        raise
