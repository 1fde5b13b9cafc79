"""Words and cues → rows of about a sentence, so that a citation points at what was said and little else.

Enters: timed words, or the cues of a subtitle. Leaves: utterances of speech with their time and their words, before they
become evidence. A row ends at a full stop, at a change of speaker, at a long pause, or before it grows too long;
fragments are joined with their neighbours. Knows nothing of sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from videmus.config import SpeechSettings
from videmus.model import Word

_ENDS = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*$")
_ABBREVIATION = re.compile(r"(?:^|\s)(?:Dr|Mr|Mrs|Ms|Prof|St|vs|etc|e\.g|i\.e|z\.B|d\.h|bzw|Fig|No|[A-Z])\.$")
_BREAKS = re.compile(r"[,;:，、；：—–]$")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]")

SHORTEST_WORDS = 3
"""A sentence of fewer words ("Okay.", "So yes.") is joined with the next one of the same breath."""

BREATH_MS = 800
"""A pause shorter than this is the same breath."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One row before it is evidence."""

    start_ms: int
    end_ms: int
    text: str
    words: tuple[Word, ...] = ()
    speaker: str | None = None


def rows(words: Sequence[Word], settings: SpeechSettings) -> list[Spoken]:
    """Words in the order of time, each with the space before it where there is one → rows of whole sentences.

    A sentence longer than `row_ms` is cut at its last comma or longest pause before that.
    """
    found: list[Spoken] = []
    held: list[Word] = []
    for index, word in enumerate(words):
        held.append(word)
        after = words[index + 1] if index + 1 < len(words) else None
        if after is None or _ends_here(held, after, settings):
            found.append(_spoken(held))
            held = []
        else:
            while len(held) > 1 and after.end_ms - held[0].start_ms > settings.row_ms:
                cut = _best_cut(held)
                found.append(_spoken(held[:cut]))
                held = held[cut:]
    return [row for row in found if row.text]


def _ends_here(held: Sequence[Word], after: Word, settings: SpeechSettings) -> bool:
    pause = after.start_ms - held[-1].end_ms
    if pause >= settings.row_pause_ms:
        return True
    text = "".join(word.text for word in held).strip()
    if not _ends_sentence(text):
        return False
    return _weight(text) >= SHORTEST_WORDS or pause >= BREATH_MS


def _ends_sentence(text: str) -> bool:
    return bool(_ENDS.search(text)) and not _ABBREVIATION.search(text)


def _weight(text: str) -> int:
    """Words, or characters of scripts that are written without spaces, two to a word."""
    return max(len(text.split()), len(_WIDE.findall(text)) // 2)


def _best_cut(held: Sequence[Word]) -> int:
    """How many words stay: up to the last comma of the second half, else the longest pause there, else all."""
    half = len(held) // 2
    breaks = [i + 1 for i in range(half, len(held)) if _BREAKS.search(held[i].text.strip())]
    if breaks:
        return breaks[-1]
    pauses = [(held[i].start_ms - held[i - 1].end_ms, i) for i in range(max(1, half), len(held))]
    longest = max(pauses, default=(0, len(held)))
    return longest[1] if longest[0] > 0 else len(held)


def _spoken(held: Sequence[Word]) -> Spoken:
    text = " ".join("".join(word.text for word in held).split())
    words = tuple(Word(w.start_ms, w.end_ms, w.text.strip(), w.probability) for w in held if w.text.strip())
    return Spoken(held[0].start_ms, max(word.end_ms for word in held), text, words)


# ---------------------------------------------------------------- loops


def without_loops(words: Sequence[Word]) -> list[Word]:
    """The words with every phrase of up to 12 words that is said four times or more in a row said once.

    Recognisers fall into such loops; people say a word three times ("no, no, no") and a phrase twice. Loops of a single
    word are cut after the fourth.
    """
    kept = list(words)
    for length in range(1, 13):
        index = 0
        while index + 4 * length <= len(kept):
            phrase = [_bare(word) for word in kept[index : index + length]]
            end = index + length
            while [_bare(word) for word in kept[end : end + length]] == phrase:
                end += length
            if (end - index) // length >= 4 and any(phrase):
                del kept[index + length : end]
            index += 1
    return kept


def _bare(word: Word) -> str:
    return re.sub(r"\W+", "", word.text.lower())


# ---------------------------------------------------------------- subtitles


def joined_cues(cues: Iterable[Spoken], settings: SpeechSettings) -> Iterator[Spoken]:
    """Cues as rows: pieces of one sentence are joined, as long as the speaker is the same and no long pause parts them.

    A cue that is longer than `row_ms` by itself is kept as it is.
    """
    held: list[Spoken] = []
    for cue in cues:
        if held and not _goes_on(held, cue, settings):
            yield _merged(held)
            held = []
        held.append(cue)
    if held:
        yield _merged(held)


def _goes_on(held: Sequence[Spoken], cue: Spoken, settings: SpeechSettings) -> bool:
    last = held[-1]
    if cue.speaker != last.speaker or cue.start_ms - last.end_ms >= settings.row_pause_ms:
        return False
    if cue.start_ms < held[0].start_ms or cue.end_ms - held[0].start_ms > settings.row_ms:
        return False
    text = " ".join(piece.text for piece in held)
    return not _ends_sentence(text) or (_weight(text) < SHORTEST_WORDS and cue.start_ms - last.end_ms < BREATH_MS)


def _merged(held: Sequence[Spoken]) -> Spoken:
    return Spoken(
        held[0].start_ms,
        max(piece.end_ms for piece in held),
        " ".join(piece.text for piece in held),
        tuple(word for piece in held for word in piece.words),
        held[0].speaker,
    )
