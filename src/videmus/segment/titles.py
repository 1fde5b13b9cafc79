"""A page's title and printed number, from its lines.

Enters: lines with boxes. Leaves: the line that is the title, the number. Knows nothing of time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from videmus.model import TextLine

NUMBER = re.compile(r"(?:(?:page|slide|p\.)\s*)?(\d{1,4})(?:\s*(?:/|of|\|)\s*\d{1,4})?", re.IGNORECASE)


def title_line(lines: Sequence[TextLine]) -> TextLine | None:
    """The topmost of the large lines in the page's upper half: at least as high as four fifths of its highest line."""
    words = [line for line in lines if re.search(r"[^\W\d_]{2}", line.text) and not _is_upright(line)]
    if not words:
        return None
    upper = [line for line in words if line.box[1] < 0.45] or words
    highest = max(line.box[3] - line.box[1] for line in upper)
    large = [line for line in upper if line.box[3] - line.box[1] >= 0.8 * highest]
    return min(large, key=lambda line: (round(line.box[1], 2), line.box[0]))


def _is_upright(line: TextLine) -> bool:
    """Turned by 90 degrees, as along an axis: higher than its letters would be wide."""
    left, top, right, bottom = line.box
    return len(line.text) > 2 and (bottom - top) > 1.2 * (right - left)


def title(lines: Sequence[TextLine]) -> str | None:
    """The title's text: its line and what continues it on the same height or just below in the same size."""
    first = title_line(lines)
    if first is None:
        return None
    height = first.box[3] - first.box[1]
    parts = [first]
    for line in sorted(lines, key=lambda x: (x.box[1], x.box[0])):
        if line is first or len(parts) >= 3:
            continue
        last = parts[-1]
        alike = abs((line.box[3] - line.box[1]) - height) <= 0.15 * height
        beside = abs(line.box[1] - last.box[1]) < 0.5 * height and line.box[0] >= last.box[2] - 0.01
        below = 0 < line.box[1] - last.box[1] < 1.5 * height and abs(line.box[0] - first.box[0]) < 0.04
        if alike and (beside or below):
            parts.append(line)
    text = " ".join(p.text for p in parts)
    return re.sub(r"\s+", " ", text).strip(" •▪➢❖-–|") or None


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
