"""Fused captions: what was seen and who said what, every 30 seconds, as one paragraph.

Enters: scene and speech rows of one video. Leaves: evidence of kind "caption" whose sources are the rows in it. With a
language model the two streams are fused into one factual paragraph; without one they are joined, and the row's origin
says so ({"fused": false}). A stretch without scene and speech has no caption. Source: EGAgent (arXiv 2601.18157),
section 3.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import resources

from pydantic import BaseModel

from videmus import clock
from videmus.model import Evidence, Origin, SceneDetail, Video, evidence_id
from videmus.models.language import CallError, Data, LanguageModel, Prompt, ask_each

VERSION = 1


class FusedCaption(BaseModel):
    paragraph: str


def captions(
    video: Video,
    rows: Sequence[Evidence],
    length_ms: int,
    model: LanguageModel | None = None,
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Evidence]:
    """One caption for each stretch of `length_ms` that holds scene or speech rows, in order of time.

    Stretches are counted from the video's beginning. A spoken row belongs to the stretch in which it begins; a
    description to each that it overlaps. Where the model fails, the stretch's text is joined, marked, and told to `on_problem`.
    """
    stretches = _stretches(video, rows, length_ms)
    spans = sorted(stretches)
    fusing = [s for s in spans if model is not None and _worth_fusing(stretches[s])]
    fused: dict[int, str] = {}
    if model is not None:
        prompts = ((start, _prompt(video, stretches[start])) for start in fusing)
        for start, reply in ask_each(model, prompts, FusedCaption):
            if isinstance(reply, CallError):
                on_problem(f"{clock.format_time(start)}: the caption was joined, not fused: {reply.what}")
            elif text := " ".join(reply.value.paragraph.split()):
                fused[start] = text
    for start in spans:
        inside = stretches[start]
        text = fused.get(start) or joined(inside)
        origin = Origin(
            "captions", VERSION, model.name if model and start in fused else None, {"fused": start in fused}
        )
        end = min(start + length_ms, max(video.duration_ms, start + 1))
        yield Evidence(
            evidence_id(video.id, "caption", start, end, text), video.id, start, end, "caption", text, origin,
            sources=tuple(row.id for row in inside), detail=SceneDetail(),
        )  # fmt: skip


def joined(rows: Sequence[Evidence]) -> str:
    """Descriptions, then who said what, in order of time: a caption without a model."""
    scenes = list(dict.fromkeys(_clean(row.text) for row in rows if row.kind == "scene"))
    said = [
        f"{row.speaker}: {_clean(row.text)}" if row.speaker else _clean(row.text)
        for row in rows
        if row.kind == "speech"
    ]
    return "\n".join([" ".join(scenes), *said]).strip()


def _stretches(video: Video, rows: Sequence[Evidence], length_ms: int) -> dict[int, list[Evidence]]:
    found: dict[int, list[Evidence]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.start_ms, r.end_ms, r.kind, r.id)):
        if row.kind not in ("scene", "speech") or not row.text.strip():
            continue
        first = row.start_ms - row.start_ms % length_ms
        last = max(row.start_ms, row.end_ms - 1)
        for start in range(first, last + 1, length_ms) if row.kind == "scene" else (first,):
            if start < max(video.duration_ms, 1):
                found[start].append(row)
    return found


def _worth_fusing(rows: Sequence[Evidence]) -> bool:
    """A single description needs no fusing."""
    return len(rows) > 1 or rows[0].kind == "speech"


def _prompt(video: Video, rows: Sequence[Evidence]) -> Prompt:
    seen = "\n".join(dict.fromkeys(_clean(row.text) for row in rows if row.kind == "scene"))
    said = "\n".join(f"{row.speaker or 'unknown voice'}: {_clean(row.text)}" for row in rows if row.kind == "speech")
    parts = tuple(Data(label, text) for label, text in (("seen", seen), ("said", said)) if text)
    instructions = resources.files("videmus.understand").joinpath("prompts/caption.txt").read_text("utf-8")
    return Prompt("captions", instructions, parts, video=video.id, max_tokens=500)


def _clean(text: str) -> str:
    return " ".join(text.split())
