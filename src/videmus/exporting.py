"""A video out of a store and into a file: gathers the rows and pictures that a format needs, and writes atomically."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videmus import clock
from videmus.answer.citations import moment_url, opens
from videmus.errors import LibraryError, MediaError, UsageError
from videmus.exports import chapters, evidence_file, graph, notes, slides
from videmus.ingest.add import media_path
from videmus.media import pictures, subtitles
from videmus.media.cut import cut, save_frame
from videmus.model import Evidence, Frame, NarrationDetail, Scope, Segment, Video
from videmus.segment.assign import placed
from videmus.store.graph import Fact
from videmus.store.protocol import Store
from videmus.typed import free
from videmus.understand.corrections import corrected
from videmus.understand.summary import Chapter

FORMATS = ("srt", "vtt", "md", "json", "pdf", "chapters")
ENDINGS = {"chapters": ".chapters.txt"}

NAME_BYTES = 150
"""File systems take 255 bytes; an ending, `_pictures` and the name of a file in the making still fit."""

RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}
"""Names that Windows keeps for devices."""


def text(store: Store, video: Video, format: str) -> str:
    """The video in one of the text formats (Markdown without pictures). Raises UsageError for another one."""
    makers: dict[str, Callable[[], str]] = {
        "srt": lambda: subtitles.write_srt(_cues(store, video)),
        "vtt": lambda: subtitles.write_vtt(_cues(store, video)),
        "md": lambda: _notes(store, video, {}),
        "json": lambda: _evidence_document(store, video),
        "chapters": lambda: chapters.chapter_lines(video, _pieces(store, video), _summaries(store, video)),
    }
    if format not in makers:
        raise UsageError(f"unknown format {format!r}", next=f"one of: {', '.join(FORMATS)}")
    return makers[format]()


def chapters_of(store: Store, video: Video) -> list[Chapter]:
    """The video's chapters, the same in every list of them."""
    return chapters.chapters(video, _pieces(store, video), _summaries(store, video))


def write(
    store: Store,
    video: Video,
    format: str,
    output: Path | None,
    *,
    force: bool,
    notice: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the video to a file, Markdown's pictures to a folder beside it; returns what was written, the file first.

    `notice` is told what could not be written as it is: letters that no font has, pictures that are gone.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}", next=f"one of: {', '.join(FORMATS)}")
    output = output or Path(file_name(video.title) + ENDINGS.get(format, f".{format}"))
    if output.is_dir():
        output = output / (file_name(video.title) + ENDINGS.get(format, f".{format}"))
    free(output, force)
    if format == "pdf":
        deck = _deck(store, video)
        if notice:
            for text_ in deck.notices:
                notice(text_)
        return [_written(output, deck.data)]
    if format != "md":
        return [_written(output, text(store, video, format).encode())]
    paths = _written_pictures(store, video, output, notice)
    relative = {frame: path.relative_to(output.parent).as_posix() for frame, path in paths.items()}
    return [_written(output, _notes(store, video, relative).encode()), *paths.values()]


def sheet(store: Store, video: Video, output: Path, *, force: bool = False) -> Path:
    """Write a contact sheet of the slides, or of the clips where there are none, as PNG or JPEG by the file's ending."""
    ending = output.suffix.lower()
    if ending not in ("", ".png", ".jpg", ".jpeg"):
        raise UsageError("a contact sheet is a picture", where=str(output), next="end its name in .png or .jpg")
    free(output, force)
    shown = slides.slides_of(_pieces_to_show(store, video))
    frames = {f.id: f for f in store.frames(Scope(video=video.id))}
    width = slides.thumbnail_width(len(shown))
    pictures_ = [_thumbnail(store, frames.get(slide.fullest.keyframe or ""), width) for slide in shown]
    data = slides.contact_sheet(list(zip(shown, pictures_, strict=True)), png=ending not in (".jpg", ".jpeg"))
    return _written(output, data)


def write_graph(facts: Sequence[Fact], output: Path, *, force: bool = False) -> Path:
    """Relations as .csv or .graphml. Raises UsageError for another ending, and for a file that is there, unless `force`."""
    makers = {".csv": graph.as_csv, ".graphml": graph.as_graphml}
    if output.suffix.lower() not in makers:
        raise UsageError(f"unknown format {output.suffix!r}", where=str(output), next="one of: .csv, .graphml")
    free(output, force)
    edges = [
        graph.Edge(
            f.source,
            f.source_kind,
            f.relation,
            f.target,
            f.target_kind,
            f.start,
            f.end,
            f.video,
            f.evidence,
            f.confidence,
        )
        for f in facts
    ]
    return _written(output, makers[output.suffix.lower()](edges).encode())


def clip(store: Store, video: Video, span: tuple[int, int], output: Path | None = None, *, force: bool = False) -> Path:
    """Cut the span (ms) out of the video's file, exact to the frame. Raises UsageError, MediaError."""
    path = _file_of(store, video)
    first, last = span
    if last <= first:
        times = f"{clock.format_time(first)}–{clock.format_time(last)}"
        raise UsageError("the clip ends before it begins", where=times, next="give the start first")
    return cut(
        path, first, last, output or _named(video, first, ".mp4" if video.has_video else ".m4a"), overwrite=force
    )


def frame(store: Store, video: Video, at_ms: int, output: Path | None = None, *, force: bool = False) -> Path:
    """Save the picture on screen at a time. Raises UsageError, MediaError."""
    path = _file_of(store, video)
    if not video.has_video:
        raise UsageError("there are no pictures in it", where=video.title, next="`videmus clip` cuts out sound")
    return save_frame(path, at_ms, output or _named(video, at_ms, ".png"), overwrite=force)


