"""What a call costs: prices of remote models from `genai-prices` (shipped with its package, no network), 0 on this
machine.

A price that nobody knows is None and stays None in every sum. The estimate of a call's tokens before it is sent is an
upper bound, because budgets rest on it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache

from videmus.models.language import Picture, Prompt, rendered

CHARACTERS_PER_TOKEN = 2.0
"""Bytes of UTF-8 that a token holds at least: English has about 4, code and other scripts 2 to 3; 2 bounds the
input."""

PIXELS_PER_TOKEN = 400.0
"""A bound for a picture: Anthropic counts 750 pixels a token, OpenAI about 1,100 tokens for 1280 × 720, Google 258 a
tile."""

FIXED_TOKENS = 200
"""The schema and the frame of a message."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


FREE = Price(0.0, 0.0)


@lru_cache(maxsize=64)
def price_of(model: str) -> Price | None:
    """The list price of "provider:name"; None when it is not known. Tiered prices are taken at their first tier."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:  # without the extra no remote model answers either, and the first call says so
        return None
    provider, _, name = model.partition(":")
    million = 1_000_000
    try:
        # Two single-token questions scaled up would meet no tier; a million tokens at once would meet the dearest.
        taken = calc_price(Usage(input_tokens=1000), name, provider_id=provider)
        given = calc_price(Usage(output_tokens=1000), name, provider_id=provider)
    except LookupError:
        return None
    return Price(float(taken.total_price) * million / 1000, float(given.total_price) * million / 1000)


def tokens_bound(prompt: Prompt) -> int:
    """An upper bound of the tokens that a prompt is counted as."""
    system, content = rendered(prompt)
    tokens = FIXED_TOKENS + _text_tokens(system)
    for part in content:
        tokens += picture_tokens(part) if isinstance(part, Picture) else _text_tokens(part)
    return tokens


def picture_tokens(picture: Picture) -> int:
    width, height = jpeg_size(picture.jpeg)
    return math.ceil(width * height / PIXELS_PER_TOKEN) + 100


def text_tokens(text: str) -> int:
    """About how many tokens a text has, for estimates that a person reads (not a bound)."""
    return math.ceil(len(text.encode("utf-8", "replace")) / 4)


def jpeg_size(jpeg: bytes) -> tuple[int, int]:
    """Width and height from a JPEG's frame header; (1024, 1024) where there is none."""
    at = 2
    while at + 9 < len(jpeg):
        if jpeg[at] != 0xFF:
            break
        kind = jpeg[at + 1]
        length = int(struct.unpack(">H", jpeg[at + 2 : at + 4])[0])
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", jpeg[at + 5 : at + 9])
            return int(width), int(height)
        at += 2 + length
    return 1024, 1024


def _text_tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / CHARACTERS_PER_TOKEN)
