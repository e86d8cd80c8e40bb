"""Parses workbooks: one line a row, in sections under the header of the sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from io import BytesIO
from itertools import zip_longest
from typing import Any, NamedTuple

from fumishirube import Document, LoaderRemark, Section
from fumishirube.parsing import Place
from fumishirube_documents.html import parsed_html
from fumishirube_documents.locked_office import unlocked_old_sheet, unlocked_package
from fumishirube_documents.markdown_rows import markdown_row
from fumishirube_documents.merged_cells import MergedRows, merged_in_opendocument, with_merged_cells
from fumishirube_documents.number_formats import shown
from fumishirube_documents.opendocument_texts import with_plain_texts
from fumishirube_documents.packages import check_package
from fumishirube_documents.run_texts import TextRun, joined_runs
from fumishirube_documents.sheet_headers import MOST_HEADING, SheetRow, tables_of, trimmed
from fumishirube_documents.signatures import is_web_page

_FAULTS = (
    *(AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError),
    SyntaxError,  # of XML
)
"""What openpyxl raises of workbooks that it cannot read."""
_WORKBOOK, _OPENDOCUMENT = "an Excel workbook", "an OpenDocument file"
_OLD = b"\xd0\xcf\x11\xe0"
_SECTION_ROWS, _SECTION_CHARS = 30, 1_500
_MOST_ROWS = 1_048_576
_WEB_PAGE = {"ignored": (), "anchors": False, "main_text": False}
_BLOCK, _OVERLAP = 1024 * 1024, 16_384
_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"'
)
_UNCOUNTED = re.compile(rb"(?:</f>|<f\b[^<>]*/>)\s*(?:(?:<v\s*/>|<v></v>)\s*)?</c>")
_MOST_EMPTY = 10_000
"""The number of empty rows in a file after which reading stops; formats can make a million."""
_ESCAPED = re.compile("_x00([01][0-9A-Fa-f]|5[Ff])_")
"""How Excel writes a control character, and the sign that begins an escape."""


def parsed_xlsx(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a workbook, with numbers as the sheet shows them.

    Of one that openpyxl cannot read, such as a "Strict Open XML" workbook, values are read.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - older sheets do not need it

    data = unlocked_package(data, settings["passwords"], ".xlsx")
    check_package(data, settings["unpacked_bytes"], _WORKBOOK)
    # Most workbooks hold the value of each formula, and need not be opened again.
    written = cache(lambda: load_workbook(BytesIO(data), read_only=True).worksheets)
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True, rich_text=True)
        if book.worksheets:
            numbered = enumerate(book.worksheets)
            sheets = (_xlsx_sheet(sheet, number, written) for number, sheet in numbered)
            return _document(sheets, name, "xlsx")
    except _FAULTS:
        pass  # in cells, or in parts that values do not need, such as charts
    return _values(data, name, "xlsx")


def parsed_old_sheets(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse an older workbook or an OpenDocument sheet; values only.

    Many sites export a web page with a table under the suffix of a workbook; it is read as such.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    if is_web_page(data):
        return parsed_html(data, name, _WEB_PAGE)
    data = unlocked_old_sheet(data, settings["passwords"])
    if data.startswith(_OLD):
        return _values(data, name, "xls")
    kind = check_package(data, settings["unpacked_bytes"], _WORKBOOK, _OPENDOCUMENT)
    return _values(data, name, "ods" if kind == _OPENDOCUMENT else "xlsx")


def _values(data: bytes, name: str, file_type: str) -> Document:
    """Return a workbook of any format, with values only."""
    from python_calamine import CalamineWorkbook  # noqa: PLC0415 - newer ones do not need it

    merged: Mapping[str, Sequence[MergedRows]] = {}
    if file_type == "ods":
        data = with_plain_texts(data)
        merged = merged_in_opendocument(data)
    book = CalamineWorkbook.from_filelike(BytesIO(data))
    sheets = (
        _Sheet(
            about.name,
            [*_old_rows(book.get_sheet_by_name(about.name), merged.get(about.name, ()))],
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


def _xlsx_sheet(sheet: Any, number: int, written: Callable[[], Sequence[Any]]) -> _Sheet:
    """Return a sheet; ``written`` returns all with formulas instead of values."""
    merged, uncounted = _scanned(sheet)
    rows, bold, unread = _rows_with_content(sheet)
    if uncounted:
        rows = _with_formulas(rows, _rows_with_content(written()[number])[0])
    read = [*with_merged_cells(rows.items(), merged)]
    return _Sheet(sheet.title, read, sheet.sheet_state != "visible", unread, bold)


def _rows_with_content(sheet: Any) -> tuple[dict[int, list[str]], set[int], int]:
    """Return the rows by number, and that of the first row that is not read, or 0.

    Between them are the numbers of rows that are bold, of the few that may head a table.
    """
    sheet.reset_dimensions()  # the declared size may be wrong
    rows: dict[int, list[str]] = {}
    strikes = any(font.strike for font in sheet.parent._fonts)  # noqa: SLF001 - asking each cell is slow
    bold: set[int] = set()
    empty = together = 0
    for number, row in enumerate(sheet.iter_rows(max_row=_MOST_ROWS), start=1):
        cells = [_cell(cell, strikes=strikes) for cell in row]
        if any(cells):
            together = together + 1 if number - 1 in rows else 1
            rows[number], empty = cells, 0
            if together <= MOST_HEADING and all(c.font.bold for c in row if c.value is not None):
                bold.add(number)
        elif row and (empty := empty + 1) > _MOST_EMPTY:  # a row that no file holds costs nothing
            return rows, bold, number + 1
    return rows, bold, 0


def _cell(cell: Any, *, strikes: bool) -> str:
    """Return the text of a cell; ``strikes`` says whether any cell is struck through."""
    font = cell.font if strikes else None
    struck = font is not None and bool(font.strike)
    value = getattr(cell.value, "text", cell.value)  # formulas of arrays are objects
    if isinstance(value, list):  # a text whose parts look different
        value = joined_runs(_part(each, struck=struck) for each in value)
        struck = False
    if isinstance(value, str):
        value = _ESCAPED.sub(_unescaped, value)
    text = shown(value, getattr(cell, "number_format", "General"))
    return joined_runs([TextRun(text, is_struck=struck)]) if struck else text


def _part(part: Any, *, struck: bool) -> TextRun:
    """Return a part of a cell; ``struck`` says how it looks where it says nothing itself."""
    font = getattr(part, "font", None)
    if font is None:
        return TextRun(str(part), is_struck=struck)
    raises = font.vertAlign == "superscript"
    return TextRun(str(part), is_raised=raises, is_struck=bool(font.strike))


def _unescaped(match: re.Match[str]) -> str:
    return "_" if match[1].upper() == "5F" else " "


def _with_formulas(
    rows: Mapping[int, list[str]], written: Mapping[int, list[str]]
) -> dict[int, list[str]]:
    """Return rows with the formulas of the cells whose values no program has computed."""
    return {
        number: [
            value or formula
            for value, formula in zip_longest(rows.get(number, ()), formulas, fillvalue="")
        ]
        for number, formulas in written.items()
    }


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
    """A sheet, with the first row that is not read, or 0, and rows that are bold."""

    title: str
    rows: Sequence[SheetRow]
    hidden: bool
    unread: int = 0
    bold: AbstractSet[int] = frozenset()


def _document(sheets: Iterable[_Sheet], name: str, kind: str) -> Document:
    lines: list[str] = []
    places: list[Place] = []
    openings: list[tuple[int, str, str]] = []
    remarks = []
    for sheet in sheets:
        if sheet.hidden:
            remarks.append(LoaderRemark("hidden_sheet", len(lines) + 1, f"{sheet.title} is hidden"))
        _write_sheet(sheet, lines, places, openings)
        if sheet.unread:
            message = f"rows from {sheet.unread} are not read: {_MOST_EMPTY:,} empty ones are above"
            remarks.append(LoaderRemark("unread_rows", len(lines), message))
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(_sections(text, lines, openings, name))
    return Document("", kind, text, sections, places=tuple(places), remarks=tuple(remarks))


def _write_sheet(
    sheet: _Sheet,
    lines: list[str],
    places: list[Place],
    openings: list[tuple[int, str, str]],
) -> None:
    """Write a sheet, and add the lines on which its sections begin to ``openings``."""
    tables, title, header = tables_of(sheet.rows, sheet.bold), sheet.title, ""
    places.append(Place(len(lines) + 1, sheet=title))
    openings.append((len(lines) + 1, title, ""))
    lines.append(f"# {' '.join(title.split())}{' (hidden sheet)' if sheet.hidden else ''}")
    size = count = 0
    previous = -1
    for place, (number, cells) in enumerate(sheet.rows):
        line = markdown_row(trimmed(cells))
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
