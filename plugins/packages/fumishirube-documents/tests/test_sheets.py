"""Sheets: rows below their header, and values as a sheet shows them."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import openpyxl.chart
import pytest
import samples
from fumishirube_documents import OldSheets, Xlsx
from fumishirube_documents.number_formats import shown
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import line_of, load

from fumishirube.parsing import PlaceRange, lines_of, place_at, place_range
from fumishirube.text import Lines


def test_rows_know_their_sheet_and_number(tmp_path: Path) -> None:
    document = load(tmp_path, "prices.xlsx", samples.workbook(), Xlsx())
    place = place_at(document.places, line_of(document, "| A-77 |"))
    assert place is not None
    assert (place.sheet, place.row) == ("Prices", 78)
    place = place_at(document.places, line_of(document, "| total | 3 |"))
    assert place is not None
    assert (place.sheet, place.row) == ("Q1 plan!", 5)
    wanted = PlaceRange("row", 78, 79, "Prices")
    first, last = lines_of(document.places, wanted, Lines(document.text).total) or (0, 0)
    assert document.text.split("\n")[first - 1 : last] == [
        "| A-77 | ¥77,000 (77000) | 7.7% (0.077) | 令和6年4月1日 (2024-04-01) |",
        "| A-78 | ¥78,000 (78000) | 7.8% (0.078) | 令和6年4月1日 (2024-04-01) |",
    ]


def test_rows_stand_under_the_header_of_their_sheet(tmp_path: Path) -> None:
    document = load(tmp_path, "prices.xlsx", samples.workbook(), Xlsx())
    first, *others = (each for each in document.sections if each.title == "Prices")
    assert len(others) >= 3
    assert {each.ancestors for each in others} == {("prices", "Part | Price | Share | Since")}
    for section in others:
        lines = place_range(document.places, section.start_line, section.end_line)
        assert lines is not None
        assert lines.last - lines.first < 30
    assert str(place_range(document.places, first.start_line, first.end_line)).startswith(
        "Prices!R1-R"
    )


def test_other_sheets_are_read_as_values(tmp_path: Path) -> None:
    document = load(tmp_path, "prices.ods", samples.workbook(), OldSheets())
    assert "| A-77 | 77000 | 0.077 | 2024-04-01 |" in document.text
    assert [remark.code for remark in document.remarks] == ["values_only"]


def test_what_a_sheet_says_of_its_size_is_not_believed(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["XFD1048576"] = "far away"
    book.active["A1"] = "here"
    buffer = io.BytesIO()
    book.save(buffer)
    assert "| here |" in load(tmp_path, "a.xlsx", buffer.getvalue(), Xlsx()).text


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.125, "0.0%", "12.5% (0.125)"),
        (0.5, "0%", "50% (0.5)"),
        (1234567, "#,##0", "1,234,567 (1234567)"),
        (-1234.5, "#,##0.00;-#,##0.00", "-1,234.50 (-1234.5)"),
        (-1234, "#,##0;(#,##0)", "(1,234) (-1234)"),
        (-5, "#,##0;[Red]△#,##0", "△5 (-5)"),
        (1500, '"¥"#,##0', "¥1,500 (1500)"),
        (1500, "[$¥-411]#,##0", "¥1,500 (1500)"),
        (3, '0"個"', "3個 (3)"),
        (9.5, '#,##0.00" kg"', "9.50 kg (9.5)"),
        (1234.5, '#,##0.00 "USD"', "1,234.50 USD (1234.5)"),
        (5, '0 "°C"', "5 °C (5)"),
        (3, '0 "m" "x"', "3 m x (3)"),
        (-1500, '"approx." #,##0', "-approx. 1,500 (-1500)"),
        (1500, "[$USD] #,##0.00", "USD 1,500.00 (1500)"),
        (-1500, " [$USD] #,##0 ", "-USD 1,500 (-1500)"),
        (1500, '_ "¥"* #,##0_ ', "¥1,500 (1500)"),
        (7, 'General"人"', "7人 (7)"),
        (-2.5, '"No. "General" kg"', "-No. 2.5 kg (-2.5)"),
        (-3, "General;-General", "-3"),
        (3, '"General "0', "General 3 (3)"),
        (3, '[>2]General" kg";General', "3"),
        (1234567, '#,##0,"千円"', "1,235千円 (1234567)"),
        (123456789, '#,##0.0,,"百万円"', "123.5百万円 (123456789)"),
        (-1234567, "#,##0,;△#,##0,", "△1,235 (-1234567)"),
        (1500, '[>=1000]#,##0,"K";0', "1500"),
        (12, "0000", "0012 (12)"),
        (1600022, "000-0000", "160-0022 (1600022)"),
        (20240401, '0000"/"00"/"00', "2024/04/01 (20240401)"),
        (1.5, '0000"/"00', "1.5"),
        (2.5, '0"個"', "3個 (2.5)"),
        (1.005, "0.00", "1.01 (1.005)"),
        (1.5, "0.##", "1.5"),
        (-1500, '"¥"#,##0', "-¥1,500 (-1500)"),
        (12345.678, "0.00E+00", "12345.678"),
        (1e300, "#,##0", "1e+300"),
        (1234, "#,##0_);(#,##0)", "1,234 (1234)"),
        (-1234, "#,##0_);(#,##0)", "(1,234) (-1234)"),
        (1234, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', "1,234.00 (1234)"),
        (-1234, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', "(1,234.00) (-1234)"),
        (1234, r"_-* #,##0.00\ _€_-;\-* #,##0.00\ _€_-", "1,234.00 (1234)"),
        (-1234, r"_-* #,##0.00\ _€_-;\-* #,##0.00\ _€_-", "-1,234.00 (-1234)"),
        (1.5, "0.0_ ", "1.5"),
        (5, '0"%"', "5% (5)"),
        (12.5, r"0.0\%", "12.5% (12.5)"),
        (7, '0.0" E/?"', "7.0 E/? (7)"),
        (5, '000"("000")"', "5"),
        (0.125, ".0%", "12.5% (0.125)"),
        (0.1 + 0.2, "General", "0.3"),
        (434.99999999999994, "0", "435"),
        (1234567890123456, "General", "1234567890123456"),
        (10**400, "0", str(10**400)),
        (3, "General", "3"),
        (3.0, "General", "3"),
        (0.1, "General", "0.1"),
        (0.00005, "General", "0.00005"),
        (-0.000000001, "General", "-0.000000001"),
        (0.00012345678, "General", "0.00012345678"),
        (0.0000123456, "General", "1.23456e-05"),
        (0.0000123, "0.00E+00", "0.0000123"),
        (float("inf"), "General", "inf"),
        (3, "0", "3"),
        (1e20, "General", "1e+20"),
        (True, "General", "TRUE"),
        (None, "General", ""),
        (" a\nb ", "@", "a b"),
        (date(2024, 4, 1), "yyyy/m/d", "2024-04-01"),
        (datetime(2024, 4, 1, 9, 30), "yyyy-mm-dd hh:mm", "2024-04-01 09:30"),  # noqa: DTZ001 - sheets know no zones
        (datetime(2024, 4, 1, 9, 30, 5), "hh:mm:ss", "2024-04-01 09:30:05"),  # noqa: DTZ001 - sheets know no zones
        (datetime(2024, 4, 1), "ge.m.d", "令和6年4月1日 (2024-04-01)"),  # noqa: DTZ001 - sheets know no zones
        (datetime(1989, 1, 7), 'ggge"年"', "昭和64年1月7日 (1989-01-07)"),  # noqa: DTZ001 - sheets know no zones
        (time(9, 30), "h:mm", "09:30"),
        (time(9, 30, 5), "h:mm:ss", "09:30:05"),
        (timedelta(hours=30), "[h]:mm", "30:00:00"),
        (timedelta(minutes=-30), "[h]:mm", "-0:30:00"),
    ],
)
def test_values_are_shown_as_the_sheet_shows_them(
    value: object, number_format: str, text: str
) -> None:
    assert shown(value, number_format) == text


@pytest.mark.property
@given(
    st.integers(-(10**14), 10**14) | st.floats(-1e9, 1e9),
    st.sampled_from(["0", "0.00", "#,##0", "#,##0.0#", "0%"]),
    st.sampled_from(["_(", "_)", "_-", "_%", "_0", "* ", "*-", '_"', "_ "]),
    st.sampled_from(["_(", "_)", "_-", "_%", "_0", "* ", "*-", '_"', "_€"]),
)
def test_what_only_arranges_a_number_in_its_cell_is_not_shown(
    value: float, number_format: str, before: str, after: str
) -> None:
    assert shown(value, f"{before}{number_format}{after}") == shown(value, number_format)


SHEET = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Rota">{rows}</table:table></office:spreadsheet></office:body>
</office:document-content>"""