def file_name(title: str) -> str:
    """A title as a file's name on every system, without an ending."""
    kept = re.sub(r'[<>:"/\\|?*\x00-\x1f\ud800-\udfff]', "_", title).strip(" .")
    kept = kept.encode()[:NAME_BYTES].decode(errors="ignore").strip(" .")
    return f"{kept}_" if kept.upper() in RESERVED else kept or "video"


def _named(video: Video, at_ms: int, ending: str) -> Path:
    return Path(f"{file_name(video.title)} {clock.format_time(at_ms)}".replace(":", ".") + ending)


def _file_of(store: Store, video: Video) -> Path:
    path = media_path(store, video)
    if path and not (video.has_video or video.has_audio):
        next = "add the video that it belongs to"
        raise UsageError("there is no picture and no sound in it, only text", where=video.title, next=next)
    if path is None:
        raise MediaError(
            "the video's file is not on this machine", where=video.source, next="add the file again where it is now"
        )
    return path


def _notes(store: Store, video: Video, relative: dict[str, str]) -> str:
    pieces = _pieces(store, video)
    links = {s.start_ms: moment_url(video, s.start_ms) for s in pieces} if opens(video) else {}
    return notes.notes(video, pieces, _speech(store, video), _summaries(store, video), relative, links)


def _deck(store: Store, video: Video) -> slides.Deck:
    pieces = _pieces_to_show(store, video)
    frames = {f.id: f for f in store.frames(Scope(video=video.id))}
    keyframes = {
        s.keyframe: store.picture(frames[s.keyframe])
        for s in pieces
        if s.keyframe in frames and store.picture_path(frames[s.keyframe]).exists()
    }
    on_the_web = video.source.startswith(("http://", "https://"))  # decks are passed on; a path is of no use elsewhere
    links = {s.start_ms: moment_url(video, s.start_ms) for s in pieces} if on_the_web else {}
    return slides.deck(video, pieces, keyframes, _speech(store, video), links)


def _thumbnail(store: Store, frame: Frame | None, width: int) -> NDArray[np.uint8] | None:
    """None where the picture is not there or cannot be read."""
    if frame is None:
        return None
    try:
        return pictures.scaled(pictures.decode(store.picture(frame)), width)
    except (LibraryError, MediaError):
        return None


def _pieces_to_show(store: Store, video: Video) -> list[Segment]:
    """Slides, or clips with pictures. Raises UsageError where there are none."""
    pieces = _pieces(store, video)
    if any(s.kind == "slide" or s.keyframe for s in pieces):
        return pieces
    what, next = "the video has no slides and no pictures", "`videmus show` lists what it has"
    if video.has_video and media_path(store, video):
        what, next = "no picture of it is kept", "`videmus retry`; `videmus show --verbose` says what was not run"
    raise UsageError(what, where=video.title, next=next)


def _pieces(store: Store, video: Video) -> list[Segment]:
    """Slides; where there are none, clips, each with the kept picture that is on screen in its middle."""
    scope = Scope(video=video.id)
    if slides_ := store.segments(scope, "slide"):
        return slides_
    clips, frames = store.segments(scope, "clip"), store.frames(scope)
    return [s if s.keyframe or not frames else replace(s, keyframe=_on_screen(frames, s).id) for s in clips]


def _on_screen(frames: Sequence[Frame], segment: Segment) -> Frame:
    """The frame, of frames in order of time, that is shown in the segment's middle: each stands until the next."""
    middle = (segment.start_ms + segment.end_ms) // 2
    return frames[max(0, bisect_right([frame.at_ms for frame in frames], middle) - 1)]


def _speech(store: Store, video: Video) -> list[Evidence]:
    """What was said, its speakers as people call them, misheard terms as the narration of their slide corrects them."""
    rows = store.evidence(Scope(video=video.id), ["speech", "narration"])
    corrections = {
        source: row.detail.corrections
        for row in rows
        if isinstance(row.detail, NarrationDetail) and row.detail.corrections
        for source in row.sources
    }
    said = store.speakers.named([row for row in rows if row.kind == "speech"])
    return [replace(row, text=corrected(row.text, corrections.get(row.id, ()))) for row in said]


def _summaries(store: Store, video: Video) -> list[Evidence]:
    return store.evidence(Scope(video=video.id), ["summary"])


def _cues(store: Store, video: Video) -> list[subtitles.Cue]:
    rows = _speech(store, video)
    return [subtitles.Cue(r.start_ms, r.end_ms, r.text, r.speaker) for r in rows]


def _evidence_document(store: Store, video: Video) -> str:
    """Everything that the library holds of the video, pictures included."""
    scope = Scope(video=video.id)
    frames = store.frames(scope)
    pictures = {frame.id: store.picture(frame) for frame in frames if store.picture_path(frame).exists()}
    document = evidence_file.write(
        video,
        placed(store.evidence(scope), store.segments(scope, "slide")),
        store.segments(scope),
        frames,
        store.relations(scope),
        pictures,
    )
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _written_pictures(
    store: Store, video: Video, output: Path, notice: Callable[[str], None] | None
) -> dict[str, Path]:
    """The keyframes in a folder beside the notes, by frame id; one that is gone is left out, and said."""
    frames = {f.id: f for f in store.frames(Scope(video=video.id))}
    folder = output.with_name(f"{output.stem}_pictures")
    paths: dict[str, Path] = {}
    for segment in _pieces(store, video):
        frame = frames.get(segment.keyframe or "")
        if frame is None or frame.id in paths:
            continue
        if store.picture_path(frame).exists():
            paths[frame.id] = _written(folder / f"{segment.start_ms:09}.jpg", store.picture(frame))
        elif notice:
            notice(f"the picture at {clock.format_time(frame.at_ms)} is gone from the library")
    return paths


def _written(path: Path, data: bytes) -> Path:
    """All of the file or nothing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
