"""Recognises rows of several lines in tables without rules, by the space between lines.

In such a row lines are closer than the rows are. The columns come from the white space below each
other in all lines, as in pdf2table (Yildiz, Kaiser and Miksch, 2005).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

from fumishirube_documents.pdf_lines import Cell, PdfLine, continued
from fumishirube_documents.pdf_tables import (
    LEAST_ROWS,
    ROW_STEP,
    Gutter,
    column_of,
    gutters_of,
    table_row,
    without_parts,
)

Band: TypeAlias = list[PdfLine]
"""The lines of a row; each has the cells at one height."""

_SAME_HEIGHT = 0.4
_LEADING = 1.45
"""The most distance of lines in a row, in letter sizes."""
_LEAST_JUMP = 1.15
"""The least ratio of the distances of rows and of lines in a row."""
_WIDEST = 0.6
"""The most width of a line in one column, as a share of the table's."""
_NAMED = 0.8
"""The least share of rows with text in the first column."""
_NUMBER = re.compile(r"[\s$€£¥(+\-−–—△]*\d[\d,.]*[\s)%]*")


def with_wrapped_rows(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the lines; those of tables with rows of several lines as one line a row."""
    begin = 0
    for first, end in _regions(lines):
        yield from lines[begin:first]
        yield from _rows(lines[first:end])
        begin = end
    yield from lines[begin:]


def _regions(lines: Sequence[PdfLine]) -> Iterator[tuple[int, int]]:
    """Yield the first line, and the line after the last, of what may be a table."""
    several = [number for number, line in enumerate(lines) if len(line.cells) > 1 and not line.row]
    begin = last = None
    for number in several:
        if last is not None and all(
            _near(lines[n], lines[n + 1]) and _narrow(lines[n + 1], lines[last])
            for n in range(last, number)
        ):
            last = number
            continue
        if begin is not None and last is not None:
            yield begin, _end(lines, last)
        begin = last = number
    if begin is not None and last is not None:
        yield begin, _end(lines, last)


def _end(lines: Sequence[PdfLine], last: int) -> int:
    """Return the line after a table, of which ``last`` is the last line with several cells."""
    second = lines[last].cells[1].left - lines[last].size
    end = last + 1
    while (
        end < len(lines)
        and lines[end].left >= second
        and _near(lines[end - 1], lines[end])
        and _narrow(lines[end], lines[last])
    ):
        end += 1
    return end


def _near(line: PdfLine, following: PdfLine) -> bool:
    return abs(line.bottom - following.bottom) < ROW_STEP * max(line.size, following.size)


def _narrow(line: PdfLine, wide: PdfLine) -> bool:
    return not line.row and (
        len(line.cells) > 1 or line.right - line.left <= _WIDEST * (wide.right - wide.left)
    )


def _rows(lines: Sequence[PdfLine]) -> Sequence[PdfLine]:
    """Return the rows of a table, or the same lines where no row has several."""
    level = _levels(lines)
    bands = _bands(level)
    if len(bands) <= LEAST_ROWS or len(bands) == len(level):
        return lines
    gutters = gutters_of([line for line in level if len(line.cells) > 1])
    if not gutters or any(_crosses(line, gutters) for line in level):
        return lines
    columns = [_columns(band, gutters) for band in bands]
    named = sum(1 for cells in columns if cells[0])
    if named < _NAMED * len(bands) or not _are_rows(bands, columns):
        return lines
    texts = without_parts(
        [[reduce(continued, (cell.text for cell in cells), "") for cells in row] for row in columns]
    )
    return [
        _row(band, row, goes_on=number > 0)
        for number, (band, row) in enumerate(zip(bands, texts, strict=True))
    ]


def _levels(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines from top to bottom; those at one height as one."""
    level: list[PdfLine] = []
    for line in sorted(lines, key=lambda line: -line.base):
        above = level[-1] if level else None
        if above is None or above.base - line.base > _SAME_HEIGHT * max(above.size, line.size):
            level.append(line)
            continue
        cells = sorted((*above.cells, *line.cells), key=lambda cell: cell.left)
        level[-1] = above._replace(
            left=min(above.left, line.left),
            right=max(above.right, line.right),
            bottom=min(above.bottom, line.bottom),
            top=max(above.top, line.top),
            size=max(above.size, line.size),
            cells=tuple(cells),
        )
    return level


def _bands(level: Sequence[PdfLine]) -> list[Band]:
    """Divide lines where they are farther apart than lines in a row."""
    steps = sorted((above.base - line.base) / max(above.size, line.size)
                   for above, line in pairwise(level))  # fmt: skip
    jumps = [
        (large / max(small, 0.1), small) for small, large in pairwise(steps) if small <= _LEADING
    ]
    jump, most = max(jumps, default=(0.0, 0.0))
    if jump < _LEAST_JUMP:
        return [[line] for line in level]
    bands: list[Band] = [[level[0]]]
    for above, line in pairwise(level):
        if (above.base - line.base) / max(above.size, line.size) > most:
            bands.append([])
        bands[-1].append(line)
    return bands


def _crosses(line: PdfLine, gutters: Sequence[Gutter]) -> bool:
    """Return whether the only cell of a line is in several columns."""
    return len(line.cells) == 1 and any(
        line.left < gutter.left and line.right > gutter.right for gutter in gutters
    )


def _columns(band: Band, gutters: Sequence[Gutter]) -> list[list[Cell]]:
    columns: list[list[Cell]] = [[] for _ in range(len(gutters) + 1)]
    for line in band:
        for cell in line.cells:
            columns[column_of(cell, gutters, first=cell is line.cells[0])].append(cell)
    return columns


def _are_rows(bands: Sequence[Band], columns: Sequence[list[list[Cell]]]) -> bool:
    """Return whether bands are rows: numbers do not go on, and not all cells have as many lines."""
    several = [row for band, row in zip(bands, columns, strict=True) if len(band) > 1]
    for row in several:
        if any(sum(1 for cell in cells if _NUMBER.fullmatch(cell.text)) > 1 for cells in row):
            return False
    even = 0
    for row in several:
        counts = [len(cells) for cells in row if cells]
        even += counts[0] > 1 and 2 * counts.count(counts[0]) > len(counts)
    return 2 * even <= len(several)


def _row(band: Band, texts: Sequence[str], *, goes_on: bool) -> PdfLine:
    return band[0]._replace(
        text=" ".join(text for text in texts if text),
        left=min(line.left for line in band),
        bottom=min(line.bottom for line in band),
        right=max(line.right for line in band),
        top=max(line.top for line in band),
        cells=(),
        row=table_row(texts),
        goes_on=goes_on,
        broken=False,
    )
