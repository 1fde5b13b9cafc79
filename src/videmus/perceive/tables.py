"""Which lines of a page are the rows of a table.

Enters: lines in units of the page's height. Leaves: rows of cells, or that these are none. A table without borders and two
lists beside each other are told apart by what their rows do: cells of a table stand level, name rows or hold values, and a
row waits for its highest cell; lists have bullets, go on alone, or drift apart.
"""

from __future__ import annotations

import re
import statistics
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise, repeat

from videmus.model import TextLine

BULLET = re.compile(
    r"^\s*([•●○◦▪■□◆◇❖➢➤►▶▸‣·*»→]|o(?=\s)|[–—-](?!\s*[\d.])|\(?\d{1,2}[.)](?!\d)|\(?[a-zA-Z][.)])\s*(?=\S|$)"
)
"""A mark that begins a point of a list; "0.4 m" and "-3" are numbers."""

MARK_ALONE = re.compile(r"^[•●○◦▪■□◆◇❖➢➤►▶▸‣·*»>–—-]$")
_CELL_WORDS = 5  # cells of tables are short, lines of columns are not
_KEY_WORDS = 3  # what names a row is shorter still
_VALUE = re.compile(r"\d")  # a value holds a digit ...
_VALUE_WORDS = 3  # ... and few words
_LEVEL = 0.25  # of a line's height: nine in ten cells of real tables are level by 0.22, accidents by 0.3
_ROW_GAPS = (0.5, 0.35, 0.2)  # of a line's height, between rows of a table with wrapped cells: the widest that fits
_CELL_LEADING = 0.6  # of a line's height, at most between the lines of one cell
_BESIDE = 0.5  # of a line's height: wrapped cells of a row begin, or have their middles, level
_SURE_ROWS = 3  # of a table with wrapped cells: fewer may be an accident of what stands beside each other
_PADDING = 0.5  # of a line's height: the detector's boxes reach a quarter of it over each end of the letters
_CELL_GAP = 0.25  # of a line's height, between columns of a table


@dataclass(frozen=True, slots=True)
class Piece:
    """A line in units of the page's height, so that heights and widths compare."""

    line: TextLine
    left: float
    top: float
    right: float
    bottom: float
    height: float = field(init=False)
    middle: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", max(self.bottom - self.top, 1e-6))
        object.__setattr__(self, "middle", (self.top + self.bottom) / 2)


Row = list[Piece]
Block = list[Row]


def is_table(rows: Block, following: Row | None = None) -> bool:
    """Rows of short cells that stand level, and whose left edges (or middles) line up down the page; `following` is the row
    below them.

    Two columns of that kind may be two lists. They are a table where one column names rows (short) or holds values, and
    neither goes on below the other; lists have bullets on both sides, or wrapped lines.
    """
    several = [cells for row in rows if len(cells := _cells(row)) > 1]
    if len(several) < 2 or len(several) < 0.6 * len(rows) or not _level(several):
        return False
    if any(BULLET.match(cell.line.text) for row in several for cell in row[1:]):
        return False
    values = [_are_values(column) for column in ([r[0] for r in several], [r[-1] for r in several])]
    if any(BULLET.match(row[0].line.text) for row in several) and not values[1]:
        return False
    if statistics.median(len(row) for row in several) <= 2 and not any(values):
        columns = [[row[0] for row in several], [row[-1] for row in several]]
        if _ragged(rows, following) or any(map(_is_prose, columns)):
            return False
        words = [statistics.median(len(c.line.text.split()) for c in column) for column in columns]
        if min(words) > _KEY_WORDS or (max(words) > _CELL_WORDS and len(several) < 3):
            return False
    elif statistics.mean(len(c.line.text.split()) for row in several for c in row) > _CELL_WORDS:
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


def _cells(row: Row) -> Row:
    """A row without the bullet that the recogniser split off."""
    return row[1:] if MARK_ALONE.match(row[0].line.text) else row


