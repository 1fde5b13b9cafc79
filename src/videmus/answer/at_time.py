"""What was said and shown at a time that a question names, where it asks for nothing else.

Enters: a store, a video, a span. Leaves: lines. "What is on the slide at 2:10" is its text then; "what happens in the first
minute" are the slides that come up and the sentences central to what is said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from videmus import clock
from videmus.answer.citations import holds
from videmus.answer.lines import Line, Proof
from videmus.answer.named_times import AROUND_MS, NamedTime
from videmus.answer.quotes import says_something
from videmus.model import Evidence, EvidenceKind, Scope, ScreenDetail, Segment, Video
from videmus.segment.sentences import Whole, whole_sentences
from videmus.store.protocol import Store
from videmus.store.words import stem
from videmus.understand.central import candidates, central, weighted
from videmus.understand.terms import content_words

Wanted = Literal["said", "shown", "both"]

MOST_SENTENCES = 5
MOST_SLIDES = 8
AT_ONCE = 3
"""Sentences quoted of what is said at one moment."""

_SHOWN = re.compile(
    r"\b(?:slides?|screen|shown|shows?|see|seen|visible|display(?:ed|s)?|written|picture|image|board|read|look(?:s|ing)?|folien?|"
    r"bildschirm|gezeigt|sehen|zeigt|écran|diapos?|diapositives?|affich\w+|montre\w*|pantalla|diapositivas?|muestra|ve)\b"
    r"|幻灯片|屏幕|显示",
    re.I,
)
_SAID = re.compile(
    r"\b(?:says?|said|talk\w*|mention\w*|discuss\w*|speak\w*|spoken|tells?|told|hear\w*|explain\w*|sag(?:t|en|te)|gesagt|spricht|"
    r"erklärt|dit|parle|dice|dicho|habla|explica|explique)\b|说|讲",
    re.I,
)
_TELLING_WORDS = """
happen happens happening going say says said saying talk talks talked talking tell tells told speak speaks speaking spoken
mention mentioned mentions discuss discussed discusses show shows shown showing see seen visible display displayed displays
slide slides screen picture image board page content topic subject read reads written stand stands text video lecture talk
film movie clip recording meeting presentation speaker lecturer she he they describe described describes explain explained
part moment time minute look looks looking appear appears there present presented being heard hear
was wird wer folie folien bildschirm gezeigt sehen zeigt sagt sagen gesagt spricht passiert geschieht steht vortrag video
que quoi qui dit parle passe écran diapo diapositive montre affiché qué quién dice habla pasa pantalla diapositiva muestra
什么 说了 了什 讲了 发生 幻灯 灯片 屏幕 显示
"""
_TELLING = frozenset(stem(w) for w in _TELLING_WORDS.split())


def tells_only(question: str) -> bool:
    """Whether a question, without its time, asks for nothing but what is said or shown."""
    return not ({stem(w) for w in content_words(question)} - _TELLING)


def wanted(question: str) -> Wanted:
    """Whether what is said, what is shown, or both is asked for."""
    shown, said = bool(_SHOWN.search(question)), bool(_SAID.search(question))
    return "both" if shown == said else "shown" if shown else "said"


def at_time(store: Store, video: Video, named: NamedTime, what: Wanted, scope: Scope) -> list[Line]:
    """The lines of what a video says and shows at the time; none where there is nothing."""
    span = named.span(video.duration_ms)
    if span is None:
        return []
    start, end = span
    point = named.anchor == "time"
    lines: list[Line] = []
    if what != "said":
        lines += _page(store, video, start, scope) if point else _slides(store, video, start, end, scope)
    if what != "shown":
        lines += _said_at(store, video, start, scope) if point else _said_in(store, video, start, end, scope)
    if what == "both" and point and not lines:
        lines += [Line(r.text, ((r, r.text),)) for r in _rows(store, video, start, end, scope, ["scene", "clip"])[:2]]
    return lines


def narrowed(scope: Scope, video: Video | None, start: int, end: int) -> Scope:
    """The scope, as far as it lies in the span."""
    return replace(
        scope,
        video=video.id if video else scope.video,
        start=max(start, scope.start or 0),
        end=end if scope.end is None else min(end, scope.end),
    )


def _rows(
    store: Store, video: Video, start: int, end: int, scope: Scope, kinds: Sequence[EvidenceKind]
) -> list[Evidence]:
    return store.evidence(narrowed(scope, video, start, end), kinds)


def _page(store: Store, video: Video, at: int, scope: Scope) -> list[Line]:
    """The text on screen at a time, from the top down."""
    rows = [r for r in _rows(store, video, at, at + 1, scope, ["screen"]) if r.start_ms <= at < max(r.end_ms, at)]
    rows = [r for r in rows if says_something(r.text) and re.search(r"[^\W\d_]", r.text)]
    return [Line(r.text, ((r, r.text),)) for r in sorted(rows, key=_top)]


def _top(row: Evidence) -> tuple[float, int]:
    lines = row.detail.lines if isinstance(row.detail, ScreenDetail) else ()
    return min((line.box[1] for line in lines), default=0.0), row.start_ms


def _said_at(store: Store, video: Video, at: int, scope: Scope) -> list[Line]:
    """The sentence said at a time, or next to it, with its neighbours."""
    said = whole_sentences(_rows(store, video, max(0, at - AROUND_MS), at + AROUND_MS, scope, ["speech"]))
    said = [s for s in said if says_something(s.text)]
    nearest = sorted(said, key=lambda s: (max(s.row.start_ms - at, at - s.end_ms, 0), abs(s.row.start_ms - at)))
    return [_line(s) for s in sorted(nearest[:AT_ONCE], key=lambda s: (s.row.start_ms, s.places[0].first))]


def _line(sentence: Whole) -> Line:
    return Line(sentence.text, tuple((p.row, p.text) for p in sentence.places))


def _slides(store: Store, video: Video, start: int, end: int, scope: Scope) -> list[Line]:
    """The slides shown in a span, by their titles."""
    shown = [s for s in store.segments(narrowed(scope, video, start, end), "slide") if s.title]
    return [line for s in shown[:MOST_SLIDES] if (line := titled(store, s, scope)) is not None]


def titled(store: Store, slide: Segment, scope: Scope) -> Line | None:
    """`1:04 Its title`, proved by the row that holds it; None where no row does."""
    rows = store.evidence(replace(scope, video=slide.video, start=slide.start_ms, end=slide.end_ms), ["screen"])
    title = slide.title or ""
    holding = proof_of(title, rows)
    return Line(f"{clock.format_time(slide.start_ms)} {title}", holding) if holding else None


def proof_of(title: str, rows: Sequence[Evidence]) -> Proof:
    """The row in which a title stands as it is written, or, where it was read in parts, in which its beginning does."""
    words = title.split()
    for length in (len(words), *(n for n in (4, 3, 2) if n < len(words))):
        part = " ".join(words[:length])
        for row in rows:
            if part and holds(row, part):
                return ((row, part),)
    return ()


def _said_in(store: Store, video: Video, start: int, end: int, scope: Scope) -> list[Line]:
    """The sentences central to what is said in a span, in order of time."""
    rows = _rows(store, video, start, end, scope, ["speech"])
    rows = [r for r in rows if (r.start_ms + r.end_ms) // 2 >= start and (r.start_ms + r.end_ms) // 2 <= end] or rows
    return central_lines(rows, MOST_SENTENCES)


def central_lines(rows: Sequence[Evidence], most: int) -> list[Line]:
    """So many sentences of these rows that say best what they are about, in order of time."""
    found = candidates(rows)
    bags = [c.words for c in found]
    spread = Counter(word for bag in bags for word in bag)
    weight = {word: math.log(1 + len(bags) / n) for word, n in spread.items()}
    theme = weighted(sum(bags, Counter()), weight)
    chosen = central(found, theme, weight, most)
    by_id = {r.id: r for r in rows}
    return [cited(c.text, [by_id[id] for id in c.ids]) for c in chosen]


def cited(text: str, rows: Sequence[Evidence]) -> Line:
    """A sentence's line, proved by the places of the rows that it stands in."""
    for sentence in whole_sentences(rows):
        if sentence.text == text:
            return _line(sentence)
    holding = [r for r in rows if text in r.text]
    return Line(text, ((holding[0], text),)) if holding else Line(text, ())
