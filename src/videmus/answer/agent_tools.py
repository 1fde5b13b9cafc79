"""The agent's tools: each takes a planned step and a scope, and gives labelled rows of evidence and a text to judge.

Enters: a step, a scope whose `at` is the time of the question, a library's parts. Leaves: what was found, with evidence ids.
No tool asks a language model but `look`, which shows pictures to a vision model. Each reads through the scope, so none sees
the future.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from pydantic import BaseModel, Field

from videmus import clock
from videmus.config import Settings
from videmus.errors import LibraryError, MissingExtraError, UsageError
from videmus.model import Evidence, EvidenceKind, Frame, Scope, Video
from videmus.models.image_embedding import ImageEmbedder
from videmus.models.language import Data, LanguageModel, Picture, Prompt
from videmus.models.pictures import picture
from videmus.models.text_embedding import TextEmbedder
from videmus.search.aggregates import aggregate, described, fact_line
from videmus.search.frames import find_frames
from videmus.search.hybrid import search
from videmus.search.ladder import Slots, climb
from videmus.segment.hierarchy import LEVELS, Leaf, remainder
from videmus.store.frame_vectors import FrameVectors
from videmus.store.graph import GraphStore
from videmus.store.protocol import Store

Tool = Literal["transcript", "screen", "captions", "frames", "graph", "summaries", "look", "sql"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
_SETTING: Mapping[Tool, str] = {"frames": "frame_search"}

ABOUT: Mapping[Tool, str] = {
    "transcript": "what was said, by words and meaning",
    "screen": "text that was on screen or readable in view",
    "captions": "descriptions of what was seen and done, every half minute",
    "frames": "pictures that fit short descriptions of what is visible",
    "graph": "who talked to, used, handled or mentioned whom or what, and when; counts over all of it; very fast",
    "summaries": "summaries of 10 minutes, hours and days: a first overview of a long time",
    "look": "look again at the pictures of a short span with a question of its own; needs day, from_time and to_time",
    "sql": "one SELECT over read-only views",
}


_KINDS: Mapping[Tool, tuple[EvidenceKind, ...]] = {
    "transcript": ("speech",),
    "screen": ("screen",),
    "captions": ("caption", "scene", "clip"),
    "summaries": ("summary",),
}
"""What the tools over text search."""


class PlannedStep(BaseModel):
    """One step of a plan, as the model gives it; what a tool does not need stays empty."""

    tool: str = Field(json_schema_extra={"enum": list(TOOLS)})
    task: str = Field(max_length=500)
    queries: list[str] = Field(default=[], max_length=10)
    day: int | None = None
    from_time: str | None = None
    to_time: str | None = None
    source: str | None = None
    relation: str | None = None
    target: str | None = None
    sql: str | None = None


class Sight(BaseModel):
    """What a vision model saw."""

    description: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What the tools work with. `language` and `vision` may be one model; without `vision` there is no second look."""

    store: Store
    graph: GraphStore
    frame_vectors: FrameVectors
    settings: Settings
    embedder: TextEmbedder | None = None
    image_embedder: ImageEmbedder | None = None
    vision: LanguageModel | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool found: rows in the order of their worth, what else there is to read (counts, rungs), and notices.

    `computed` is text that code computed (counts, clock times): numbers in it are as good as evidence. `pictures` are for
    a judge that sees."""

    rows: tuple[Evidence, ...] = ()
    text: str = ""
    computed: str = ""
    notice: str = ""
    detail: Mapping[str, object] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.rows and not self.text


def available(parts: Parts, scope: Scope) -> list[Tool]:
    """The tools that are switched on and have something to work on."""
    agent = parts.settings.agent
    on = [tool for tool in TOOLS if getattr(agent, _SETTING.get(tool, tool))]
    if parts.vision is None or not parts.vision.sees:
        on = [tool for tool in on if tool != "look"]
    if "graph" in on and not parts.graph.worlds(scope):
        on.remove("graph")
    whole = replace(scope, stream=None, facet=None, speaker=None)
    return [tool for tool in on if tool not in _KINDS or parts.store.evidence(whole, _KINDS[tool], 1)]


def use(parts: Parts, step: PlannedStep, scope: Scope, first_day: int | None) -> Found:
    """Run one step. Raises UsageError for an unknown or switched-off tool, and what the tool raises (VidemusError)."""
    tool = next((t for t in TOOLS if t == step.tool), None)
    if tool is None or not getattr(parts.settings.agent, _SETTING.get(tool, tool)):
        raise UsageError(f"there is no tool {step.tool!r}", next=f"the tools are {', '.join(available(parts, scope))}")
    narrowed = _narrowed(scope, step, first_day)
    if tool in ("transcript", "screen", "captions"):
        return _searched(parts, step, narrowed, _KINDS[tool])
    if tool == "frames":
        return _frames(parts, step, narrowed)
    if tool == "graph":
        return _graph(parts, step, scope, first_day)
    if tool == "summaries":
        return _summaries(parts, step, narrowed)
    if tool == "look":
        return _look(parts, step, narrowed)
    return _sql(parts, step, scope)


# ---------------------------------------------------------------- searching text


def _searched(parts: Parts, step: PlannedStep, scope: Scope, kinds: Sequence[EvidenceKind]) -> Found:
    queries = _queries(step)
    best: dict[str, float] = {}
    for kind in kinds:
        for query in queries:
            moments = search(parts.store, parts.embedder, query, replace(scope, stream=kind), _MOMENTS, parts.settings)
            for moment in moments:
                for id in moment.evidence:
                    best[id] = max(best.get(id, 0.0), moment.score)
    ids = sorted(best, key=lambda id: -best[id])[:_ROWS]
    return Found(tuple(_distinct(parts.store.evidence_by_id(ids, scope))))


_MOMENTS = 12
_ROWS = 30


def _distinct(rows: Iterable[Evidence]) -> list[Evidence]:
    """Each text of a stretch once: a caption holds the lines it was made from."""
    kept: dict[tuple[str, str], Evidence] = {}
    for row in rows:
        kept.setdefault((row.video, " ".join(row.text.split())), row)
    return list(kept.values())


def _queries(step: PlannedStep) -> list[str]:
    return [q for q in (" ".join(q.split()) for q in step.queries) if q][:3] or [step.task]


# ---------------------------------------------------------------- frames, and a second look


def _frames(parts: Parts, step: PlannedStep, scope: Scope) -> Found:
    found = find_frames(
        parts.store, parts.frame_vectors, parts.image_embedder, _queries(step), scope, parts.settings,
        text_embedder=parts.embedder,
    )  # fmt: skip
    ids = [id for moment in found.moments for id in moment.evidence]
    rows = parts.store.evidence_by_id(list(dict.fromkeys(ids))[:_ROWS], scope)
    if not rows:
        for hit in found.frames[:_ROWS]:
            at = hit.frame.at_ms
            inside = replace(scope, video=hit.frame.video, start=at, end=at + 1, stream=None)
            rows += parts.store.evidence(inside, ("scene", "screen", "caption", "speech"))
    videos = _videos(parts.store, scope)
    times = [_clock_of(videos, hit.frame.video, hit.frame.at_ms) for hit in found.frames[:_ROWS]]
    text = f"{len(found.frames)} frames, at {', '.join(times)}" if times else ""
    frames = [hit.frame.id for hit in found.frames]
    shown = _pictures(parts, [hit.frame for hit in found.frames], videos) if parts.vision and parts.vision.sees else ()
    return Found(tuple(_distinct(rows)), text, text, found.notice, {"by": found.by, "frames": frames}, shown)


def _pictures(parts: Parts, frames: Sequence[Frame], videos: Mapping[str, Video]) -> tuple[Picture, ...]:
    """At most as many as the settings say, in order of time, each labelled with its clock time; lost ones are left out."""
    shown = []
    for frame in sorted(frames[: parts.settings.agent.frames], key=lambda f: (f.video, f.at_ms)):
        try:
            jpeg = parts.store.picture(frame)
        except LibraryError:  # the file is gone: the others are there
            continue
        shown.append(picture(jpeg, _clock_of(videos, frame.video, frame.at_ms), parts.settings.models.image_side))
    return tuple(shown)


def _look(parts: Parts, step: PlannedStep, scope: Scope) -> Found:
    model = parts.vision
    if model is None or not model.sees:
        raise MissingExtraError("no vision model is configured: nobody can look again", next="set [models] vision")
    if scope.after is None or scope.before is None:
        raise UsageError("a second look needs a span: day, from_time and to_time")
    frames = parts.store.frames(scope)
    every = max(1, -(-len(frames) // parts.settings.agent.frames))  # a long span: spread over all of it
    frames = frames[::every]
    shown = _pictures(parts, frames, _videos(parts.store, scope))
    if not shown:
        return Found(notice="no picture of that span was kept")
    prompt = Prompt(
        "look", "Describe what these pictures show that answers the task. State only what is visible.",
        (Data("task", step.task), *shown),
    )  # fmt: skip
    seen = model.ask(prompt, Sight).value.description
    rows = parts.store.evidence(scope, ("scene", "screen", "caption", "speech"), _ROWS)
    return Found(tuple(rows), f"Seen again: {seen}", detail={"frames": [f.id for f in frames]})


# ---------------------------------------------------------------- the graph


def _graph(parts: Parts, step: PlannedStep, scope: Scope, first_day: int | None) -> Found:
    slots = Slots(
        step.day,
        _time_of_day(step.from_time),
        _time_of_day(step.to_time),
        step.source or None,
        step.target or None,
        step.relation or None,
    )
    whole = replace(scope, stream=None, facet=None, speaker=None)
    climbed = climb(parts.graph, slots, whole, parts.settings.graph, first_day=first_day)
    counted = aggregate(parts.graph, slots, whole, first_day=first_day)
    lines = [f"{fact_line(r.fact, first_day)} ({r.rung})" for r in climbed.rows]
    counts = described(counted, first_day) if counted.total else ""
    ids = list(dict.fromkeys([*counted.evidence, *(r.fact.evidence for r in climbed.rows)]))
    rows = parts.store.evidence_by_id(ids, whole)
    log = [{"rung": r.name, "filters": r.filters, "found": r.found, "new": r.new} for r in climbed.rungs]
    text = "\n".join(
        part for part in (f"Counts over all relations that fit:\n{counts}" if counts else "", *lines) if part
    )
    return Found(
        tuple(rows[: _ROWS * 2]), text, text, detail={"rungs": log, "more": climbed.more, "total": counted.total}
    )


def _sql(parts: Parts, step: PlannedStep, scope: Scope) -> Found:
    if not step.sql:
        raise UsageError("the step has no SQL")
    with parts.store.open_readonly_sql(replace(scope, stream=None, facet=None, speaker=None)) as views:
        result = views.query(step.sql)
    lines = ["\t".join(result.columns), *("\t".join(str(v) for v in row) for row in result.rows)]
    named = [
        n for n, column in enumerate(result.columns) if column in ("id", "evidence", "first_evidence", "last_evidence")
    ]
    ids = list(dict.fromkeys(str(row[n]) for row in result.rows for n in named))[:_ROWS]
    rows = parts.store.evidence_by_id(ids, scope)
    text = "\n".join(lines) if result.rows else ""
    return Found(tuple(rows), text, text, "more rows than are shown" if result.truncated else "", {"sql": step.sql})


# ---------------------------------------------------------------- summaries


def _summaries(parts: Parts, step: PlannedStep, scope: Scope) -> Found:
    """Finished summaries that fit the queries, and what no summary covers yet, built on the fly."""
    found = _searched(parts, step, scope, _KINDS["summaries"])
    videos = _videos(parts.store, scope)
    if scope.at is None:
        return found
    recent = replace(scope, after=max(scope.after or 0, scope.at - LEVELS[-1][1]))
    summaries = _leaves(parts.store.evidence(recent, ("summary",)), videos)
    leaves = _leaves(parts.store.evidence(recent, ("caption", "clip")), videos)
    rest = remainder(leaves, summaries, scope.at, parts.settings.hierarchy.ten_minute_words)
    rows = [*found.rows, *(leaf.row for leaf in rest)]
    notice = f"{len(rest)} captions stand for the time that no summary covers yet" if rest else ""
    return Found(tuple(_distinct(rows)), notice=notice)


def _leaves(rows: Sequence[Evidence], videos: Mapping[str, Video]) -> list[Leaf]:
    found = []
    for row in rows:
        begins = videos[row.video].recorded_at if row.video in videos else None
        if begins is not None:
            found.append(Leaf(begins + row.start_ms, begins + row.end_ms, row))
    return found


# ---------------------------------------------------------------- times


def _narrowed(scope: Scope, step: PlannedStep, first_day: int | None) -> Scope:
    """The scope within the step's day and times; never wider than it was."""
    if step.day is None:
        return scope
    midnight = clock.midnight_of(first_day or 0) + (step.day - 1) * clock.DAY_MS
    after = midnight + (_time_of_day(step.from_time) or 0)
    last = _time_of_day(step.to_time)
    before = midnight + (last if last is not None else clock.DAY_MS)
    return replace(
        scope,
        after=after if scope.after is None else max(after, scope.after),
        before=before if scope.before is None else min(before, scope.before),
    )


def _time_of_day(text: str | None) -> int | None:
    """Milliseconds since midnight; None for what is no time of day (a model wrote it)."""
    if not text:
        return None
    try:
        return clock.parse_clock(f"DAY1 {text.strip()}")
    except UsageError:
        return None


def _videos(store: Store, scope: Scope) -> dict[str, Video]:
    return {v.id: v for v in store.videos(Scope(collection=scope.collection, recording=scope.recording))}


def _clock_of(videos: Mapping[str, Video], video: str, at_ms: int) -> str:
    known = videos.get(video)
    if known is None or known.recorded_at is None:
        return clock.format_time(at_ms)
    return clock.format_clock(known.recorded_at + at_ms)


def row_line(row: Evidence, videos: Mapping[str, Video], label: str) -> str:
    """A row as a judge reads it: label, clock time, stream, who speaks, text."""
    speaker = f"{row.speaker}: " if row.speaker else ""
    return (
        f"[{label}] {_clock_of(videos, row.video, row.start_ms)} · {row.kind} · {speaker}{' '.join(row.text.split())}"
    )
