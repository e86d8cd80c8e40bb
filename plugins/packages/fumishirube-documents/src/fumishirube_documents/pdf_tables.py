"""Recognises tables without rules: by gaps, one below the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from fumishirube_documents.markdown_rows import markdown_row
from fumishirube_documents.pdf_lines import Cell, PdfLine

LEAST_ROWS = 2
_STRONG = 1.5
"""The least gap, in letter sizes, that a gutter has in some rows."""
_STRONG_SHARE = 0.2
"""The share of rows that have it."""
_NARROWEST = 0.3
"""The least width of a gutter, in letter sizes."""
_MOST_CROSSING = 0.15
"""The share of rows with a cell across a gutter."""
ROW_STEP = 3.5
"""The greatest distance of the rows of a table, in letter sizes."""
_MOST_BETWEEN = 2
"""The number of lines in the first column only, between parts of one table."""
_POINT = re.compile(r"[•●○▪■□◦‣・–—*-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]+)[.)]|[①-⑳]")
"""The sign before a point of a list."""
_POINT_COLUMNS = 2
_DOTS = re.compile(r"(?:(?<!\s)\s+)?(?:\.\s?){4,}\s*")
"""The dots that lead from a text to its number."""
_SIGN_AFTER = re.compile(r"(.*\S)\s+([$¥€£])")
_NUMBER = re.compile(r"[(\d—–-]")
_BEFORE, _AFTER = {"$", "¥", "€", "£", "("}, {")", "%", ")%"}


class TextLine(NamedTuple):
    """A line as it is written, and whether it is in a table.

    Where a table or code ``goes_on`` from above, no blank line is between.
    """

    text: str
    in_table: bool = False
    goes_on: bool = False


class Gutter(NamedTuple):
    """The left and right edge of the white space between two columns."""

    left: float
    right: float


def with_rows(lines: Sequence[PdfLine]) -> Iterator[TextLine]:
    """Yield the lines; rows of tables as Markdown rows with aligned cells.

    Points of a list, whose signs stand apart from them, are no rows.
    """
    begin = 0
    for first, end, gutters in tables_in(lines):
        yield from map(_plain, lines[begin:first])
        rows = without_parts([_filled(line.cells, gutters) for line in lines[first:end]])
        if all(len(row) == _POINT_COLUMNS and _POINT.fullmatch(row[0]) for row in rows):
            yield from (TextLine(" ".join(row)) for row in rows)
        else:
            for number, row in enumerate(rows):
                yield TextLine(table_row(row), in_table=True, goes_on=number > 0)
        begin = end
    yield from map(_plain, lines[begin:])


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a table as a line, without the dots that lead to its cells."""
    return markdown_row(_DOTS.sub(" ", cell).strip() for cell in cells)


def _plain(line: PdfLine) -> TextLine:
    if line.row:
        return TextLine(line.row, in_table=True, goes_on=line.goes_on)
    text = " ".join(cell.text for cell in line.cells) or line.text
    return TextLine(text, goes_on=line.goes_on)


def tables_in(lines: Sequence[PdfLine]) -> Iterator[tuple[int, int, list[Gutter]]]:
    """Yield the tables: their first line, the line after the last, and their gutters."""
    waiting: tuple[int, int, list[Gutter]] | None = None
    for first, end in _groups(lines):
        gutters = gutters_of(lines[first:end])
        if waiting is not None:
            joined = _joined(lines, waiting, (first, end, gutters))
            if joined is not None:
                waiting = joined
                continue
            if waiting[2] and waiting[1] - waiting[0] >= LEAST_ROWS:
                yield waiting
        waiting = (first, end, gutters)
    if waiting is not None and waiting[2] and waiting[1] - waiting[0] >= LEAST_ROWS:
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
    gutters = gutters_of([*lines[above[0] : above[1]], *lines[below[0] : below[1]]])
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
    return 0 < step < ROW_STEP * max(above.size, line.size)


def gutters_of(rows: Sequence[PdfLine]) -> list[Gutter]:
    """Return the white spaces between columns, from left to right."""
    edges = sorted({edge for row in rows for cell in row.cells for edge in cell[1:]})
    size = sorted(row.size for row in rows)[len(rows) // 2]
    crossing = int(len(rows) * _MOST_CROSSING)
    free: list[Gutter] = []
    for (left, right), over in zip(pairwise(edges), _crossings(rows, edges), strict=False):
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


def _crossings(rows: Sequence[PdfLine], edges: Sequence[float]) -> Iterator[int]:
    """Yield how many cells are over each space between two edges."""
    places = {edge: number for number, edge in enumerate(edges)}
    changes = [0] * len(edges)
    for row in rows:
        for cell in row.cells:
            if cell.left < cell.right:
                changes[places[cell.left]] += 1
                changes[places[cell.right]] -= 1
    return accumulate(changes)


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
        place = column_of(cell, gutters, first=cell is cells[0])
        filled[place] = f"{filled[place]} {cell.text}".strip()
    return filled


def column_of(cell: Cell, gutters: Sequence[Gutter], *, first: bool) -> int:
    """Return the number of the column of a cell; the ``first`` of a line may be long."""
    middle = cell.left if first else (cell.left + cell.right) / 2
    return sum(1 for gutter in gutters if middle > (gutter.left + gutter.right) / 2)


def without_parts(rows: list[list[str]]) -> list[list[str]]:
    """Return rows without columns that are parts of the column beside them."""
    return _aligned([*map(_with_signs_before, _without_signs(rows))])


def _with_signs_before(row: list[str]) -> list[str]:
    """Return a row with each sign at the end of a cell before the number that follows it."""
    for place in range(len(row) - 1):
        match = _SIGN_AFTER.fullmatch(row[place])
        if match and _NUMBER.match(row[place + 1]):
            row[place : place + 2] = [match[1], match[2] + row[place + 1]]
    return row


def _aligned(rows: list[list[str]]) -> list[list[str]]:
    """Join columns beside each other of which no row has both.

    They are one column, with cells at its left, at its right or in its middle, as when a header is
    aligned otherwise than the numbers below it.
    """
    if len(rows) <= LEAST_ROWS:
        return rows
    place = 1
    while place + 1 < len(rows[0]):
        if any(row[place] and row[place + 1] for row in rows):
            place += 1
            continue
        for row in rows:
            row[place : place + 2] = [row[place] or row[place + 1]]
    return rows


def _without_signs(rows: list[list[str]]) -> list[list[str]]:
    """Return rows without columns of signs: each sign belongs to the number beside it.

    So does a part of a header in such a column, where the header has nothing beside it.
    """
    for place in range(len(rows[0]) - 1, 0, -1):
        if _has_signs(rows, place, place - 1, _AFTER):
            other, order = place - 1, "{1}{0}"
        elif place + 1 < len(rows[0]) and _has_signs(rows, place, place + 1, _BEFORE):
            other, order = place + 1, "{0}{1}"
        else:
            continue
        for row in rows:
            row[other] = order.format(row[place], row[other])
            del row[place]
    return rows


def _has_signs(rows: Sequence[list[str]], place: int, other: int, signs: set[str]) -> bool:
    """Return whether a column has signs, and other texts only where the other column is empty."""
    texts = [(row[place], row[other]) for row in rows if row[place]]
    return any(text in signs for text, _ in texts) and all(
        text in signs or not beside for text, beside in texts
    )
