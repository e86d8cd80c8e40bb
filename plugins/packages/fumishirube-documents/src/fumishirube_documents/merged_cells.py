"""Repeats the text of a cell that is merged over several rows in each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_MOST_ROWS = 10_000
"""A cell merged over more rows is a mistake, or a margin."""


class MergedRows(NamedTuple):
    """The first and last row, from 1, and the column, from 0, of a cell merged over rows."""

    first: int
    last: int
    column: int


def with_merged_cells(
    rows: Iterable[tuple[int, Sequence[str]]], merged: Iterable[MergedRows]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows, each with the texts of the merged cells that it shares."""
    waiting = sorted((m for m in merged if 0 < m.last - m.first < _MOST_ROWS), reverse=True)
    shared: list[tuple[MergedRows, str]] = []
    for number, row in rows:
        cells = [*row]
        shared = [(cell, text) for cell, text in shared if cell.last >= number]
        for cell, text in shared:
            cells += [""] * (cell.column + 1 - len(cells))
            cells[cell.column] = cells[cell.column] or text
        while waiting and waiting[-1].first <= number:
            begun = waiting.pop()
            if begun.first == number and begun.column < len(cells) and cells[begun.column]:
                shared.append((begun, cells[begun.column]))
        yield number, cells
