"""Repeats the text of a cell of a sheet that is merged over several rows in each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import NamedTuple
from zipfile import ZipFile

from lxml import etree

_MOST_ROWS = 10_000
"""A cell merged over more rows is a mistake, or a margin."""


class MergedRows(NamedTuple):
    """The first and last row, from 1, and the column, from 0, of a cell merged over rows."""

    first: int
    last: int
    column: int


_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


def merged_in_opendocument(data: bytes) -> Mapping[str, Sequence[MergedRows]]:
    """Return the cells that are merged over rows in an OpenDocument file, by sheet."""
    merged = defaultdict[str, list[MergedRows]](list)
    sheet, row, column = "", 0, 0
    with ZipFile(BytesIO(data)) as package, package.open("content.xml") as content:
        reader = etree.iterparse(
            content, events=("start", "end"), resolve_entities=False, no_network=True
        )
        for event, element in reader:
            name = str(element.tag).removeprefix(_TABLE)
            if event == "end":
                row += _number(element, "rows-repeated") if name == "table-row" else 0
                element.clear()
            elif name == "table":
                sheet, row = element.get(f"{_TABLE}name", ""), 1
            elif name == "table-row":
                column = 0
            elif name in {"table-cell", "covered-table-cell"}:
                if (rows := _number(element, "rows-spanned")) > 1:
                    merged[sheet].append(MergedRows(row, row + rows - 1, column))
                column += _number(element, "columns-repeated")
    return merged


def _number(element: etree._Element, name: str) -> int:
    text = element.get(f"{_TABLE}number-{name}", "1")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len("10000000") else 1


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
