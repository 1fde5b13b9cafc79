"""Which answerer a question gets: the library's own sentences, a model that reads what one search found, or the planning agent.

Without a language model answers are extractive. With one, a question for which one search suffices costs one call; the agent
is taken for questions over recordings that count, compare times or ask who was with whom, or where it is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from videmus.answer import agent, choose, read, unaided
from videmus.answer.agent_tools import Parts
from videmus.answer.chat import Exchange, standalone
from videmus.answer.small_talk import small_talk
from videmus.config import Settings
from videmus.errors import UsageError
from videmus.model import Answer, Scope, Sentence, Step
from videmus.models.minds import Minds
from videmus.store.protocol import Store

Mode = Literal["quick", "agent"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and how it is to be answered. `mode` None chooses by the question; `options` make it multiple choice."""

    question: str
    scope: Scope
    mode: Mode | None = None
    limit: int | None = None
    options: Sequence[str] = ()
    history: Sequence[Exchange] = ()
    on_sentence: Callable[[Sentence], None] = lambda sentence: None
    on_step: Callable[[Step], None] = lambda step: None


def answer(store: Store, minds: Minds, settings: Settings, asked: Asked) -> Answer:
    """The answer, with the seconds it took.

    Raises UsageError where the agent is asked for and no language model is configured, and what the model's calls raise.
    """
    began = time.monotonic()
    given = _answered(store, minds, settings, asked)
    return replace(given, cost=replace(given.cost, seconds=time.monotonic() - began))


def _answered(store: Store, minds: Minds, settings: Settings, asked: Asked) -> Answer:
    model = minds.language
    if model is None:
        if asked.mode == "agent" or asked.options:
            raise UsageError(
                "this needs a language model, and none is configured",
                where="agent" if asked.mode == "agent" else "options",
                next="set [models] language, for example VIDEMUS_MODELS_LANGUAGE=ollama:qwen3",
            )
        return _without_model(store, minds, settings, asked)
    if len(asked.options) > len(choose.LETTERS):
        raise UsageError(f"{len(asked.options)} options are too many", next=f"give at most {len(choose.LETTERS)}")
    footage = bool(store.graph.worlds(asked.scope))
    if asked.mode == "agent" or (asked.mode is None and agent.wants_agent(asked.question, footage)):
        parts = Parts(
            store, store.graph, store.frame_vectors, settings, minds.embedder, minds.image_embedder, minds.vision
        )
        return agent.answer(
            parts, model, asked.question, asked.scope,
            options=asked.options, history=asked.history, on_step=asked.on_step, on_sentence=asked.on_sentence,
        )  # fmt: skip
    if asked.options:
        return choose.answer(
            store, minds.embedder, model, asked.question, asked.options, asked.scope,
            limit=asked.limit, settings=settings, history=asked.history,
        )  # fmt: skip
    return read.answer(
        store, minds.embedder, model, asked.question, asked.scope,
        limit=asked.limit, settings=settings, history=asked.history, on_sentence=asked.on_sentence,
    )  # fmt: skip


def _without_model(store: Store, minds: Minds, settings: Settings, asked: Asked) -> Answer:
    meant = asked.question if small_talk(asked.question) else standalone(asked.question, asked.history, None)
    return unaided.answer(store, minds.embedder, meant, asked.scope, asked.limit, settings, asked.on_sentence)
