"""Multiple choice: one of the given options, and why, from a closed set of evidence.

One typed call names a letter with its reasons; these pass the same check as any answer's sentences, and a letter that is none
of the options is no answer. Knows nothing of how the evidence was found, but for `answer`, which searches once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from videmus.answer.chat import Exchange, instructions
from videmus.answer.closed_set import Checked, ClosedSet
from videmus.answer.extractive import REFUSAL
from videmus.answer.read import ORDER, STANDING, ReadReply, retrieved
from videmus.config import Settings
from videmus.model import Answer, Citation, Grounding, Scope, Sentence, Step
from videmus.models.language import Data, LanguageModel, Part, Prompt, Tally
from videmus.models.text_embedding import TextEmbedder
from videmus.store.protocol import Store

LETTERS = "ABCDEFGHIJ"


class ChoiceReply(ReadReply):
    option: str = Field(max_length=10)


def answer(
    store: Store,
    embedder: TextEmbedder | None,
    model: LanguageModel,
    question: str,
    options: Sequence[str],
    scope: Scope,
    *,
    limit: int | None = None,
    settings: Settings,
    history: Sequence[Exchange] = (),
) -> Answer:
    """One of `options` by one search, which looks for their words too, and one call.

    Raises what `read.answer` raises.
    """
    began = time.monotonic()
    tally = Tally(model)
    wanted = " ".join([question, *options])
    found = retrieved(store, embedder, tally, wanted, scope, limit=limit, settings=settings, history=history)
    given = choose(question, options, found.closed, found.asked.pictures, tally, settings)
    cost = replace(tally.cost, seconds=time.monotonic() - began)
    return replace(given, steps=(found.step, *given.steps), cost=cost)


def lettered(question: str, options: Sequence[str]) -> str:
    """The question, and its options a line each: "A. …"."""
    return "\n".join([question, *(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))])


def choose(
    question: str,
    options: Sequence[str],
    closed: ClosedSet,
    material: Sequence[Part],
    model: LanguageModel,
    settings: Settings,
) -> Answer:
    """One option, with the sentences that passed the check as its reason; its letter is the step's detail "option"."""
    evidence = Data("evidence", closed.listed() or "(nothing was found)")
    parts = (evidence, *material, Data("question", lettered(question, options)))
    prompt = Prompt("choose", instructions("choose"), parts, max_tokens=settings.read.reply_tokens)
    reply = model.ask(prompt, ChoiceReply).value
    letter = reply.option.strip(" .()").upper()[:1]
    if not letter or letter not in LETTERS[: len(options)]:
        fault = f"{reply.option!r} is no option"
        return Answer(REFUSAL, "unsupported", steps=(Step("choose", question, "", error=fault, detail={"option": ""}),))
    checks = [
        closed.checked(s.text, [(c.evidence, c.quote) for c in s.citations], s.computed_from) for s in reply.sentences
    ]
    sentences, citations = _cited(closed, [c for c in checks if not c.fault])
    said: Grounding = next((g for g in ORDER if g == reply.grounding), "partial")
    label: Grounding = said if sentences else "unsupported"
    if any(c.fault for c in checks) and ORDER.index(label) < ORDER.index("partial"):
        label = "partial"
    detail = {"option": letter, "dropped": [c.fault for c in checks if c.fault]}
    step = Step("choose", question, letter, tuple(c.evidence for c in citations), detail=detail)
    reasons = [f"{s.text} {''.join(f'[{n}]' for n in s.citations)}" for s in sentences]
    text = " ".join([f"{letter}. {options[LETTERS.index(letter)]}.", *reasons])
    return Answer(text, label, tuple(sentences), tuple(citations), (step,), confidence=STANDING[label])


def _cited(closed: ClosedSet, checks: Sequence[Checked]) -> tuple[list[Sentence], list[Citation]]:
    """Sentences with their citations numbered through."""
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    numbers: dict[tuple[str, str], int] = {}
    for check in checks:
        used = []
        for row, quote in check.quotes:
            key = (row.id, quote)
            if key not in numbers:
                numbers[key] = len(citations) + 1
                citations.append(closed.citation(numbers[key], row, quote))
            used.append(numbers[key])
        sentences.append(Sentence(check.text, tuple(dict.fromkeys(used))))
    return sentences, citations
