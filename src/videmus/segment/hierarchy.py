"""Clip → 10 minutes → hour → day: summaries of a recording, each pointing down to what it was made from.

Enters: leaves (captions or clip descriptions, else speech and scene rows) on the recorder's clock, the nodes of an earlier
run. Leaves: nodes, each a segment and its summary row. A node's digest follows from its children, so adding an hour makes
that hour's nodes and its day anew and takes every other node over as it is. A level is cut at round clock times. Without
a language model a summary is extractive: the most telling sentences, verbatim, in order. Source: EgoRAG (EgoLife,
arXiv 2503.03803), whose summaries keep no pointers; ours do, sentence by sentence.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

from pydantic import BaseModel

from videmus import clock
from videmus.config import HierarchySettings
from videmus.model import Evidence, Origin, Segment, SummaryDetail, Video, evidence_id, segment_id
from videmus.models.language import CallError, Data, LanguageModel, Prompt

VERSION = 1
_DEFAULTS = HierarchySettings()
Level = Literal["ten-minute", "hour", "day"]
LEVELS: tuple[tuple[Level, int], ...] = (
    ("ten-minute", 10 * clock.MINUTE_MS),
    ("hour", clock.HOUR_MS),
    ("day", clock.DAY_MS),
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """An evidence row by the clock: [start, end) are wall-clock milliseconds."""

    start: int
    end: int
    row: Evidence


@dataclass(frozen=True, slots=True)
class Node:
    """A summary: its segment, its row, its span by the clock. `made`: computed now, not taken over."""

    level: Level
    start: int
    end: int
    segment: Segment
    summary: Evidence
    made: bool


class SummarySentence(BaseModel):
    """One sentence and the numbers of the pieces that say it."""

    text: str
    pieces: list[int]


class SummaryReply(BaseModel):
    sentences: list[SummarySentence]


def grow(
    recording: Video,
    leaves: Sequence[Leaf],
    previous: Sequence[Evidence] = (),
    settings: HierarchySettings = _DEFAULTS,
    model: LanguageModel | None = None,
    on_problem: Callable[[str], None] = lambda text: None,
) -> Iterator[Node]:
    """Every node of the recording, from 10 minutes upward. `previous` are the summary rows of an earlier run.

    `recording` is the video that the rows belong to (`timeline.recording_video`); its `recorded_at` is where times
    count from. A node ends with its last child, so that what is asked at a time sees it only when all of it is past.
    """
    offset = recording.recorded_at or 0
    known = {str(row.origin.settings.get("digest")): row for row in previous if row.kind == "summary"}
    children = sorted(leaves, key=lambda x: (x.start, x.end, x.row.id))
    for level, length in LEVELS:
        nodes = []
        for pieces in _grouped(children, length):
            nodes.append(_node(recording, offset, level, pieces, known, settings, model, on_problem))
            yield nodes[-1]
        children = [Leaf(node.start, node.end, node.summary) for node in nodes]


def remainder(leaves: Sequence[Leaf], summaries: Sequence[Leaf], at: int, words: int) -> list[Leaf]:
    """What no summary that ended by `at` covers yet, shortened to about `words`: the unfinished hour, on the fly."""
    covered = max((s.end for s in summaries if s.end <= at), default=None)
    rest = [x for x in leaves if x.end <= at and (covered is None or x.start >= covered)]
    chosen = {id for _, ids in extract_sentences([x.row for x in rest], words) for id in ids}
    return [x for x in rest if x.row.id in chosen]


def _grouped(pieces: Sequence[Leaf], length: int) -> list[list[Leaf]]:
    """By round clock times; a piece belongs where it begins."""
    groups: dict[int, list[Leaf]] = {}
    for piece in pieces:
        groups.setdefault(piece.start // length, []).append(piece)
    return list(groups.values())


def _node(
    recording: Video,
    offset: int,
    level: Level,
    pieces: list[Leaf],
    known: Mapping[str, Evidence],
    settings: HierarchySettings,
    model: LanguageModel | None,
    on_problem: Callable[[str], None],
) -> Node:
    start, end = pieces[0].start, max(p.end for p in pieces)
    words = {"ten-minute": settings.ten_minute_words, "hour": settings.hour_words, "day": settings.day_words}[level]
    digest = _digest(level, words, model.name if model else None, pieces)
    ids = tuple(p.row.id for p in pieces)
    summary = known.get(digest)
    made = summary is None
    span = segment_id(recording.id, level, start - offset, end - offset)
    if summary is None or (summary.start_ms, summary.end_ms) != (start - offset, end - offset):
        # The recording may begin earlier than it did: the text stays, its place is counted anew.
        if summary is None:
            sentences, by = _summarised(level, pieces, words, model, on_problem)
            detail = SummaryDetail(level, sentences)
            text = " ".join(sentence for sentence, _ in sentences)
            origin = Origin("hierarchy", VERSION, by, {"digest": digest, "extractive": by is None})
        else:
            assert isinstance(summary.detail, SummaryDetail)
            detail, text, origin = summary.detail, summary.text, summary.origin
        summary = Evidence(
            evidence_id(recording.id, "summary", start - offset, end - offset, text), recording.id, start - offset,
            end - offset, "summary", text, origin, segment=span, sources=ids, detail=detail,
        )  # fmt: skip
    segment = Segment(
        span, recording.id, start - offset, end - offset, level, replace(summary.origin), sources=ids, text=summary.text
    )
    return Node(level, start, end, segment, summary, made)


def _digest(level: str, words: int, model: str | None, pieces: Sequence[Leaf]) -> str:
    whole = hashlib.blake2b(f"{VERSION}|{level}|{words}|{model}".encode(), digest_size=12)
    for piece in pieces:
        whole.update(f"|{piece.start}|{piece.end}|{piece.row.id}|{piece.row.text}".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


# ---------------------------------------------------------------- one summary

_Sentences = tuple[tuple[str, tuple[str, ...]], ...]


def _summarised(
    level: Level,
    pieces: Sequence[Leaf],
    words: int,
    model: LanguageModel | None,
    on_problem: Callable[[str], None],
) -> tuple[_Sentences, str | None]:
    if model is not None:
        material = "\n".join(
            f"[{n}] {clock.format_clock(p.start)} {' '.join(p.row.text.split())}" for n, p in enumerate(pieces, 1)
        )
        instructions = resources.files("videmus.segment").joinpath("prompts/summary.txt").read_text("utf-8")
        prompt = Prompt(
            "hierarchy", instructions, (Data("span and length", f"{level}, at most {words} words"), Data("pieces", material)),
            max_tokens=words * 4 + 300,
        )  # fmt: skip
        try:
            reply = model.ask(prompt, SummaryReply).value
            kept = tuple(
                (" ".join(s.text.split()), tuple(pieces[n - 1].row.id for n in s.pieces if 1 <= n <= len(pieces)))
                for s in reply.sentences
            )
            if kept := tuple((text, ids) for text, ids in kept if text and ids):
                return kept, model.name
            on_problem(
                f"{clock.format_clock(pieces[0].start)}: a {level} summary without sources was replaced by an extract"
            )
        except CallError as error:
            on_problem(f"{clock.format_clock(pieces[0].start)}: the {level} summary is an extract: {error.what}")
    return extract_sentences([p.row for p in pieces], words), None


_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_TOKEN = re.compile(r"\w[\w'’-]*")


def extract_sentences(rows: Sequence[Evidence], words: int) -> _Sentences:
    """The most telling sentences of the rows, verbatim, in order, each once, at most some `words` in all.

    A sentence weighs what is said often in this span and not everywhere in it (frequency times rarity over the rows,
    mean of its words), and each further sentence less for words already told: SumBasic (Nenkova and Vanderwende 2005)
    with rarity instead of a list of stop words.
    """
    candidates: dict[str, tuple[int, str, list[str]]] = {}
    for number, row in enumerate(rows):
        for text in _SENTENCE.split(row.text):
            clean = " ".join(text.split())
            tokens = [t.casefold() for t in _TOKEN.findall(clean)]
            if len(tokens) >= 3 and clean not in candidates:
                candidates[clean] = (number, row.id, tokens)
    if not candidates:
        kept = [(" ".join(row.text.split()), (row.id,)) for row in rows if row.text.strip()]
        return tuple(kept[: max(1, words // 4)])
    frequency = Counter(t for _, _, tokens in candidates.values() for t in tokens)
    rows_with = Counter(t for t, _ in {(t, n) for n, _, tokens in candidates.values() for t in tokens})
    weight = {t: math.log1p(c) * math.log1p(len(rows) / rows_with[t]) for t, c in frequency.items()}
    left = dict(candidates)
    chosen: list[str] = []
    length = 0
    scores = {text: _score(tokens, weight) for text, (_, _, tokens) in left.items()}
    while left and length < words:
        best = max(left, key=lambda text: (scores[text], -left[text][0]))
        tokens = left.pop(best)[2]
        if chosen and length + len(tokens) > words * 1.2:
            continue
        chosen.append(best)
        length += len(tokens)
        told = set(tokens)
        for token in told:
            weight[token] *= 0.3
        for text, (_, _, others) in left.items():
            if not told.isdisjoint(others):
                scores[text] = _score(others, weight)
    chosen.sort(key=lambda text: candidates[text][0])
    return tuple((text, (candidates[text][1],)) for text in chosen)


def _score(tokens: Sequence[str], weight: Mapping[str, float]) -> float:
    return sum(weight[t] for t in tokens) / (len(tokens) + 2)
