"""Lines of a page in the order in which a person reads them, and as paragraphs.

Enters: recognised lines with boxes. Leaves: the same lines ordered, and the page's text: one paragraph, bullet or table
row a line. Knows nothing of pictures or time.

The order is a recursive cut of the page at its gaps (XY-cut: Nagy, Seth 1984; Ha, Haralick, Phillips 1995): first the
gutters between columns, then the gaps between bands. Cells that stand beside each other in rows are a table, whose rows
stay together.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from videmus.model import TextLine

BULLET = re.compile(r"^\s*([•●○◦▪■□◆◇❖➢➤►▶▸‣·*»→–—-]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])\s*(?=\S|$)")
"""A mark that begins a point of a list."""

_MARK_ALONE = re.compile(r"^[•●○◦▪■□◆◇❖➢➤►▶▸‣·*»>–—-]$")
_GUTTER = 1.2  # of a line's height: a gap between two words is a third of it
_CELL_WORDS = 5  # cells of tables are short, lines of columns are not
_SAME_HEIGHT = 0.3  # boxes of "aceno" and "(bdfg)" differ by a quarter at one type size
_LEADING = 0.9  # of a line's height: the gap within a paragraph is smaller
_WRAPPED = 0.72  # of the column's width: a line that ends before that was not wrapped


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line in units of the page's height, so that heights and widths compare."""

    line: TextLine
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def ordered(lines: Sequence[TextLine], aspect: float = 16 / 9) -> list[TextLine]:
    """The lines in reading order. `aspect` is the picture's width ÷ height."""
    return [piece.line for block in _blocks(lines, aspect) for row in block for piece in row]


def page_text(lines: Sequence[TextLine], aspect: float = 16 / 9) -> str:
    """The page as text: wrapped lines are joined, a point of a list or a row of a table is one line."""
    return "\n".join(text for block in _blocks(lines, aspect) for text in _paragraphs(block))


# ---------------------------------------------------------------- order


_Row = list[_Piece]
_Block = list[_Row]


def _blocks(lines: Sequence[TextLine], aspect: float) -> list[_Block]:
    pieces = [_Piece(x, x.box[0] * aspect, x.box[1], x.box[2] * aspect, x.box[3]) for x in lines]
    return _cut(sorted(pieces, key=lambda p: (p.top, p.left)))


def _cut(pieces: list[_Piece]) -> list[_Block]:
    if not pieces:
        return []
    height = statistics.median(p.height for p in pieces)
    rows = _rows(pieces)
    if len(rows) == 1 or _is_table(rows):
        return [rows]
    gap = _widest_gap([(p.left, p.right) for p in pieces])
    if gap is not None and gap[1] >= _GUTTER * height:
        before = [p for p in pieces if p.right <= gap[0]]
        after = [p for p in pieces if p.right > gap[0]]
        if len(before) > 1 and len(after) > 1 and not _is_margin(before, after):
            return _cut(before) + _cut(after)
    band = _widest_gap([(p.top, p.bottom) for p in pieces])
    if band is not None and (band[1] > _LEADING * height or max(len(r) for r in rows) > 1):
        return _cut([p for p in pieces if p.bottom <= band[0]]) + _cut([p for p in pieces if p.bottom > band[0]])
    return [rows]


