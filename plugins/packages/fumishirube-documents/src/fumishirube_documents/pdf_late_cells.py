"""Puts cells of a table that a page draws after it, such as merged ones, into their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fumishirube_documents.pdf_lines import PdfLine, share_width

_LEAST_CELLS = _LEAST_ROWS = 2
_SAME_LINE = 0.4
"""The most difference of the heights of the parts of a row, in letter sizes."""
_BETWEEN_ROWS = 0.9
"""The same of a cell that stands between two rows: it belongs to the upper one."""
_ABOVE = 2.0
"""How far above a table the names of groups of its columns stand, in letter sizes."""
_EDGE = 1.0
_MOST_LINES = 300
"""How many lines back a table is looked for."""
_NUMBER = re.compile(r"[^\w\s]{0,2}\d")


def with_late_cells(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines, with late cells of tables in their rows, or between them."""
    placed: list[PdfLine] = []
    for line in lines:
        table = _table_of(line, placed) if _is_late(line, placed) else range(0)
        row = next((n for n in table if _has_room(placed[n], line)), None)
        if row is not None:
            cells = sorted((*placed[row].cells, *line.cells), key=lambda cell: cell.left)
            placed[row] = placed[row].with_cells(cells)
        else:
            placed.insert(_place_of(line, placed, table), line)
    return placed


def _place_of(line: PdfLine, placed: Sequence[PdfLine], table: range) -> int:
    """Return the place of a late line: above the table, below a cell that it goes on, or last."""
    below = next((n for n in table if placed[n].bottom < line.bottom), len(placed))
    goes_on = below in table[1:] and _goes_on(placed[below - 1], line)
    return below if goes_on or below in table[:1] else len(placed)


def _goes_on(row: PdfLine, line: PdfLine) -> bool:
    """Return whether a line is below a cell of a row, and as narrow as its column."""
    rights = [*(cell.left for cell in row.cells[1:]), row.right]
    return any(
        abs(cell.left - line.left) <= _EDGE and line.right < right
        for cell, right in zip(row.cells, rights, strict=True)
    )


def _is_late(line: PdfLine, placed: Sequence[PdfLine]) -> bool:
    """Return whether a line stands above the one before it."""
    if not placed or line.row or not line.size or not any(map(str.isalnum, line.text)):
        return False
    return line.bottom > placed[-1].bottom + _SAME_LINE * line.size


def _table_of(line: PdfLine, placed: Sequence[PdfLine]) -> range:
    """Return the places of the rows around a late line; none if it is in no table."""
    for table in _tables(placed):
        rows = placed[table.start : table.stop]
        left, right = min(row.left for row in rows), max(row.right for row in rows)
        inside = left - _EDGE <= line.left and line.right <= right + _EDGE
        top, bottom = rows[0].top + _ABOVE * line.size, rows[-1].bottom
        if inside and bottom <= line.bottom and line.top <= top and _has_numbers(rows):
            return table
    return range(0)


def _tables(placed: Sequence[PdfLine]) -> Iterator[range]:
    """Yield the places of lines of several cells one below the other, the last ones first."""
    end = len(placed)
    first = max(0, end - _MOST_LINES)
    for place in range(end - 1, first - 2, -1):
        is_row = place >= first and _is_row(placed[place])
        descends = place + 1 == end or (is_row and placed[place].bottom > placed[place + 1].bottom)
        if is_row and descends:
            continue
        if end - place - 1 >= _LEAST_ROWS:
            yield range(place + 1, end)
        end = place + 1 if is_row else place


def _is_row(line: PdfLine) -> bool:
    return len(line.cells) >= _LEAST_CELLS and not line.row


def _has_numbers(rows: Sequence[PdfLine]) -> bool:
    numbered = sum(any(_NUMBER.match(cell.text) for cell in row.cells) for row in rows)
    return 2 * numbered >= len(rows)


def _has_room(row: PdfLine, line: PdfLine) -> bool:
    """Return whether a row is that of a late line, and has nothing where it stands."""
    higher = row.bottom - line.bottom
    if not -_SAME_LINE * line.size <= higher <= _BETWEEN_ROWS * line.size:
        return False
    return not any(share_width(cell, other) for cell in line.cells for other in row.cells)
