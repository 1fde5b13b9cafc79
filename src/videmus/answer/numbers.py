"""The rule of numbers: a number in an answer stands in its evidence, or is computed from numbers that do.

Enters: a sentence, the texts of the evidence that it cites, the numbers that it says it was computed from. Leaves: whether
it stands, is derivable (the arithmetic is done again here), or which numbers nobody can trace.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Literal

from videmus import clock
from videmus.model import Evidence
from videmus.understand.numbers import Number, clocks, names, numbers, values

MOST_OPERANDS = 8

Standing = Literal["stands", "derivable", "untraced"]


@dataclass(frozen=True, slots=True)
class Traced:
    """How a sentence's numbers stand; `untraced` are those that nothing accounts for."""

    standing: Standing
    untraced: tuple[str, ...] = ()


def traced(
    sentence: str, evidence: Sequence[Evidence], texts: Sequence[str], computed_from: Sequence[str] = ()
) -> Traced:
    """Check one sentence against the rows that it cites. `texts` are the rows' texts, originals of corrected ones too."""
    whole = "\n".join(texts)
    stated, named = values(whole), names(whole)
    lost = [name for name in sorted(names(sentence)) if name not in named]
    lost += [time for time in clocks(sentence) if time not in whole and not _within(time, evidence)]
    operands = _operands(computed_from, stated)
    derived = False
    for number in numbers(sentence):
        if number.readings & stated:
            continue
        if operands and _computable(number, operands):
            derived = True
        else:
            lost.append(number.written)
    if lost:
        return Traced("untraced", tuple(dict.fromkeys(lost)))
    return Traced("derivable" if derived else "stands")


def _within(written: str, evidence: Sequence[Evidence]) -> bool:
    """Whether a clock time of the sentence lies in the span of a cited row (a second of rounding allowed)."""
    at = clock.parse_time(written)
    return any(row.start_ms - 1_000 <= at <= row.end_ms + 1_000 for row in evidence)


def _operands(computed_from: Iterable[str], stated: set[Decimal]) -> list[Decimal]:
    """The numbers that the sentence says it was computed from, as far as all of them stand in the evidence."""
    found: list[Decimal] = []
    for text in list(computed_from)[:MOST_OPERANDS]:
        read = numbers(text)
        standing = [reading for number in read for reading in sorted(number.readings & stated)[:1]]
        if len(standing) != len(read):
            return []
        found += standing
    return found[:MOST_OPERANDS]


def _computable(number: Number, operands: Sequence[Decimal]) -> bool:
    """Whether the number follows from the operands: sum, product, mean, count, range; difference, ratio, percentage of two."""
    with localcontext() as context:
        context.prec = 28
        results = list(_results(operands))
    return any(_rounds_to(result, reading) for reading in number.readings for result in results)


def _results(operands: Sequence[Decimal]) -> Iterable[Decimal]:
    if len(operands) < 2:
        return
    total = sum(operands, Decimal(0))
    product = Decimal(1)
    for operand in operands:
        product *= operand
    yield from (total, product, total / len(operands), Decimal(len(operands)), max(operands) - min(operands))
    hundred = Decimal(100)
    pairs: list[Callable[[Decimal, Decimal], Decimal]] = [
        lambda a, b: a - b,
        lambda a, b: a / b,
        lambda a, b: hundred * a / b,
        lambda a, b: hundred * (a - b) / b,
        lambda a, b: a * b / hundred,
    ]
    for a, b in itertools.permutations(operands, 2):
        for pair in pairs:
            try:
                yield pair(a, b)
            except (DivisionByZero, InvalidOperation, Overflow):
                continue


def _rounds_to(exact: Decimal, written: Decimal) -> bool:
    """Whether `written` is `exact` rounded to the places that are written, its sign left to the words ("lower by")."""
    exponent = written.normalize().as_tuple().exponent
    places = min(0, exponent) if isinstance(exponent, int) else 0
    try:
        rounded = abs(exact).quantize(Decimal(1).scaleb(places))
    except InvalidOperation:
        return False
    return rounded == abs(written)
