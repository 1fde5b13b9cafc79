"""Goldfish's clips: each described once, from frames over its length together with what is said in it.

Enters: clip segments, the video's speech rows, a function that gives pictures at given times, a vision model. Leaves: clip
rows in order of time. Source: Goldfish, section 3 (up to 45 frames a clip, subtitle with them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.config import ClipSettings
from videmus.errors import VidemusError
from videmus.model import Evidence, Origin, SceneDetail, Segment, evidence_id
from videmus.models.language import CallError, Data, LanguageModel, Part, Prompt, ask_each
from videmus.models.pictures import picture as scaled
from videmus.segment.clips import frame_times
from videmus.understand.agents import instructions
from videmus.understand.places import place

VERSION = 1
REPLY_TOKENS = 1_200
SUBTITLE_WORDS = 800
"""Goldfish gives its larger model at most so many words of subtitle with a clip."""

Pictures = Callable[[Sequence[int]], Sequence[tuple[int, bytes]]]
"""Times in milliseconds → (time, JPEG) of the frames on screen then; a time without a frame is left out."""


class ClipReply(BaseModel):
    description: Annotated[str, Field(min_length=1, max_length=12_000)]


def describe_clips(
    clips: Sequence[Segment],
    speech: Sequence[Evidence],
    pictures: Pictures,
    model: LanguageModel,
    settings: ClipSettings,
    *,
    done: Iterable[object] = (),
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Evidence]:
    """One row for each clip that is not described among `done`; one that fails is told to `on_problem`, the rest is done.

    Raises BudgetError or ReplayError where they end a call.
    """
    described = {row.segment for row in done if isinstance(row, Evidence)}
    wanted = sorted((c for c in clips if c.id not in described), key=lambda c: c.start_ms)

    def prompts() -> Iterator[tuple[tuple[Segment, int, list[Evidence]], Prompt]]:
        for clip in wanted:
            said = [r for r in speech if r.start_ms < clip.end_ms and r.end_ms > clip.start_ms]
            try:
                shown = pictures(frame_times(clip.start_ms, clip.end_ms, settings))
                frames = [scaled(jpeg, clock.format_time(at), settings.image_side) for at, jpeg in shown]
            except (VidemusError, OSError) as error:
                on_problem(f"{place(clip)}: its frames cannot be read: {error}")
                continue
            parts: list[Part] = [Data("subtitle", _subtitle(said)), *frames]
            yield (
                (clip, len(frames), said),
                Prompt("clip", instructions("clip"), tuple(parts), clip.video, REPLY_TOKENS),
            )

    for (clip, count, said), reply in ask_each(model, prompts(), ClipReply):
        if isinstance(reply, CallError):
            on_problem(f"{place(clip)}: it was not described: {reply.what}")
            continue
        text = reply.value.description.strip()
        yield Evidence(
            evidence_id(clip.video, "clip", clip.start_ms, clip.end_ms, text),
            clip.video,
            clip.start_ms,
            clip.end_ms,
            "clip",
            text,
            Origin("clip", VERSION, model.name, {"frames": count}),
            segment=clip.id,
            sources=tuple(row.id for row in said),
            detail=SceneDetail(),
        )


def _subtitle(said: Sequence[Evidence]) -> str:
    lines, words = [], 0
    for row in sorted(said, key=lambda r: r.start_ms):
        words += len(row.text.split())
        if words > SUBTITLE_WORDS:
            break
        speaker = f"{row.speaker}: " if row.speaker else ""
        lines.append(f"{clock.format_time(row.start_ms)} {speaker}{row.text}")
    return "\n".join(lines) or "(nothing is said)"
