"""What an answer without a model is written from: lines, each with the words that prove it, and their check.

Enters: lines, the rows that were retrieved. Leaves: sentences with numbered, checked citations. A line whose proof fails
is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from videmus.answer.citations import checked
from videmus.model import Citation, Evidence, Scope, Sentence, Step
from videmus.store.protocol import Store

Proof = tuple[tuple[Evidence, str], ...]
"""Rows, and the words quoted from each."""


@dataclass(frozen=True, slots=True)
class Line:
    """`text` is the proof's own words, at most with a time, a title or a count before them."""

    text: str
    proof: Proof


@dataclass(frozen=True, slots=True)
class Written:
    """The sentences that passed, their citations, and the text that marks them [1], [2], …; `failed` are for the steps."""

    text: str = ""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    failed: tuple[Step, ...] = ()


def written(
    store: Store,
    lines: Sequence[Line],
    scope: Scope,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Written:
    """Each line with its citations; words cited twice keep their number. `on_sentence` is told each line that passed."""
    retrieved = {row.id: row for line in lines for row, _ in line.proof}
    wanted = {row.video for row in retrieved.values()}
    videos = {v.id: v for v in store.videos(scope) if v.id in wanted}
    citations: dict[tuple[str, str], Citation] = {}
    sentences: list[Sentence] = []
    failed: list[Step] = []
    for line in lines:
        numbered = dict(citations)
        errors = []
        for row, quote in line.proof:
            found = numbered.get((row.id, quote)) or checked(len(numbered) + 1, row.id, quote, retrieved, videos)
            if isinstance(found, str):
                errors.append(Step("citation check", quote, error=found))
            else:
                numbered[row.id, quote] = found
        if errors or not line.proof:
            failed += errors
            continue
        citations = numbered
        sentences.append(Sentence(line.text, tuple(dict.fromkeys(citations[r.id, q].n for r, q in line.proof))))
        on_sentence(sentences[-1])
    text = " ".join(" ".join(s.text.split()) + " " + "".join(f"[{n}]" for n in s.citations) for s in sentences)
    return Written(text, tuple(sentences), tuple(citations.values()), tuple(failed))
