"""PreMind's grey zone: a vision model says whether two pictures show the same slide.

Enters: a vision model. Leaves: a function for `slides.slides(same_slide=...)`. Source: PreMind, Algorithm 1: pairs whose
structural similarity lies between its two thresholds are shown to the model; two corrupted pictures count as the same.
"""

from __future__ import annotations

from importlib import resources

from pydantic import BaseModel

from videmus.media import pictures
from videmus.models.language import CallError, LanguageModel, Prompt
from videmus.models.pictures import picture
from videmus.segment.slides import Picture, SameSlide

REPLY_TOKENS = 200


class SameSlideReply(BaseModel):
    differences: str
    same: bool


def same_slide(model: LanguageModel, video: str, image_side: int) -> SameSlide:
    """Asks `model` about pairs of pictures of `video`; None where its call failed, and the comparison decides alone."""
    instructions = resources.files(__package__).joinpath("prompts", "same_slide.txt").read_text("utf-8")

    def asked(one: Picture, other: Picture, /) -> bool | None:
        shown = [
            picture(pictures.encode(image), label, image_side) for image, label in ((one, "earlier"), (other, "later"))
        ]
        try:
            return model.ask(
                Prompt("slides", instructions, tuple(shown), video, REPLY_TOKENS), SameSlideReply
            ).value.same
        except CallError:
            return None

    return asked
