"""Which answer a question gets without a language model: by what it asks for, all of it in the videos' own words.

Small talk is answered kindly and cites nothing. A time that the question names narrows the scope, or is all that is asked for;
then come questions about the slides themselves, about when something is spoken of, about whole videos, and last the best
sentences for any question. A question that finds nothing in the time that it names is asked again of the whole.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from videmus import clock
from videmus.answer import extractive, overview
from videmus.answer.at_time import at_time, narrowed, tells_only, wanted
from videmus.answer.deck import deck, named_slide
from videmus.answer.introductions import asks_who_speaks, introductions
from videmus.answer.languages import by_words, language_of
from videmus.answer.lines import Line, written
from videmus.answer.named_times import AROUND_MS, NamedTime, named_time
from videmus.answer.routing import route
from videmus.answer.small_talk import NEXT, small_talk
from videmus.config import Settings
from videmus.model import Answer, Scope, Segment, Sentence, Step, Video
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import search
from videmus.search.question import FRAME, STOP
from videmus.store.protocol import Store
from videmus.store.words import stem, words

notices = logging.getLogger("videmus.notices")

MOST_VIDEOS = 5
"""Of more videos a time is not told: whose is meant must be named."""

NAMES_NOTHING = f"That names nothing to look for. {NEXT}"
_LISTING = frozenset(map(stem, ("list", "all", "many", "name", "give", "happens", "happening", "going", "tell")))

LAST_LOOK_MS = 200
"""A slide's text is read so long before it goes: by then it is complete."""

_SPOKEN_OF = (
    r"(?:talk(?:s|ed|ing)?|speaks?|spoken?|tells?)\s+(?:about|of)|mention(?:s|ed)?|discuss(?:es|ed)?|explain(?:s|ed)?|introduced?s?"
    r"|cover(?:s|ed)?|describe[sd]?|bring(?:s)? up|defin(?:es?|ed)"
)
_WHEN = re.compile(
    r"^\W*(?:when|where in (?:the|this) \w+|at (?:what|which) (?:time|point|minute|moment))\s+(?:does|do|did|is|are|was|were)\s+"
    rf"(?:(?:s?he|they|it|we|you|i|the (?:\w+\s+){{1,2}}?)\s*(?:first\s+)?(?:{_SPOKEN_OF})\s+(?P<active>.+?)"
    rf"|(?P<passive>.+?)\s+(?:first\s+)?(?:{_SPOKEN_OF}))\s*(?:in (?:the|this) (?:video|lecture|talk))?\s*[?.!]*\s*$"
    r"|^\W*wann\s+(?:spricht|redet|erklärt|erwähnt)\s+(?:er|sie|der \w+|die \w+)\s+(?:über|von)?\s*(?P<german>.+?)\s*\??\s*$",
    re.I,
)

_COUNTS = re.compile(
    r"\bhow many\b.+\b(?:mentioned|named|discussed|listed|presented|introduced|covered)\b"
    r"|\bwie ?viele\b.+\b(?:erwähnt|genannt)\b",
    re.I,
)
"""Without a reader nobody counts what a video names: the sentences are given, and no number."""


def answer(
    store: Store,
    embedder: TextEmbedder | None,
    question: str,
    scope: Scope,
    limit: int | None,
    settings: Settings,
    on_sentence: Callable[[Sentence], None] = lambda sentence: None,
) -> Answer:
    """The answer; `on_sentence` is told its sentences in order.

    Raises VectorSpaceError as `search` does.
    """
    said = small_talk(question)
    if said is not None:
        return Answer(said, "unsupported", steps=(Step("small talk", question, "nothing was asked"),))
    whole = scope.stream is None and scope.facet is None and scope.speaker is None
    given = _structured(store, embedder, question, scope, limit, settings) if whole else None
    if given is None and _names_nothing(question):
        return Answer(NAMES_NOTHING, "unsupported", steps=(Step("small talk", question, "names nothing"),))
    given = given or _best_sentences(store, embedder, question, scope, limit, settings)
    for sentence in given.sentences:
        on_sentence(sentence)
    return given


def _names_nothing(question: str) -> bool:
    """Whether a question has no word that could be found: "why?", "how many videos are there?", "who is the speaker?"."""
    if language_of(question) not in (None, "English"):
        return False
    typed = [stem(w) for w in words(question)]
    return set(typed) <= STOP or (len(typed) > 1 and set(typed) <= STOP | FRAME | _LISTING)


def _best_sentences(
    store: Store, embedder: TextEmbedder | None, question: str, scope: Scope, limit: int | None, settings: Settings
) -> Answer:
    """The best sentences; by words alone, and said so, where the embedding model does not know the question's language."""
    asked = by_words(question, embedder, store)
    if asked is None:
        return extractive.answer(store, embedder, question, scope, limit, settings)
    given = extractive.answer(store, None, asked.text, scope, limit, settings)
    step = Step("language", question, asked.notice, detail={"words": asked.text})
    if not given.citations:
        return replace(given, text=f"{given.text} ({asked.notice})", steps=(step, *given.steps))
    notices.info("%s", asked.notice)
    return replace(given, steps=(step, *given.steps))


def _structured(
    store: Store, embedder: TextEmbedder | None, question: str, scope: Scope, limit: int | None, settings: Settings
) -> Answer | None:
    """The answer of a question that names a time or a slide, or asks about slides, times or whole videos."""
    counted = deck(store, question, scope)
    if counted is not None:
        return counted
    asked = _Asked(store, embedder, scope, limit, settings)
    named = named_time(question)
    if named is not None:
        given = _at_named(asked, question, named)
        if given is not None:
            return given
    slide = named_slide(store, question, scope)
    if slide is not None:
        given = _on_slide(asked, question, *slide)
        if given is not None:
            return given
    return _of_whole(asked, question, scope)


