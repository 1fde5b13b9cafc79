"""Fused captions → relations, by a language model: one call extracts, a second one finds the intervals.

Enters: captions, the utterances they were made from, a language model. Leaves: `Relation` rows, one for each interval,
each naming the evidence that supports it. The model never writes a time: it names captions and lines by number, and
code turns those into intervals. What it names that the captions do not hold is dropped.
Source: EGAgent (arXiv 2601.18157), section 3.2; one call for 10 minutes instead of an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Annotated, cast, get_args

from pydantic import BaseModel, Field

from videmus import clock
from videmus.config import GraphSettings
from videmus.graph import naming
from videmus.graph.entities import ALSO_CALLED
from videmus.model import EntityKind, Evidence, Origin, Relation, content_id
from videmus.models.language import CallError, Data, LanguageModel, Prompt, ask_each

VERSION = 1
KINDS: tuple[EntityKind, ...] = get_args(EntityKind)

_Kind = Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]


class FoundRelation(BaseModel):
    """One relation as the model gives it; `caption` is the number of the caption that states it."""

    caption: int
    source: str
    source_kind: _Kind
    relation: str
    target: str
    target_kind: _Kind


class FoundName(BaseModel):
    """Two names that a caption says mean one."""

    caption: int
    name: str
    other: str
    kind: _Kind = "person"


class Extraction(BaseModel):
    relations: list[FoundRelation]
    also_called: list[FoundName] = []


class Support(BaseModel):
    """The lines that support one relation, by number."""

    relation: int
    lines: list[int] = []
    confidence: float = 0.5


class Intervals(BaseModel):
    supports: list[Support]


def extract(
    captions: Sequence[Evidence],
    speech: Sequence[Evidence],
    model: LanguageModel,
    settings: GraphSettings,
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Relation]:
    """The relations of one video's captions. A batch whose call failed is told to `on_problem`; the others are done."""
    captions = sorted(captions, key=lambda c: (c.start_ms, c.id))
    known = _first_said(captions, speech)
    batches = [
        _Batch(captions[first : first + settings.captions_per_call], speech, known)
        for first in range(0, len(captions), settings.captions_per_call)
    ]
    for batch, reply in ask_each(model, ((b, b.extraction_prompt(settings)) for b in batches), Extraction):
        if isinstance(reply, CallError):
            on_problem(f"{batch.span()}: relations were not extracted: {reply.what}")
            continue
        found = batch.valid(reply.value, settings)
        supports: dict[int, Support] = {}
        if found and batch.lines and settings.interval_pass:
            try:
                answer = model.ask(batch.interval_prompt(found), Intervals)
                supports = {s.relation: s for s in answer.value.supports if 1 <= s.relation <= len(found)}
            except CallError as error:
                on_problem(f"{batch.span()}: relations have their captions' times only: {error.what}")
        yield from batch.rows(found, supports, Origin("graph", VERSION, model.name), settings)


