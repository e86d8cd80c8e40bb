"""The layout of PDF pages: tables, headings by their letters, and spaces that are none."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import reportlab
import samples
from fumishirube_documents import Pdf
from made_tables import pdf_of, right_cells, rows_of
from opened_loaders import running
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table

from fumishirube import Document, Root, Source
from fumishirube.parsing import place_at

_SENTENCE = (
    "all",
    "prices",
    "of",
    "this",
    "catalogue",
    "are",
    "in",
    "euros",
    "and",
    "hold",
    "until",
)


def parsed(folder: Path, data: bytes) -> Document:
    (folder / "a.pdf").write_bytes(data)
    return running(Pdf()).load(Root(folder), Source("a.pdf"))


def drawn(*pages: Sequence[tuple[str, str, float, float, float]]) -> bytes:
    """Return pages of texts, each with its font, size and place."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for page in pages:
        for text, font, size, left, bottom in page:
            canvas.setFont(font, size)
            canvas.drawString(left, bottom, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


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
        for word in _SENTENCE:
            page.append((word, "Times-Roman", 10, left, 700 - 12 * number))
            left += pdfmetrics.stringWidth(word, "Times-Roman", 10) + rng.uniform(2.5, 8)
    text = parsed(tmp_path, drawn(page)).text
    assert "|" not in text
    assert text.count("all prices of this catalogue are in euros and hold") == 12


def test_bold_lines_above_text_are_headings_of_their_pages(tmp_path: Path) -> None:
    body = [
        ("Sales rose because of the cold winter in the north.", "Times-Roman", 10, 72, 640 - 12 * n)
        for n in range(20)
    ]
    first = [
        ("The Shop and Subsidiaries", "Times-Bold", 10, 72, 700),
        ("Statement of Cash Flows", "Times-Bold", 10, 72, 688),
        *body,
    ]
    second = [
        ("Statement of Income", "Times-Bold", 10, 72, 700),
        *body,
        ("Bold at the end", "Times-Bold", 10, 72, 400),
    ]
    document = parsed(tmp_path, drawn(first, second))
    places = [place_at(document.places, each.start_line) for each in document.sections]
    found = [
        (section.title, place and place.page)
        for section, place in zip(document.sections, places, strict=True)
    ]
    assert found == [
        ("The Shop and Subsidiaries Statement of Cash Flows", 1),
        ("Statement of Income", 2),
    ]


def test_a_space_without_width_does_not_divide_a_word(tmp_path: Path) -> None:
    fonts = Path(reportlab.__file__).parent / "fonts"
    pdfmetrics.registerFont(TTFont("Vera", str(fonts / "Vera.ttf")))
    wide = pdfmetrics.stringWidth("Flow", "Vera", 10)
    page = [
        ("Cash", "Vera", 10, 72, 700),
        ("Flow", "Vera", 10, 110, 700),
        (" ", "Vera", 10, 110 + wide, 700),
        ("s", "Vera", 10, 110 + wide + 0.5, 700),
        ("to the end", "Vera", 10, 150, 700),
    ]
    assert "Flows" in parsed(tmp_path, drawn(page)).text


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


def test_a_title_with_nothing_below_is_the_text_of_its_section(tmp_path: Path) -> None:
    body = [
        ("This page has much small text.", "Times-Roman", 10, 72, 600 - 12 * n) for n in range(9)
    ]
    title = [("The brass key", "Times-Roman", 24, 72, 400)]
    document = parsed(tmp_path, drawn(body, title))
    section = document.sections[-1]
    assert section.title == "The brass key"
    assert document.text[section.body : section.end].strip() == "The brass key"


# --- columns, headings and running heads -------------------------------------------------------

LEFT = [
    "The turbine is lubricated",
    "every ninety days with",
    "mineral oil of grade",
    "VG 46 only.",
]
RIGHT = ["Coolant is exchanged once", "a year, in the spring,", "after the filters were", "washed."]


@pytest.mark.parametrize("by_line", [True, False])
def test_columns_of_running_text_are_read_one_after_the_other(
    tmp_path: Path, *, by_line: bool
) -> None:
    left = [(line, "Helvetica", 10, 72, 700 - 13 * n) for n, line in enumerate(LEFT)]
    right = [(line, "Helvetica", 10, 320, 700 - 13 * n) for n, line in enumerate(RIGHT)]
    mixed = [line for pair in zip(left, right, strict=True) for line in pair]
    text = parsed(tmp_path, drawn(mixed if by_line else [*left, *right])).text
    assert [line for line in text.splitlines() if line] == [*LEFT, *RIGHT]


def test_columns_of_a_table_are_not_taken_apart(tmp_path: Path) -> None:
    rows = [("Bolt of steel", "Fits wooden doors"), ("Nut of brass", "Fits garden gates")] * 3
    cells = [
        (text, "Helvetica", 10, left, 700 - 13 * n)
        for n, row in enumerate(rows)
        for text, left in zip(row, (72, 320), strict=True)
    ]
    assert "| Bolt of steel | Fits wooden doors |\n" in parsed(tmp_path, drawn(cells)).text


def test_list_items_and_remarks_in_large_letters_are_no_headings(tmp_path: Path) -> None:
    large = ["Prices", "• one of them", "(in millions)", "Costs"]
    page = [(text, "Helvetica", 16, 72, 760 - 60 * n) for n, text in enumerate(large)]
    page += [("Some text below it all.", "Helvetica", 10, 72, 740 - 60 * n) for n in range(4)] * 3
    titles = [section.title for section in parsed(tmp_path, drawn(page)).sections]
    assert titles == ["Prices", "Costs"]


def test_pages_that_the_outline_does_not_name_have_headings_by_their_letters(
    tmp_path: Path,
) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for title in ("Report of the auditor", "Balance sheet"):
        if title.startswith("Report"):
            canvas.bookmarkPage("a")
            canvas.addOutlineEntry("Item 8", "a")
        canvas.setFont("Helvetica", 16)
        canvas.drawString(72, 770, title)
        canvas.setFont("Helvetica", 10)
        for line in range(6):
            canvas.drawString(72, 740 - 13 * line, f"Some words of line {line} follow here.")
        canvas.showPage()
    canvas.save()
    first, second = parsed(tmp_path, buffer.getvalue()).sections
    assert (first.title, second.title) == ("Item 8", "Balance sheet")
    assert second.ancestors == ("Item 8",)


def test_a_line_that_counts_the_pages_is_left_out_at_any_height(tmp_path: Path) -> None:
    pages = [
        [
            (f"Some words of page {word} in 2021.", "Helvetica", 10, 72, 700),
            (f"Form 10-K of 2021, {number + 6}", "Helvetica", 10, 72, 650 - 45 * number),
        ]
        for number, word in enumerate(("one", "two", "three", "four"), start=1)
    ]
    document = parsed(tmp_path, drawn(*pages))
    assert "Form" not in document.text
    assert document.text.count("in 2021.") == 4
    assert "left out as a running head: form #-k of #, #" in [
        remark.message for remark in document.remarks
    ]


def statement(
    *title: str, font: str = "Helvetica", centred: bool = True, gap: float = 16
) -> list[tuple[str, str, float, float, float]]:
    """Return a page with a title in letters of the text's size, above a table and a sentence."""
    lines = []
    height = 780.0
    for text in title:
        width = pdfmetrics.stringWidth(text, font, 10)
        lines.append((text, font, 10.0, 298 - width / 2 if centred else 72.0, height))
        height -= gap
    for label, value in (("Cash", "1,200"), ("Inventory", "3,400"), ("Total", "4,600")):
        height -= 14
        lines += [(label, "Helvetica", 10, 72, height), (value, "Helvetica", 10, 500, height)]
    body = (
        "the accompanying notes are a part of these statements and of nothing else, as it is said"
    )
    return [*lines, (body, "Helvetica", 10, 72, height - 30)]


def titles(folder: Path, *pages: Sequence[tuple[str, str, float, float, float]]) -> list[str]:
    """Return the title of the section with the table of each page, after a page of prose."""
    prose = [(" ".join(_SENTENCE), "Helvetica", 10, 72, 700 - 12 * n) for n in range(40)]
    document = parsed(folder, drawn(prose, *pages))
    return [
        section.title
        for section in document.sections
        if "Inventory" in document.text[section.start : section.end]
    ]


def test_a_centred_title_in_letters_of_the_text_is_the_heading_of_its_page(tmp_path: Path) -> None:
    pages = [
        statement("Bolts and Nuts, Inc.", "Consolidated Balance Sheets"),
        statement("BOLTS AND NUTS, INC.", "STATEMENTS OF CASH FLOWS", font="Helvetica-Bold"),
        statement("Statements of Earnings", "(in millions, except per share data)"),
    ]
    assert titles(tmp_path, *pages) == [
        "Bolts and Nuts, Inc. Consolidated Balance Sheets",
        "BOLTS AND NUTS, INC. STATEMENTS OF CASH FLOWS",
        "Statements of Earnings",
    ]


def test_a_title_in_capitals_or_bold_letters_at_the_left_is_one_too(tmp_path: Path) -> None:
    pages = [
        statement("BALANCE SHEETS", centred=False),
        statement("Part IV", "Item 15", font="Helvetica-Bold", centred=False, gap=24),
    ]
    assert titles(tmp_path, *pages) == ["BALANCE SHEETS", "Item 15"]


@pytest.mark.parametrize(
    "line",
    [
        "of these statements and of nothing else",
        "Prices hold until the end of the year of the order.",
        "Figure 3: Prices of Bolts and Nuts",
        "Total = Cash + Inventory",
        "(Continued)",
        "Some prices are without the tax that applies",
    ],
)
def test_other_centred_lines_are_no_titles(tmp_path: Path, line: str) -> None:
    assert titles(tmp_path, statement(line)) == ["a"]


def test_the_last_words_of_a_paragraph_on_the_page_before_are_no_title(tmp_path: Path) -> None:
    assert titles(tmp_path, statement("Prices of the Catalogue", centred=False)) == ["a"]


def test_a_page_of_titles_alone_has_no_title(tmp_path: Path) -> None:
    page = [(f"Chapter {n}", "Helvetica", 10, 270, 780 - 30 * n) for n in range(12)]
    prose = [(" ".join(_SENTENCE), "Helvetica", 10, 72, 700 - 12 * n) for n in range(40)]
    document = parsed(tmp_path, drawn(prose, page))
    assert {section.title for section in document.sections} == {"a"}


def test_a_title_of_the_outline_begins_with_the_names_above_it(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for number, title in enumerate(("Balance Sheets", "Cash Flows")):
        canvas.bookmarkPage(str(number))
        canvas.addOutlineEntry(title, str(number), 0)
        for text, font, size, left, bottom in statement("BOLTS INC.", title.upper()):
            canvas.setFont(font, size)
            canvas.drawString(left, bottom, text)
        canvas.showPage()
    canvas.save()
    document = parsed(tmp_path, buffer.getvalue())
    assert [section.title for section in document.sections] == ["Balance Sheets", "Cash Flows"]
    second = document.sections[1]
    assert document.text[second.start : second.end].startswith("BOLTS INC.\n")


def turned(*, page: int, letters: int) -> bytes:
    """Return a page with a text and two tables, drawn and shown turned by some degrees."""
    width, height = A4 if page in (0, 180) else (A4[1], A4[0])  # as reportlab makes the page
    moves = {0: (0, 0), 90: (width, 0), 180: (width, height), 270: (0, height)}
    top = width if letters in (90, 270) else height
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setPageRotation(page)
    canvas.translate(*moves[letters])
    canvas.rotate(letters)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(60, top - 60, "Heights of tides")
    canvas.setFont("Helvetica", 11)
    for number, line in enumerate(("The heights of the tide in", "ports of the coast.")):
        canvas.drawString(60, top - 90 - 14 * number, line)
    rows = [("Port", "Spring", "Neap"), ("Padstow", "7.3 m", "5.6 m"), ("Looe", "5.4 m", "4.2 m")]
    for table in (160, 260):
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                canvas.drawString(62 + 120 * column, top - table - 16 * number, cell)
    levels = [top - 248 - 16 * number for number in range(4)]
    canvas.grid([60, 180, 300, 420], levels)
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize("page", [0, 90, 180, 270])
@pytest.mark.parametrize("letters", [0, 90, 180, 270])
def test_a_turned_page_reads_as_an_upright_one(tmp_path: Path, page: int, letters: int) -> None:
    table = "| Port | Spring | Neap |\n| Padstow | 7.3 m | 5.6 m |\n| Looe | 5.4 m | 4.2 m |\n"
    document = parsed(tmp_path, turned(page=page, letters=letters))
    assert document.text == (
        f"Heights of tides\n\nThe heights of the tide in\nports of the coast.\n\n{table}\n{table}\n"
    )
    assert [section.title for section in document.sections] == ["Heights of tides"]


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


def test_an_entry_of_the_outline_is_at_the_line_that_reads_like_it(tmp_path: Path) -> None:
    lines = ["Leave", "There is leave.", "Leave types", "Paid and unpaid.", "Leave form", "Ask."]
    outline = {"Leave": 1, "Leave types": 1, "Leave form": 1}
    document = parsed(tmp_path, samples.pdf([lines], outline=outline))
    assert [section.title for section in document.sections][1:] == [*outline]


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


@pytest.mark.parametrize("cropped", [False, True])
def test_text_beyond_the_edges_of_a_page_is_left_out_unless_it_is_asked_for(
    tmp_path: Path, *, cropped: bool
) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(900, 900) if cropped else (300, 300), invariant=1)
    if cropped:
        canvas.setCropBox((0, 0, 300, 300))
    canvas.drawString(40, 200, "This line begins on the page and goes on for long beyond its edge")
    canvas.drawString(40, 150, "Left")
    canvas.drawString(400, 150, "Right")
    canvas.drawString(40, -40 if not cropped else 340, "Nobody sees this")
    canvas.showPage()
    canvas.save()
    document = parsed(tmp_path, buffer.getvalue())
    assert "goes on for long beyond its edge" in document.text
    assert "Left" in document.text
    assert "Right" not in document.text
    assert "Nobody" not in document.text
    (remark,) = document.remarks
    assert remark.code == "beyond_edges"
    assert remark.message == "left out beyond the edges of pages (1): text of 2 lines"
    whole = running(Pdf(beyond_edges=True)).load(Root(tmp_path), Source("a.pdf"))
    assert "Right" in whole.text
    assert "Nobody sees this" in whole.text


@pytest.mark.parametrize("letter", ["X", "\U0001d54f"])
def test_a_line_may_begin_with_one_letter_also_one_of_two_units(
    tmp_path: Path, letter: str
) -> None:
    lines = ["BT /F 20 Tf 72 750 Td (The shop X) Tj ET"]
    cells = [("Shop", "Price"), ("X", "480"), ("Other", "430")]
    for row, texts in enumerate([("The letter X is in the table.",), *cells]):
        for column, text in enumerate(texts):
            place = f"{72 + 200 * column} {720 - 12 * row}"
            lines.append(f"BT /F 10 Tf {place} Td ({text}) Tj ET")
    document = parsed(tmp_path, with_unicode("X", letter, lines))
    assert [section.title for section in document.sections] == [f"The shop {letter}"]
    assert document.text == (
        f"The shop {letter}\nThe letter {letter} is in the table.\n"
        f"| Shop | Price |\n| {letter} | 480 |\n| Other | 430 |\n\n"
    )


def with_unicode(letter: str, shown: str, lines: Sequence[str]) -> bytes:
    """Return a page in whose font a letter is one of Unicode, and the others are themselves."""
    code = f"{ord(letter):02x}"
    units = shown.encode("utf-16-be").hex()
    mapping = (
        "begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        f"2 beginbfrange <20> <{ord(letter) - 1:02x}> <0020> "
        f"<{ord(letter) + 1:02x}> <7e> <{ord(letter) + 1:04x}> endbfrange "
        f"1 beginbfchar <{code}> <{units}> endbfchar endcmap"
    )
    streams = [mapping, "\n".join(lines)]
    objects = [
        "<</Type /Catalog /Pages 2 0 R>>",
        "<</Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 600 800]>>",
        "<</Type /Page /Parent 2 0 R /Contents 6 0 R /Resources <</Font <</F 4 0 R>>>>>>",
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R>>",
        *(f"<</Length {len(text)}>>\nstream\n{text}\nendstream" for text in streams),
    ]
    numbered = (f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{''.join(numbered)}trailer\n<</Root 1 0 R>>\n%%EOF\n".encode()


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


def test_a_hyphen_stays_in_words_that_have_it_elsewhere_and_before_capitals(tmp_path: Path) -> None:
    lines = [
        "The well-known gauge and the reli-",
        "able float are no longer well-",
        "known. It is a Non-",
        "GAAP figure.",
    ]
    page = [(line, "Helvetica", 10, 72, 700 - 12 * row) for row, line in enumerate(lines)]
    assert parsed(tmp_path, drawn(page)).text == (
        "The well-known gauge and the reliable\nfloat are no longer well-known.\n"
        "It is a Non-GAAP\nfigure.\n\n"
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
