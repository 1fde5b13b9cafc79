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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from videmus.model import TextLine

BULLET = re.compile(r"^\s*([•●○◦▪■□◆◇❖➢➤►▶▸‣·*»→–—-]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])\s*(?=\S|$)")
"""A mark that begins a point of a list."""

_MARK_ALONE = re.compile(r"^[•●○◦▪■□◆◇❖➢➤►▶▸‣·*»>–—-]$")
_GUTTER = 1.2  # of a line's height: a gap between two words is a third of it
_STRIP = 3  # cells of a strip of navigation
_COLUMN = 2  # lines that a column under a title has more than
_SENTENCE = 3  # words of a line that is wrapped: shorter ones below each other are a list
_CELL_WORDS = 5  # cells of tables are short, lines of columns are not
_SAME_HEIGHT = 0.3  # boxes of "aceno" and "(bdfg)" differ by a quarter at one type size
_LEADING = 0.9  # of a line's height: the gap within a paragraph is smaller
_SPACED = 0.25  # of a line's height
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
        return max(self.bottom - self.top, 1e-6)

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
    return _cut(sorted(pieces, key=lambda p: (p.top, p.left, p.bottom, p.right, p.line.text)))


def _cut(pieces: list[_Piece]) -> list[_Block]:
    if not pieces:
        return []
    height = statistics.median(p.height for p in pieces)
    rows = _rows(pieces)
    if len(rows) == 1 or _is_table(rows):
        return [rows]
    for strip, rest in ((rows[0], rows[1:]), (rows[-1], rows[:-1])):  # a line of navigation above or below the columns
        others = [p for row in rest for p in row]
        if len(strip) >= _STRIP and _apart(strip, others):
            return [[strip], *_cut(others)] if strip is rows[0] else [*_cut(others), [strip]]
    for above, between, below in _beside_columns(rows):
        if len(between) < len(rows) and _is_table(between):
            return [*_cut([p for row in above for p in row]), between, *_cut([p for row in below for p in row])]
        columns = [p for row in between for p in row]
        gutter = _gutter(columns, height, 1 if len(between) == len(rows) else _COLUMN)
        if gutter is not None:
            first = [p for p in columns if p.right <= gutter]
            second = [p for p in columns if p.right > gutter]
            outer = [[p for row in part for p in row] for part in (above, below)]
            return _cut(outer[0]) + _cut(first) + _cut(second) + _cut(outer[1])
    band = _widest_gap([(p.top, p.bottom) for p in pieces])
    if band is not None and (band[1] > _LEADING * height or max(len(r) for r in rows) > 1):
        return _cut([p for p in pieces if p.bottom <= band[0]]) + _cut([p for p in pieces if p.bottom > band[0]])
    return [rows]


def _apart(strip: list[_Piece], others: list[_Piece]) -> bool:
    top, bottom = min(p.top for p in strip), max(p.bottom for p in strip)
    return all(p.top >= bottom or p.bottom <= top for p in others)


def _beside_columns(rows: _Block) -> Iterator[tuple[_Block, _Block, _Block]]:
    """Ways to take the page's rows apart into what stands above columns, the columns, and what stands below, least first."""
    for taken in range(len(rows) // 2 + 1):
        for top in range(taken, -1, -1):
            bottom = len(rows) - (taken - top)
            above, between, below = rows[:top], rows[top:bottom], rows[bottom:]
            inner = [p for row in between for p in row]
            if all(_apart([p for row in part for p in row], inner) for part in (above, below) if part):
                yield above, between, below


def _gutter(pieces: list[_Piece], height: float, least: int) -> float | None:
    """Where the left column ends, if there are two with more than `least` pieces each that stand beside each other."""
    gap = _widest_gap([(p.left, p.right) for p in pieces])
    if gap is None or gap[1] < _GUTTER * height:
        return None
    before = [p for p in pieces if p.right <= gap[0]]
    after = [p for p in pieces if p.right > gap[0]]
    if len(before) <= least or len(after) <= least or _is_margin(before, after):
        return None
    shared = min(max(p.bottom for p in before), max(p.bottom for p in after)) - max(
        min(p.top for p in before), min(p.top for p in after)
    )
    return gap[0] if least == 1 or shared > 2 * height else None


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
    if any(BULLET.match(c.line.text) for c in cells):
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
    gaps = [max(0.0, below[0].top - above[-1].bottom) / below[0].height for above, below in pairwise(block)]
    spaced = bool(gaps) and max(gaps) - min(gaps) > _SPACED  # space between paragraphs tells them from wrapped lines
    texts: list[str] = []
    for i, row in enumerate(block):
        text = _row_text(row)
        close = i > 0 and spaced and gaps[i - 1] - min(gaps) < _SPACED / 2
        if i > 0 and _continues(block[i - 1], row, left, right, close):
            texts[-1] = _joined(texts[-1], text)
        else:
            texts.append(text)
    return texts


def _row_text(row: _Row) -> str:
    """The cells of a row; a bullet or a word split off by the recogniser belongs to what follows it closely."""
    text = row[0].line.text
    for one, other in pairwise(row):
        close = other.left - one.right < _GUTTER * min(one.height, other.height) or _MARK_ALONE.match(one.line.text)
        text += (" " if close else " | ") + other.line.text
    return text


def _continues(before: _Row, row: _Row, left: float, right: float, close: bool) -> bool:
    """Whether a row goes on with the sentence of the one above, in a column from `left` to `right`; `close`: it stands
    closer to it than paragraphs stand here."""
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
    indent = first.left - before[0].left
    centred = abs((first.left + first.right) - (before[0].left + last.right)) < first.height
    if not centred and not -0.3 * first.height <= indent <= 3 * first.height:
        return False
    # The line above was wrapped where this row's first word would not have fitted on it.
    word = first.line.text.split()[0] if first.line.text.split() else ""
    room = (first.right - first.left) * len(word) / max(1, len(first.line.text))
    if centred and abs(indent) > 0.3 * first.height:
        reach, width = right - last.right + last.left - left, last.right - last.left
    else:
        reach, width = right - last.right, last.right - left
    wrapped = reach < room + first.height / 2 and width >= _WRAPPED * (right - left)
    wrapped = wrapped and sum(len(p.line.text.split()) for p in before) >= _SENTENCE
    return wrapped and (close or not first.line.text[:1].isupper())


def _joined(text: str, more: str) -> str:
    from_word = re.search(r"\w-$", text) and more[:1].islower()
    return text + more if from_word else f"{text} {more}"
