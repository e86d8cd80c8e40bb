"""Recognises tables without rules: by gaps, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube_documents.pdf_lines import Cell, PdfLine

_LEAST_ROWS = 2
_STRONG = 1.5
"""The least gap, in letter sizes, that a gutter has in some rows."""
_STRONG_SHARE = 0.2
"""The share of rows that have it."""
_NARROWEST = 0.3
"""The least width of a gutter, in letter sizes."""
_MOST_CROSSING = 0.15
"""The share of rows with a cell across a gutter."""
_ROW_STEP = 3.5
"""The greatest distance of the rows of a table, in letter sizes."""
_MOST_BETWEEN = 2
"""The number of lines in the first column only, between parts of one table."""
_BEFORE, _AFTER = {"$", "¥", "€", "£", "("}, {")", "%", ")%"}


class TextLine(NamedTuple):
    """A line as it is written, and whether it is in a table, which ``goes_on`` from above."""

    text: str
    in_table: bool = False
    goes_on: bool = False


class Gutter(NamedTuple):
    """The left and right edge of the white space between two columns."""

    left: float
    right: float


def with_rows(lines: Sequence[PdfLine]) -> Iterator[TextLine]:
    """Yield the lines; rows of tables as Markdown rows with aligned cells."""
    begin = 0
    for first, end, gutters in tables_in(lines):
        yield from map(_plain, lines[begin:first])
        rows = [_filled(line.cells, gutters) for line in lines[first:end]]
        for number, row in enumerate(_without_signs(rows)):
            yield TextLine(markdown_row(row), in_table=True, goes_on=number > 0)
        begin = end
    yield from map(_plain, lines[begin:])


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _plain(line: PdfLine) -> TextLine:
    if line.row:
        return TextLine(line.row, in_table=True, goes_on=line.goes_on)
    return TextLine(" ".join(cell.text for cell in line.cells) or line.text)


def tables_in(lines: Sequence[PdfLine]) -> Iterator[tuple[int, int, list[Gutter]]]:
    """Yield the tables: their first line, the line after the last, and their gutters."""
    waiting: tuple[int, int, list[Gutter]] | None = None
    for first, end in _groups(lines):
        gutters = _gutters(lines[first:end])
        if waiting is not None:
            joined = _joined(lines, waiting, (first, end, gutters))
            if joined is not None:
                waiting = joined
                continue
            if waiting[2] and waiting[1] - waiting[0] >= _LEAST_ROWS:
                yield waiting
        waiting = (first, end, gutters)
    if waiting is not None and waiting[2] and waiting[1] - waiting[0] >= _LEAST_ROWS:
        yield waiting


def _groups(lines: Sequence[PdfLine]) -> Iterator[tuple[int, int]]:
    """Yield the first line, and the line after the last, of lines with several cells."""
    first: int | None = None
    for number, line in enumerate(lines):
        several = len(line.cells) > 1 and not line.row
        if first is not None and not (several and _near(lines[number - 1], line)):
            yield first, number
            first = None
        if several and first is None:
            first = number
    if first is not None:
        yield first, len(lines)


def _joined(
    lines: Sequence[PdfLine],
    above: tuple[int, int, list[Gutter]],
    below: tuple[int, int, list[Gutter]],
) -> tuple[int, int, list[Gutter]] | None:
    """Return two parts of one table as one: between them are lines in the first column only."""
    between = lines[above[1] : below[0]]
    near = all(_near(lines[number], lines[number + 1]) for number in range(above[1] - 1, below[0]))
    if not near or len(between) > _MOST_BETWEEN or any(line.row for line in between):
        return None
    gutters = _gutters([*lines[above[0] : above[1]], *lines[below[0] : below[1]]])
    most = max(len(above[2]), len(below[2]))
    if (
        not gutters
        or len(gutters) < most
        or max((line.right for line in between), default=0) > gutters[0].right
    ):
        return None
    return above[0], below[1], gutters


def _near(above: PdfLine, line: PdfLine) -> bool:
    step = above.bottom - line.bottom
    return 0 < step < _ROW_STEP * max(above.size, line.size)


def _gutters(rows: Sequence[PdfLine]) -> list[Gutter]:
    """Return the white spaces between columns, from left to right."""
    edges = sorted({edge for row in rows for cell in row.cells for edge in cell[1:]})
    size = sorted(row.size for row in rows)[len(rows) // 2]
    crossing = int(len(rows) * _MOST_CROSSING)
    free: list[Gutter] = []
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        over = sum(1 for row in rows for cell in row.cells if cell.left < middle < cell.right)
        if over > crossing:
            continue
        if free and free[-1].right == left:
            free[-1] = Gutter(free[-1].left, right)
        else:
            free.append(Gutter(left, right))
    return [
        gutter
        for gutter in free
        if gutter.right - gutter.left >= _NARROWEST * size and _is_strong(gutter, rows)
    ]


def _is_strong(gutter: Gutter, rows: Sequence[PdfLine]) -> bool:
    """Return whether cells stand on both sides of a gutter, and far apart in some rows."""
    strong = 0
    for row in rows:
        before = [cell.right for cell in row.cells if cell.right <= gutter.left]
        after = [cell.left for cell in row.cells if cell.left >= gutter.right]
        strong += bool(before and after) and min(after) - max(before) >= _STRONG * row.size
    return strong > 0 and strong >= _STRONG_SHARE * len(rows)


def _filled(cells: Sequence[Cell], gutters: Sequence[Gutter]) -> list[str]:
    """Return the text of each column: a cell belongs where its middle is."""
    filled = [""] * (len(gutters) + 1)
    for cell in cells:
        middle = cell.left if cell is cells[0] else (cell.left + cell.right) / 2
        place = sum(1 for gutter in gutters if middle > (gutter.left + gutter.right) / 2)
        filled[place] = f"{filled[place]} {cell.text}".strip()
    return filled


def _without_signs(rows: list[list[str]]) -> list[list[str]]:
    """Return rows without columns of signs only: each sign belongs to the number beside it."""
    for place in range(len(rows[0]) - 1, 0, -1):
        texts = {row[place] for row in rows} - {""}
        if texts and texts <= _AFTER:
            other, order = place - 1, "{1}{0}"
        elif texts and texts <= _BEFORE and place + 1 < len(rows[0]):
            other, order = place + 1, "{0}{1}"
        else:
            continue
        for row in rows:
            row[other] = order.format(row[place], row[other])
            del row[place]
    return rows
