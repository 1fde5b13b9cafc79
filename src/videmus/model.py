"""The nouns: the data that every module exchanges, as frozen dataclasses with integer milliseconds.

Knows nothing of files, models or storage. Meanings that hold everywhere:

- A time inside a video is an integer number of milliseconds from its first moment (media/ shifts containers that
  start elsewhere); a span is half-open, [start_ms, end_ms).
- A wall-clock time is an integer number of milliseconds since 1970-01-01 00:00 of the recorder's own clock (no zone);
  `clock` reads and writes its formats. Recordings that only count days ("DAY3 14:05:09") put DAY1 on 1970-01-01.
- Ids follow from content (`content_id`), so that a repeated run gives the same rows.
- Boxes are (left, top, right, bottom) as fractions of the picture, 0 to 1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

VideoState = Literal["processing", "ready", "partial", "failed"]
EvidenceKind = Literal["speech", "screen", "scene", "vision", "narration", "consolidated", "clip", "caption", "summary"]
SegmentKind = Literal["slide", "clip", "window", "ten-minute", "hour", "day"]
Facet = Literal["vision", "speech", "consolidated"]
Grounding = Literal["supported", "derivable", "partial", "unsupported"]
EntityKind = Literal["person", "object", "location"]

EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)
SEGMENT_KINDS: tuple[SegmentKind, ...] = get_args(SegmentKind)
FACETS: tuple[Facet, ...] = get_args(Facet)
FACET_KIND: Mapping[Facet, EvidenceKind] = {
    "vision": "vision",
    "speech": "narration",
    "consolidated": "consolidated",
}
"""A slide's facets and the evidence kind that holds each (PreMind's three indexes)."""

Box = tuple[float, float, float, float]


def content_id(prefix: str, *parts: object) -> str:
    """An id that follows from content: `prefix` and 16 hexadecimal digits of a digest of `parts`."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"{prefix}{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a row: every derived row carries one.

    `settings` holds only what differs from one run to another (a threshold, a fallback that was taken).
    """

    stage: str
    version: int = 1
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Video:
    """One video, audio, subtitle or evidence file, known by its content and not by its path.

    `source` is a path or an address, an attribute that may change. `recorded_at` is wall-clock milliseconds.
    `reason` says why a video is partial or failed. `recording` names the timeline that the file is a part of. `options` is
    what the user asked for when adding it (language, speech model, …), so that a retry does the same.
    """

    id: str
    fingerprint: str
    title: str
    duration_ms: int
    source: str
    state: VideoState = "processing"
    reason: str | None = None
    collection: str | None = None
    recorded_at: int | None = None
    recording: str | None = None
    language: str | None = None
    has_video: bool = True
    has_audio: bool = True
    added_at: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


# ---------------------------------------------------------------- evidence and its details, typed by kind


@dataclass(frozen=True, slots=True)
class Word:
    start_ms: int
    end_ms: int
    text: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class SpeechDetail:
    """`uncertain`: the recogniser's mean log-probability was low. `words` is empty for subtitles."""

    words: tuple[Word, ...] = ()
    language: str | None = None
    log_probability: float | None = None
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class TextLine:
    """One recognised line; `confidence` 0 to 1."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class ScreenDetail:
    """The lines of a screen row in reading order, and the frame they were read from."""

    lines: tuple[TextLine, ...] = ()
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class SceneDetail:
    """The frames that a description was made from."""

    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """A misheard term and what was meant. `undone` is a person's word; the original text always stays."""

    id: str
    original: str
    corrected: str
    distance: int
    undone: bool = False


@dataclass(frozen=True, slots=True)
class NarrationDetail:
    """A slide's corrected speech: the text before correction and the corrections applied."""

    original: str = ""
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class SlideTextDetail:
    """A slide's vision or consolidated text: what the agents knew and found on the way."""

    keywords: tuple[str, ...] = ()
    concepts: Mapping[str, str] = field(default_factory=dict)
    turns: int = 0


@dataclass(frozen=True, slots=True)
class SummaryDetail:
    """One sentence of a summary with the evidence it rests on: (sentence, evidence ids) pairs."""

    level: str = "video"
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    terms: tuple[str, ...] = ()


Detail = SpeechDetail | ScreenDetail | SceneDetail | NarrationDetail | SlideTextDetail | SummaryDetail

DETAIL_OF_KIND: Mapping[EvidenceKind, type[Detail]] = {
    "speech": SpeechDetail,
    "screen": ScreenDetail,
    "scene": SceneDetail,
    "vision": SlideTextDetail,
    "narration": NarrationDetail,
    "consolidated": SlideTextDetail,
    "clip": SceneDetail,
    "caption": SceneDetail,
    "summary": SummaryDetail,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was said, shown, seen or concluded, over a span of one video.

    `sources` are the ids of the evidence it was made from; `segment` the slide or clip that it belongs to.
    """

    id: str
    video: str
    start_ms: int
    end_ms: int
    kind: EvidenceKind
    text: str
    origin: Origin
    speaker: str | None = None
    segment: str | None = None
    sources: tuple[str, ...] = ()
    detail: Detail | None = None


def evidence_id(video: str, kind: str, start_ms: int, end_ms: int, text: str, speaker: str | None = None) -> str:
    return content_id("e", video, kind, start_ms, end_ms, text, speaker)


# ---------------------------------------------------------------- segments, frames, passages


@dataclass(frozen=True, slots=True)
class State:
    """One state of a slide: what it showed from one build, highlight or stroke of ink to the next."""

    start_ms: int
    end_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A meaningful piece of a video. A slide segment is one showing of a slide.

    `slide` (1, 2, …) is equal for showings of one slide; `states` are its builds in order; `text` is the final
    state's; `keyframe` a frame id; `number` the page number where one is printed; `sources` the evidence or segments
    that it was made from (a window's are the rows in it, a summary level's the pieces below it).
    """

    id: str
    video: str
    start_ms: int
    end_ms: int
    kind: SegmentKind
    origin: Origin
    slide: int | None = None
    title: str | None = None
    text: str = ""
    states: tuple[State, ...] = ()
    keyframe: str | None = None
    number: str | None = None
    sources: tuple[str, ...] = ()


def segment_id(video: str, kind: str, start_ms: int, end_ms: int) -> str:
    return content_id("s", video, kind, start_ms, end_ms)


@dataclass(frozen=True, slots=True)
class Look:
    """What the picture showed without material change, from `start_ms` to `end_ms`; a frame stands for it.

    `changed` are the boxes that differ from the look before (empty: all of it), `moving` those that never come to rest
    (a camera box, a video playing inside).
    """

    start_ms: int
    end_ms: int
    changed: tuple[Box, ...] = ()
    moving: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture that was kept. `picture` is a path below the library's frames/, `hash` 16 hexadecimal digits."""

    id: str
    video: str
    at_ms: int
    picture: str
    hash: str
    width: int
    height: int
    origin: Origin
    look: Look | None = None


def frame_id(video: str, at_ms: int) -> str:
    return content_id("f", video, at_ms)


@dataclass(frozen=True, slots=True)
class Passage:
    """At most some 40 words of one evidence row: what is embedded. `first` and `last` are character offsets in its text."""

    evidence: str
    index: int
    text: str
    first: int
    last: int


# ---------------------------------------------------------------- the entity graph


@dataclass(frozen=True, slots=True)
class Entity:
    """One person, object or location, under all the names that mean it. `known_from` is wall-clock or video time."""

    id: str
    name: str
    kind: EntityKind
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """One interval of one relation, with the evidence that supports it. `source` and `target` are names as extracted.

    `confidence` is 0 to 1 in steps of a hundredth: a library keeps no finer one.
    """

    id: str
    video: str
    start_ms: int
    end_ms: int
    source: str
    source_kind: EntityKind
    relation: str
    target: str
    target_kind: EntityKind
    evidence: str
    confidence: float
    origin: Origin


Row = Evidence | Segment | Frame | Relation
"""What a stage yields."""


# ---------------------------------------------------------------- questions and answers


@dataclass(frozen=True, slots=True)
class Scope:
    """What a query may see. Every field narrows; None leaves open.

    `start` and `end` are milliseconds inside the video; `after`, `before` and `at` wall-clock milliseconds. `at` is the
    time of the question: nothing that ends later is seen, by any tool, and no name learned later applies.
    """

    video: str | None = None
    collection: str | None = None
    recording: str | None = None
    start: int | None = None
    end: int | None = None
    after: int | None = None
    before: int | None = None
    at: int | None = None
    stream: EvidenceKind | None = None
    facet: Facet | None = None
    speaker: str | None = None

    def narrowed(self) -> dict[str, str | int]:
        """The fields that narrow, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Moment:
    """A ranked result: a tight span of one video and the evidence rows that matched, best first."""

    video: str
    title: str
    start_ms: int
    end_ms: int
    kind: EvidenceKind
    text: str
    score: float
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Footage:
    """The clip of a recording, and the span in it, that ran while something in a transcript was said."""

    video: str
    title: str
    start_ms: int
    end_ms: int
    url: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A checked pointer: `quote` stands in the evidence `evidence`, which was retrieved for this answer.

    `footage` is where a transcript's words can be seen; `url` leads there then.
    """

    n: int
    evidence: str
    video: str
    title: str
    start_ms: int
    end_ms: int
    kind: EvidenceKind
    quote: str
    url: str
    footage: Footage | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer and the numbers of the citations that carry it."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of answering, as data: which tool, with what, what it gave, what it cost, or why it failed."""

    tool: str
    task: str
    result: str = ""
    evidence: tuple[str, ...] = ()
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    error: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cost:
    """What was spent. `usd` is None where a price is not known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Sentences with checked citations; `text` marks them [1], [2], …"""

    text: str
    grounding: Grounding
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    steps: tuple[Step, ...] = ()
    cost: Cost = Cost()
    confidence: float = 0.0


# ---------------------------------------------------------------- to and from plain data (for rows and evidence files)


def to_plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as what JSON holds; empty and None fields of details are left out."""
    if hasattr(value, "__dataclass_fields__"):
        plain = {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
        return {k: v for k, v in plain.items() if v is not None and v != [] and v != {}}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    return value


def detail_from_plain(kind: EvidenceKind, plain: Mapping[str, Any] | None) -> Detail | None:
    """The typed detail of an evidence row. Raises KeyError, TypeError or ValueError for data of another shape."""
    if plain is None:
        return None
    data = dict(plain)
    if kind == "speech":
        data["words"] = tuple(Word(**w) for w in data.get("words", ()))
    elif kind == "screen":
        data["lines"] = tuple(
            TextLine(str(x["text"]), _box(x["box"]), float(x["confidence"])) for x in data.get("lines", ())
        )
    elif kind == "narration":
        data["corrections"] = tuple(Correction(**c) for c in data.get("corrections", ()))
    elif kind == "summary":
        data["sentences"] = tuple((str(t), tuple(ids)) for t, ids in data.get("sentences", ()))
        data["terms"] = tuple(data.get("terms", ()))
    elif kind in ("vision", "consolidated"):
        data["keywords"] = tuple(data.get("keywords", ()))
    else:
        data["frames"] = tuple(data.get("frames", ()))
    return DETAIL_OF_KIND[kind](**data)


def _box(values: Any) -> Box:
    left, top, right, bottom = (float(v) for v in values)
    return left, top, right, bottom