def _widest_gap(spans: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Where the widest gap that no span covers begins, and its width."""
    widest: tuple[float, float] | None = None
    spans = sorted(spans)
    reach = spans[0][1]
    for start, end in spans[1:]:
        if start > reach and (widest is None or start - reach > widest[1]):
            widest = (reach, start - reach)
        reach = max(reach, end)
    return widest


def _rows(pieces: list[_Piece]) -> _Block:
    """Pieces that stand side by side, each row from left to right."""
    rows: _Block = []
    for piece in sorted(pieces, key=lambda p: p.middle):
        if rows and all(
            abs(piece.middle - p.middle) < 0.5 * min(piece.height, p.height)
            and (piece.left >= p.right - 0.3 * p.height or piece.right <= p.left + 0.3 * p.height)
            for p in rows[-1]
        ):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.left) for row in rows]


def _is_table(rows: _Block) -> bool:
    """Rows of short cells whose left edges (or middles) line up down the page."""
    several = [row for row in rows if len(row) > 1]
    if len(several) < 2 or len(several) < 0.6 * len(rows):
        return False
    cells = [cell for row in several for cell in row if not _MARK_ALONE.match(cell.line.text)]
    if statistics.mean(len(c.line.text.split()) for c in cells) > _CELL_WORDS:
        return False
    if any(BULLET.match(c.line.text) for row in several for c in row[1:]):
        return False
    aligned = 0
    for above, below in pairwise(several):
        edges = [(c.left, (c.left + c.right) / 2, c.right) for c in above]
        near = [
            min(abs(c.left - e[0]) for e in edges) < c.height
            or min(abs((c.left + c.right) / 2 - e[1]) for e in edges) < c.height
            or min(abs(c.right - e[2]) for e in edges) < c.height
            for c in below
        ]
        aligned += sum(near) >= 0.75 * len(near)
    return aligned >= 0.6 * (len(several) - 1)


def _is_margin(before: list[_Piece], after: list[_Piece]) -> bool:
    """Bullets, numbers of points or axis labels to the left of what they belong to."""
    marks = sum(bool(_MARK_ALONE.match(p.line.text) or re.fullmatch(r"\(?\d{1,2}[.)]", p.line.text)) for p in before)
    return marks > 0.6 * len(before) and len(after) >= len(before)


# ---------------------------------------------------------------- paragraphs


def _paragraphs(block: _Block) -> list[str]:
    right = max(p.right for row in block for p in row)
    left = min(p.left for row in block for p in row)
    texts: list[str] = []
    before: _Row | None = None
    for row in block:
        text = _row_text(row)
        if before is not None and _continues(before, row, left, right):
            texts[-1] = _joined(texts[-1], text)
        else:
            texts.append(text)
        before = row
    return texts


def _row_text(row: _Row) -> str:
    """The cells of a row; a bullet or a word split off by the recogniser belongs to what follows it closely."""
    text = row[0].line.text
    for one, other in pairwise(row):
        close = other.left - one.right < _GUTTER * min(one.height, other.height) or _MARK_ALONE.match(one.line.text)
        text += (" " if close else " | ") + other.line.text
    return text


def _continues(before: _Row, row: _Row, left: float, right: float) -> bool:
    """Whether a row goes on with the sentence of the one above."""
    first, last = row[0], before[-1]
    cells = [p for p in (*before, *row) if not _MARK_ALONE.match(p.line.text)]
    if len(row) > 1 or len(cells) > 2 or BULLET.match(first.line.text):
        return False
    if abs(first.height - last.height) > _SAME_HEIGHT * max(first.height, last.height):
        return False
    if first.top - last.bottom > _LEADING * min(first.height, last.height):
        return False
    if re.search(r"[.!?:;。！？：]$", last.line.text) and first.line.text[:1].isupper():
        return False
    starts_low = first.line.text[:1].islower()
    indent = first.left - before[0].left
    if indent < -first.height or indent > 3 * first.height:
        return starts_low and abs((first.left + first.right) - (before[0].left + last.right)) < 2 * first.height
    # A next word as long as this row's first one would not have fitted on the line above.
    word = first.line.text.split()[0] if first.line.text.split() else ""
    room = (first.right - first.left) * len(word) / max(1, len(first.line.text))
    wrapped = last.right + room >= right - first.height and last.right - left >= _WRAPPED * (right - left)
    return starts_low or (wrapped and len(before[0].line.text.split()) > 3)


def _joined(text: str, more: str) -> str:
    from_word = re.search(r"\w-$", text) and more[:1].islower()
    return text + more if from_word else f"{text} {more}"
