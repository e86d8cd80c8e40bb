"""Parses workbooks: one line a row, in sections under the header of the sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from fumishirube import Document, LoaderRemark, Section
from fumishirube.parsing import Place
from fumishirube_documents.html import parsed_html
from fumishirube_documents.locked_office import unlocked_old_sheet, unlocked_package
from fumishirube_documents.merged_cells import MergedRows, merged_in_opendocument, with_merged_cells
from fumishirube_documents.number_formats import shown
from fumishirube_documents.packages import check_package
from fumishirube_documents.sheet_headers import SheetRow, tables_of, trimmed
from fumishirube_documents.signatures import check_type, is_web_page, type_of

_OPENDOCUMENT = "an OpenDocument file"
_SECTION_ROWS, _SECTION_CHARS = 30, 1_500
_MOST_ROWS = 1_048_576
_WEB_PAGE = {"ignored": (), "anchors": False, "main_text": False}
_BLOCK, _OVERLAP = 1024 * 1024, 16_384
_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"'
)
_UNCOUNTED = re.compile(rb"(?:</f>|<f\b[^<>]*/>)\s*(?:(?:<v\s*/>|<v></v>)\s*)?</c>")
_MOST_EMPTY = 10_000
"""The number of empty rows after which reading stops."""


def parsed_xlsx(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a workbook, with numbers as the sheet shows them.

    Of one that openpyxl does not know, such as a "Strict Open XML" workbook, values are read.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - older sheets do not need it

    data = unlocked_package(data, settings["passwords"], ".xlsx")
    check_type(data, "an Excel workbook")
    check_package(data, settings["unpacked_bytes"])
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    except (KeyError, TypeError, ValueError):  # faults in parts that values do not need
        return _values(data, name, "xlsx")
    if not book.worksheets:
        return _values(data, name, "xlsx")
    # Most workbooks hold the value of each formula, and need not be opened again.
    written = cache(lambda: load_workbook(BytesIO(data), read_only=True).worksheets)
    sheets = (
        _Sheet(sheet.title, _xlsx_rows(sheet, number, written), sheet.sheet_state != "visible")
        for number, sheet in enumerate(book.worksheets)
    )
    return _document(sheets, name, "xlsx")


def parsed_old_sheets(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse an older workbook or an OpenDocument sheet; values only.

    Many sites export a web page with a table under the suffix of a workbook; it is read as such.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    if is_web_page(data):
        return parsed_html(data, name, _WEB_PAGE)
    data = unlocked_old_sheet(data, settings["passwords"])
    check_type(data, "an Excel workbook", _OPENDOCUMENT)
    if type_of(data) is not None:
        check_package(data, settings["unpacked_bytes"])
    return _values(data, name, "xls" if data.startswith(b"\xd0\xcf") else "ods")


def _values(data: bytes, name: str, file_type: str) -> Document:
    """Return a workbook of any format, with values only."""
    from python_calamine import CalamineWorkbook  # noqa: PLC0415 - newer ones do not need it

    book = CalamineWorkbook.from_filelike(BytesIO(data))
    merged = merged_in_opendocument(data) if type_of(data) == _OPENDOCUMENT else {}
    sheets = (
        _Sheet(
            about.name,
            _old_rows(book.get_sheet_by_name(about.name), merged.get(about.name, ())),
            _is_hidden(about),
        )
        for about in book.sheets_metadata
        if about.name in book.sheet_names
    )
    document = _document(sheets, name, file_type)
    remark = LoaderRemark("values_only", 1, "numbers are values, not as the sheet shows them")
    return document._replace(remarks=(*document.remarks, remark))


def _is_hidden(about: Any) -> bool:
    return not str(about.visible).endswith("Visible")


def _xlsx_rows(sheet: Any, number: int, written: Callable[[], Sequence[Any]]) -> Iterator[SheetRow]:
    """Yield the rows of a sheet; ``written`` returns all with formulas instead of values."""
    merged, uncounted = _scanned(sheet)
    rows = _rows_with_content(sheet)
    if uncounted:
        rows = _with_formulas(rows, dict(_rows_with_content(written()[number])))
    yield from with_merged_cells(rows, merged)


def _rows_with_content(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    sheet.reset_dimensions()  # the declared size may be wrong
    empty = 0
    for number, row in enumerate(sheet.iter_rows(max_row=_MOST_ROWS), start=1):
        cells = [_cell(cell) for cell in row]
        empty = 0 if any(cells) else empty + 1
        if any(cells):
            yield number, cells
        if empty > _MOST_EMPTY:
            return


def _cell(cell: Any) -> str:
    formula = getattr(cell.value, "text", cell.value)  # formulas of arrays are objects
    return shown(formula, getattr(cell, "number_format", "General"))


def _with_formulas(
    rows: Iterable[tuple[int, list[str]]], written: Mapping[int, list[str]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the formulas of the cells whose values no program has computed."""
    values = dict(rows)
    for number, formulas in written.items():
        cells = values.get(number, [])
        cells += [""] * (len(formulas) - len(cells))
        pairs = zip(cells, [*formulas, *[""] * (len(cells) - len(formulas))], strict=True)
        yield number, [value or formula for value, formula in pairs]