def opendocument(*rows: str) -> bytes:
    """Return a sheet of cells: ``x*2`` is over two rows, ``|`` is covered, ``-3`` empty cells."""

    def cell(written: str) -> str:
        text, _, rows = written.partition("*")
        if text == "|":
            return "<table:covered-table-cell/>"
        if text.startswith("-"):
            return f'<table:table-cell table:number-columns-repeated="{text[1:]}"/>'
        return (
            f'<table:table-cell office:value-type="string" table:number-rows-spanned="{rows or 1}">'
            f"<text:p>{text}</text:p></table:table-cell>"
        )

    written = [
        f"<table:table-row>{''.join(map(cell, row.split()))}</table:table-row>" for row in rows
    ]
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    return samples.packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": SHEET.format(rows="".join(written)),
            "META-INF/manifest.xml": manifest,
        }
    )


def test_cells_of_an_opendocument_sheet_over_rows_are_in_each_of_them(tmp_path: Path) -> None:
    data = opendocument(
        "Team -2 Day Driver", "-1", "Red*3 -2 Mon Astrid*2", "| -2 Tue |", "| -2 Wed A"
    )
    assert load(tmp_path, "a.ods", data, OldSheets()).text.splitlines() == [
        "# Rota",
        "| Team |  |  | Day | Driver |",
        "| Red |  |  | Mon | Astrid |",
        "| Red |  |  | Tue | Astrid |",
        "| Red |  |  | Wed | A |",
    ]


