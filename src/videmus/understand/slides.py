"""PreMind over a lecture: for each showing of a slide, in order of time, its narration, vision and consolidated text.

Keywords and misheard terms (one call) → corrected narration → knowledge recalled → description → check and critic →
consolidation with concepts → knowledge learned. Every mechanism is a setting; without a model each text is built from what
was recognised and said, and its origin names the steps that were not run. Source: PreMind, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rapidfuzz import fuzz

from videmus.config import PremindSettings
from videmus.errors import VidemusError
from videmus.model import (
    Correction,
    Evidence,
    EvidenceKind,
    NarrationDetail,
    Origin,
    Segment,
    SlideTextDetail,
    evidence_id,
)
from videmus.models.language import CallError, LanguageModel, Picture, Prompt, Reply, ask_each
from videmus.models.pictures import picture as scaled
from videmus.models.text_embedding import TextEmbedder, suits
from videmus.understand import agents
from videmus.understand.agents import ConsolidationReply, CriticReply, KeywordsReply, VisionReply
from videmus.understand.check import lacking
from videmus.understand.corrections import Suggestion, corrected, judged
from videmus.understand.material import Material, materials
from videmus.understand.memory import Entry, KnowledgeMemory
from videmus.understand.numbers import values
from videmus.understand.places import place

VERSION = 1
KEPT_KEYWORDS = 40
SAME_STATE = 95.0
"""Likeness of recognised texts, 0 to 100, of one slide shown twice: recognition wavers by a few characters."""


@dataclass(frozen=True, slots=True)
class Means:
    """What the agents work with. `picture` gives a frame's JPEG by its id; a model that is None leaves its steps out."""

    picture: Callable[[str], bytes]
    language: LanguageModel | None = None
    vision: LanguageModel | None = None
    embedder: TextEmbedder | None = None
    image_side: int = 1024


def understand_slides(
    slides: Sequence[Segment],
    speech: Sequence[Evidence],
    screen: Sequence[Evidence],
    means: Means,
    settings: PremindSettings,
    *,
    done: Iterable[object] = (),
    undone: Collection[str] = (),
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Evidence]:
    """Rows of kind narration, vision and consolidated, each as soon as it is made; what is among `done` is not made again.

    A slide whose call failed is told to `on_problem` with its place and gets no further rows, so that a later run mends
    just that; the other slides are done. `undone` are ids of corrections that a person took back. Raises BudgetError or
    ReplayError where they end a call.
    """
    work = [_Slide(m, _of_segment(done, m.segment.id)) for m in materials(slides, speech, screen)]
    lecture = _Lecture(means, settings, frozenset(undone))
    for slide, keywords in lecture.keywords(work):
        try:
            if isinstance(keywords, CallError):
                raise keywords
            yield from lecture.understood(slide, keywords)
        except CallError as error:
            on_problem(f"{place(slide.material.segment, slide.material.number)}: {error.what}")


def _of_segment(done: Iterable[object], segment: str) -> dict[EvidenceKind, Evidence]:
    return {row.kind: row for row in done if isinstance(row, Evidence) and row.segment == segment}


@dataclass(slots=True, eq=False)
class _Slide:
    """A showing on its way: its material, its rows by kind as they come, and why its call could not be made."""

    material: Material
    rows: dict[EvidenceKind, Evidence]
    trouble: CallError | None = None

    @property
    def complete(self) -> bool:
        wanted: set[EvidenceKind] = {"vision", "consolidated"}
        if self.material.transcript:
            wanted.add("narration")
        return wanted <= set(self.rows)


@dataclass(slots=True)
class _Seen:
    """What came of the vision step: the text, who made it, the calls of vision agent and critic, a remark for the origin."""

    text: str
    model: str | None
    turns: int
    remarks: Mapping[str, Any] = field(default_factory=dict)


