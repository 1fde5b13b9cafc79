"""A budget in US dollars: before each call the most that it can cost is set aside; what would exceed the budget is
not sent.

A call mostly costs less than was set aside for it: one that does not fit beside calls in flight waits until they are
settled. Shared by all models of a run. Cached replies pass outside of it and cost nothing, so that a run whose budget ended
goes on later without paying twice.
"""

from __future__ import annotations

from threading import Condition, Lock
from typing import TypeVar

from pydantic import BaseModel

from videmus.errors import BudgetError
from videmus.model import Cost
from videmus.models.language import CallError, LanguageModel, Layer, Prompt, Reply
from videmus.models.prices import Price, tokens_bound

T = TypeVar("T", bound=BaseModel)


class Budget:
    """At most `limit_usd`, over all calls that share this object. Raises nothing itself but BudgetError, in
    `reserve`."""

    def __init__(self, limit_usd: float) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._in_flight: list[float] = []
        self._settled = Condition()

    def reserve(self, usd: float, stage: str) -> None:
        """Set `usd` aside, waiting while calls in flight leave too little for it.

        Raises BudgetError when what is spent and this exceed the limit: then no wait helps.
        """
        with self._settled:
            while self.spent_usd + usd <= self.limit_usd < self.spent_usd + sum(self._in_flight) + usd:
                self._settled.wait()
            if self.spent_usd + usd > self.limit_usd:
                raise self._ended(usd, stage)
            self._in_flight.append(usd)

    def settle(self, reserved: float, spent: float) -> None:
        """A call for which `reserved` was set aside is over and cost `spent`."""
        with self._settled:
            self._in_flight.remove(reserved)
            self.spent_usd += spent
            self._settled.notify_all()

    def _ended(self, usd: float, stage: str) -> BudgetError:
        spent, aside = self.spent_usd, sum(self._in_flight)
        digits = next(d for d in (*range(4, 12), 12) if d == 12 or round(spent, d) + round(usd, d) > self.limit_usd)
        held = f"${aside:.{digits}f} are set aside for calls in flight, " if self._in_flight else ""
        return BudgetError(
            f"the budget of ${_short(self.limit_usd)} ends here: ${spent:.{digits}f} are spent, {held}and the next call"
            f" ({stage}) may cost up to ${usd:.{digits}f}",
            next="raise --budget and give the command again; what was answered is not paid again",
        )


def _short(usd: float) -> str:
    """A limit as it was typed: cents, and further decimals where there are any."""
    cents, _, decimals = f"{usd:.9f}".rstrip("0").partition(".")
    return f"{cents}.{decimals:0<2}"


class Budgeted(Layer):
    """`inner` within a budget. Raises BudgetError at once when its price is not known: then no budget can be kept."""

    def __init__(self, inner: LanguageModel, budget: Budget, price: Price | None, thinking_tokens: int = 0) -> None:
        if price is None:
            raise BudgetError(
                "its price is not known, so a budget cannot be kept",
                where=inner.name,
                next="set [models] price_in and price_out (US dollars for a million tokens), or leave --budget out",
            )
        super().__init__(inner)
        self._budget = budget
        self._price = price
        self._thinking_tokens = thinking_tokens
        self._worst = 1.0  # how far a count of tokens went beyond its bound: bounds are stretched by it from then on
        self._lock = Lock()

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        bound = tokens_bound(prompt)
        most = self._price.of(round(bound * self._worst), prompt.max_tokens + self._thinking_tokens)
        self._budget.reserve(most, prompt.stage)
        cost = Cost()
        try:
            reply = self._inner.ask(prompt, result)
            cost = reply.cost
        except CallError as error:
            cost = error.cost
            raise
        finally:
            self._budget.settle(most, cost.usd or 0.0)
            if cost.tokens_in > bound * self._worst:
                with self._lock:
                    self._worst = max(self._worst, cost.tokens_in / bound)
        return reply
