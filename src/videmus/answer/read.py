"""Answers by a language model that reads the retrieved evidence: every sentence is checked before anyone sees it.

Retrieve → one typed call → each sentence checked by code → those that failed sent back once with the reason → what still
fails is dropped and the label lowered; nothing left is unsupported. Questions about whole videos are read from summaries
and all segments instead of the best matches (Goldfish's global mode). Sentences are told to `on_sentence` in their order,
each as soon as it and all before it have passed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.answer.chat import Exchange, conversation, instructions, standalone
from videmus.answer.closed_set import Checked, ClosedSet
from videmus.answer.extractive import REFUSAL
from videmus.answer.routing import route
from videmus.answer.whole import whole_evidence
from videmus.config import Settings
from videmus.errors import BudgetError, VidemusError
from videmus.model import Answer, Citation, Evidence, Frame, Grounding, Moment, Scope, Sentence, Step
from videmus.models.language import CallError, Data, LanguageModel, Part, Prompt, Tally
from videmus.models.pictures import picture
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import search
from videmus.store.protocol import Store

MOST_SENTENCES = 40
MADE = ("vision", "narration", "consolidated", "summary", "caption")
"""Kinds that say nothing beyond their sources where no model made them."""

ORDER: tuple[Grounding, ...] = ("supported", "derivable", "partial", "unsupported")

STANDING: Mapping[Grounding, float] = {"supported": 1.0, "derivable": 0.8, "partial": 0.5, "unsupported": 0.0}
"""An answer's confidence is this times the share of its sentences that passed: an order of answers, no probability."""

Label = Annotated[str, Field(max_length=40)]


class Quoted(BaseModel):
    evidence: Label
    quote: Annotated[str, Field(max_length=4_000)]


class ReadSentence(BaseModel):
    text: Annotated[str, Field(max_length=4_000)]
    citations: list[Quoted] = Field(default=[], max_length=40)
    computed_from: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=40)


class ReadReply(BaseModel):
    sentences: list[ReadSentence] = Field(max_length=200)
    grounding: Annotated[str, Field(json_schema_extra={"enum": list(ORDER)})]


class MendedSentence(ReadSentence):
    number: int


class MendReply(BaseModel):
    sentences: list[MendedSentence] = Field(max_length=200)


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader is given beside the evidence."""

    question: str
    history: Sequence[Exchange] = ()
    pictures: Sequence[Part] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one search gave: what is asked, the closed set that the answer is made from, and the step that found it."""

    asked: Read
    closed: ClosedSet
    step: Step


