"""Videmus: a memory for video.

    from videmus import Library
    library = Library("path")
    video = library.add("lecture.mp4")
    answer = library.ask("Why does it diverge?")

Importing takes milliseconds: what a call needs is imported by that call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from videmus.errors import VidemusError

if TYPE_CHECKING:
    from videmus.library import Library
    from videmus.model import Answer, Citation, Evidence, Moment, Scope, Segment, Video

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Citation",
    "Evidence",
    "Library",
    "Moment",
    "Scope",
    "Segment",
    "VidemusError",
    "Video",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name == "Library":
        from videmus.library import Library

        return Library
    if name in __all__:
        from videmus import model

        return getattr(model, name)
    raise AttributeError(f"module 'videmus' has no attribute {name!r}")
