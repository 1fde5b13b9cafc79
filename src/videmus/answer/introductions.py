"""Who speaks: what people say of themselves and of each other at the beginning, and the page that is shown first.

Enters: a store, a question, a scope. Leaves: an `Answer`, partial, for who of those named there speaks nobody has read; or None.
"""

from __future__ import annotations

import re

from videmus.answer.lines import Line, written
from videmus.model import Answer, Scope, Step
from videmus.segment.passages import word_count
from videmus.segment.sentences import whole_sentences
from videmus.store.protocol import Store

BEGINNING_MS = 300_000
MOST_SENTENCES = 3
MOST_WORDS = 60
"""A first page of more words is no title page."""

_SPEAKERS = r"(?:speakers?|presenters?|lecturers?|narrators?|teachers?|instructors?|professors?|hosts?)"
_ASKS = re.compile(
    rf"^\W*(?:who\s+(?:is|are|was|were)\s+(?:the\s+)?(?:main\s+)?{_SPEAKERS}|who\s+(?:is\s+|are\s+)?(?:speaking|talking|giving|presenting|gives|"
    rf"presents|speaks)|what\s+(?:is|are)\s+the\s+names?\s+of\s+the\s+{_SPEAKERS}|what\s+is\s+the\s+{_SPEAKERS}['’]s?\s+name)\b"
    r"(?:\s+(?:in|of|during)?\s*(?:the|this)\s+\w+)?\W*$",
    re.I,
)
_INTRODUCES = re.compile(
    r"\bmy name(?:'s| is)\b|\b(?:i'm|i am|we are|this is|here is)\s+(?:[A-Z][a-z]+|[A-Z]{3,}\s+[A-Z]{3,})\b|\bpresented by\b"
    r"|\b(?:please|like to|to) (?:welcome|introduce)\b|\bour (?:next |first )?(?:speaker|guest|chair|host)\b",
)


def asks_who_speaks(question: str) -> bool:
    """Whether a question asks for the speakers of a video."""
    return bool(_ASKS.search(question))


def introductions(store: Store, question: str, scope: Scope) -> Answer | None:
    """Sentences of introduction and the first page, of a scope with one video; None where there are none, or several videos."""
    rows = store.evidence(scope, ["speech", "screen"])
    if len({r.video for r in rows}) != 1:
        return None
    early = [r for r in rows if r.start_ms < BEGINNING_MS]
    said = [s for s in whole_sentences(early) if _INTRODUCES.search(s.text)]
    lines = [Line(s.text, tuple((p.row, p.text) for p in s.places)) for s in said[:MOST_SENTENCES]]
    pages = [r for r in early if r.kind == "screen" and re.search(r"[^\W\d_]{3}", r.text)]
    if pages and word_count(pages[0].text) <= MOST_WORDS:
        lines.append(Line(pages[0].text, ((pages[0], pages[0].text),)))
    given = written(store, lines, scope)
    if not given.sentences:
        return None
    read = tuple(dict.fromkeys(c.evidence for c in given.citations))
    step = Step("introductions", question, f"{len(lines)} lines", read)
    return Answer(given.text, "partial", given.sentences, given.citations, (step, *given.failed), confidence=0.5)
