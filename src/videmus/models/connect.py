"""Settings → the language and vision models of a run, with all their layers; and what that means for a person.

From outside in: recording, cache, retries, budget, the model at its address or the recording that stands for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from videmus.config import ModelSettings
from videmus.model import Cost
from videmus.models.budget import Budget, Budgeted
from videmus.models.cache import Cached, CallCache
from videmus.models.language import LanguageModel
from videmus.models.prices import FREE, Price, price_of
from videmus.models.record import Recorded, Recording, Replayed, check_model, heads_of
from videmus.models.remote import RemoteModel, address
from videmus.models.remote_streams import is_remote
from videmus.models.retry import Retrying

Role = Literal["language", "vision"]

REPLAY = "replay:"


@dataclass(frozen=True, slots=True)
class Connected:
    """The models of a run; None where none is configured. Where only a vision model is, it also reads and writes text."""

    language: LanguageModel | None
    vision: LanguageModel | None
    budget: Budget | None = None
    recording: Recording | None = None

    def close(self) -> None:
        for model in (self.language, self.vision):
            if model:
                model.close()
        if self.recording:
            self.recording.close()


def connect(
    settings: ModelSettings,
    *,
    cache: CallCache | None = None,
    record: Path | None = None,
    budget_usd: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Connected:
    """Nothing is sent, and no provider's package is imported, before the first call.

    Raises UsageError for a name that no provider has, BudgetError for a budget over a price that is not known,
    ReplayError for a recording that cannot be read or written.
    """
    budget = Budget(budget_usd) if budget_usd is not None else None
    bottoms: dict[str, LanguageModel] = {}

    def model(role: Role, recording: Recording | None) -> LanguageModel | None:
        name = _name(settings, role)
        if not name:
            return None
        if name.startswith(REPLAY):
            whole: LanguageModel = Replayed(Path(name.removeprefix(REPLAY)).expanduser(), role)
        else:
            if name not in bottoms:
                bottoms[name] = _layered(settings, name, cache, budget, sleep)
            whole = bottoms[name]
        return Recorded(whole, recording, role) if recording else whole

    recording = Recording(record) if record else None
    try:
        return Connected(model("language", recording), model("vision", recording), budget, recording)
    except BaseException:
        if recording:
            recording.close()
        raise


def check(settings: ModelSettings, record: Path | None = None) -> None:
    """Raises UsageError for a language or vision model of a provider that nobody knows, or an address that is none, and
    ReplayError for a file that their calls cannot be recorded to. Nothing is sent or written."""
    heads = heads_of(record) if record else {}
    roles: tuple[Role, ...] = ("language", "vision")
    for role in roles:
        name = _name(settings, role)
        if name and not name.startswith(REPLAY):
            address(name, settings.base_url)
            if record:
                check_model(record, heads.get(role), name)


def _layered(
    settings: ModelSettings,
    name: str,
    cache: CallCache | None,
    budget: Budget | None,
    sleep: Callable[[float], None],
) -> LanguageModel:
    price = _price(settings, name)
    model: LanguageModel = RemoteModel(
        name,
        settings.base_url,
        sees=name == settings.vision,
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
        price=price,
        thinking_tokens=settings.thinking_tokens,
    )
    if budget:
        model = Budgeted(model, budget, price, settings.thinking_tokens)
    model = Retrying(model, settings.attempts, sleep)
    return Cached(model, cache) if cache else model


def _name(settings: ModelSettings, role: Role) -> str:
    return settings.vision if role == "vision" else settings.language or settings.vision


def _price(settings: ModelSettings, name: str) -> Price | None:
    if settings.price_in >= 0 and settings.price_out >= 0:
        return Price(settings.price_in, settings.price_out)
    place = address(name, settings.base_url)
    if place.here:
        return FREE
    return None if place.url else price_of(name)


# ---------------------------------------------------------------- what leaves, and what it will cost


def what_leaves(settings: ModelSettings) -> str | None:
    """One sentence: what leaves this machine and to whom, when videos are added or questions asked; None for nothing."""
    words = _receiver(settings, "language")
    pictures = _receiver(settings, "vision")
    parts = []
    if pictures:
        parts.append(f"frames and transcripts go to {pictures}")
    if words and words != pictures:
        parts.append(f"transcripts, slide texts and questions go to {words}")
    elif words:
        parts.append("questions go there too")
    for name, what in ((settings.speech, "sound goes"), (settings.embedding, "texts and questions go")):
        if is_remote(name) and not (place := address(name, settings.base_url)).here:
            parts.append(f"{what} to {place.host} ({place.model})")
    return "; ".join(parts)[:1].upper() + "; ".join(parts)[1:] + "." if parts else None


def _receiver(settings: ModelSettings, role: Role) -> str | None:
    name = _name(settings, role)
    if not name or name.startswith(REPLAY):
        return None
    place = address(name, settings.base_url)
    return None if place.here else f"{place.host} ({place.model})"


@dataclass(frozen=True, slots=True)
class Expected:
    """Calls of one stage that a run is expected to make, with the tokens of all of them together."""

    stage: str
    role: Role
    calls: int
    tokens_in: int
    tokens_out: int


def priced(expected: Iterable[Expected], settings: ModelSettings) -> list[tuple[str, Cost]]:
    """What each expected stage costs with the configured models; stages of a model that is not configured are left out."""
    costs = []
    for stage in expected:
        name = _name(settings, stage.role)
        if not name or not stage.calls:
            continue
        price = FREE if name.startswith(REPLAY) else _price(settings, name)
        usd = price.of(stage.tokens_in, stage.tokens_out) if price else None
        costs.append((stage.stage, Cost(stage.calls, stage.tokens_in, stage.tokens_out, usd)))
    return costs