def answer(
    store: Store,
    embedder: TextEmbedder | None,
    model: LanguageModel,
    question: str,
    scope: Scope,
    *,
    limit: int | None = None,
    settings: Settings,
    history: Sequence[Exchange] = (),
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer:
    """An answer to `question` from what `scope` sees, every sentence with checked citations.

    `limit` is the number of moments read (default: a setting). `history` is the conversation so far, the oldest first.
    Raises CallError, BudgetError or ReplayError from the model, VectorSpaceError from search.
    """
    began = time.monotonic()
    tally = Tally(model)
    found = retrieved(store, embedder, tally, question, scope, limit=limit, settings=settings, history=history)
    given = read(found.asked, found.closed, tally, settings, on_sentence)
    cost = replace(tally.cost, seconds=time.monotonic() - began)
    return replace(given, steps=(found.step, *given.steps), cost=cost)


def retrieved(
    store: Store,
    embedder: TextEmbedder | None,
    model: LanguageModel,
    question: str,
    scope: Scope,
    *,
    limit: int | None,
    settings: Settings,
    history: Sequence[Exchange] = (),
) -> Retrieved:
    """What a model reads to answer: by one search, or of whole videos where the question is about them."""
    history = list(history)[-settings.read.history :] if settings.read.history else []
    meant = standalone(question, history, model)
    kind = "moments" if scope.stream or scope.facet else route(meant)  # one stream alone tells of no whole video
    if kind != "moments":
        rows, step = whole_evidence(store, embedder, model, meant, kind, scope, settings)
        moments: Sequence[Moment] = ()
    else:
        wanted = limit or settings.read.moments
        moments = search(store, embedder, meant, scope, wanted, settings)
        rows = evidence_of(store, moments, scope, settings.read.evidence_characters)
        step = Step(
            "retrieve",
            meant,
            f"{len(moments)} of at most {wanted} moments, {len(rows)} rows",
            tuple(row.id for row in rows),
            detail={"limit": wanted, "scope": scope.narrowed()},
        )
    titles = {v.id: v for v in store.videos(replace(scope, start=None, end=None))}
    closed = ClosedSet(rows, titles, meant, settings.read.verbatim_words)
    shown = _pictures(store, moments, closed, scope, settings) if model.sees and settings.read.frames else []
    return Retrieved(Read(meant, history, shown), closed, step)


def read(
    asked: Read,
    closed: ClosedSet,
    model: LanguageModel,
    settings: Settings,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer:
    """Read a closed set of evidence. Only sentences that passed the check are in the answer."""
    if not closed.rows:
        return Answer(REFUSAL, "unsupported", steps=(Step("read", asked.question, "nothing was found to read"),))
    began = time.monotonic()
    tokens = settings.read.reply_tokens
    reply = model.ask(Prompt("read", instructions("read"), tuple(_parts(asked, closed)), max_tokens=tokens), ReadReply)
    said = reply.value.grounding
    written = reply.value.sentences[:MOST_SENTENCES] if said != "unsupported" else []
    checks = [closed.checked(s.text, [(c.evidence, c.quote) for c in s.citations], s.computed_from) for s in written]
    out = _Writer(closed, on_sentence)
    out.write(checks)
    failures = [(n, s, c) for n, (s, c) in enumerate(zip(written, checks, strict=True), 1) if c.fault]
    error = None
    if failures:
        try:
            mended = model.ask(_mend_prompt(asked, closed, failures, tokens), MendReply).value.sentences
        except (CallError, BudgetError) as failed:  # what passed stands, and the rest is dropped
            mended, error = [], failed.what
        wanted = {n for n, _, _ in failures}
        for sentence in mended:
            if sentence.number in wanted:
                wanted.discard(sentence.number)
                quotes = [(c.evidence, c.quote) for c in sentence.citations]
                checks[sentence.number - 1] = closed.checked(sentence.text, quotes, sentence.computed_from)
    out.write(checks, whole=True)
    label = _label(said, checks)
    step = Step(
        "read",
        asked.question,
        f"{len(out.sentences)} of {len(written)} sentences passed the check",
        tuple(dict.fromkeys(c.evidence for c in out.citations)),
        time.monotonic() - began,
        error=error,
        detail={
            "said": said,
            "sent_back": [f"{s.text[:120]}: {c.fault}" for _, s, c in failures],
            "dropped": [c.fault for c in checks if c.fault],
            "unused": [row.id for row in closed.rows if row.id not in {c.evidence for c in out.citations}],
        },
    )
    if label == "unsupported":
        return Answer(REFUSAL, "unsupported", steps=(step,))
    text = " ".join(f"{s.text} {''.join(f'[{n}]' for n in s.citations)}" for s in out.sentences)
    kept = len(out.sentences) / max(1, len(checks))
    confidence = kept * STANDING[label]
    return Answer(text, label, tuple(out.sentences), tuple(out.citations), (step,), confidence=confidence)


def evidence_of(store: Store, moments: Sequence[Moment], scope: Scope, characters: int) -> list[Evidence]:
    """The rows of the moments, best moment first: those that matched, then what else was said and shown then.

    As many as fit into `characters`, the first one always; each text once. The scope holds for all of them.
    """
    rows: dict[str, Evidence] = {}
    texts: set[tuple[str, str]] = set()
    used = 0
    around: list[Evidence] = []
    for moment in moments:
        start, end = max(moment.start_ms, scope.start or 0), moment.end_ms
        end = end if scope.end is None else min(end, scope.end)
        span = replace(scope, video=moment.video, start=start, end=end)
        around += [row for row in store.evidence(span) if row.kind not in MADE or row.origin.model]
    matched = store.evidence_by_id([id for moment in moments for id in moment.evidence], scope)
    for row in [*matched, *around]:
        key = (row.video, " ".join(row.text.casefold().split()))
        if row.id in rows or key in texts or not row.text.strip():
            continue
        if rows and used + len(row.text) > characters:
            continue
        rows[row.id] = row
        texts.add(key)
        used += len(row.text)
    return list(rows.values())


# ---------------------------------------------------------------- the parts of a call


def _parts(asked: Read, closed: ClosedSet) -> list[Part]:
    parts: list[Part] = [Data("evidence", closed.listed())]
    if asked.history:
        parts.append(Data("conversation so far", conversation(asked.history)))
    return [*parts, *asked.pictures, Data("question", asked.question)]


def _mend_prompt(
    asked: Read, closed: ClosedSet, failures: Sequence[tuple[int, ReadSentence, Checked]], tokens: int
) -> Prompt:
    failed = [{"number": n, **s.model_dump(), "wrong": c.fault} for n, s, c in failures]
    parts = [*_parts(asked, closed), Data("sentences that failed", json.dumps(failed, ensure_ascii=False))]
    return Prompt("mend", instructions("mend"), tuple(parts), max_tokens=tokens)


def _label(said: str, checks: Sequence[Checked]) -> Grounding:
    """The model's label, lowered by what the check found; never raised."""
    if not any(not c.fault for c in checks):
        return "unsupported"
    labels: list[Grounding] = [next((g for g in ORDER if g == said), "partial")]
    if any(c.fault for c in checks):
        labels.append("partial")
    if any(c.derived for c in checks):
        labels.append("derivable")
    return max(labels, key=ORDER.index)


def _pictures(
    store: Store, moments: Sequence[Moment], closed: ClosedSet, scope: Scope, settings: Settings
) -> list[Part]:
    """One kept frame for each of the best moments, the one on screen at its beginning; each frame once."""
    shown: dict[str, Part] = {}
    for moment in moments:
        if len(shown) == settings.read.most_frames:
            break
        frame = _frame_at(store.frames(replace(scope, video=moment.video, start=None, end=None)), moment)
        if frame is None or frame.id in shown:
            continue
        labels = [closed.label(id) for id in moment.evidence if closed.label(id)]
        title = f"{', '.join(labels)} at {clock.format_time(frame.at_ms)}" if labels else clock.format_time(frame.at_ms)
        try:
            shown[frame.id] = picture(store.picture(frame), title, settings.models.image_side)
        except (VidemusError, OSError):  # a picture that is gone takes nothing from the text that was found
            continue
    return list(shown.values())


def _frame_at(frames: Sequence[Frame], moment: Moment) -> Frame | None:
    inside = [f for f in frames if f.look and f.look.start_ms < moment.end_ms and f.look.end_ms > moment.start_ms]
    before = [f for f in frames if f.at_ms <= moment.end_ms]
    if inside:
        return max(inside, key=lambda f: _shared(f, moment))
    return max(before, key=lambda f: f.at_ms, default=None)


def _shared(frame: Frame, moment: Moment) -> int:
    assert frame.look is not None
    return min(frame.look.end_ms, moment.end_ms) - max(frame.look.start_ms, moment.start_ms)


class _Writer:
    """Turns checked sentences into the answer's, numbers their citations, and tells each one once, in order."""

    def __init__(self, closed: ClosedSet, on_sentence: Callable[[Sentence], None]) -> None:
        self._closed = closed
        self._on_sentence = on_sentence
        self._next = 0
        self._numbers: dict[tuple[str, str], int] = {}
        self.sentences: list[Sentence] = []
        self.citations: list[Citation] = []

    def write(self, checks: Sequence[Checked], whole: bool = False) -> None:
        """Write on from where it stopped, up to the first sentence that failed; with `whole`, over it to the end."""
        while self._next < len(checks):
            check = checks[self._next]
            if check.fault and not whole:
                return
            self._next += 1
            if not check.fault:
                sentence = Sentence(check.text, tuple(dict.fromkeys(self._number(row, q) for row, q in check.quotes)))
                self.sentences.append(sentence)
                self._on_sentence(sentence)

    def _number(self, row: Evidence, quote: str) -> int:
        key = (row.id, quote)
        if key not in self._numbers:
            self._numbers[key] = len(self.citations) + 1
            self.citations.append(self._closed.citation(self._numbers[key], row, quote))
        return self._numbers[key]
