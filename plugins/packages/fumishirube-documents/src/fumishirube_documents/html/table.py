"""Formats a table in Markdown, one line a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fumishirube_documents.html.spaces import joined, plain

_WIDEST, _HIGHEST = 64, 1_000
_MOST_COLUMNS = 1_000
"""The column from which a cell is in one column and one row only, and rows are not filled up."""

_SIGNATURE = "memname"
"""The class of a table in which Doxygen arranges the signature of a function."""
_PARTS = frozenset({"td", "th", "tr"})
_BEFORE, _WITHIN = re.compile(r" ([(),])"), re.compile(r"(\() ")


class _Cell(NamedTuple):
    """A cell, and over how many columns and rows it is."""

    text: str
    columns: int = 1
    rows: int = 1


class Table:
    """Collects the cells of a table while it is parsed."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._is_signature = _SIGNATURE in attributes.get("class", "").split()
        self._arranges = attributes.get("role") == "presentation"
        self._cells = self._heads = 0
        """How many cells of the row have begun, and how many of these are headers."""
        self._has_header = self._has_row_heads = False
        self.inner = 0
        """The number of open tables within the cell."""
        self._inner_rows = self._inner_cells = 0
        self._caption = ""
        self._rows: list[list[_Cell]] = []
        self._foot: list[list[_Cell]] = []
        self._in_foot = False
        """Whether rows are those of the foot, which is shown last wherever it is."""
        self._cell = _Cell("")

    def holds(self, *, heading: bool) -> bool:
        """Return whether code, a table or a ``heading`` in a cell is part of a row with headers."""
        if self._arranges:
            return False
        return self._has_header or (self._has_row_heads and not heading)

    def begin(self, tag: str, words: list[str], attributes: Mapping[str, str]) -> None:
        """Handle the start of a block in the table; ``words`` belong to its cell."""
        if self.inner or tag == "table":
            self._begin_inner(tag, words)
            return
        match tag:
            case "thead" | "tbody" | "tfoot":
                self._end_cell(words)
                self._in_foot = tag == "tfoot"
            case "tr":
                self._end_cell(words)
                self._part.append([])
                self._has_header |= self._heads == self._cells > 1
                self._cells = self._heads = 0
            case "td" | "th":
                self._end_cell(words)
                self._has_row_heads |= tag == "td" and self._heads == self._cells == 1
                self._cells, self._heads = self._cells + 1, self._heads + (tag == "th")
                columns = _number(attributes.get("colspan"), _WIDEST)
                self._cell = _Cell("", columns, _number(attributes.get("rowspan"), _HIGHEST))
            case "caption":
                self._end_cell(words)
            case "li":
                words.append(" - ")
            case _:
                words.append(" ")

    def end(self, tag: str, words: list[str]) -> None:
        """Handle the end of a block in the table."""
        if self.inner:
            self.inner -= tag == "table"
            words.append("" if tag in _PARTS else " ")
            return
        match tag:
            case "td" | "th":
                self._add(_taken(words))
            case "caption":
                self._caption = _taken(words)
            case "tr" | "tfoot":
                self._end_cell(words)
                self._in_foot = self._in_foot and tag != "tfoot"
            case _:
                words.append(" ")

    def _begin_inner(self, tag: str, words: list[str]) -> None:
        """Handle the start of a block in a table within a cell, which is written on its line."""
        while words and tag in _PARTS and not words[-1].strip():
            words.pop()
        match tag:
            case "table":
                self.inner += 1
                self._inner_rows = self._inner_cells = 0
                words.append(" ")
            case "tr":
                words.append("; " if self._inner_rows else " ")
                self._inner_rows, self._inner_cells = self._inner_rows + 1, 0
            case "td" | "th":
                words.append(": " if self._inner_cells else " ")
                self._inner_cells += 1
            case _:
                words.append(" ")

    def lines(self) -> Sequence[str]:
        """Return the caption and the rows; the first row is the header."""
        if self._is_signature:
            signature = " ".join(block.strip() for block in self.blocks())
            return [_WITHIN.sub(r"\1", _BEFORE.sub(r"\1", signature))]
        rows = [row for row in self._grid() if any(row)]
        width = min(max(map(len, rows), default=0), _MOST_COLUMNS)
        written = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        rule = [f"|{' --- |' * width}"] if len(rows) > 1 else []
        caption = [self._caption] if self._caption else []
        return [*caption, *written[:1], *rule, *written[1:]]

    def blocks(self) -> Sequence[str]:
        """Return the caption and the cells as separate blocks."""
        cells = [cell.text for row in (*self._rows, *self._foot) for cell in row]
        return [block.replace(r"\|", "|") for block in (self._caption, *cells) if block]

    def _grid(self) -> Iterator[list[str]]:
        """Yield the rows with each cell in its column; one over several rows is in each."""
        above: dict[int, _Cell] = {}
        for row in (*self._rows, *self._foot):
            texts: list[str] = []
            below: dict[int, _Cell] = {}
            cells = iter(row)
            while cell := above.pop(len(texts), None) or next(cells, None) or _gap(above, texts):
                if len(texts) >= _MOST_COLUMNS:
                    cell = _Cell(cell.text)
                if cell.rows > 1:
                    below[len(texts)] = cell._replace(rows=cell.rows - 1)
                texts += [cell.text, *[""] * (cell.columns - 1)]
            if any(cell.text for cell in row):
                yield texts
            above = below

    @property
    def _part(self) -> list[list[_Cell]]:
        return self._foot if self._in_foot else self._rows

    def _end_cell(self, words: list[str]) -> None:
        text = _taken(words)
        if text:
            self._add(text)

    def _add(self, text: str) -> None:
        if not self._part:
            self._part.append([])
        self._part[-1].append(self._cell._replace(text=text))
        self._cell = _Cell("")


def _gap(above: Mapping[int, _Cell], texts: Sequence[str]) -> _Cell | None:
    """Return an empty cell where a row ends before a cell from above."""
    return _Cell("") if any(column > len(texts) for column in above) else None


def _number(text: str | None, most: int) -> int:
    """Return the value of an attribute such as ``colspan``; 1 for what is none."""
    known = text is not None and text.isascii() and text.isdecimal() and len(text) < len("10000")
    return min(max(int(text), 1), most) if known and text else 1


def _taken(words: list[str]) -> str:
    text = plain(joined(words))
    words.clear()
    return text.replace("|", r"\|")
