"""Tables of comma- or tab-separated values, each row with the header of its table."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import zip_longest
from statistics import mode

from fumishirube import Section
from fumishirube.text import Lines
from fumishirube_stages.divisions import PASSAGE_CHARS, PASSAGE_LINES, passages, sections_at

_DELIMITERS = ",;\t|"
_LOOKED_AT = 10
_LONGEST_HEADER = 1_000
_NAMED = re.compile(r'"?sep=([\t!#-/:-@\[-`{-~])"?[ \t]*\n', re.IGNORECASE)
"""The line above a table with which Excel writes and reads the delimiter."""
_QUOTED = re.compile('"[^"]*"')
_YEAR = re.compile("(?:19|20)[0-9]{2}")


def table_sections(text: str, title: str, suffix: str) -> tuple[Section, ...]:
    """Divide a table into passages of whole rows, with the header as title of each."""
    named = _NAMED.match(text)
    delimiter = named[1] if named else "\t" if suffix == ".tsv" else _delimiter(text)
    read = _rows(text, delimiter) or _rows(text, delimiter, quoted=False)
    if read is None:
        return passages(text, title)
    rows, starts = read
    lines = Lines(text)
    header = _header(rows[1:] if named else rows)
    begins = _passage_starts(lines, starts)
    if not header:
        return sections_at(text, lines, begins, [title] * len(begins))
    return sections_at(text, lines, begins, [header] * len(begins), title)


def _rows(
    text: str, delimiter: str, *, quoted: bool = True
) -> tuple[list[list[str]], list[int]] | None:
    """Return the first non-blank rows, and the first line of each row.

    ``None`` means an overlong field, a NUL character, or a row longer than a passage: what stands
    behind a quotation mark that nothing closes.
    """
    reader = csv.reader(
        StringIO(text),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    first: list[list[str]] = []
    starts, line = [], 1
    try:
        for row in reader:  # lines end at LF only
            if any(cell.strip() for cell in row):
                starts.append(line)
                if len(first) < _LOOKED_AT:
                    first.append(row)
            if reader.line_num - line >= PASSAGE_LINES:
                return None
            line = reader.line_num + 1
    except csv.Error:
        return None
    return first, starts


def _delimiter(text: str) -> str:
    """Return the delimiter that most of the first lines have equally often; a comma by default."""
    lines = [line for line in text[:10_000].split("\n") if {*line} & {*_DELIMITERS}][:_LOOKED_AT]
    plain = [_QUOTED.sub("", line) for line in lines]

    def regular(sign: str) -> tuple[int, int]:
        counts = Counter(line.count(sign) for line in plain if sign in line)
        return max(((lines, count) for count, lines in counts.items()), default=(0, 0))

    return max(_DELIMITERS, key=regular)


def _header(rows: Sequence[Sequence[str]]) -> str:
    """Return the names of the columns: those of the first row that is as long as most, or long.

    Banks write lines about the account above them.
    """
    most = mode(map(len, rows)) if rows else 0
    full = next((place for place, row in enumerate(rows) if len(row) >= most), 0)
    return _names(rows[full:]) or _names(rows)


def _names(rows: Sequence[Sequence[str]]) -> str:
    """Return the first row if it names columns: with several cells, and no numbers but years.

    A year is a name unless the row below has one, too.
    """
    row, below = [*rows[:2], (), ()][:2]
    cells = [" ".join(cell.split()) for cell in row]
    named = [cell for cell in cells if cell]
    pairs = zip_longest(cells, below[: len(cells)], fillvalue="")
    numbers = [(cell, under) for cell, under in pairs if cell and _is_number(cell)]
    years = all(_is_year(cell) and not _is_year(under) for cell, under in numbers)
    if len(named) < len("ab") or len(numbers) == len(named) or not years:
        return ""
    header = " | ".join(cells)
    return header if len(header) <= _LONGEST_HEADER else ""


def _is_number(cell: str) -> bool:
    return not cell.strip("0123456789.,-+%¥$€ ")


def _is_year(cell: str) -> bool:
    return _YEAR.fullmatch(cell.strip()) is not None


def _passage_starts(lines: Lines, rows: Sequence[int]) -> list[int]:
    starts = [1]
    for place, row in enumerate(rows):
        end = rows[place + 1] if place + 1 < len(rows) else lines.total + 1
        size = lines.start(end) - lines.start(starts[-1])
        full = end - starts[-1] > PASSAGE_LINES or size > PASSAGE_CHARS
        if full and row != starts[-1] and place:
            starts.append(row)
    return starts
