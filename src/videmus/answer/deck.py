"""Questions about the slides themselves: how many there are, how often one is shown, which there are, what the third says.

Enters: a store, a question, a scope. Leaves: an `Answer` counted from the segments, each slide cited by its title where it
stands, or None where the question asks for something else. What is counted is derivable: the count stands nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from videmus import clock
from videmus.answer.at_time import proof_of, tells_only, titled
from videmus.answer.lines import Line, Proof, written
from videmus.model import Answer, Grounding, Scope, Segment, Sentence, Step
from videmus.store.protocol import Store
from videmus.store.words import stem, words
from videmus.understand.terms import content_words

MOST_SLIDES = 40
_SLIDES = r"(?:slides?|pages?|folien?|diapos?|diapositiv(?:es|as?))"
_HOW_MANY = re.compile(
    rf"\b(?:how many|wie ?viele|combien de|cu[aá]ntas)\s+(?:different\s+)?{_SLIDES}\b|多少[张页]?幻灯片", re.I
)
_HOW_OFTEN = re.compile(r"\bhow (?:many times|often)\b|\bwie oft\b|\bcombien de fois\b|\bcu[aá]ntas veces\b", re.I)
_ON_SCREEN = re.compile(
    r"\b(?:slide|shown|on (?:the )?screen|appears?|displayed|folie|gezeigt|diapo\w*|muestra)\b", re.I
)
_WHICH = re.compile(
    rf"^\W*(?:please\s+)?(?:list|name|enumerate|give(?:\s+me)?|show(?:\s+me)?|what\s+are|which|what)\s+(?:all\s+)?(?:of\s+)?(?:the\s+)?"
    rf"(?:slides?['’]?s?\s+titles|titles\s+of\s+(?:all\s+)?(?:the\s+)?slides|{_SLIDES})\b",
    re.I,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = re.compile(
    rf"\b(?:on|in|of|does|is)?\s*(?:the\s+)?(?:(?P<name>{'|'.join(_ORDINALS)}|last|final)\s+slide|slide\s+(?:number\s+|no\.?\s+)?"
    r"(?P<number>\d{1,3}))\b(?!['’])",
    re.I,
)
_TITLED = re.compile(
    r"\b(?:on |in |of )?(?:the )?(?:slide|page)(?:\s+(?:titled|called|named|entitled|with the title))?\s+"
    r"['\"‘“„«](?P<title>[^'\"’”“»]{2,80})['\"’”“»]",
    re.I,
)
_ABOUT_SLIDES = frozenset(
    map(stem, ("slide", "slides", "page", "pages", "different", "total", "title", "titles", "list", "name"))
)


def deck(
    store: Store, question: str, scope: Scope, on_sentence: Callable[[Sentence], None] = lambda sentence: None
) -> Answer | None:
    """The answer from the slides of the scope's video; None where the question is not about slides, or there are none."""
    kind = _kind(question)
    if kind is None:
        return None
    shown = store.segments(scope, "slide")
    if not shown or len({s.video for s in shown}) > 1:
        return None
    lines, grounding = _answered(store, question, kind, shown, scope)
    given = written(store, lines, scope, on_sentence)
    if not given.sentences:
        return None
    step = Step("slides", question, f"{len(shown)} showings", tuple(s.id for s in shown), detail={"kind": kind})
    return Answer(
        given.text, grounding, given.sentences, given.citations, (step, *given.failed),
        confidence=1.0 if grounding == "supported" else 0.8,
    )  # fmt: skip


def named_slide(store: Store, question: str, scope: Scope) -> tuple[Segment, str] | None:
    """The slide that a question names by its number, or by its title in quotes, as it is first shown; and the question
    without it."""
    match = _NTH.search(question)
    titled_so = None if match else _TITLED.search(question)
    if match is None and titled_so is None:
        return None
    shown = store.segments(scope, "slide")
    if not shown or len({s.video for s in shown}) > 1:
        return None
    if match is not None:
        numbers = sorted({s.slide or 0 for s in shown})
        name = (match["name"] or "").lower()
        wanted = int(match["number"]) if match["number"] else numbers[-1]
        if name in _ORDINALS:
            wanted = _ORDINALS.index(name) + 1
        showing = next((s for s in shown if s.slide == wanted), None)
    else:
        assert titled_so is not None
        match, called = titled_so, words(titled_so["title"])
        showing = next((s for s in shown if words(s.title or "") == called), None)
    if showing is None:
        return None
    return showing, " ".join((question[: match.start()] + " " + question[match.end() :]).split())


def _kind(question: str) -> str | None:
    asked = {stem(w) for w in content_words(question)}
    rest = " ".join(asked - _ABOUT_SLIDES)
    if _HOW_OFTEN.search(question) and _ON_SCREEN.search(question):
        return "how often"
    if _HOW_MANY.search(question) and tells_only(rest):
        return "how many"
    return "which" if _WHICH.search(question) and tells_only(rest) else None


def _answered(
    store: Store, question: str, kind: str, shown: Sequence[Segment], scope: Scope
) -> tuple[list[Line], Grounding]:
    first = {s.slide: s for s in reversed(shown)}
    slides = [first[n] for n in sorted(first, key=lambda n: first[n].start_ms)]
    if kind == "which":
        return [line for s in slides[:MOST_SLIDES] if (line := titled(store, s, scope)) is not None], "supported"
    if kind == "how many":
        said = f"{len(slides)} different slide{'s' if len(slides) > 1 else ''}"
        said += f", in {len(shown)} showings." if len(shown) > len(slides) else "."
        return [Line(said, tuple(p for s in slides[:MOST_SLIDES] for p in _proof(store, s, scope)))], "derivable"
    asked = {stem(w) for w in content_words(question)}
    meant = [
        s for s in slides if s.title and {stem(w) for w in content_words(s.title)} <= asked and content_words(s.title)
    ]
    if not meant:
        return [], "unsupported"
    slide = max(meant, key=lambda s: len(s.title or ""))
    showings = [s for s in shown if s.slide == slide.slide]
    times = ", ".join(f"{clock.format_time(s.start_ms)}–{clock.format_time(s.end_ms)}" for s in showings)
    often = {1: "once", 2: "twice"}.get(len(showings), f"{len(showings)} times")
    proof = tuple(p for s in showings for p in _proof(store, s, scope))
    return [Line(f"{slide.title} is shown {often}: {times}.", proof)], "derivable"


def _proof(store: Store, slide: Segment, scope: Scope) -> Proof:
    line = titled(store, slide, scope)
    if line is not None:
        return line.proof
    rows = [r for r in store.evidence_by_id(list(slide.sources), scope) if r.kind == "screen" and r.text.strip()]
    return proof_of(rows[0].text.split("\n")[0], rows) if rows else ()