class _Asked:
    """What every way of answering needs."""

    def __init__(
        self, store: Store, embedder: TextEmbedder | None, scope: Scope, limit: int | None, settings: Settings
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.scope = scope
        self.limit = limit
        self.settings = settings

    def videos(self) -> list[Video]:
        return [v for v in self.store.videos(replace(self.scope, start=None, end=None)) if v.state != "failed"]


def _of_whole(asked: _Asked, question: str, scope: Scope) -> Answer | None:
    topic = _WHEN.search(question)
    if topic is not None:
        return _when(asked, topic["active"] or topic["passive"] or topic["german"], scope)
    if asks_who_speaks(question):
        return introductions(asked.store, question, scope)
    kind = "list" if _COUNTS.search(question) else route(question)
    return overview.overview(asked.store, question, kind, scope)


def _when(asked: _Asked, topic: str, scope: Scope) -> Answer:
    """The best sentences about it, each with its time."""
    given = _best_sentences(asked.store, asked.embedder, topic, scope, asked.limit, asked.settings)
    began = {c.n: c.start_ms for c in given.citations}
    timed = [replace(s, text=f"{clock.format_time(began[s.citations[0]])} {s.text}") for s in given.sentences]
    if not timed:
        return given
    text = " ".join(f"{' '.join(s.text.split())} {''.join(f'[{n}]' for n in s.citations)}" for s in timed)
    return replace(given, text=text, sentences=tuple(timed))


# ---------------------------------------------------------------- a time is named


def _at_named(asked: _Asked, question: str, named: NamedTime) -> Answer | None:
    videos = asked.videos()
    if not videos:
        return None
    if tells_only(named.rest) or route(named.rest) == "about":
        return _told(asked, question, named, videos)
    if len(videos) > 1 and named.needs_length:
        best = search(asked.store, asked.embedder, named.rest, asked.scope, 1, asked.settings)
        videos = [v for v in videos if best and v.id == best[0].video]
        if not videos:
            return None
    span = named.span(max(v.duration_ms for v in videos))
    if span is None:
        return None
    start, end = span
    if named.anchor == "time":
        start, end = max(0, start - AROUND_MS), end + AROUND_MS
    return _asked_in(asked, named.rest, narrowed(asked.scope, videos[0] if len(videos) == 1 else None, start, end))


def _on_slide(asked: _Asked, question: str, showing: Segment, rest: str) -> Answer | None:
    """Of one slide: its text and what is said over it, or the answer to what else is asked, from its time."""
    video = asked.store.video(showing.video)
    if video is None:
        return None
    if not tells_only(rest):
        return _asked_in(asked, rest, narrowed(asked.scope, video, showing.start_ms, showing.end_ms))
    what = wanted(f"slide {rest}")
    last = NamedTime("time", "", rest, max(showing.start_ms, showing.end_ms - LAST_LOOK_MS))
    over = NamedTime("span", "", rest, showing.start_ms, showing.end_ms)
    lines = at_time(asked.store, video, last, "shown", asked.scope)
    if what == "both":
        lines += at_time(asked.store, video, over, "said", asked.scope)
    return _as_told(asked, question, lines, [])


def _asked_in(asked: _Asked, question: str, scope: Scope) -> Answer | None:
    """The question asked of a span; None where nothing there answers it."""
    given = _of_whole(asked, question, scope)
    given = given or _best_sentences(asked.store, asked.embedder, question, scope, asked.limit, asked.settings)
    return given if given.citations else None


def _told(asked: _Asked, question: str, named: NamedTime, videos: Sequence[Video]) -> Answer:
    """What is said and shown at the time, of each video."""
    if len(videos) > MOST_VIDEOS:
        step = Step("time", question, f"{len(videos)} videos")
        return Answer(
            f"Of which video? There are {len(videos)} here: name the one that is meant.", "unsupported", steps=(step,)
        )
    what = wanted(named.rest)
    lines: list[Line] = []
    for video in videos:
        name = f"{video.title}: " if len(videos) > 1 else ""
        found = at_time(asked.store, video, named, what, asked.scope)
        lines += [replace(line, text=name + line.text) for line in found]
    return _as_told(asked, question, lines, videos, named)


def _as_told(
    asked: _Asked, question: str, lines: Sequence[Line], videos: Sequence[Video], named: NamedTime | None = None
) -> Answer:
    given = written(asked.store, lines, replace(asked.scope, start=None, end=None))
    step = Step("time", question, f"{len(lines)} lines", tuple(dict.fromkeys(c.evidence for c in given.citations)))
    if given.sentences:
        return Answer(given.text, "supported", given.sentences, given.citations, (step, *given.failed), confidence=1.0)
    return Answer(_nothing(named, videos), "unsupported", steps=(step,))


def _nothing(named: NamedTime | None, videos: Sequence[Video]) -> str:
    """Why nothing is told of a time."""
    if named is None or not videos:
        return extractive.REFUSAL
    ends = [v for v in videos if named.span(v.duration_ms) is None]
    if len(ends) == len(videos):
        longest = max(v.duration_ms for v in videos)
        return f"The video ends at {clock.format_time(longest)}."
    return "Nothing was said or read there."
