"""Sheets as people fill them: several tables, and headers of several rows."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import openpyxl
import pytest
from fumishirube_documents import Xlsx
from opened_loaders import running
from openpyxl.styles import Font

from fumishirube import Document, Root, Source

Row = Sequence[object]


def parsed(
    folder: Path,
    rows: Sequence[Row],
    *merged: str,
    yen: Sequence[str] = (),
    bold: Sequence[int] = (),
) -> Document:
    """Return a sheet of rows as it is read.

    The columns ``yen`` are shown in thousands, and the cells of the rows ``bold`` are bold.
    """
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    for column in yen:
        for cell in sheet[column]:
            cell.number_format = "#,##0,"
    for number in bold:
        for cell in sheet[number]:
            cell.font = Font(bold=True)
    buffer = io.BytesIO()
    book.save(buffer)
    (folder / "a.xlsx").write_bytes(buffer.getvalue())
    return running(Xlsx()).load(Root(folder), Source("a.xlsx"))


def header_of(document: Document, text: str) -> str:
    """Return the header that the section of a row names."""
    (section,) = (s for s in document.sections if text in document.text[s.start : s.end])
    return section.ancestors[-1]


BRANCHES = [(f"Branch {n}", n, n + 0.5, 2 * n, 3.5) for n in range(100, 180)]


@pytest.mark.parametrize(
    ("header", "merged"),
    [
        (
            [
                ("Branch", "2023 (yen)", None, "2024 (yen)", None),
                (None, "Sales", "Profit", "Sales", "Profit"),
            ],
            ["A1:A2", "B1:C1", "D1:E1"],
        ),
        (
            [
                ("Sales of the year",),
                ("Branch", 2023, None, 2024, None),
                (None, "Sales", "Profit", "Sales", "Profit"),
            ],
            [],
        ),
    ],
)
def test_the_rows_of_a_header_name_each_column_together(
    tmp_path: Path, header: Sequence[Row], merged: Sequence[str]
) -> None:
    document = parsed(tmp_path, [*header, *BRANCHES], *merged)
    year = " (yen)" if merged else ""
    assert header_of(document, "Branch 177") == (
        f"Branch | 2023{year} Sales | 2023{year} Profit | 2024{year} Sales | 2024{year} Profit"
    )


def test_a_header_of_three_rows_is_one(tmp_path: Path) -> None:
    header = [
        ("Branch", "Sales", None, None, None),
        (None, "Inland", None, "Abroad", None),
        (None, "Cash", "Credit", "Cash", "Credit"),
    ]
    assert header_of(parsed(tmp_path, [*header, *BRANCHES]), "Branch 177") == (
        "Branch | Sales Inland Cash | Sales Inland Credit | Sales Abroad Cash | Sales Abroad Credit"
    )


def test_a_row_of_texts_below_a_header_does_not_belong_to_it(tmp_path: Path) -> None:
    people = [(f"Person {n}", "sales", "late" if n < 3 else None) for n in range(80)]
    document = parsed(tmp_path, [("Name", "Team"), *people])
    assert header_of(document, "Person 77") == "Name | Team"


@pytest.mark.parametrize("caption", [[], [("Desks of the house",)]])
def test_a_table_below_another_one_has_its_own_header(
    tmp_path: Path, caption: Sequence[Row]
) -> None:
    staff = [("Number", "Name"), *((f"E{n}", f"Person {n}") for n in range(40)), (), ()]
    desks = [(f"A-{n}", 10_000 + n, date(2024, 4, 1)) for n in range(80)]
    document = parsed(tmp_path, [*staff, *caption, ("Asset", "Cost", "Since"), *desks])
    assert header_of(document, "A-77 ") == "Asset | Cost | Since"
    assert header_of(document, "Person 39") == "Number | Name"
    first = next(s for s in document.sections if "| A-0 |" in document.text[s.start : s.end])
    begins = "| Desks of the house |" if caption else "| Asset | Cost | Since |"
    assert document.text[first.start :].startswith(f"{begins}\n")


def test_rows_below_an_empty_one_stay_in_their_table(tmp_path: Path) -> None:
    rows: list[Row] = [("Part", "Price")]
    for n in range(1, 80):
        rows += [(f"B-{n}", n * 1000), *([()] if n % 10 == 0 else [])]
    document = parsed(tmp_path, [*rows, ("Total", 4711)], yen=["B"])
    assert header_of(document, "B-79 ") == "Part | Price"


def test_what_a_sheet_says_of_itself_is_no_header(tmp_path: Path) -> None:
    about = [("Made on", date(2024, 4, 1)), ("By", "Anna"), ()]
    parts = [(f"B-{n}", n) for n in range(80)]
    document = parsed(tmp_path, [*about, ("Part", "Price"), *parts])
    assert header_of(document, "B-77 ") == "Part | Price"


QUESTIONS = [("Question", "Answer"), *((f"Why {letter}?", "So") for letter in "abcdefgh"), ()]
REMEDIES = [(f"E-{letter}", "Restart it") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 2]
HEADED = len(QUESTIONS) + 1


@pytest.mark.parametrize("caption", [[], [("Errors",)]])
@pytest.mark.parametrize(
    ("bold", "header"),
    [([0], "Error | Remedy"), ([], "Question | Answer"), ([0, 1], "Question | Answer")],
)
def test_a_second_table_of_words_has_its_header_where_that_is_bold(
    tmp_path: Path, caption: list[Row], bold: Sequence[int], header: str
) -> None:
    first = HEADED + len(caption)
    rows = [*QUESTIONS, *caption, ("Error", "Remedy"), *REMEDIES, ("last", "Call us")]
    captions = range(HEADED, first)
    document = parsed(tmp_path, rows, bold=[*captions, *(first + place for place in bold)])
    assert header_of(document, "| last |") == header
