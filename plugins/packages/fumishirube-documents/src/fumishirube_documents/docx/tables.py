"""Reads the tables of Word documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.blocks import blocks, nearest
from fumishirube_documents.docx.styles import value_of
from fumishirube_documents.docx.text import FALLBACK
from fumishirube_documents.markdown_rows import markdown_row

_MOST_COLUMNS = 64
"""The most columns that a cell may be wide."""


def table_lines(table: Element, text: Callable[[Element], str]) -> list[str]:
    """Return a table's rows as lines; a cell merged over rows is in each of them.

    ``text`` returns that of a paragraph; it is called once for each that is shown, in order.
    """
    rows = _rows(table, text)
    width = max(map(len, rows), default=0)
    written = [markdown_row([*row, *[""] * (width - len(row))]) for row in rows]
    rule = [f"|{' --- |' * width}"] if len(rows) > 1 else []
    return [*written[:1], *rule, *written[1:]]


def cells_of(table: Element) -> list[list[Element]]:
    """Return the cells of each row, without those of tables in them."""
    return [[*nearest(row, "tc")] for row in nearest(table, "tr")]


def shown_paragraphs(parent: Element) -> Iterator[Element]:
    """Yield the paragraphs of a table or cell, also those in text boxes."""
    return (p for p in parent.iter(qn("w:p")) if next(p.iterancestors(FALLBACK), None) is None)


def _rows(table: Element, text: Callable[[Element], str]) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in nearest(table, "tr"):
        cells = _cells(row, rows[-1] if rows else [], text)
        rows += [cells] if any(cells) else []
    return rows


def _cells(row: Element, above: Sequence[str], text: Callable[[Element], str]) -> list[str]:
    cells = [""] * _number(value_of(row.find(qn("w:trPr")), "gridBefore"), 0)
    for cell in nearest(row, "tc"):
        properties = cell.find(qn("w:tcPr"))
        merged = None if properties is None else properties.find(qn("w:vMerge"))
        goes_on = merged is not None and merged.get(qn("w:val")) != "restart"
        if goes_on and len(cells) < len(above):
            cells.append(above[len(cells)])
        else:
            cells.append(" ".join(" ".join(_words(cell, text)).split()))
        cells += [""] * (_number(value_of(properties, "gridSpan"), 1) - 1)
    return cells


def _words(cell: Element, text: Callable[[Element], str]) -> Iterator[str]:
    """Yield the texts of a cell or text box; a table in it is a list of its rows."""
    for block in blocks(cell):
        if block.tag == qn("w:tbl"):
            yield "; ".join(", ".join(filter(None, row)) for row in _rows(block, text))
        else:
            yield text(block)
            for box in nearest(block, "txbxContent"):
                yield from _words(box, text)


def _number(columns: str, default: int) -> int:
    """Return a number of columns, or the default one where nothing says it."""
    return min(int(columns), _MOST_COLUMNS) if columns.isdecimal() else default