def _level(several: Block) -> bool:
    """Whether the cells of rows stand on one line, but for one in five (a raised letter makes a box higher)."""
    off = [abs(a.middle - b.middle) <= _LEVEL * min(a.height, b.height) for row in several for a, b in pairwise(row)]
    return sum(off) >= 0.8 * len(off)


def _are_values(column: list[Piece]) -> bool:
    texts = [p.line.text for p in column]
    return sum(bool(_VALUE.search(t)) and len(t.split()) <= _VALUE_WORDS for t in texts) > 0.5 * len(texts)


def _ragged(rows: Block, following: Row | None) -> bool:
    """Whether a line stands alone below the first row of two: one list goes on where the other has ended, or is wrapped."""
    first = next(i for i, row in enumerate(rows) if len(_cells(row)) > 1)
    if any(len(_cells(row)) == 1 for row in rows[first:]):
        return True
    if following is None or len(following) > 1:
        return False
    line = following[0]
    pitch = max(below[0].middle - above[0].middle for above, below in pairwise(rows[first:]))
    below = any(abs(line.left - cell.left) < line.height / 2 for cell in rows[-1])
    return below and line.middle - rows[-1][0].middle < 1.25 * pitch


def _is_prose(column: list[Piece]) -> bool:
    """Whether a line of several words goes on, in small letters, in the one below."""
    texts = [p.line.text for p in column]
    return any(
        len(above.split()) >= _VALUE_WORDS and above[:1].isupper() and below[:1].islower()
        for above, below in pairwise(texts)
    )


def wrapped_table(pieces: list[Piece], height: float) -> Block | None:
    """The rows of a table some of whose cells have several lines, if it is one."""
    columns = _separate([(p.left, p.right, p) for p in pieces], _CELL_GAP * height)
    if len(columns) < 2 or any(BULLET.match(p.line.text) for column in columns[1:] for p in column):
        return None
    if all(MARK_ALONE.match(p.line.text) for p in columns[0]):
        return None
    if all(len(row) == len(columns) for row in rows_of(pieces)):
        return None  # no cell is wrapped
    spans = [(p.top, p.bottom, p) for p in pieces]
    ways = [_separate(spans, gap * height) for gap in _ROW_GAPS]
    names = [p for p in columns[0] if BULLET.match(p.line.text)] or columns[0]
    ways += [_from_each(names, pieces), _round_each(min(columns[1:], key=len), pieces)]
    for bands in ways:
        table = _rows_of_cells(columns, bands, height)
        if table is not None:
            return table
    return None


def _from_each(names: list[Piece], pieces: list[Piece]) -> list[list[Piece]]:
    """Bands that begin where each name of a row does: rows of a table need no space between them."""
    starts = sorted(p.middle - _LEVEL * p.height for p in names)
    bands: list[list[Piece]] = [[] for _ in starts]
    for piece in pieces:
        bands[max(0, bisect_right(starts, piece.middle) - 1)].append(piece)
    return bands


def _round_each(values: list[Piece], pieces: list[Piece]) -> list[list[Piece]]:
    """Bands of what is nearest to each value: the cells of a row have their middles level."""
    middles = sorted(p.middle for p in values)
    edges = [(above + below) / 2 for above, below in pairwise(middles)]
    bands: list[list[Piece]] = [[] for _ in middles]
    for piece in pieces:
        bands[bisect_right(edges, piece.middle)].append(piece)
    return bands


