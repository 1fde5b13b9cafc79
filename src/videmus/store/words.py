"""Texts → the words that the keyword index holds, the same for a row and for a question.

Words keep their numbers ("3.5" is one word, and 35 another), names that end in signs (C++, C#) stay whole, case and the
diacritics of Latin, Greek and Cyrillic are folded, English endings are cut (Porter), scripts without spaces become
overlapping pairs of characters. Knows nothing of the index.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from functools import lru_cache

from videmus.segment.passages import UNSPACED

_MARKS = (  # vowel signs that \w leaves out: Hebrew, Arabic, India's scripts, Thai and Lao, Burmese, Khmer
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
_TOKEN = re.compile(
    r"[^\W\d_]?\d+(?:[.,:]\d+)+"  # 3.5, 12:45, 1,000, v1.2.3
    rf"|(?:[^\W_]\+\+|[^\W\d_]#)(?!\w)"  # C++, C#, F#
    rf"|(?:[^\W_]|[{_MARKS}])+(?:['’](?:[^\W\d_])+)?"
)
_ASCII_TOKEN = re.compile(  # the same in lower-case ASCII, where most words need one look: a third of the time
    r"[a-z]{2,}(?![a-z0-9'])|[a-z]?\d+(?:[.,:]\d+)+|(?:[a-z0-9]\+\+|[a-z]#)(?!\w)|[a-z0-9]+(?:'[a-z]+)?", re.ASCII
)
_UNSPACED_RUN = re.compile(f"(?:{UNSPACED.pattern})+")
_APOSTROPHE = re.compile("['’]")
_POSSESSIVE = re.compile(r"['’](?:s|S)$")

LONGEST = 64
"""Characters of a word that are kept: what is longer is no word (a hash, a run of noise)."""


@lru_cache(maxsize=1 << 17)
def fold(word: str) -> str:
    """Case, width and diacritics away: "Čapek" and "ＣＡＰＥＫ" are "capek"; vowel signs that carry meaning stay."""
    word = unicodedata.normalize("NFKC", word).casefold()
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in letters if not "\u0300" <= c <= "\u036f"))


def words(text: str) -> list[str]:
    """The folded words of a text in order, unstemmed; pairs of characters where a script writes no spaces.

    >>> words("Don't use C++ 3.5, 学习吧")
    ['dont', 'use', 'c++', '3.5', '学习', '习吧', '吧']
    """
    if text.isascii():  # most texts of most libraries, ten times as fast
        plain = _ASCII_TOKEN.findall(text.lower())
        if "'" in text:
            plain = [_APOSTROPHE.sub("", _POSSESSIVE.sub("", word)) for word in plain]
        return [word[:LONGEST] for word in plain] if max(map(len, plain), default=0) > LONGEST else plain
    found: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        token = match.group()
        if token.isascii() or not UNSPACED.search(token):
            found.append(fold(_POSSESSIVE.sub("", token)[:LONGEST]))
            continue
        end = 0
        for run in _UNSPACED_RUN.finditer(token):
            if run.start() > end:
                found.append(fold(token[end : run.start()]))
            found += _pairs(fold(run.group()))
            end = run.end()
        if end < len(token):
            found.append(fold(token[end:]))
    return [word for word in (_APOSTROPHE.sub("", word) for word in found) if word]


def _pairs(run: str) -> list[str]:
    """Overlapping pairs, and the last character alone, so that the word of one character is the beginning of a pair."""
    return [run[k : k + 2] for k in range(len(run))]


def terms(text: str) -> list[str]:
    """The words of a text as the index holds them: folded and stemmed."""
    return [stem(word) for word in words(text)]


def is_number(word: str) -> bool:
    return word[:1].isdigit() and all(c.isdigit() or c in ".,:" for c in word)


# ---------------------------------------------------------------- Porter, "An algorithm for suffix stripping", 1980


# With its author's later departures: "bli" and "logi" in step 2 (as SQLite's porter tokenizer has them).
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip
_VOWELS = frozenset("aeiou")


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """A word without its English ending ("diverges", "diverging" → "diverg"). Only words of a to z are touched."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural_and_past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for endings in (_STEP_2, _STEP_3):
        for length in range(min(7, len(word) - 1), 1, -1):
            ending = word[-length:]
            if ending in endings:
                if _measure(word[:-length]) > 0:
                    word = word[:-length] + endings[ending]
                break
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if _measure(rest) > 1 and (ending != "ion" or rest[-1:] in ("s", "t")):
                word = rest
            break
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _plural_and_past(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if len(rest) > 1 and rest[-1] == rest[-2] and not _vowel(rest, len(rest) - 1) and rest[-1] not in "lsz":
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _short(rest) else rest
    return word


def _vowel(word: str, at: int) -> bool:
    letter = word[at]
    return letter in _VOWELS or (letter == "y" and at > 0 and not _vowel(word, at - 1))


def _has_vowel(word: str) -> bool:
    return any(_vowel(word, k) for k in range(len(word)))


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant (Porter's m)."""
    kinds = [_vowel(word, k) for k in range(len(word))]
    return sum(a and not b for a, b in itertools.pairwise(kinds))


def _short(word: str) -> bool:
    """Ends consonant, vowel, consonant, and not in w, x or y (Porter's *o)."""
    n = len(word)
    return (
        n > 2 and not _vowel(word, n - 1) and _vowel(word, n - 2) and not _vowel(word, n - 3) and word[-1] not in "wxy"
    )
