"""Lines of a page in the order in which a person reads them, and as paragraphs.

Enters: recognised lines with boxes. Leaves: the same lines ordered, and the page's text: one paragraph, bullet or table
row a line. Knows nothing of pictures or time.

The order is a recursive cut of the page at its gaps (XY-cut: Nagy, Seth 1984; Ha, Haralick, Phillips 1995): first the
gutters between columns, then the gaps between bands. Cells that stand beside each other in rows are a table, whose rows
stay together. Two lists beside each other may look the same; what tells them apart stands at `is_table` and
`wrapped_table`.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from videmus.model import TextLine
from videmus.perceive.tables import BULLET, MARK_ALONE, Block, Piece, Row, is_table, rows_of, wrapped_table

_GUTTER = 1.2  # of a line's height: a gap between two words is a third of it
_STRIP = 3  # cells of a strip of navigation
_COLUMN = 2  # lines that a column under a title has more than
_SENTENCE = 3  # words of a line that is wrapped: shorter ones below each other are a list
_OUTER = 16  # rows above and below columns
_LABELS = 4  # scattered labels are a figure's
_LABEL_WORDS = 4
_LABEL_PITCH = 4  # of a line's height: lines of a list are closer
_SAME_HEIGHT = 0.3  # boxes of "aceno" and "(bdfg)" differ by a quarter at one type size
_LEADING = 0.9  # of a line's height: the gap within a paragraph is smaller
_SPACED = 0.25  # of a line's height
_WRAPPED = 0.72  # of the column's width: a line that ends before that was not wrapped


def ordered(lines: Sequence[TextLine], aspect: float = 16 / 9) -> list[TextLine]:
    """The lines in reading order. `aspect` is the picture's width ÷ height."""
    return [piece.line for block in _blocks(lines, aspect) for row in block for piece in row]


def page_text(lines: Sequence[TextLine], aspect: float = 16 / 9) -> str:
    """The page as text: wrapped lines are joined, a point of a list or a row of a table is one line, and so are the labels
    of a figure."""
    return "\n".join(_with_labels([part for block in _blocks(lines, aspect) for part in _paragraphs(block)]))


# ---------------------------------------------------------------- order


def _blocks(lines: Sequence[TextLine], aspect: float) -> list[Block]:
    return _cut_up(tuple(lines), aspect)


@lru_cache(maxsize=256)
def _cut_up(lines: tuple[TextLine, ...], aspect: float) -> list[Block]:
    """A page is asked for several times: as text and in order, when it is read and when it is compared."""
    pieces = [Piece(x, x.box[0] * aspect, x.box[1], x.box[2] * aspect, x.box[3]) for x in lines]
    return _cut(sorted(pieces, key=lambda p: (p.top, p.left, p.bottom, p.right, p.line.text)))


def _cut(pieces: list[Piece]) -> list[Block]:
    if not pieces:
        return []
    height = statistics.median(p.height for p in pieces)
    rows = rows_of(pieces)
    if len(rows) == 1 or is_table(rows):
        return [rows]
    for strip, rest in ((rows[0], rows[1:]), (rows[-1], rows[:-1])):  # a line of navigation above or below the columns
        others = [p for row in rest for p in row]
        if len(strip) >= _STRIP and _apart(strip, others):
            return [[strip], *_cut(others)] if strip is rows[0] else [*_cut(others), [strip]]
    ways = list(_beside_columns(rows))
    for above, between, below in ways:
        table = wrapped_table([p for row in between for p in row], height)
        if table is not None:
            return [*_cut([p for row in above for p in row]), table, *_cut([p for row in below for p in row])]
    for above, between, below in ways:
        columns = [p for row in between for p in row]
        if len(between) < len(rows) and is_table(between, below[0] if below else None):
            return [*_cut([p for row in above for p in row]), between, *_cut([p for row in below for p in row])]
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


def _apart(strip: list[Piece], others: list[Piece]) -> bool:
    top, bottom = min(p.top for p in strip), max(p.bottom for p in strip)
    return all(p.top >= bottom or p.bottom <= top for p in others)