def _rows_of_cells(columns: list[list[Piece]], bands: list[list[Piece]], height: float) -> Block | None:
    """A row for each band, if each column has a cell of lines below each other in each; first and last may be headings
    and notes.

    A row of a table waits for its highest cell, so that cells of different heights begin (or have their middles) level in
    every row; lists drift apart as soon as one has a longer point, or have one pitch.
    """
    column_of = {id(p): c for c, column in enumerate(columns) for p in column}
    rows: list[list[list[Piece]]] = []
    for band in bands:
        cells: list[list[Piece]] = [[] for _ in columns]
        for piece in sorted(band, key=lambda p: p.middle):
            cells[column_of[id(piece)]].append(piece)
        rows.append(cells)
    full = [k for k, cells in enumerate(rows) if sum(map(bool, cells)) > 1]
    if len(full) < _SURE_ROWS or full != list(range(full[0], full[-1] + 1)) or full[0] > 2 or len(rows) - full[-1] > 2:
        return None
    if not all(rows[k][0] for k in full[2:]):  # a head may lack the first cell, a row may lack others
        return None
    for c in range(len(columns)):
        cells = [rows[k][c] for k in full if rows[k][c]]
        if len(cells) < 0.5 * len(full) or not _lined_up(cells):
            return None
    values = _are_values(columns[-1]) or len({p.line.text for p in columns[-1]}) <= 0.5 * len(full)
    waiting = merged = 0
    for k in full:
        cells = [cell for cell in rows[k] if cell]
        if not all(map(_is_cell, cells, repeat(height))):
            return None
        tops, bottoms = [cell[0].top for cell in cells], [cell[-1].bottom for cell in cells]
        middles = [(top + bottom) / 2 for top, bottom in zip(tops, bottoms, strict=True)]
        begin, amid, end = (max(at) - min(at) < _BESIDE * height for at in (tops, middles, bottoms))
        if not begin and not amid and not (end and values):
            return None
        alike = len({len(cell) for cell in cells}) == 1
        waiting += not alike and (not begin or k < full[-1])
        if alike and len(cells[0]) > 2:
            return None  # rows that were taken for one
        merged += alike and len(cells[0]) == 2  # these may be two rows too
    pitches = {tuple(map(len, rows[k])) for k in full}
    if not waiting or merged > waiting or (len(pitches) == 1 and len(columns) == 2 and not values):
        return None
    return [[p for cell in cells for p in cell] for cells in rows if any(cells)]


def _is_cell(lines: list[Piece], height: float) -> bool:
    """Whether lines stand close below each other, and no point of a list begins after the first."""
    return all(
        below.top >= above.middle
        and below.top - above.bottom <= _CELL_LEADING * height
        and not BULLET.match(below.line.text)
        for above, below in pairwise(lines)
    )


def _lined_up(cells: list[list[Piece]]) -> bool:
    """Whether the cells of a column have their left edges, right edges or middles below each other."""
    lefts = [min(p.left for p in cell) for cell in cells]
    rights = [max(p.right for p in cell) for cell in cells]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    for edges in (lefts, middles, rights):
        usual = statistics.median(edges)
        near = [abs(edge - usual) < cell[0].height for edge, cell in zip(edges, cells, strict=True)]
        if sum(near) >= 0.75 * len(near):
            return True
    return False


def _separate(spans: list[tuple[float, float, Piece]], gap: float) -> list[list[Piece]]:
    """Groups of pieces that gaps wider than `gap` part."""
    groups: list[list[Piece]] = []
    reach = 0.0
    for start, end, piece in sorted(spans, key=lambda s: s[:2]):
        if not groups or start - reach > gap:
            groups.append([])
            reach = end
        groups[-1].append(piece)
        reach = max(reach, end)
    return groups


def rows_of(pieces: list[Piece]) -> Block:
    """Pieces that stand side by side, each row from left to right."""
    rows: Block = []
    for piece in sorted(pieces, key=lambda p: p.middle):
        if rows and all(_stand_beside(piece, p) for p in rows[-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.left) for row in rows]


def _stand_beside(one: Piece, other: Piece) -> bool:
    """Whether pieces share a line: their middles are level, or the lower stands on the higher one's line ("3 m")."""
    overlap = min(one.right, other.right) - max(one.left, other.left)
    if overlap > _PADDING * min(one.height, other.height, one.right - one.left, other.right - other.left):
        return False
    small, large = sorted((one, other), key=lambda p: p.height)
    level = abs(one.middle - other.middle) < 0.5 * small.height
    on_line = abs(small.bottom - large.bottom) < _LEVEL * small.height and small.height > 0.4 * large.height
    return level or on_line
