"""Tables of comma- or tab-separated values, each row with the header of its table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from statistics import mode

from fumishirube import Section
from fumishirube.text import Lines
from fumishirube_stages.loaders.divisions import (
    PASSAGE_CHARS,
    PASSAGE_LINES,
    passages,
    sections_at,
)

_DELIMITERS = ",;\t|"
_LOOKED_AT = 10
_LONGEST_HEADER = 1_000


def table_sections(text: str, title: str, suffix: str) -> tuple[Section, ...]:
    """Divide a table into passages of whole rows, with the header as title of each."""
    try:
        rows, starts = _rows(text, "\t" if suffix == ".tsv" else _delimiter(text))
    except csv.Error:  # an overlong field, or a NUL character
        return passages(text, title)
    lines = Lines(text)
    header = _header(rows)
    begins = _passage_starts(lines, starts)
    if not header:
        return sections_at(text, lines, begins, [title] * len(begins))
    return sections_at(text, lines, begins, [header] * len(begins), title)


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first non-blank rows, and the first line of each row."""
    reader = csv.reader(StringIO(text), delimiter=delimiter)  # lines end at LF only
    first: list[list[str]] = []
    starts, line = [], 1
    for row in reader:
        if any(cell.strip() for cell in row):
            starts.append(line)
            if len(first) < _LOOKED_AT:
                first.append(row)
        line = reader.line_num + 1
    return first, starts


def _delimiter(text: str) -> str:
    """Return the delimiter that is most regular in the first lines; a comma by default."""
    lines = [line for line in text[:10_000].split("\n") if {*line} & {*_DELIMITERS}][:_LOOKED_AT]
    return max(_DELIMITERS, key=lambda sign: min((line.count(sign) for line in lines), default=0))


def _header(rows: Sequence[Sequence[str]]) -> str:
    """Return the names of the columns: those of the first row that is as long as most, or long.

    Banks write lines about the account above them.
    """
    most = mode(map(len, rows)) if rows else 0
    full = next((row for row in rows if len(row) >= most), ())
    return _names(full) or _names(rows[0] if rows else ())


def _names(row: Sequence[str]) -> str:
    """Return a row if it names columns: it has several cells, and none of them is a number."""
    cells = [" ".join(cell.split()) for cell in row]
    named = [cell for cell in cells if cell]
    if len(named) < len("ab") or any(_is_number(cell) for cell in named):
        return ""
    header = " | ".join(cells)
    return header if len(header) <= _LONGEST_HEADER else ""


def _is_number(cell: str) -> bool:
    return not cell.strip("0123456789.,-+%¥$€ ")


def _passage_starts(lines: Lines, rows: Sequence[int]) -> list[int]:
    starts = [1]
    for place, row in enumerate(rows):
        end = rows[place + 1] if place + 1 < len(rows) else lines.total + 1
        size = lines.start(end) - lines.start(starts[-1])
        full = end - starts[-1] > PASSAGE_LINES or size > PASSAGE_CHARS
        if full and row != starts[-1] and place:
            starts.append(row)
    return starts
