"""Puts text that is drawn line by line across columns into the order of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fumishirube.text import is_cjk
from fumishirube_documents.pdf_lines import Cell, PdfLine
from fumishirube_documents.pdf_tables import Gutter, tables_in

_LEAST_LINES = 4
_MOST_COLUMNS = 3
_LEAST_LETTERS = 12
"""The least number of letters in the middle line of a column; that of a table cell is shorter."""
_CONTINUED = 0.4
"""The share of lines of running text that do not begin a sentence."""
_FILLED, _FULL = 0.7, 0.85
"""The share of lines of Japanese text that are nearly as wide as the column."""
_MOST_DIGITS = 0.15


def in_columns(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the lines; where several columns of running text share lines, one column at a time."""
    begin = 0
    for first, end, gutters in tables_in(lines):
        columns = _columns(lines[first:end], gutters)
        if 1 < len(columns) <= _MOST_COLUMNS and all(map(_is_running_text, columns)):
            yield from lines[begin:first]
            yield from (line for column in columns for line in column)
            begin = end
    yield from lines[begin:]


def _columns(lines: Sequence[PdfLine], gutters: Sequence[Gutter]) -> list[list[PdfLine]]:
    columns: list[list[PdfLine]] = [[] for _ in range(len(gutters) + 1)]
    for line in lines:
        cells: list[list[Cell]] = [[] for _ in columns]
        for cell in line.cells:
            cells[sum(1 for gutter in gutters if cell.left > gutter.left)].append(cell)
        for column, own in zip(columns, cells, strict=True):
            if own:
                column.append(line.with_cells(own))
    return columns


def _is_running_text(column: Sequence[PdfLine]) -> bool:
    texts = [line.text for line in column]
    letters = "".join(texts)
    if len(texts) < _LEAST_LINES or sorted(map(len, texts))[len(texts) // 2] < _LEAST_LETTERS:
        return False
    if sum(map(str.isdigit, letters)) > _MOST_DIGITS * len(letters):
        return False
    if sum(map(is_cjk, letters)) > len(letters) / 2:
        widths = [line.right - line.left for line in column]
        full = sum(1 for width in widths if width >= _FULL * max(widths))
        return full >= _FILLED * len(widths)
    return sum(text[0].islower() for text in texts) >= _CONTINUED * len(texts)
