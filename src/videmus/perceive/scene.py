"""The scene stream: a vision model's description of each changed frame, one call a frame.

Enters: frames with the span over which they stand for the picture (their look), a function that gives a frame's JPEG, a
vision model. Leaves: scene rows, in order of time. Without a vision model there is no stream, and the caller says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, Field

from videmus import clock
from videmus.errors import VidemusError
from videmus.model import Evidence, Frame, Origin, SceneDetail, evidence_id
from videmus.models.language import CallError, LanguageModel, Prompt, ask_each
from videmus.models.pictures import picture as scaled

VERSION = 1
REPLY_TOKENS = 400


class SceneReply(BaseModel):
    description: Annotated[str, Field(min_length=1, max_length=4_000)]


def describe_scenes(
    frames: Sequence[Frame],
    picture: Callable[[str], bytes],
    model: LanguageModel,
    *,
    image_side: int = 1024,
    done: Iterable[object] = (),
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Evidence]:
    """One scene row for each frame that has a look. Frames described among `done` are not asked about again.

    A frame that cannot be read or described is told to `on_problem` with its time; the others are done.
    Raises BudgetError or ReplayError where they end a call.
    """
    described = {
        f
        for row in done
        if isinstance(row, Evidence) and isinstance(row.detail, SceneDetail)
        for f in row.detail.frames
    }
    wanted = sorted((f for f in frames if f.look and f.id not in described), key=lambda f: f.at_ms)

    def prompts() -> Iterator[tuple[Frame, Prompt]]:
        for frame in wanted:
            try:
                shown = scaled(picture(frame.id), f"frame at {clock.format_time(frame.at_ms)}", image_side)
            except (VidemusError, OSError) as error:
                on_problem(f"{clock.format_time(frame.at_ms)}: the frame cannot be read: {error}")
                continue
            yield frame, Prompt("scene", _instructions(), (shown,), frame.video, REPLY_TOKENS)

    for frame, reply in ask_each(model, prompts(), SceneReply):
        if isinstance(reply, CallError):
            on_problem(f"{clock.format_time(frame.at_ms)}: the frame was not described: {reply.what}")
            continue
        assert frame.look is not None
        start, end, text = frame.look.start_ms, frame.look.end_ms, " ".join(reply.value.description.split())
        yield Evidence(
            evidence_id(frame.video, "scene", start, end, text),
            frame.video,
            start,
            end,
            "scene",
            text,
            Origin("scene", VERSION, model.name),
            detail=SceneDetail((frame.id,)),
        )


@cache
def _instructions() -> str:
    return resources.files(__package__).joinpath("prompts", "scene.txt").read_text("utf-8")