def test_tabulators_line_breaks_and_readings_of_opendocument_glue_no_words(tmp_path: Path) -> None:
    ruby = "<text:ruby><text:ruby-base>港</text:ruby-base><text:ruby-text>こう</text:ruby-text>"
    texts = {"TAB": "a<text:tab/>b<text:line-break />c", "RUBY": f"東{ruby}</text:ruby>の"}
    data = samples.edited(
        opendocument("TAB RUBY plain"),
        lambda part: re.sub(rb"TAB|RUBY", lambda match: texts[match[0].decode()].encode(), part),
    )
    text = load(tmp_path, "a.ods", data, OldSheets()).text
    assert text.splitlines()[1:] == ["| a b c | 東港の | plain |"]


def test_a_strict_workbook_is_read_by_its_values(tmp_path: Path) -> None:
    document = load(tmp_path, "a.xlsx", samples.strict(samples.workbook()), Xlsx())
    values = load(tmp_path, "b.xls", samples.workbook(), OldSheets())
    assert document.text == values.text
    assert [remark.code for remark in document.remarks] == ["values_only"]


@pytest.mark.parametrize("broken", ["a chart", "a sheet for a chart"])
def test_a_workbook_with_broken_charts_is_read_by_its_values(tmp_path: Path, broken: str) -> None:
    book = openpyxl.Workbook()
    for row in (("Item", "Price"), ("B-1", 120)):
        book.active.append(row)
    sheet = book.create_chartsheet("Chart")
    if broken == "a chart":
        chart = openpyxl.chart.BarChart()
        chart.add_data(openpyxl.chart.Reference(book.active, min_col=2, min_row=1, max_row=2))
        sheet.add_chart(chart)
    buffer = io.BytesIO()
    book.save(buffer)
    data = samples.edited(
        buffer.getvalue(), lambda part: b"<chart" if b"<barChart>" in part else part
    )
    document = load(tmp_path, "a.xlsx", data, Xlsx())
    assert document.text.splitlines()[1:3] == ["| Item | Price |", "| B-1 | 120 |"]
    assert [remark.code for remark in document.remarks] == ["values_only"]


