"""Evidence rows → passages: pieces of at most some 40 words of one stream, which are what is embedded.

Enters: an evidence row. Leaves: its passages, in order, with their character offsets. Knows nothing of models or of the
store. A passage ends where a sentence does if it can, else where a line, clause or word does; scripts that write no
spaces are counted by characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from videmus.model import Evidence, Passage

MAXIMUM_WORDS = 40
"""MiniLM's best cosine of 40-word pieces beats that of whole slides."""

CHARACTERS_PER_WORD = 2.0
"""In Chinese, Japanese, Thai, Lao, Khmer and Burmese: a written word is about two characters long."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
UNSPACED = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？｡]+[」』”’）]*|\n+|\u0964")
_CLAUSE_END = re.compile(r"[,;:、，；：]+(?=\s|$|[^\x00-\x7f])")


@dataclass(frozen=True, slots=True)
class _Token:
    first: int
    last: int
    weight: float


def passages(rows: Iterable[Evidence], maximum: float = MAXIMUM_WORDS) -> Iterator[Passage]:
    """The passages of `rows`: each one's in order, none empty, each at most `maximum` words (a longer word stays whole)."""
    for row in rows:
        for index, (first, last) in enumerate(spans(row.text, maximum)):
            yield Passage(row.id, index, row.text[first:last], first, last)


def spans(text: str, maximum: float = MAXIMUM_WORDS) -> list[tuple[int, int]]:
    """The character offsets of a text's passages: in order, without overlap, holding every character that is no space."""
    pieces: list[list[_Token]] = []
    for sentence in _sentences(text):
        for part in _parts(sentence, text, maximum):
            if pieces and _weight(pieces[-1]) + _weight(part) <= maximum:
                pieces[-1] = pieces[-1] + part
            else:
                pieces.append(part)
    return [(piece[0].first, piece[-1].last) for piece in pieces]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The character offsets of a text's sentences (or lines), in order, holding every character that is no space."""
    return [(tokens[0].first, tokens[-1].last) for tokens in _sentences(text)]


def word_count(text: str) -> float:
    """Words of a text, characters of scripts without spaces counted as half a word."""
    return sum(1.0 if not UNSPACED.match(t[0]) else 1 / CHARACTERS_PER_WORD for t in _TOKEN.findall(text))


def _sentences(text: str) -> list[list[_Token]]:
    tokens = [
        _Token(m.start(), m.end(), 1 / CHARACTERS_PER_WORD if UNSPACED.match(m.group()[0]) else 1.0)
        for m in _TOKEN.finditer(text)
        if not _only_marks(m.group())
    ]
    tokens = _with_marks(tokens, text)
    ends = [m.end() for m in _SENTENCE_END.finditer(text)]
    sentences: list[list[_Token]] = []
    current: list[_Token] = []
    at = 0
    for token in tokens:
        while at < len(ends) and ends[at] <= token.first:
            if current:
                sentences.append(current)
                current = []
            at += 1
        current.append(token)
    if current:
        sentences.append(current)
    return sentences


def _only_marks(token: str) -> bool:
    return all(unicodedata.category(c)[0] in "PCZ" for c in token)


def _with_marks(tokens: list[_Token], text: str) -> list[_Token]:
    """Marks between tokens ("。", a lone dash) belong to the token before them; on a new line, or first, to the next."""
    joined: list[_Token] = []
    start = 0
    for k, token in enumerate(tokens):
        stop = tokens[k + 1].first if k + 1 < len(tokens) else len(text)
        line_end = text.find("\n", token.last, stop)
        last = stop if line_end < 0 or k + 1 == len(tokens) else line_end
        before, after = text[start : token.first], text[token.last : last]
        first = start + len(before) - len(before.lstrip())
        joined.append(_Token(first, token.last + len(after.rstrip()), token.weight))
        start = last
    return joined


def _weight(tokens: list[_Token]) -> float:
    return sum(t.weight for t in tokens)


def _parts(tokens: list[_Token], text: str, maximum: float) -> list[list[_Token]]:
    """A sentence longer than `maximum`, cut into even parts, each cut moved to the end of a clause where one is near."""
    total = _weight(tokens)
    count = -(-total // maximum)
    if count <= 1:
        return [tokens]
    goal = total / count
    parts: list[list[_Token]] = []
    current: list[_Token] = []
    weight = 0.0
    clause = 0  # how many tokens of `current` end with its last clause
    for token in tokens:
        if current and (weight + token.weight > maximum or (weight >= goal and not clause)):
            cut = clause if clause and _weight(current[:clause]) >= goal / 2 else len(current)
            parts.append(current[:cut])
            current = current[cut:]
            weight, clause = _weight(current), 0
        current.append(token)
        weight += token.weight
        if _CLAUSE_END.search(text, token.first, token.last + 1):
            clause = len(current)
    parts.append(current)
    return parts