class _Batch:
    def __init__(self, captions: Sequence[Evidence], speech: Sequence[Evidence], known: dict[str, int]) -> None:
        self.captions = captions
        self.known = known
        first, last = captions[0].start_ms, max(c.end_ms for c in captions)
        self.lines = [line for line in speech if line.start_ms < last and line.end_ms > first and line.text.strip()]
        self.words = _first_said(captions, self.lines)

    def span(self) -> str:
        return f"{clock.format_time(self.captions[0].start_ms)}–{clock.format_time(self.captions[-1].end_ms)}"

    def extraction_prompt(self, settings: GraphSettings) -> Prompt:
        text = "\n".join(f"[{n}] {_line(caption.text)}" for n, caption in enumerate(self.captions, 1))
        return Prompt(
            "graph",
            prompt_text("extract"),
            (Data("relations to use", ", ".join(_relations(settings))), Data("captions", text)),
            video=self.captions[0].video,
            max_tokens=settings.reply_tokens,
        )

    def interval_prompt(self, found: Sequence[FoundRelation]) -> Prompt:
        relations = "\n".join(f"[{n}] {r.source} {r.relation} {r.target}" for n, r in enumerate(found, 1))
        lines = "\n".join(
            f"[{n}] {line.speaker + ': ' if line.speaker else ''}{_line(line.text)}"
            for n, line in enumerate(self.lines, 1)
        )
        parts = (Data("relations", relations), Data("lines", lines))
        return Prompt("graph", prompt_text("intervals"), parts, video=self.captions[0].video)

    def valid(self, reply: Extraction, settings: GraphSettings) -> list[FoundRelation]:
        """What the reply gives within the rules; statements of names become relations of their own kind."""
        allowed = _relations(settings)
        named = [
            FoundRelation(
                caption=n.caption, source=n.name, source_kind=n.kind, relation=ALSO_CALLED, target=n.other,
                target_kind=n.kind,
            )
            for n in reply.also_called
        ]  # fmt: skip
        kept: dict[tuple[object, ...], FoundRelation] = {}
        for found in (*reply.relations, *named):
            relation = found.relation.strip().upper().replace(" ", "_").replace("-", "_")
            if (
                1 <= found.caption <= len(self.captions)
                and (relation in allowed or found in named)
                and all(kind in KINDS for kind in (found.source_kind, found.target_kind))
                and all(self._holds(name) for name in (found.source, found.target))
                and naming.folded(found.source) != naming.folded(found.target)
            ):
                clean = found.model_copy(
                    update={"relation": relation, "source": _line(found.source), "target": _line(found.target)}
                )
                kept.setdefault(tuple(clean.model_dump().values()), clean)
        return list(kept.values())

    def _holds(self, name: str) -> bool:
        """Whether the material says this name: a word of it at least, with a letter in it."""
        words = naming.words_of(name)
        return len(name) <= _LONGEST_NAME and any(w in self.words and any(c.isalpha() for c in w) for w in words)

    def rows(
        self, found: Sequence[FoundRelation], supports: dict[int, Support], origin: Origin, settings: GraphSettings
    ) -> Iterator[Relation]:
        seen = set()
        for number, relation in enumerate(found, 1):
            support = supports.get(number)
            lines = [
                self.lines[i - 1] for i in sorted(set(support.lines if support else ())) if 0 < i <= len(self.lines)
            ]
            confidence = min(1.0, max(0.0, support.confidence)) if support else settings.unsupported_confidence
            caption = self.captions[relation.caption - 1]
            stated = (caption.start_ms, caption.end_ms, caption.id)
            for start, end, evidence in intervals(lines, settings.interval_gap_ms) or [stated]:
                names = [self._as_known(name, end) for name in (relation.source, relation.target)]
                if not all(names):  # a line that supports it, but before the name was known: the caption's time then
                    start, end, evidence = stated
                    names = [self._as_known(name, end) for name in (relation.source, relation.target)]
                source, target = names
                if not source or not target:
                    continue
                row = row_of(
                    caption.video, start, end, source, cast(EntityKind, relation.source_kind), relation.relation, target,
                    cast(EntityKind, relation.target_kind), evidence, confidence, origin,
                )  # fmt: skip
                if row.id not in seen:
                    seen.add(row.id)
                    yield row

    def _as_known(self, name: str, by: int) -> str:
        """The name without the words that the material says only later than `by`: no row knows its future."""
        return " ".join(w for w in name.split() if all(self.known.get(x, by) <= by for x in naming.words_of(w)))


def _first_said(*streams: Sequence[Evidence]) -> dict[str, int]:
    """Each word of the rows and of their speakers' names, and when it is first known: at its row's end."""
    words: dict[str, int] = {}
    for row in (row for rows in streams for row in rows):
        for word in naming.words_of(f"{row.speaker or ''} {row.text}"):
            words[word] = min(row.end_ms, words.get(word, row.end_ms))
    return words


_LONGEST_NAME = 80


def intervals(lines: Sequence[Evidence], gap_ms: int) -> list[tuple[int, int, str]]:
    """Supporting lines as intervals (start, end, evidence of the first line): lines closer than `gap_ms` are one."""
    found: list[tuple[int, int, str]] = []
    for line in sorted(lines, key=lambda x: (x.start_ms, x.end_ms)):
        if found and line.start_ms - found[-1][1] <= gap_ms:
            start, end, evidence = found[-1]
            found[-1] = (start, max(end, line.end_ms), evidence)
        else:
            found.append((line.start_ms, line.end_ms, line.id))
    return found


def row_of(
    video: str,
    start_ms: int,
    end_ms: int,
    source: str,
    source_kind: EntityKind,
    relation: str,
    target: str,
    target_kind: EntityKind,
    evidence: str,
    confidence: float,
    origin: Origin,
) -> Relation:
    """A relation with the id that follows from what it says, when, and on what evidence."""
    id = content_id("r", video, start_ms, end_ms, source, source_kind, relation, target, target_kind, evidence)
    return Relation(
        id, video, start_ms, end_ms, source, source_kind, relation, target, target_kind, evidence,
        round(confidence, 2), origin,
    )  # fmt: skip


def prompt_text(name: str) -> str:
    return resources.files("videmus.graph").joinpath(f"prompts/{name}.txt").read_text("utf-8")


def _relations(settings: GraphSettings) -> tuple[str, ...]:
    return tuple(r.strip().upper() for r in settings.relations.split(",") if r.strip())


def _line(text: str) -> str:
    return " ".join(text.split())
