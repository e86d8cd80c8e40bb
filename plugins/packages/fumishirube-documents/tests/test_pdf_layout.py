"""The layout of PDF pages: columns, turned pages, their edges, and spaces that are none."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
import reportlab
from drawn_pages import drawn, parsed
from fumishirube_documents import Pdf
from opened_loaders import running
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Root, Source


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


def test_a_divided_word_that_takes_a_whole_line_leaves_no_empty_one(tmp_path: Path) -> None:
    lines = [
        "This is about an extra-",
        "ordinary",
        "thing that we saw, in-",
        "ter-",
        "esting to all.",
    ]
    page = [(line, "Helvetica", 11, 72, 700 - 14 * n) for n, line in enumerate(lines)]
    text = parsed(tmp_path, drawn(page)).text
    assert text == "This is about an extraordinary\nthing that we saw, interesting\nto all.\n\n"


def test_half_a_character_in_a_title_costs_the_title_only(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, pageCompression=0)
    canvas.setTitle("T" * 12)
    for number, title in enumerate(("U" * 12, "Second"), start=1):
        canvas.drawString(72, 700, f"Words of page {number}.")
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title)
        canvas.showPage()
    canvas.save()
    data = buffer.getvalue()
    for whole in (b"(" + b"T" * 12 + b")", b"(" + b"U" * 12 + b")"):
        assert whole in data
        data = data.replace(whole, b"<FEFF0048D83D>")
    document = parsed(tmp_path, data)
    assert [section.title for section in document.sections] == ["a", "Second"]


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


def test_a_word_divided_at_the_end_of_a_page_does_not_go_on_in_a_footnote(tmp_path: Path) -> None:
    page = [
        ("This sentence is so long that it must be con-", "Helvetica", 10, 72, 80),
        ("1 A footnote that stands at the end of the page.", "Helvetica", 7, 72, 62),
    ]
    assert parsed(tmp_path, drawn(page)).text == (
        "This sentence is so long that it must be con-\n\n"
        "1 A footnote that stands at the end of the page.\n\n"
    )


@pytest.mark.parametrize(
    ("letter", "rest", "word"), [("T", "he machine", "The"), ("A", "long pump", "A long")]
)
def test_a_letter_as_high_as_two_lines_begins_the_first_of_them(
    tmp_path: Path, letter: str, rest: str, word: str
) -> None:
    body = ["time it is hot enough for all that", "he wants, after a long day.", "It ends here."]
    page = [
        (letter, "Times-Roman", 36, 72, 680),
        (f"{rest} is made for warm water, and in", "Times-Roman", 10, 98, 700),
        *((line, "Times-Roman", 10, 98 - 26 * (n > 0), 687.5 - 12.5 * n)
          for n, line in enumerate(body)),
    ]  # fmt: skip
    document = parsed(tmp_path, drawn(page))
    assert [section.title for section in document.sections] == ["a"]
    assert document.text == (
        f"{word} {rest.split()[1]} is made for warm water, and in\n" + "\n".join(body) + "\n\n"
    )
