"""Tables of PDF pages: which lines are rows, and which cells are in which column."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from drawn_pages import SENTENCE, drawn, parsed
from fumishirube_documents.pdf_grids import _groups, _Rule
from made_tables import pdf_of, right_cells, rows_of
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table


@pytest.mark.parametrize(
    ("ruled", "wrapped", "least"),
    [(True, False, 1.0), (True, True, 0.95), (False, False, 1.0), (False, True, 0.8)],
)
def test_cells_are_in_their_row_below_their_header(
    tmp_path: Path, *, ruled: bool, wrapped: bool, least: float
) -> None:
    chance = random.Random(5)
    right = total = 0
    for _ in range(10):
        rows = rows_of(chance)
        data = pdf_of(rows, ruled=ruled, wrapped=wrapped, chance=chance)
        its_right, its_total = right_cells(rows, parsed(tmp_path, data).text)
        right, total = right + its_right, total + its_total
    assert right >= least * total


def test_a_line_of_one_cell_does_not_end_a_table_and_signs_join_their_numbers(
    tmp_path: Path,
) -> None:
    page = []
    for number, (label, sign, value) in enumerate(
        [
            ("Year", "", "2018"),
            ("Net income", "$", "5,363"),
            ("Expenses", "", "1,488"),
            ("Investing:", "", ""),
            ("Acquisitions", "$", "13"),
            ("Proceeds", "", "262"),
        ]
    ):
        height = 700 - 12 * number
        page += [(label, "Helvetica", 9, 72, height), (sign, "Helvetica", 9, 300, height)]
        page += [(value, "Helvetica", 9, 330, height)]
    text = parsed(tmp_path, drawn(page)).text
    assert text == (
        "| Year | 2018 |\n| Net income | $5,363 |\n| Expenses | 1,488 |\n| Investing: |  |\n"
        "| Acquisitions | $13 |\n| Proceeds | 262 |\n\n"
    )


def columns(*lines: tuple[float, str]) -> bytes:
    """Return a page of lines: the space above each, and its cells in columns of 150 points."""
    height, page = 720.0, []
    for step, cells in lines:
        height -= step
        page += [
            (cell.strip(), "Helvetica", 10, 72 + 150 * place, height)
            for place, cell in enumerate(cells.split("|"))
            if cell.strip()
        ]
    return drawn(page)


def test_the_lines_of_a_cell_are_one_where_they_are_closer_than_rows(tmp_path: Path) -> None:
    data = columns(
        (0, "Error | Meaning | What to do"),
        (18, "E-11 | The tank of | Fill it"),
        (12, " | the turbine |"),
        (12, " | is empty |"),
        (18, "E-12 | No signal | Check"),
        (18, "E-13 | The filter | Wash it with"),
        (12, " | is full | warm water"),
    )
    assert parsed(tmp_path, data).text == (
        "| Error | Meaning | What to do |\n"
        "| E-11 | The tank of the turbine is empty | Fill it |\n"
        "| E-12 | No signal | Check |\n"
        "| E-13 | The filter is full | Wash it with warm water |\n\n"
    )


def test_groups_of_rows_with_numbers_stay_rows(tmp_path: Path) -> None:
    group = [
        (20, "Sales | 5,363 | 5,100"),
        (12, "Costs | 1,488 | 1,300"),
        (12, "Net income | 3,875 | 3,800"),
    ]
    text = parsed(tmp_path, columns((0, " | 2018 | 2017"), *group * 3)).text
    assert text.count("| Costs | 1,488 | 1,300 |\n") == 3


def test_paragraphs_beside_each_other_are_no_rows(tmp_path: Path) -> None:
    paragraph = [
        (20, "The turbine must be | coolant is changed"),
        (12, "oiled each week by | in the spring, when"),
        (12, "a person of the house | filters are washed"),
    ]
    text = parsed(tmp_path, columns(*paragraph * 3)).text
    assert "|" not in text
    assert text.count("oiled each week by\na person of the house\n") == 3


def test_a_header_aligned_otherwise_is_in_the_column_of_its_numbers(tmp_path: Path) -> None:
    page = []
    for row, cells in enumerate([("Item", "Price", "Weight"), *[("Bolt", "1", "2")] * 4]):
        height = 700 - 14 * row
        page.append((cells[0], "Helvetica", 10, 72, height))
        for place, cell in enumerate(cells[1:]):
            left = 200 + 150 * place if row == 0 else 270 + 150 * place
            page.append((cell, "Helvetica", 10, left, height))
    text = parsed(tmp_path, drawn(page)).text
    assert text.startswith("| Item | Price | Weight |\n| Bolt | 1 | 2 |\n")


def test_prose_with_wide_spaces_is_no_table(tmp_path: Path) -> None:
    rng = random.Random(3)
    page = []
    for number in range(12):
        left = 72.0
        for word in SENTENCE:
            page.append((word, "Times-Roman", 10, left, 700 - 12 * number))
            left += pdfmetrics.stringWidth(word, "Times-Roman", 10) + rng.uniform(2.5, 8)
    text = parsed(tmp_path, drawn(page)).text
    assert "|" not in text
    assert text.count("all prices of this catalogue are in euros and hold") == 12


def test_letters_scaled_by_a_matrix_have_the_size_that_is_seen(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.scale(0.5, 0.5)
    for number in range(4):
        for column, text in enumerate(("Item", "Price", "Sum")):
            canvas.setFont("Helvetica", 18)
            canvas.drawString(144 + 90 * column, 1400 - 24 * number, f"{text}{number}")
    canvas.save()
    text = parsed(tmp_path, buffer.getvalue()).text
    assert text.startswith("| Item0 | Price0 | Sum0 |\n| Item1 | Price1 | Sum1 |\n")


def test_columns_of_a_table_are_not_taken_apart(tmp_path: Path) -> None:
    rows = [("Bolt of steel", "Fits wooden doors"), ("Nut of brass", "Fits garden gates")] * 3
    cells = [
        (text, "Helvetica", 10, left, 700 - 13 * n)
        for n, row in enumerate(rows)
        for text, left in zip(row, (72, 320), strict=True)
    ]
    assert "| Bolt of steel | Fits wooden doors |\n" in parsed(tmp_path, drawn(cells)).text


def test_a_rule_divides_cells_that_are_close(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Courier", 10)
    for row in range(3):
        canvas.drawString(62, 703 - 16 * row, f"ab{row} cd{row} ef{row}")
    canvas.grid([60, 83, 107, 200], [700 - 16 * row for row in range(-1, 3)])
    canvas.save()
    rows = "".join(f"| ab{row} | cd{row} | ef{row} |\n" for row in range(3))
    assert parsed(tmp_path, buffer.getvalue()).text.strip() == rows.strip()


def test_the_header_of_a_table_that_is_drawn_cell_by_cell_is_one_row(tmp_path: Path) -> None:
    heads = [("December 2,", "2022"), ("December 3,", "2021"), ("November 27,", "2020")]
    header = [
        (line, "Helvetica", 8, 260 + 90 * column, 700 - 9 * number)
        for column, lines in enumerate(heads)
        for number, line in enumerate(lines)
    ]
    cells = [
        ("Subscription ........ $", "16,388 $", "14,573 $", "11,626"),
        ("Product", "53", "5", "7"),
    ]
    rows = [
        (cell, "Helvetica", 10, 60 if not column else 170 + 90 * column, 670 - 15 * number)
        for number, row in enumerate(cells)
        for column, cell in enumerate(row)
    ]
    assert parsed(tmp_path, drawn([*header, *rows])).text.strip() == (
        "|  | December 2, 2022 | December 3, 2021 | November 27, 2020 |\n"
        "| Subscription | $16,388 | $14,573 | $11,626 |\n"
        "| Product | 53 | 5 | 7 |"
    )


def test_addresses_beside_each_other_are_no_header(tmp_path: Path) -> None:
    texts = [("Bill to:", "Marsh and Sons", "Bristol"), ("Ship to:", "The Boathouse")]
    page = [
        (line, "Helvetica", 10, 60 + 200 * column, 700 - 12 * number)
        for column, lines in enumerate(texts)
        for number, line in enumerate(lines)
    ]
    text = parsed(tmp_path, drawn(page)).text
    assert "Bill to:\nMarsh and Sons\nBristol\n" in text


@pytest.mark.parametrize("whole", [True, False], ids=["long rules", "cell by cell"])
def test_a_ruled_cell_over_rows_is_in_each_of_them(tmp_path: Path, *, whole: bool) -> None:
    buffer = io.BytesIO()
    style = [("GRID" if whole else "BOX", (0, 0), (-1, -1), 0.5, colors.black)]
    style += [] if whole else [("INNERGRID", (0, 0), (-1, -1), 0.5, colors.black)]
    rows = [["Tower", "Night", "Day"], ["Godrevy", "Jory", ""], ["", "Massen", "Pasco"]]
    rows += [["", "", "Kerra"], ["Longships", "Rosen", "Talan"]]
    table = Table(rows, style=[*style, ("SPAN", (0, 1), (0, 3)), ("SPAN", (1, 2), (1, 3))])
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build([table])
    assert parsed(tmp_path, buffer.getvalue()).text.strip() == (
        "| Tower | Night | Day |\n| Godrevy | Jory |  |\n| Godrevy | Massen | Pasco |\n"
        "| Godrevy | Massen | Kerra |\n| Longships | Rosen | Talan |"
    )


@pytest.mark.timeout(20)
def test_cells_with_borders_of_their_own_are_grouped_in_linear_time() -> None:
    rules = []
    for row in range(60):
        for column in range(12):
            x, y = column * 40.0, row * 12.0
            level = [_Rule(x, at, x + 40, at + 0.5) for at in (y, y + 12)]
            rules += [*level, *(_Rule(at, y, at + 0.5, y + 12) for at in (x, x + 40))]
    for _ in range(60):  # pages; a square took .7 seconds for each
        ((around, group),) = _groups(rules)
    assert sorted(group) == sorted(rules)
    assert around == _Rule(0, 0, 480.5, 720.5)


def test_double_rules_make_no_empty_columns(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for row, cells in enumerate([("Code", "Meaning"), ("E-1", "No water"), ("E-2", "No power")]):
        for column, cell in enumerate(cells):
            left, bottom = 72 + 103 * column, 700 - 23 * row
            canvas.rect(left, bottom, 100, 20)
            canvas.drawString(left + 4, bottom + 6, cell)
    canvas.showPage()
    canvas.save()
    assert parsed(tmp_path, buffer.getvalue()).text == (
        "| Code | Meaning |\n| E-1 | No water |\n| E-2 | No power |\n\n"
    )


def test_a_divided_word_in_a_cell_leaves_its_row_one(tmp_path: Path) -> None:
    page = [
        ("Measure", "Helvetica", 10, 72, 724),
        ("2018", "Helvetica", 10, 300, 724),
        ("Revenue", "Helvetica", 10, 72, 712),
        ("5,363", "Helvetica", 10, 300, 712),
        ("Adjusted Non-", "Helvetica", 10, 72, 700),
        ("GAAP revenue", "Helvetica", 10, 72, 688),
        ("7,990", "Helvetica", 10, 300, 688),
    ]
    assert parsed(tmp_path, drawn(page)).text == (
        "| Measure | 2018 |\n| Revenue | 5,363 |\n| Adjusted Non-GAAP revenue | 7,990 |\n\n"
    )


def test_dots_that_lead_to_the_number_of_a_page_are_no_columns(tmp_path: Path) -> None:
    page = []
    for row, (title, number) in enumerate([("1.1 Wells", "3"), ("1.2 Floats", "12")]):
        height = 700 - 12 * row
        page.append((title, "Helvetica", 10, 72, height))
        page.append((".  " * 28, "Helvetica", 10, 140 + 8 * row, height))
        page.append((number, "Helvetica", 10, 400, height))
    assert parsed(tmp_path, drawn(page)).text == "| 1.1 Wells | 3 |\n| 1.2 Floats | 12 |\n\n"


@pytest.mark.parametrize("signs", [("•", "•", "•"), ("1.", "2.", "3."), ("a)", "b)", "–")])
def test_points_of_a_list_are_no_rows(tmp_path: Path, signs: tuple[str, ...]) -> None:
    points = ["Open the door of the machine", "Take the filter out", "Close it"]
    page = []
    for row, (sign, point) in enumerate(zip(signs, points, strict=True)):
        page.append((sign, "Helvetica", 10, 72, 700 - 14 * row))
        page.append((point, "Helvetica", 10, 100, 700 - 14 * row))
    text = parsed(tmp_path, drawn(page)).text
    lines = [f"{sign} {point}\n" for sign, point in zip(signs, points, strict=True)]
    assert text == "".join(lines) + "\n"


def test_a_table_of_numbered_rows_stays_one(tmp_path: Path) -> None:
    rows = ["No. | Part | Price", "1. | Bolt | 1.20", "2. | Nut | 0.10"]
    text = parsed(tmp_path, columns(*((14, row) for row in rows))).text
    assert text == "".join(f"| {row} |\n" for row in rows) + "\n"
