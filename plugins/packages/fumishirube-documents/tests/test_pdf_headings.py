"""Headings of PDF pages: by their letters and places, and by the outline."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
import samples
from drawn_pages import SENTENCE, Drawn, drawn, parsed
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from fumishirube.parsing import place_at


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


def test_a_title_with_nothing_below_is_the_text_of_its_section(tmp_path: Path) -> None:
    body = [
        ("This page has much small text.", "Times-Roman", 10, 72, 600 - 12 * n) for n in range(9)
    ]
    title = [("The brass key", "Times-Roman", 24, 72, 400)]
    document = parsed(tmp_path, drawn(body, title))
    section = document.sections[-1]
    assert section.title == "The brass key"
    assert document.text[section.body : section.end].strip() == "The brass key"


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


def statement(
    *title: str, font: str = "Helvetica", centred: bool = True, gap: float = 16
) -> list[Drawn]:
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


def titles(folder: Path, *pages: Sequence[Drawn]) -> list[str]:
    """Return the title of the section with the table of each page, after a page of prose."""
    prose = [(" ".join(SENTENCE), "Helvetica", 10, 72, 700 - 12 * n) for n in range(40)]
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
    prose = [(" ".join(SENTENCE), "Helvetica", 10, 72, 700 - 12 * n) for n in range(40)]
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


def test_an_entry_of_the_outline_is_at_the_line_that_reads_like_it(tmp_path: Path) -> None:
    lines = ["Leave", "There is leave.", "Leave types", "Paid and unpaid.", "Leave form", "Ask."]
    outline = {"Leave": 1, "Leave types": 1, "Leave form": 1}
    document = parsed(tmp_path, samples.pdf([lines], outline=outline))
    assert [section.title for section in document.sections][1:] == [*outline]


@pytest.mark.parametrize(
    "sentences",
    [
        ("The function opens the file, and gives back", "its number. It is closed by another."),
        ("この関数はファイルを開き、番号を返", "す。開いたものは後で必ず閉じる。"),
    ],
)
def test_text_above_code_of_smaller_letters_is_no_heading(
    tmp_path: Path, sentences: Sequence[str]
) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    height, page = 780.0, []
    for chapter in range(4):
        page.append((f"{chapter + 1} Files", "HeiseiMin-W3", 16, 72, height))
        texts = [(text, "HeiseiMin-W3", 11) for text in sentences]
        codes = [(f"int read_{n}(int file) {{ return file + {n}; }}", "Courier", 8)
                 for n in range(8)]  # fmt: skip
        for text, font, size in [*texts, *codes]:
            height -= 14
            page.append((text, font, size, 72, height))
        height -= 30
    names = [section.title for section in parsed(tmp_path, drawn(page)).sections]
    assert names == [f"{chapter + 1} Files" for chapter in range(4)]


@pytest.mark.parametrize("title", ["CAUTION", "Tip", "NOTE:", "注意", "【警告】"])
def test_the_title_of_a_box_is_no_heading_for_the_text_below_the_box(
    tmp_path: Path, title: str
) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    page = [
        ("5 Safety", "Helvetica-Bold", 14, 72, 760),
        (" ".join(SENTENCE), "Helvetica", 10, 72, 740),
        (title, "HeiseiMin-W3" if title > "z" else "Helvetica-Bold", 14, 76, 700),
        ("Hot steam comes out of the valve.", "Helvetica", 10, 76, 680),
        (" ".join(SENTENCE), "Helvetica", 10, 72, 640),
    ]
    (section,) = parsed(tmp_path, drawn(page)).sections
    assert section.title == "5 Safety"
