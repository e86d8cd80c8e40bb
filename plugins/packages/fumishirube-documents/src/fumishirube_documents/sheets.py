"""Parses workbooks: one line a row, in sections under the header of the sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from fumishirube import Document, LoaderRemark, Section
from fumishirube.parsing import Place
from fumishirube_documents.number_formats import shown
from fumishirube_documents.packages import check_package

_SECTION_ROWS, _SECTION_CHARS = 30, 1_500
_LONGEST_HEADER = 1_000
_MOST_ROWS = 1_048_576
_MOST_EMPTY = 10_000
"""The number of empty rows after which reading stops."""

SheetRow = tuple[int, Sequence[str]]
"""A row with content: its number, and its cells."""


def parsed_xlsx(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a workbook, with numbers as the sheet shows them.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - older sheets do not need it

    check_package(data, settings["unpacked_bytes"], ".xlsx")
    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    sheets = ((sheet.title, _xlsx_rows(sheet)) for sheet in book.worksheets)
    return _document(sheets, name, "xlsx")


def parsed_old_sheets(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse an older workbook or an OpenDocument sheet; values only."""
    from python_calamine import CalamineWorkbook  # noqa: PLC0415 - newer ones do not need it

    del settings
    book = CalamineWorkbook.from_filelike(BytesIO(data))
    sheets = (
        (sheet, _plain_rows(book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)))
        for sheet in book.sheet_names
    )
    document = _document(sheets, name, "xls" if data.startswith(b"\xd0\xcf") else "ods")
    remark = LoaderRemark("values_only", 1, "numbers are values, not as the sheet shows them")
    return document._replace(remarks=(remark,))


def _xlsx_rows(sheet: Any) -> Iterator[SheetRow]:
    sheet.reset_dimensions()  # the declared size may be wrong
    empty = 0
    for number, row in enumerate(sheet.iter_rows(max_row=_MOST_ROWS), start=1):
        cells = [shown(cell.value, getattr(cell, "number_format", "General")) for cell in row]
        empty = 0 if any(cells) else empty + 1
        if any(cells):
            yield number, cells
        if empty > _MOST_EMPTY:
            return


def _plain_rows(rows: Iterable[Sequence[object]]) -> Iterator[SheetRow]:
    for number, row in enumerate(rows, start=1):
        cells = ["" if cell == "" else shown(cell, "General") for cell in row]
        if any(cells):
            yield number, cells


class _SheetLine(NamedTuple):
    text: str
    place: Place


def _document(sheets: Iterable[tuple[str, Iterator[SheetRow]]], name: str, kind: str) -> Document:
    lines: list[str] = []
    places: list[Place] = []
    openings: list[tuple[int, str, str]] = []
    for title, rows in sheets:
        _sheet(title, [*rows], lines, places, openings)
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(_sections(text, lines, openings, name))
    return Document("", kind, text, sections, places=tuple(places))


def _sheet(
    title: str,
    rows: Sequence[SheetRow],
    lines: list[str],
    places: list[Place],
    openings: list[tuple[int, str, str]],
) -> None:
    """Write a sheet, and add the lines on which its sections begin to ``openings``."""
    header = _header(rows)
    places.append(Place(len(lines) + 1, sheet=title))
    openings.append((len(lines) + 1, title, ""))
    lines.append(f"# {' '.join(title.split())}")
    size = count = 0
    previous = -1
    for number, cells in rows:
        line = f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in _trimmed(cells))} |"
        if count and (count >= _SECTION_ROWS or size + len(line) > _SECTION_CHARS):
            openings.append((len(lines) + 1, title, header))
            size = count = 0
        if number != previous + 1:
            places.append(Place(len(lines) + 1, sheet=title, row=number))
        lines.append(line)
        size, count, previous = size + len(line), count + 1, number


def _sections(
    text: str, lines: Sequence[str], openings: Sequence[tuple[int, str, str]], name: str
) -> Iterator[Section]:
    starts, offset = [], 0
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    ends = [*(opening[0] for opening in openings[1:]), len(lines) + 1]
    for (first, title, header), after in zip(openings, ends, strict=True):
        start = starts[first - 1]
        end = starts[after - 1] if after <= len(lines) else len(text)
        above = (name, header) if header else (name,)
        yield Section(title, first, after - 1, start, end, end, start, ancestors=above)


def _header(rows: Sequence[SheetRow]) -> str:
    """Return the first row with column names: several cells, all of them texts."""
    for _, cells in rows[:10]:
        named = [cell for cell in _trimmed(cells) if cell]
        if len(named) >= len("ab"):
            header = " | ".join(_trimmed(cells))
            texts = all(cell.strip("0123456789.,-+%¥$€() ") for cell in named)
            return header if texts and len(header) <= _LONGEST_HEADER else ""
    return ""


def _trimmed(cells: Sequence[str]) -> list[str]:
    filled = [place for place, cell in enumerate(cells) if cell]
    return [*cells[: filled[-1] + 1]] if filled else []
