"""Finds where the tables of a sheet begin, and their headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, zip_longest

SheetRow = tuple[int, Sequence[str]]
"""A row with content: its number, and its cells."""

_LONGEST_HEADER = 1_000
_LEAST_NAMES = 2
_TITLE_ROWS = 10
"""The number of rows in which the first table of a sheet has its header."""
_CAPTION_ROWS = 3
"""The same of a table below another one."""
MOST_HEADING = _CAPTION_ROWS + 1
"""The number of rows below an empty one of which it matters whether they are bold."""
_MOST_LEVELS = 3
_LOOKED_AT = 3
"""The number of rows below a header of which one has a value."""
_MOST_ROWS = _CAPTION_ROWS + _MOST_LEVELS + _LOOKED_AT
_VALUE_SIGNS = "0123456789.,-+%¥$€() "
_WITH_RAW = re.compile(r".* \(-?[\d.]+(?:-\d\d-\d\d)?\)")
"""A value as the sheet shows it, and itself."""
_YEAR = re.compile("(?:19|20)[0-9]{2}")


def tables_of(rows: Sequence[SheetRow], bold: AbstractSet[int] = frozenset()) -> Mapping[int, str]:
    """Return the places in ``rows`` where tables begin, with the header of each.

    The first begins with the sheet. Another one begins below an empty row, with a header above
    values, or whose header is bold; ``bold`` has the numbers of rows that are.
    """
    tables = {0: _header(rows, _TITLE_ROWS)}
    for place in range(1, len(rows)):
        if rows[place][0] != rows[place - 1][0] + 1:
            below = [*_without_gap(rows[place : place + _MOST_ROWS])]
            above_values = not _is_marked(below, bold)
            if header := _header(below, _CAPTION_ROWS, above_values=above_values):
                tables[place] = header
    return tables


def _is_marked(rows: Sequence[SheetRow], bold: AbstractSet[int]) -> bool:
    """Return whether the first row with several cells is bold, above one that is not."""
    for (number, cells), (below, _) in pairwise(rows[:MOST_HEADING]):
        if sum(map(bool, cells)) >= _LEAST_NAMES:
            return number in bold and below not in bold
    return False


def _without_gap(rows: Sequence[SheetRow]) -> Iterator[SheetRow]:
    """Yield the rows up to the next empty one."""
    for count, row in enumerate(rows):
        if row[0] != rows[0][0] + count:
            return
        yield row


def _header(rows: Sequence[SheetRow], most: int, *, above_values: bool = False) -> str:
    """Return the first row with several cells if all are names, with the rows that divide it.

    It is one of the first ``most`` rows.
    """
    for place, (_, cells) in enumerate(rows[:most]):
        if sum(map(bool, cells)) < _LEAST_NAMES:
            continue
        levels = _levels([each for _, each in rows[place : place + _MOST_LEVELS + 1]])
        below = rows[place + len(levels) : place + len(levels) + _LOOKED_AT]
        if not are_names(cells) or (above_values and not any(_has_value(row) for _, row in below)):
            return ""
        header = " | ".join(trimmed(_joined(levels)))
        return header if len(header) <= _LONGEST_HEADER else ""
    return ""


def _levels(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return the rows of a header: each divides columns of that above it, and values follow."""
    for count in range(min(_MOST_LEVELS, len(rows) - 1), 1, -1):
        levels, values = rows[:count], rows[count]
        if all(map(are_names, levels)) and _divide(levels, values):
            return levels
    return rows[:1]


def _divide(levels: Sequence[Sequence[str]], values: Sequence[str]) -> bool:
    """Return whether each row names columns that the row above it does not, above values."""
    return all(
        any(
            name and not above and _is_value(value)
            for above, name, value in zip_longest(upper, lower, values, fillvalue="")
        )
        for upper, lower in pairwise(levels)
    )


def _joined(levels: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the columns: those of groups before those of their parts."""
    *groups, last = levels
    names = [*last]
    for row in reversed(groups):
        group = ""
        wider = [*row, *[""] * (len(names) - len(row))]
        names += [""] * (len(wider) - len(names))
        for column, cell in enumerate(wider):
            group = cell or (group if names[column] else "")
            repeated = names[column] == group or names[column].startswith(f"{group} ")
            names[column] = names[column] if repeated else f"{group} {names[column]}".strip()
    return names


def are_names(cells: Sequence[str]) -> bool:
    """Return whether cells may name columns: there are several texts, and years beside them."""
    named = [cell for cell in cells if cell]
    years = sum(map(bool, map(_YEAR.fullmatch, named)))
    texts = sum(not _is_value(cell) for cell in named)
    return texts + years == len(named) and texts > 0


def _has_value(cells: Sequence[str]) -> bool:
    return any(map(_is_value, cells))


def _is_value(cell: str) -> bool:
    """Return whether a cell holds a number or a date."""
    bare = cell.strip("~")  # without the marks of what is struck through
    return bool(bare) and (not bare.strip(_VALUE_SIGNS) or _WITH_RAW.fullmatch(bare) is not None)


def trimmed(cells: Sequence[str]) -> list[str]:
    """Return cells without the empty ones at the end."""
    filled = [place for place, cell in enumerate(cells) if cell]
    return [*cells[: filled[-1] + 1]] if filled else []
