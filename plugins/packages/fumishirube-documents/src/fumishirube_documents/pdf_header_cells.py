"""Puts the lines of a table's header side by side that are drawn cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from fumishirube_documents.pdf_lines import Cell, PdfLine, continued, share_width

_MOST_LINES = 3
_MOST_CHARS = 24
_FOLLOWING = 3
_STEP = 1.6
"""The most distance of two lines of a cell, in letter sizes."""
_SAME_HEIGHT = 0.4


def with_header_rows(parts: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the parts of lines; of a header with cells of several lines, one line with its cells.

    Such a header is drawn cell by cell: below each other the lines of a cell, then those of the
    next one, which begin higher and to the right. All its cells have as many lines.
    """
    begin = 0
    while begin < len(parts):
        columns = [*_columns(parts, begin)]
        end = begin + sum(map(len, columns))
        lengths = {*map(len, columns)}
        stacked = len(columns) > 1 and len(lengths) == 1 and max(lengths) > 1
        after = parts[end : end + _FOLLOWING]
        if stacked and any(len(line.cells) >= len(columns) for line in after):
            yield _header(columns)
            begin = end
        else:
            yield parts[begin]
            begin += 1


def _header(columns: Sequence[Sequence[PdfLine]]) -> PdfLine:
    """Return the cells side by side, as one line at the height of their last ones."""
    cells = [
        Cell(
            reduce(continued, (line.text for line in column), ""),
            min(line.left for line in column),
            max(line.right for line in column),
        )
        for column in columns
    ]
    lines = [line for column in columns for line in column]
    return columns[0][-1]._replace(
        text=" ".join(cell.text for cell in cells),
        left=cells[0].left,
        right=cells[-1].right,
        bottom=min(line.bottom for line in lines),
        top=max(line.top for line in lines),
        cells=tuple(cells),
        bold=all(line.bold for line in lines),
    )


def _columns(parts: Sequence[PdfLine], begin: int) -> Iterator[list[PdfLine]]:
    """Yield the cells that may be a header from a place on: each the lines that it has."""
    top = parts[begin].bottom
    column: list[PdfLine] = []
    for line in parts[begin:]:
        if not _is_short(line):
            break
        if column and _is_below(column[-1], line) and len(column) < _MOST_LINES:
            column.append(line)
        elif not column or _is_beside(column, line, top):
            if column:
                yield column
            column = [line]
        else:
            break
    if column:
        yield column


def _is_short(line: PdfLine) -> bool:
    return len(line.cells) == 1 and not line.row and 0 < len(line.text) <= _MOST_CHARS


def _is_below(above: PdfLine, line: PdfLine) -> bool:
    step = above.bottom - line.bottom
    near = _SAME_HEIGHT * line.size < step <= _STEP * line.size
    return near and share_width(line, above)


def _is_beside(column: Sequence[PdfLine], line: PdfLine, top: float) -> bool:
    right = max(each.right for each in column)
    near = abs(line.bottom - top) <= _MOST_LINES * line.size
    return near and line.left >= right and line.bottom > column[-1].bottom - line.size