def _beside_columns(rows: Block) -> Iterator[tuple[Block, Block, Block]]:
    """Ways to take the page's rows apart into what stands above columns, the columns, and what stands below, least first."""
    least = min(_OUTER, len(rows) // 2)
    reach, start = [-1.0], [2.0]  # how far down the rows before each go, and where the rows from each begin
    for row in rows:
        reach.append(max(reach[-1], *(p.bottom for p in row)))
    for row in reversed(rows):
        start.append(min(start[-1], *(p.top for p in row)))
    start.reverse()
    for taken in range(least + 1):
        for top in range(taken, -1, -1):
            bottom = len(rows) - (taken - top)
            if reach[top] <= start[top] and reach[bottom] <= start[bottom]:
                yield rows[:top], rows[top:bottom], rows[bottom:]


def _gutter(pieces: list[Piece], height: float, least: int) -> float | None:
    """Where the left column ends, if there are two that stand beside each other, with more than `least` pieces each or as
    lists."""
    gap = _widest_gap([(p.left, p.right) for p in pieces])
    if gap is None or gap[1] < _GUTTER * height:
        return None
    before = [p for p in pieces if p.right <= gap[0]]
    after = [p for p in pieces if p.right > gap[0]]
    if (min(len(before), len(after)) <= least and not _are_lists(before, after)) or _is_margin(before, after):
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


def _are_lists(before: list[Piece], after: list[Piece]) -> bool:
    """Whether two columns begin level, one has two lines and the other more, and each has one left edge."""
    height = min(before[0].height, after[0].height)
    return (
        min(len(before), len(after)) == 2 < max(len(before), len(after))
        and abs(before[0].middle - after[0].middle) < height / 4
        and all(abs(p.left - column[0].left) < height / 4 for column in (before, after) for p in column)
    )


def _is_margin(before: list[Piece], after: list[Piece]) -> bool:
    """Bullets, numbers of points or axis labels to the left of what they belong to."""
    marks = sum(bool(MARK_ALONE.match(p.line.text) or re.fullmatch(r"\(?\d{1,2}[.)]", p.line.text)) for p in before)
    return marks > 0.6 * len(before) and len(after) >= len(before)


# ---------------------------------------------------------------- paragraphs


def _with_labels(parts: Sequence[tuple[str, Row]]) -> list[str]:
    """Lines of text; labels that follow each other and stand scattered over the page are one."""
    groups: list[list[tuple[str, Row]]] = []
    for number, part in enumerate(parts):
        if number > 1 and _is_label(*part) and _is_label(*groups[-1][-1]) and _scattered(groups[-1][-1][1], part[1]):
            groups[-1].append(part)
        else:
            groups.append([part])
    lines: list[str] = []
    for group in groups:
        texts = [text for text, _ in group]
        lines += [" | ".join(texts)] if len(texts) >= _LABELS else texts
    return lines


def _is_label(text: str, row: Row) -> bool:
    return len(row) == 1 and len(text.split()) <= _LABEL_WORDS and not BULLET.match(text)


def _scattered(row: Row, following: Row) -> bool:
    """Whether a line of the same size stands neither close below the other nor on one edge or middle with it, as in lists."""
    one, other = row[0], following[0]
    height = min(one.height, other.height)
    if max(one.height, other.height) > (1 + 2 * _SAME_HEIGHT) * height:
        return False
    down = other.middle - one.middle
    overlap = min(one.right, other.right) - max(one.left, other.left)
    if 0 < down < 2 * height and overlap > 0:
        return False
    offsets = (other.left - one.left, other.right - one.right, (other.left + other.right - one.left - one.right) / 2)
    return min(map(abs, offsets)) > height / 2 or not 0 < down < _LABEL_PITCH * height


def _paragraphs(block: Block) -> list[tuple[str, Row]]:
    right = max(p.right for row in block for p in row)
    left = min(p.left for row in block for p in row)
    gaps = [max(0.0, below[0].top - above[-1].bottom) / below[0].height for above, below in pairwise(block)]
    spaced = bool(gaps) and max(gaps) - min(gaps) > _SPACED  # space between paragraphs tells them from wrapped lines
    starts = _starts(block)
    texts: list[tuple[str, Row]] = []
    for i, row in enumerate(block):
        text = _row_text(row, starts)
        close = i > 0 and spaced and gaps[i - 1] - min(gaps) < _SPACED / 2
        if i > 0 and _continues(block[i - 1], row, left, right, close):
            texts[-1] = (_joined(texts[-1][0], text), row)
        else:
            texts.append((text, row))
    return texts


def _row_text(row: Row, starts: Sequence[float] = ()) -> str:
    """The cells of a row, and the lines of each; a bullet or a word split off by the recogniser belongs to what follows it
    closely, unless it begins where cells of other rows do."""
    text = row[0].line.text
    for one, other in pairwise(row):
        if other.top >= one.middle and other.left < one.right:
            text = _joined(text, other.line.text)
            continue
        close = other.left - one.right < _GUTTER * min(one.height, other.height)
        close = close and not any(abs(other.left - s) < other.height / 2 for s in starts)
        text += (" " if close or MARK_ALONE.match(one.line.text) else " | ") + other.line.text
    return text


def _starts(block: Block) -> list[float]:
    """Where the cells of a table's columns begin, but for the first."""
    return [
        other.left
        for row in block
        for one, other in pairwise(row)
        if other.left - one.right >= _GUTTER * min(one.height, other.height) and not MARK_ALONE.match(one.line.text)
    ]


def _continues(before: Row, row: Row, left: float, right: float, close: bool) -> bool:
    """Whether a row goes on with the sentence of the one above, in a column from `left` to `right`; `close`: it stands
    closer to it than paragraphs stand here."""
    first, last = row[0], before[-1]
    cells = [p for p in (*before, *row) if not MARK_ALONE.match(p.line.text)]
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
    long = sum(len(p.line.text.split()) for p in before) >= _SENTENCE
    if close and long and abs(indent) < 0.3 * first.height and first.line.text[:1].islower():
        return True  # wrapped by hand
    return long and wrapped and (close or not first.line.text[:1].isupper())


def _joined(text: str, more: str) -> str:
    from_word = re.search(r"\w-$", text) and more[:1].islower()
    return text + more if from_word else f"{text} {more}"
