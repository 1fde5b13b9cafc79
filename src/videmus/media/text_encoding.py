"""Bytes of a text file as text, whatever encoding it is in.

A byte order mark or valid UTF-8 decides. Else the pattern of the bytes above 127 is looked at: single ones among Latin
letters, long runs in the Cyrillic range, or pairs as Japanese, Chinese and Korean encodings make them.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 256 * 1024


def decoded(data: bytes) -> tuple[str, str]:
    """(text, name of the encoding). Never fails: bytes that no encoding explains become U+FFFD."""
    encoding = guess(data)
    return data.decode(encoding, errors="replace"), encoding


def guess(data: bytes) -> str:
    """The most likely encoding's Python name."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    sample = data[:_SAMPLE_BYTES]
    if (wide := _utf16_without_mark(sample)) is not None:
        return wide
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        high = sum(byte > 127 for byte in sample)
        if error.start > len(sample) or high == 0:
            return "utf-8"  # one damaged place far inside a file that is UTF-8 before it
        valid = len(sample[: error.start].decode("utf-8")) < error.start  # multi-byte characters before the damage
        if valid and data.decode("utf-8", errors="replace").count("�") <= high // 20:
            return "utf-8"
    return _legacy(sample)


def _utf16_without_mark(sample: bytes) -> str | None:
    if len(sample) < 4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.3 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.3 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _legacy(sample: bytes) -> str:
    high = [byte for byte in sample if byte > 127]
    runs, inside = 0, False
    for byte in sample:
        runs += byte > 127 and not inside
        inside = byte > 127
    if len(high) / runs < 1.7:  # single accented letters between plain ones
        pairs = _pairs(sample)
        if _share(pairs, lambda a, b: b < 0x80) < 0.8 or not _decodes(sample, "cp932") or not _kana(pairs):
            return "cp1252"
    if sum(byte >= 0xE0 or byte in (0xB8, 0xA8) for byte in high) > 0.7 * len(high):
        return "cp1251"
    pairs = _pairs(sample)
    if _kana(pairs) and _decodes(sample, "cp932"):
        return "cp932"
    if _share(pairs, lambda a, b: a in (0xA4, 0xA5)) > 0.2 and _decodes(sample, "euc_jp"):
        return "euc_jp"
    if _share(pairs, lambda a, b: 0xB0 <= a <= 0xC8 and b >= 0xA1) > 0.9 and _decodes(sample, "cp949"):
        return "cp949"
    if _share(pairs, lambda a, b: 0x40 <= b <= 0x7E) > 0.15 and _decodes(sample, "big5"):
        return "big5"
    if _share(pairs, lambda a, b: 0xB0 <= a <= 0xD7) > 0.5 and _decodes(sample, "gb18030"):
        return "gb18030"
    return "cp1252"


def _pairs(sample: bytes) -> list[tuple[int, int]]:
    """Lead and trail bytes, read as a double-byte encoding would."""
    found = []
    at, end = 0, len(sample) - 1
    while at < end:
        if sample[at] > 0x80:
            found.append((sample[at], sample[at + 1]))
            at += 2
        else:
            at += 1
    return found


def _share(pairs: list[tuple[int, int]], fits: Callable[[int, int], bool]) -> float:
    return sum(fits(a, b) for a, b in pairs) / max(1, len(pairs))


def _kana(pairs: list[tuple[int, int]]) -> bool:
    """Shift-JIS puts hiragana under the lead 82 and katakana under 83: every Japanese sentence has them."""
    return _share(pairs, lambda a, b: (a == 0x82 and b >= 0x9F) or (a == 0x83 and 0x40 <= b <= 0x96)) > 0.2


def _decodes(sample: bytes, encoding: str) -> bool:
    """Whether all of it is valid, but for a character cut at the sample's end."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        decoder.decode(sample)
    except UnicodeDecodeError:
        return False
    return True