def _scanned(sheet: Any) -> tuple[list[MergedRows], bool]:
    """Return the merged cells of a sheet, and whether formulas lack their values."""
    merged: list[MergedRows] = []
    uncounted, rest = False, b""
    with sheet._get_source() as source:  # noqa: SLF001 - reading rows drops what follows them
        while block := source.read(_BLOCK):
            text = rest + block
            uncounted = uncounted or _UNCOUNTED.search(text) is not None
            matches = [*_MERGED.finditer(text)]
            merged += [_merged_rows(match) for match in matches]
            rest = text[max(matches[-1].end() if matches else 0, len(text) - _OVERLAP) :]
    return merged, uncounted


def _merged_rows(match: re.Match[bytes]) -> MergedRows:
    column = 0
    for letter in match[1]:
        column = column * 26 + letter - ord("@")
    return MergedRows(int(match[2]), int(match[3]), column - 1)


def _old_rows(sheet: Any, known: Sequence[MergedRows]) -> Iterator[SheetRow]:
    """Yield the rows of a sheet; ``known`` are merged cells that the library does not tell."""
    merged = [
        MergedRows(first + 1, last + 1, column)
        for (first, column), (last, _) in sheet.merged_cell_ranges or ()
    ] or known
    yield from with_merged_cells(_plain_rows(sheet.to_python(skip_empty_area=False)), merged)


def _plain_rows(rows: Iterable[Sequence[object]]) -> Iterator[SheetRow]:
    for number, row in enumerate(rows, start=1):
        cells = ["" if cell == "" else shown(cell, "General") for cell in row]
        if any(cells):
            yield number, cells


class _Sheet(NamedTuple):
    title: str
    rows: Iterator[SheetRow]
    hidden: bool


def _document(sheets: Iterable[_Sheet], name: str, kind: str) -> Document:
    lines: list[str] = []
    places: list[Place] = []
    openings: list[tuple[int, str, str]] = []
    remarks = []
    for sheet in sheets:
        if sheet.hidden:
            remarks.append(LoaderRemark("hidden_sheet", len(lines) + 1, f"{sheet.title} is hidden"))
        _sheet(sheet, [*sheet.rows], lines, places, openings)
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(_sections(text, lines, openings, name))
    return Document("", kind, text, sections, places=tuple(places), remarks=tuple(remarks))


def _sheet(
    sheet: _Sheet,
    rows: Sequence[SheetRow],
    lines: list[str],
    places: list[Place],
    openings: list[tuple[int, str, str]],
) -> None:
    """Write a sheet, and add the lines on which its sections begin to ``openings``."""
    tables, title, header = tables_of(rows), sheet.title, ""
    places.append(Place(len(lines) + 1, sheet=title))
    openings.append((len(lines) + 1, title, ""))
    lines.append(f"# {' '.join(title.split())}{' (hidden sheet)' if sheet.hidden else ''}")
    size = count = 0
    previous = -1
    for place, (number, cells) in enumerate(rows):
        line = f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in trimmed(cells))} |"
        begins = place in tables
        if count and (begins or count >= _SECTION_ROWS or size + len(line) > _SECTION_CHARS):
            openings.append((len(lines) + 1, title, "" if begins else header))
            size = count = 0
        header = tables.get(place, header)
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
