"""A page's title and printed number, from its lines.

Enters: lines with boxes. Leaves: the line that is the title, the number; of a deck, the lines that run along on its pages.
Knows nothing of time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from videmus.model import TextLine

NUMBER = re.compile(r"(?:(?:page|slide|p\.)\s*)?(\d{1,4})(?:\s*(?:/|of|\|)\s*\d{1,4})?", re.IGNORECASE)
TOP = 0.2
NARROW = 0.2
"""A line narrower than this below the top is a label, writing in a picture or ink: higher than a title, and none."""

RUNNING_TOP = 0.15
RUNNING_PAGES = 3
RUNNING_ALONE = 5
NEAR = 0.02
"""Lines that begin above so much of the height and stand at their place on so many slides, several at one height, are a
strip of navigation; one alone on so many and nearly all is the deck's own name."""


def title_line(lines: Sequence[TextLine]) -> TextLine | None:
    """The topmost of the large lines in the page's upper half: at least as high as four fifths of its highest line.

    Where something stands at the top, narrow lines below it do not compete.
    """
    words = [line for line in lines if re.search(r"[^\W\d_]{2}", line.text) and not _is_upright(line)]
    if not words:
        return None
    upper = [line for line in words if line.box[1] < 0.45] or words
    if any(line.box[1] < TOP for line in upper):
        upper = [line for line in upper if line.box[1] < TOP or line.box[2] - line.box[0] >= NARROW]
    highest = max(line.box[3] - line.box[1] for line in upper)
    large = [line for line in upper if line.box[3] - line.box[1] >= 0.8 * highest]
    first = min(large, key=_down_then_across)
    beside = [line for line in large if _tells(line) and line.box[1] < first.box[3]]
    return first if _tells(first) or not beside else min(beside, key=_down_then_across)


def _down_then_across(line: TextLine) -> tuple[float, float]:
    return round(line.box[1], 2), line.box[0]


def _is_upright(line: TextLine) -> bool:
    """Turned by 90 degrees, as along an axis: higher than its letters would be wide."""
    left, top, right, bottom = line.box
    return len(line.text) > 2 and (bottom - top) > 1.2 * (right - left)


def _tells(line: TextLine) -> bool:
    """More than a scrap of three letters, or of what was hardly read."""
    return len(re.findall(r"[^\W\d_]", line.text)) > 3 and line.confidence >= 0.6


def title(lines: Sequence[TextLine], along: Sequence[TextLine] = ()) -> str | None:
    """The title's text: its line and what continues it on the same height or just below in the same size.

    `along` are lines that run along on the deck's pages (see `running`): passed over.
    """
    own = [line for line in lines if not runs(line, along)]
    first = title_line(own)
    if first is None:
        return None
    height = first.box[3] - first.box[1]
    widest = max(line.box[2] for line in lines)
    parts = [first]
    for line in sorted(own, key=lambda x: (x.box[1], x.box[0])):
        if line is first or len(parts) >= 3:
            continue
        last = parts[-1]
        alike = abs((line.box[3] - line.box[1]) - height) <= 0.15 * height
        beside = abs(line.box[1] - last.box[1]) < 0.5 * height and line.box[0] >= last.box[2] - 0.01
        below = 0 < line.box[1] - last.box[1] < 1.5 * height and _continues(last, line, widest)
        if alike and (beside or below):
            parts.append(line)
    text = " ".join(p.text for p in parts)
    return re.sub(r"\s+", " ", text).strip(" •▪➢❖-–|") or None


def _continues(last: TextLine, line: TextLine, widest: float) -> bool:
    """A wrapped line: centred under the one above, or begun where that begins, by a word that it had no room for."""
    if abs((line.box[0] + line.box[2]) - (last.box[0] + last.box[2])) < 0.02:
        return True
    word = len(line.text.split()[0]) + 1
    room = widest - last.box[2]
    return abs(line.box[0] - last.box[0]) < 0.04 and room < word * (line.box[2] - line.box[0]) / len(line.text)


def running(pages: Sequence[Sequence[TextLine]]) -> list[TextLine]:
    """The lines that run along at the top of a deck's pages (one of each slide) and are no titles: a strip of navigation,
    or what stands on nearly every page."""
    tops = [[line for line in lines if line.box[1] < RUNNING_TOP and re.search(r"\w", line.text)] for lines in pages]
    often: list[tuple[TextLine, int]] = []
    for line in (line for top in tops for line in top):
        if not runs(line, [known for known, _ in often]):
            pages_with = sum(runs(line, top) for top in tops)
            often += [(line, pages_with)] if pages_with >= RUNNING_PAGES else []
    return [
        line
        for line, n in often
        if n >= max(RUNNING_ALONE, 0.8 * len(pages))
        or any(other is not line and abs(_middle(other) - _middle(line)) < NEAR for other, _ in often)
    ]


def runs(line: TextLine, others: Sequence[TextLine]) -> bool:
    """Whether one of the others says the same at the same place."""
    text = line.text.casefold().strip()
    return any(
        text == other.text.casefold().strip()
        and abs(line.box[0] - other.box[0]) < NEAR
        and abs(_middle(line) - _middle(other)) < NEAR
        for other in others
    )


def _middle(line: TextLine) -> float:
    return (line.box[1] + line.box[3]) / 2


def printed_number(lines: Sequence[TextLine]) -> str | None:
    """The page number, where a number stands alone near the lower or upper edge, at its side or middle."""
    found = []
    for line in lines:
        match = NUMBER.fullmatch(line.text.strip())
        _, top, right, bottom = line.box
        middle = (top + bottom) / 2
        if match and (middle > 0.88 or middle < 0.06) and bottom - top < 0.08:
            found.append((middle > 0.88, right, match.group(1)))
    return max(found)[2] if found else None