class _Lecture:
    """The state that goes from slide to slide: the knowledge memory, and descriptions of slides that may come back."""

    def __init__(self, means: Means, settings: PremindSettings, undone: frozenset[str]) -> None:
        self._means = means
        self._settings = settings
        self._undone = undone
        self._reader = means.vision or means.language
        self._memory: KnowledgeMemory | None = None
        if settings.memory and settings.keywords and means.language and (embedder := means.embedder):
            self._memory = KnowledgeMemory(
                embedder,
                settings.memory_cosine,
                settings.memory_nearest,
                comparable=lambda name: suits(embedder, None, name),
            )
        self._shown: dict[int, list[tuple[Material, Evidence]]] = {}

    # ------------------------------------------------------------ keywords, for several slides at a time

    def keywords(self, work: Sequence[_Slide]) -> Iterator[tuple[_Slide, KeywordsReply | CallError | None]]:
        """Each slide with its keywords (None where that step is not run). Calls run ahead: they do not hang on each other."""
        asked = [s for s in work if self._asks_keywords(s)]
        if not asked or self._reader is None:
            yield from ((slide, None) for slide in work)
            return
        replies = ask_each(self._reader, self._keyword_prompts(asked), KeywordsReply)
        ahead: tuple[_Slide, Reply[KeywordsReply] | CallError] | None = None
        for slide in work:
            if slide not in asked:
                yield slide, None
                continue
            ahead = ahead or next(replies, None)
            if ahead and ahead[0] is slide:
                reply, ahead = ahead[1], None
                yield slide, reply if isinstance(reply, CallError) else reply.value
            else:
                yield slide, slide.trouble

    def _keyword_prompts(self, asked: Sequence[_Slide]) -> Iterator[tuple[_Slide, Prompt]]:
        for slide in asked:
            try:
                picture = self._picture(slide)
            except CallError as error:
                slide.trouble = error
                continue
            yield slide, agents.keywords_prompt(slide.material, picture, self._settings.reply_tokens)

    def _asks_keywords(self, slide: _Slide) -> bool:
        material = slide.material
        sees = self._means.vision is not None and material.segment.keyframe is not None
        return (
            self._settings.keywords
            and not slide.complete
            and self._reader is not None
            and (sees or bool(material.lines))
        )

    def _picture(self, slide: _Slide) -> Picture | None:
        frame = slide.material.segment.keyframe
        if self._means.vision is None or frame is None:
            return None
        try:
            return scaled(self._means.picture(frame), f"slide {slide.material.number}", self._means.image_side)
        except (VidemusError, OSError) as error:
            raise CallError(f"its picture cannot be read: {error}") from error

    # ------------------------------------------------------------ one slide

    def understood(self, slide: _Slide, keywords: KeywordsReply | None) -> Iterator[Evidence]:
        found = _kept(keywords.keywords) if keywords else ()
        if slide.material.transcript and "narration" not in slide.rows:
            yield self._add(slide, self._narration(slide.material, keywords))
        if "vision" not in slide.rows:
            seen = self._described(slide, found)
            if seen.text:
                yield self._add(slide, self._vision_row(slide.material, seen, found))
        if (vision := slide.rows.get("vision")) and slide.material.segment.slide:
            self._shown.setdefault(slide.material.segment.slide, []).append((slide.material, vision))
        if "consolidated" not in slide.rows and ("vision" in slide.rows or "narration" in slide.rows):
            yield self._add(slide, self._consolidated(slide))
        consolidated = slide.rows.get("consolidated")
        if self._memory and consolidated and isinstance(consolidated.detail, SlideTextDetail):
            self._memory.learn(consolidated.detail.concepts)

    def _add(self, slide: _Slide, row: Evidence) -> Evidence:
        slide.rows[row.kind] = row
        return row

    def _narration(self, material: Material, keywords: KeywordsReply | None) -> Evidence:
        """The corrected speech of the slide, with the corrections applied and the suggestions refused."""
        original = material.transcript
        remarks: dict[str, Any] = {}
        corrections: tuple[Correction, ...] = ()
        model = self._reader.name if self._reader and keywords and self._settings.correction else None
        if keywords is None or model is None:
            remarks["not_run"] = ["correction"]
        else:
            suggestions = [Suggestion(m.heard, m.meant, m.certain) for m in keywords.misheard]
            sorted_out = judged(
                suggestions, original, keywords.keywords, "\n".join(material.lines), material.segment.id, self._settings
            )
            corrections = tuple(replace(c, undone=c.id in self._undone) for c in sorted_out.applied)
            if sorted_out.refused:
                remarks["refused"] = [list(r) for r in sorted_out.refused]
        text = corrected(original, corrections)
        origin = Origin("correction", VERSION, model, remarks)
        detail = NarrationDetail(original, corrections)
        return _row(material, "narration", text, origin, detail, tuple(row.id for row in material.speech))

    def _described(self, slide: _Slide, keywords: Sequence[str]) -> _Seen:
        """The vision agent's text with the critic's turns; of a slide that comes back, what was found the first time."""
        material = slide.material
        if again := self._shown_before(material):
            return _Seen(again.text, again.origin.model, 0, {"shown_before": again.id})
        picture = self._picture(slide) if self._settings.vision else None
        vision = self._means.vision
        if vision is None or picture is None:
            return _Seen(recognised_text(material), None, 0, {"not_run": ["vision", "critic"]})
        knowledge = self._memory.recall(keywords) if self._memory else []
        text, turns = self._looked_at(material, vision, picture, knowledge)
        remarks: dict[str, Any] = {} if self._settings.critic else {"not_run": ["critic"]}
        if knowledge:
            remarks["knowledge"] = [entry.names[0] for entry in knowledge]
        return _Seen(text, vision.name, turns, remarks)

    def _looked_at(
        self, material: Material, vision: LanguageModel, picture: Picture, knowledge: Sequence[Entry]
    ) -> tuple[str, int]:
        """Vision agent and critic in turns: the description that stands, and the calls of both together.

        The turns end when nothing lacks and there is no figure, when the critic is content, or at the most calls allowed.
        """
        tokens, most = self._settings.reply_tokens, self._settings.critic_calls
        reply = vision.ask(agents.vision_prompt(material, picture, knowledge, tokens), VisionReply).value
        calls = 1
        while reply.slide and self._settings.critic and calls < most:
            lack = lacking(material.lines, reply.description)
            if not (self._settings.critic_always or reply.figure or lack.flawed(self._settings.critic_words)):
                break
            prompt = agents.critic_prompt(material, picture, reply.description, lack, tokens)
            verdict = vision.ask(prompt, CriticReply).value
            calls += 1
            if verdict.complete or not verdict.faults or calls == most:
                break
            prompt = agents.vision_prompt(material, picture, knowledge, tokens, reply.description, verdict.faults)
            better = vision.ask(prompt, VisionReply).value
            reply = better if better.slide else reply
            calls += 1
        return reply.description, calls

    def _shown_before(self, material: Material) -> Evidence | None:
        """The vision row of an earlier showing of this slide in the same state: nearly the same words, the same numbers."""
        text = "\n".join(material.lines)
        for earlier, row in self._shown.get(material.segment.slide or 0, []):
            before = "\n".join(earlier.lines)
            if text and fuzz.ratio(text, before) >= SAME_STATE and values(text) == values(before):
                return row
        return None

    def _vision_row(self, material: Material, seen: _Seen, keywords: tuple[str, ...]) -> Evidence:
        origin = Origin("vision", VERSION, seen.model, seen.remarks)
        detail = SlideTextDetail(keywords, {}, seen.turns)
        return _row(material, "vision", seen.text, origin, detail, tuple(row.id for row in material.screen))

    def _consolidated(self, slide: _Slide) -> Evidence:
        """Description and corrected speech as one text, with the concepts that it explains."""
        material = slide.material
        vision, narration = slide.rows.get("vision"), slide.rows.get("narration")
        shown, said = vision.text if vision else "", narration.text if narration else ""
        keywords = vision.detail.keywords if vision and isinstance(vision.detail, SlideTextDetail) else ()
        sources = tuple(row.id for row in (vision, narration) if row)
        language = self._means.language
        if language is None or not self._settings.consolidation:
            origin = Origin("consolidation", VERSION, None, {"not_run": ["consolidation", "knowledge"]})
            text = joined_text(material.title, shown, said)
            return _row(material, "consolidated", text, origin, SlideTextDetail(keywords), sources)
        prompt = agents.consolidation_prompt(material, shown, said, self._settings.reply_tokens)
        reply = language.ask(prompt, ConsolidationReply).value
        concepts = {c.name.strip(): c.explanation.strip() for c in reply.concepts if c.name.strip()}
        origin = Origin("consolidation", VERSION, language.name)
        return _row(material, "consolidated", reply.description, origin, SlideTextDetail(keywords, concepts), sources)


def recognised_text(material: Material) -> str:
    """The slide's text from what was recognised: title, then lines in reading order."""
    lines = [line for line in material.lines if line != material.title]
    return "\n".join([material.title, *lines] if material.title else lines)


def joined_text(title: str, slide: str, said: str) -> str:
    """Title, slide text and speech as one text, nothing twice."""
    parts = [title] if title and not slide.startswith(title) else []
    return "\n".join([*parts, slide.strip(), said]).strip()


def _kept(keywords: Iterable[str]) -> tuple[str, ...]:
    folded = {" ".join(k.split()).casefold(): " ".join(k.split()) for k in keywords if k.strip()}
    return tuple(folded.values())[:KEPT_KEYWORDS]


def _row(
    material: Material,
    kind: EvidenceKind,
    text: str,
    origin: Origin,
    detail: NarrationDetail | SlideTextDetail,
    sources: tuple[str, ...],
) -> Evidence:
    segment = material.segment
    return Evidence(
        evidence_id(segment.video, kind, segment.start_ms, segment.end_ms, text),
        segment.video,
        segment.start_ms,
        segment.end_ms,
        kind,
        text,
        origin,
        segment=segment.id,
        sources=sources,
        detail=detail,
    )