def saved(*rows: Sequence[object], formats: Mapping[str, str] | None = None) -> bytes:
    """Return a workbook of one sheet; ``formats`` are those of some of its cells."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cell, number_format in (formats or {}).items():
        book.active[cell].number_format = number_format
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_a_row_far_below_the_others_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A20000"] = "first", "the last note"
    buffer = io.BytesIO()
    book.save(buffer)
    document = load(tmp_path, "a.xlsx", buffer.getvalue(), Xlsx())
    assert document.text.splitlines()[1:] == ["| first |", "| the last note |"]
    assert document.remarks == ()


def test_rows_that_are_not_read_are_named(tmp_path: Path) -> None:
    empty = {f"A{row}": "0.0" for row in range(2, 10_100)}
    data = samples.edited(
        saved(("first",), formats={**empty, "A10100": "@"}),
        lambda part: re.sub(rb'<c r="A10100"([^>]*)/>', rb'<c r="A10100"\1><v>7</v></c>', part),
    )
    document = load(tmp_path, "a.xlsx", data, Xlsx())
    assert document.text == "# Sheet\n| first |\n"
    assert [(remark.code, remark.line, remark.message) for remark in document.remarks] == [
        ("unread_rows", 2, "rows from 10003 are not read: 10,000 empty ones are above")
    ]


@pytest.mark.parametrize(
    ("old", "new", "row"),
    [
        (b"<v>2</v>", b"<v>" + b"9" * 400 + b"</v>", f"| 1 | {'9' * 400} |"),
        (b'r="B2"', b'r="B2" s="99"', "| 1 | 2 |"),
        (
            b'<c r="B2" t="n"><v>2</v></c>',
            b'<c r="B2"><f t="dataTable" ref="B2" r1="A1"/></c>',
            "| 1 |",
        ),
        (b"<v>2</v>", b"<v>1.1000000000000001</v>", "| 1 | 1.1 |"),
    ],
)
def test_an_odd_cell_leaves_the_others_as_they_are(
    tmp_path: Path, old: bytes, new: bytes, row: str
) -> None:
    data = samples.edited(saved(("a", "b"), (1, 2)), lambda part: part.replace(old, new))
    assert data != saved(("a", "b"), (1, 2))
    assert load(tmp_path, "a.xlsx", data, Xlsx()).text == f"# Sheet\n| a | b |\n{row}\n"


def test_escapes_of_excel_are_read(tmp_path: Path) -> None:
    rows = saved(("one_x000D_\ntwo", "tab_x0009_stop"), ("_x005F_x000D_", "_x0041_ file_x00"))
    assert load(tmp_path, "a.xlsx", rows, Xlsx()).text.splitlines()[1:] == [
        "| one two | tab stop |",
        "| _x000D_ | _x0041_ file_x00 |",
    ]


@pytest.mark.parametrize("before", ["", "\n", '<meta charset="utf-8">', "<head></head>", "<body>"])
def test_a_web_page_under_the_suffix_of_a_workbook_is_read(tmp_path: Path, before: str) -> None:
    page = f"{before}<table><tr><td>Bolt</td><td>5</td></tr></table>".encode()
    assert "| Bolt | 5 |" in load(tmp_path, "a.xls", page, OldSheets()).text


@pytest.mark.parametrize(
    ("data", "kind"), [(samples.workbook(), "xlsx"), (opendocument("a b"), "ods")]
)
def test_a_workbook_is_of_the_type_that_it_is(tmp_path: Path, data: bytes, kind: str) -> None:
    assert load(tmp_path, "a.xls", data, OldSheets()).file_type == kind
