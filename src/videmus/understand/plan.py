"""What a video will ask of the models before anything is sent: calls and tokens by stage, for `add --estimate`.

Counts that are known (slides, looks, clips, characters said) are taken; the others are guessed from the video's length by
what lectures are like. An estimate is for a person's decision; the budget, not this, bounds what is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from videmus.config import Settings
from videmus.models.connect import Expected, Role
from videmus.segment.clips import frame_times

SLIDE_MS = 72_000
"""A slide's mean length: LPM has over 9,000 slides in 180 hours (PreMind, section 4.1)."""

LOOKS_PER_SLIDE = 2
SPOKEN_CHARACTERS_PER_S = 14
"""150 words a minute."""

SLIDE_PICTURE_TOKENS = 1_100
"""1024 × 576 with the providers' own rules: 788 (Anthropic), 1,105 (OpenAI, high detail), 1,548 at most (Google)."""

CLIP_PICTURE_TOKENS = 260
INSTRUCTION_TOKENS = 350
DESCRIPTION_TOKENS = 350
CRITIC_CALLS = 0.4
"""Critic and renewed description together, a slide: the check lets most slides pass (0 to 0.6 on five lectures, of whose
descriptions every third left the numbers out)."""

INTERVAL_PASS = 1.5
"""Calls a batch of captions: the second one asks for intervals where the first found relations."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a video; None is guessed. `recording`: it is part of one, and gets captions and a graph."""

    duration_ms: int
    slides: int | None = None
    looks: int | None = None
    clips: tuple[tuple[int, int], ...] = ()
    spoken_characters: int | None = None
    recording: bool = False


def expected_calls(video: Known, settings: Settings) -> list[Expected]:
    """The calls of every stage that is switched on; those of no call are left out."""
    premind = settings.premind
    slides = video.slides if video.slides is not None else (0 if video.clips else _guessed_slides(video))
    looks = video.looks if video.looks is not None else slides * LOOKS_PER_SLIDE
    spoken = video.spoken_characters if video.spoken_characters is not None else _spoken(video)
    said = math.ceil(spoken / 4)
    seen = SLIDE_PICTURE_TOKENS + INSTRUCTION_TOKENS
    found = [Expected("scene", "vision", looks, looks * seen, looks * 120)]
    if premind.keywords:
        reader: Role = "vision" if settings.models.vision else "language"
        found.append(Expected("keywords", reader, slides, slides * seen + said, slides * 120))
    if premind.vision:
        found.append(Expected("vision", "vision", slides, slides * (seen + 200), slides * DESCRIPTION_TOKENS))
        turns = round(slides * CRITIC_CALLS) if premind.critic else 0
        found.append(Expected("critic", "vision", turns, turns * (seen + DESCRIPTION_TOKENS), turns * 200))
    if premind.consolidation:
        tokens_in = slides * (INSTRUCTION_TOKENS + DESCRIPTION_TOKENS) + said
        found.append(Expected("consolidation", "language", slides, tokens_in, slides * 500))
    if video.clips:
        frames = sum(len(frame_times(start, end, settings.clips)) for start, end in video.clips)
        tokens_in = frames * CLIP_PICTURE_TOKENS + len(video.clips) * INSTRUCTION_TOKENS + said
        found.append(Expected("clip", "vision", len(video.clips), tokens_in, len(video.clips) * 400))
    if video.recording or (looks and not slides and settings.models.vision):
        fused = math.ceil(video.duration_ms / settings.graph.caption_ms)
        tokens_in = fused * (INSTRUCTION_TOKENS + 120) + said
        found.append(Expected("captions", "language", fused, tokens_in, fused * 120))
        batches = math.ceil(fused / settings.graph.captions_per_call)
        related = round(batches * (INTERVAL_PASS if settings.graph.interval_pass else 1))
        found.append(Expected("graph", "language", related, related * INSTRUCTION_TOKENS + fused * 240, related * 600))
    told = slides * 500 * 4 + len(video.clips) * 400 * 4 or spoken
    parts = math.ceil(told / settings.summary.part_characters)
    found.append(Expected("summary-map", "language", parts, told // 4 + parts * INSTRUCTION_TOKENS, parts * 700))
    found.append(Expected("summary-reduce", "language", min(1, parts), parts * 700 + INSTRUCTION_TOKENS, 600))
    return [stage for stage in found if stage.calls]


def _guessed_slides(video: Known) -> int:
    return max(1, round(video.duration_ms / SLIDE_MS)) if video.duration_ms else 0


def _spoken(video: Known) -> int:
    return video.duration_ms * SPOKEN_CHARACTERS_PER_S // 1000
