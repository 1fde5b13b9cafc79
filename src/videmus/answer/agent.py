"""The planning agent: a question about long footage → a plan, tools, a working memory, an answer with checked citations.

One call plans (at most five steps); each step's tool is run by code and costs nothing; one call then reads what it found,
notes what it tells, and says whether the memory already answers: then the rest of the plan is left out. What the answering
call sees is the question, the notes and the evidence that the notes rest on; its sentences pass the same check as any
answer's. Source: EGAgent (arXiv 2601.18157), whose grader and analyser are two calls, whose early stop is dead code, and
whose tools run in a fixed order whatever the plan says. The trace is data: every step is a `model.Step`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pydantic import BaseModel, Field, create_model

from videmus import clock
from videmus.answer.agent_tools import ABOUT, Found, Parts, PlannedStep, available, row_line, use
from videmus.answer.chat import Exchange, conversation, instructions
from videmus.answer.choose import choose, lettered
from videmus.answer.closed_set import Checked, ClosedSet
from videmus.answer.numbers import traced
from videmus.answer.read import ORDER, Read, read
from videmus.config import AgentSettings
from videmus.errors import VidemusError
from videmus.model import Answer, Cost, Evidence, Scope, Sentence, Step, Video
from videmus.models.language import CallError, Data, LanguageModel, Prompt, Tally, total
from videmus.search.aggregates import asks_for_counts
from videmus.store import views

_RESERVED = 2
"""Calls kept for the answer: reading, and once more what failed the check."""

_SEVERAL_STEPS = re.compile(
    r"(?i)\b(?:who (?:was|were|is|else)\b.*\b(?:with|when|while)|\w+,? (?:before|after|when|while) (?:we|i|he|she|they|you)\b|"
    r"the (?:last|first|next|previous) time|on (?:which|what) days?|day ?\d|yesterday|(?:this|last) (?:morning|week|evening)|"
    r"promis\w+|still (?:have|need|left)|not (?:yet|done)|remind\w*|together|relationship|between .+ and)\b"
)


class Plan(BaseModel):
    steps: list[PlannedStep] = Field(max_length=20)


@lru_cache(maxsize=64)
def _plan_type(tools: tuple[str, ...]) -> type[Plan]:
    """A plan whose schema names only the tools that there are: small models take any name that they are shown."""
    tool = Field(json_schema_extra={"enum": list(tools)})
    step = create_model("PlannedStep", __base__=PlannedStep, tool=(str, tool))
    return create_model("Plan", __base__=Plan, steps=(list[step], Field(max_length=20)))  # type: ignore[valid-type]  # made at run time


class Judgement(BaseModel):
    """What a step's rows tell, and whether the memory now answers."""

    relevant: list[str] = Field(max_length=100)
    note: str = Field(default="", max_length=2_000)
    conflict: str = Field(default="", max_length=1_000)
    enough: bool


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of the working memory: what a step told, on which evidence."""

    step: int
    tool: str
    text: str
    evidence: tuple[str, ...]
    conflict: str = ""


@dataclass(slots=True)
class Memory:
    """Evidence ids with notes, in the order found, and what code computed on the way."""

    notes: list[Note] = field(default_factory=list)
    rows: dict[str, Evidence] = field(default_factory=dict)
    computed: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = [
            f"({n.step}, {n.tool}) {n.text}" + (f" CONFLICT: {n.conflict}" if n.conflict else "") for n in self.notes
        ]
        return "\n".join(lines) or "(empty)"

    @property
    def conflict(self) -> str:
        return next((n.conflict for n in reversed(self.notes) if n.conflict), "")


def wants_agent(question: str, footage: bool) -> bool:
    """Whether a question needs several steps: it counts, compares times or asks who was with whom, in long footage.

    One search answers any other for one call.
    """
    return footage and (asks_for_counts(question) or _SEVERAL_STEPS.search(question) is not None)


def answer(
    parts: Parts,
    model: LanguageModel,
    question: str,
    scope: Scope,
    *,
    options: Sequence[str] = (),
    history: Sequence[Exchange] = (),
    on_step: Callable[[Step], None] = lambda step: None,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer:
    """Plan, search, answer. With `options` the answer is one of them: its letter begins the text and stands in the last
    step's detail as "option".

    Raises CallError, BudgetError or ReplayError when planning or answering gets no reply; a tool that fails does not.
    """
    return _Agent(parts, model, question, scope, options, history, on_step, on_sentence).answer()


class _Agent:
    def __init__(
        self,
        parts: Parts,
        model: LanguageModel,
        question: str,
        scope: Scope,
        options: Sequence[str],
        history: Sequence[Exchange],
        on_step: Callable[[Step], None],
        on_sentence: Callable[[Sentence], None],
    ) -> None:
        self.tally = Tally(model)
        vision = parts.vision if parts.vision is not None else model
        self.vision = self.tally if vision is model else Tally(vision)
        self.parts = replace(parts, vision=self.vision)
        self.settings = parts.settings
        self.question = question
        self.scope = scope
        self.options = options
        self.history = history
        self.on_step = on_step
        self.on_sentence = on_sentence
        self.began = time.monotonic()
        self.memory = Memory()
        self.steps: list[Step] = []
        self.videos = {v.id: v for v in parts.store.videos(replace(scope, start=None, end=None))}
        starts = [v.recorded_at for v in self.videos.values() if v.recorded_at is not None]
        self.first_day = min(starts, default=None)

    def answer(self) -> Answer:
        for number, step in enumerate(self._plan(), 1):
            if reason := _spent(self.settings.agent, self.cost(), self.began):
                self._done(Step("budget", "go on with the plan", f"stopped before step {number}: {reason}"))
                break
            if self._run(number, step):
                break
        given = self._answered()
        return replace(given, steps=tuple(self.steps), cost=self.cost())

    def cost(self) -> Cost:
        parts = {id(t): t.cost for t in (self.tally, self.vision)}
        return replace(total(parts.values()), seconds=time.monotonic() - self.began)

    # ------------------------------------------------------------ planning

    def _plan(self) -> list[PlannedStep]:
        before, began = self.cost(), time.monotonic()
        tools = available(self.parts, self.scope)
        described = "\n".join(f"{tool}: {ABOUT[tool]}" for tool in tools)
        materials = [Data("question", self._asked()), Data("recorded", self._recorded()), Data("tools", described)]
        if "graph" in tools:
            materials.append(Data("relations", self.settings.graph.relations))
        if "sql" in tools:
            materials.append(Data("views", views.described()))
        if self.history:
            materials.append(Data("conversation so far", conversation(self.history)))
        reply = self.tally.ask(Prompt("plan", instructions("plan"), tuple(materials)), _plan_type(tuple(tools)))
        steps = list(reply.value.steps[: self.settings.agent.steps])
        notice = ""
        if not any(step.tool in tools for step in steps):
            notice = "the plan was empty, or of no tool that there is: a search of transcript and captions instead"
            query = [self.question]
            search = [PlannedStep(tool=t, task=self.question, queries=query) for t in ("transcript", "captions")]
            steps = [s for s in search if s.tool in tools]
        listed = "; ".join(f"{n}. {s.tool}: {s.task}" for n, s in enumerate(steps, 1))
        detail = {
            "plan": [s.model_dump(exclude_defaults=True) for s in steps],
            "left_out": max(0, len(reply.value.steps) - self.settings.agent.steps),
        }
        self._done(self._step("plan", self.question, notice or listed, (), before, began, detail=detail))
        return steps

    def _recorded(self) -> str:
        """The recorded days with their times as far as the scope sees them, and the time of the question."""
        days: dict[int, list[int]] = {}
        for video in self.videos.values():
            if video.recorded_at is not None:
                end = video.recorded_at + video.duration_ms
                end = end if self.scope.at is None else min(end, self.scope.at)
                span = days.setdefault(clock.midnight_of(video.recorded_at), [video.recorded_at, end])
                span[0], span[1] = min(span[0], video.recorded_at), max(span[1], end)
        lines = [
            f"{clock.format_clock(start, first_day=self.first_day)} to {clock.format_clock(end, first_day=self.first_day)}"
            for _, (start, end) in sorted(days.items())
        ]
        if self.scope.at is not None:
            lines.append(
                f"asked at {clock.format_clock(self.scope.at, first_day=self.first_day)}: nothing later is known"
            )
        return "\n".join(lines) or "no clock times are known"

    def _asked(self) -> str:
        return lettered(self.question, self.options)

    # ------------------------------------------------------------ one step

    def _run(self, number: int, step: PlannedStep) -> bool:
        """Run a step and judge what it found. True when the memory now answers."""
        before, began = self.cost(), time.monotonic()
        try:
            found = use(self.parts, step, self.scope, self.first_day)
        except VidemusError as error:  # the plan goes on: other tools may know
            self.memory.notes.append(Note(number, step.tool, f"The tool failed: {error.what}", ()))
            self._done(self._step(step.tool, step.task, "", (), before, began, error=str(error)))
            return False
        if found.empty:
            self.memory.notes.append(Note(number, step.tool, f"Nothing was found for: {step.task}", ()))
            nothing = "nothing found" + (f": {found.notice}" if found.notice else "")
            self._done(self._step(step.tool, step.task, nothing, (), before, began, detail=dict(found.detail)))
            return False
        labels = {f"R{n}": row for n, row in enumerate(found.rows[: self.settings.agent.evidence], 1)}
        try:
            judged = self._judged(step, found, labels)
        except CallError as error:
            self._remember(number, step, found, list(labels.values()), f"Not judged. {found.text[:300]}", "")
            rows = tuple(r.id for r in labels.values())
            self._done(self._step(step.tool, step.task, found.notice, rows, before, began, error=str(error)))
            return False
        kept = [labels[key] for key in dict.fromkeys(x.strip(" []").upper() for x in judged.relevant) if key in labels]
        self._remember(number, step, found, kept, judged.note, judged.conflict)
        enough = judged.enough and not judged.conflict and bool(self.memory.rows)
        detail = {
            **found.detail,
            "found": len(found.rows),
            "enough": enough,
            "conflict": judged.conflict,
            "notice": found.notice,
        }
        done = self._step(step.tool, step.task, judged.note, tuple(r.id for r in kept), before, began, detail=detail)
        self._done(done)
        return enough

    def _judged(self, step: PlannedStep, found: Found, labels: Mapping[str, Evidence]) -> Judgement:
        rows = "\n".join(row_line(row, self.videos, label) for label, row in labels.items())
        material = [
            Data("question", self._asked()), Data("working memory", self.memory.text()), Data("task", step.task),
            Data("rows", rows or "(none)"),
        ]  # fmt: skip
        if found.text:
            material.append(Data("also found", found.text))
        pictures = found.pictures if self.tally.sees else ()
        prompt = Prompt("judge", instructions("judge"), (*material, *pictures), max_tokens=600)
        return self.tally.ask(prompt, Judgement).value

    def _remember(
        self, number: int, step: PlannedStep, found: Found, kept: Sequence[Evidence], note: str, conflict: str
    ) -> None:
        self.memory.rows.update({row.id: row for row in kept})
        if found.computed:
            self.memory.computed.append(found.computed)
        text = " ".join(note.split())
        self.memory.notes.append(Note(number, step.tool, text, tuple(r.id for r in kept), " ".join(conflict.split())))

    # ------------------------------------------------------------ answering

    def _closed(self) -> _ComputedSet:
        rows = list(self.memory.rows.values())[: self.settings.agent.evidence]
        times = [f"{row_line(row, self.videos, str(n))[:60]}" for n, row in enumerate(rows)]
        words = self.settings.read.verbatim_words
        return _ComputedSet(rows, self.videos, self.question, words, [*self.memory.computed, *times])

    def _material(self, closed: _ComputedSet) -> list[Data]:
        lines = [
            f"{closed.label(row.id)}: {row_line(row, self.videos, '').removeprefix('[] ').split(' · ')[0]}"
            for row in closed.rows
        ]
        material = [Data("working memory", self.memory.text()), Data("clock times of the evidence", "\n".join(lines))]
        if self.memory.computed:
            material.append(Data("computed", "\n".join(self.memory.computed)))
        return material

    def _answered(self) -> Answer:
        """The answer from the working memory, the steps that it took told like the others."""
        closed = self._closed()
        before, began = self.cost(), time.monotonic()
        if self.options:
            given = choose(self.question, self.options, closed, self._material(closed), self.tally, self.settings)
        else:
            asked = Read(self.question, self.history, self._material(closed))
            given = read(asked, closed, self.tally, self.settings, self.on_sentence)
        for step in given.steps:
            detail = dict(step.detail)
            self._done(
                self._step(
                    step.tool, step.task, step.result, step.evidence, before, began, detail=detail, error=step.error
                )
            )
        return self._lowered(given)

    def _lowered(self, given: Answer) -> Answer:
        """Tools that contradicted each other leave an answer partial at best."""
        if self.memory.conflict and ORDER.index(given.grounding) < ORDER.index("partial"):
            return replace(given, grounding="partial", confidence=min(given.confidence, 0.5))
        return given

    # ------------------------------------------------------------ the trace

    def _step(
        self,
        tool: str,
        task: str,
        result: str,
        evidence: tuple[str, ...],
        before: Cost,
        began: float,
        *,
        detail: Mapping[str, object] | None = None,
        error: str | None = None,
    ) -> Step:
        after = self.cost()
        return Step(
            tool, task, result, evidence, time.monotonic() - began, after.tokens_in - before.tokens_in,
            after.tokens_out - before.tokens_out, error, {**(detail or {}), "calls": after.calls - before.calls},
        )  # fmt: skip

    def _done(self, step: Step) -> None:
        self.steps.append(step)
        self.on_step(step)


class _ComputedSet(ClosedSet):
    """A closed set beside which numbers and times stand that code computed (counts, clock times): a sentence with such a
    number is derivable from the evidence that it cites."""

    def __init__(
        self,
        rows: Sequence[Evidence],
        videos: Mapping[str, Video],
        question: str,
        verbatim_words: int,
        computed: Sequence[str],
    ) -> None:
        super().__init__(rows, videos, question=question, verbatim_words=verbatim_words)
        self._computed = "\n".join(computed)

    def checked(self, text: str, quotes: Sequence[tuple[str, str]], computed_from: Sequence[str] = ()) -> Checked:
        given = super().checked(text, quotes, computed_from)
        if not given.fault or not self._computed:
            return given
        lost = traced(given.text, [], [""], ()).untraced
        computed = [
            number for number in lost if re.search(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)", self._computed)
        ]
        if not computed:
            return given
        masked = given.text
        for number in sorted(computed, key=len, reverse=True):
            masked = re.sub(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)", "…", masked)
        again = super().checked(masked, quotes, computed_from)
        return given if again.fault else replace(again, text=given.text, derived=True)


def _spent(limits: AgentSettings, cost: Cost, began: float) -> str:
    """Why no further step may be taken; "" while there is room for a step and the answer."""
    if cost.calls + 1 + _RESERVED > limits.calls:
        return f"{cost.calls} of {limits.calls} calls are spent, the rest is for the answer"
    if limits.tokens and cost.tokens_in + cost.tokens_out >= limits.tokens:
        return f"{cost.tokens_in + cost.tokens_out} tokens are spent"
    if limits.usd and cost.usd is not None and cost.usd >= limits.usd:
        return f"{cost.usd:.4f} USD are spent"
    if limits.seconds and time.monotonic() - began >= limits.seconds:
        return f"{limits.seconds:g} seconds are over"
    return ""
