"""Running heads of PDFs: what repeats from page to page is left out, and nothing else."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fumishirube_documents import Pdf
from opened_loaders import running
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table

from fumishirube import Document, Root, Source, Unreadable

ROWS = [("Part", "Name", "Price")]
ROWS += [(f"P-{n:03}", f"Bolt {n}", f"{n * 130:,} euros") for n in range(1, 121)]


def parsed(folder: Path, data: bytes, stage: Pdf | None = None) -> Document:
    (folder / "a.pdf").write_bytes(data)
    return running(stage or Pdf()).load(Root(folder), Source("a.pdf"))


def drawn(pages: int, draw: Callable[[Canvas, int], None]) -> bytes:
    """Return pages, each drawn by a function of its number."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica", 10)
        draw(canvas, number)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def left_out(document: Document) -> list[str]:
    return [each.message for each in document.remarks if each.code == "running_head"]


def table(*, ruled: bool, repeated: bool) -> bytes:
    """Return a table over several pages."""
    buffer = io.BytesIO()
    style = [("GRID", (0, 0), (-1, -1), 0.5, "black")] if ruled else []
    made = Table(ROWS, colWidths=120, repeatRows=int(repeated), style=style)
    SimpleDocTemplate(buffer, pagesize=A4, invariant=1).build([made])
    return buffer.getvalue()


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("repeated", [True, False])
def test_rows_at_the_edges_of_pages_and_their_headers_stay(
    tmp_path: Path, *, ruled: bool, repeated: bool
) -> None:
    document = parsed(tmp_path, table(ruled=ruled, repeated=repeated))
    lines = document.text.splitlines()
    assert [line for line in lines if line.startswith("| P-")] == [
        f"| {' | '.join(row)} |" for row in ROWS[1:]
    ]
    assert lines.count("| Part | Name | Price |") == (len(document.places) if repeated else 1)
    assert left_out(document) == []
    header = () if repeated else ("Part | Name | Price",)
    assert [each.ancestors for each in document.sections][1:] == [header] * 3


def test_titles_that_differ_in_their_numbers_stay(tmp_path: Path) -> None:
    def form(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, 800, f"Form {number * 2} (article {number * 3})")
        canvas.drawString(72, 700, f"The applicant of {'abcdef'[number - 1]} signs here.")

    document = parsed(tmp_path, drawn(6, form))
    assert "Form 8 (article 12)\n" in document.text
    assert left_out(document) == []


@pytest.mark.parametrize(
    "titles",
    [
        ["Intro", "Results", "Results", "Results", "Method", "Plan", "Costs", "Team", "End"],
        [f"Step {number}" for number in range(1, 7)],
        ["Cover", *(f"Question {number}" for number in range(1, 9))],
    ],
)
def test_titles_in_large_letters_stay(tmp_path: Path, titles: Sequence[str]) -> None:
    def slide(canvas: Canvas, number: int) -> None:
        canvas.setFont("Helvetica-Bold", 28)
        canvas.drawString(60, 780, titles[number - 1])
        canvas.setFont("Helvetica", 16)
        canvas.drawString(60, 700, f"Point {chr(64 + number)} about the matter at hand")
        canvas.drawString(60, 20, f"ACME {number}")

    document = parsed(tmp_path, drawn(len(titles), slide))
    assert [section.title for section in document.sections] == titles
    assert left_out(document) == ["left out as a running head: acme #"]


def test_numbers_of_pages_of_small_print_are_left_out(tmp_path: Path) -> None:
    def listing(canvas: Canvas, number: int) -> None:
        canvas.drawString(280, 20, str(number))
        canvas.drawString(60, 815, f"{number} Listings of all parts")
        canvas.setFont("Courier", 8 if number % 2 else 7)
        for line in range(6):
            canvas.drawString(60, 700 - 10 * line, f"call {chr(64 + number) * 3} of line {line}")

    document = parsed(tmp_path, drawn(6, listing))
    assert not any(line.strip().isdecimal() for line in document.text.splitlines())


def test_a_large_name_on_each_page_is_left_out(tmp_path: Path) -> None:
    def letter(canvas: Canvas, number: int) -> None:
        canvas.setFont("Helvetica", 10)
        for line in range(6):
            canvas.drawString(60, 700 - 14 * line, f"Words {chr(64 + number) * 3} of line {line}")
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawString(60, 810, "Great Bolts Limited")

    document = parsed(tmp_path, drawn(5, letter))
    assert "Great" not in document.text
    assert len(left_out(document)) == 1


def test_pages_that_all_say_the_same_are_read(tmp_path: Path) -> None:
    def copy(canvas: Canvas, _: int) -> None:
        canvas.drawString(60, 800, "Error code 1001")
        canvas.drawString(60, 786, "It means the pump is off.")

    document = parsed(tmp_path, drawn(5, copy))
    assert document.text == "Error code 1001\nIt means the pump is off.\n\n" * 5
    assert left_out(document) == []


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (lambda n: f"Chapter {1 + n // 4}", "chapter #"),
        (lambda n: f"{1 + n // 3}-{1 + n % 3}", "#-#"),
        (lambda n: f"Page {n + 4} of 20", "page # of #"),
        (lambda n: f"{n * 2} / 24", "# / #"),
    ],
)
def test_heads_of_chapters_and_numbers_of_pages_are_left_out(
    tmp_path: Path, head: Callable[[int], str], said: str
) -> None:
    def page(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, 810, head(number))
        canvas.drawString(72, 700, f"The page about the letter {'abcdefghijkl'[number - 1]}.")

    document = parsed(tmp_path, drawn(12, page))
    assert document.text.startswith("The page about the letter a.\n")
    assert f"left out as a running head: {said}" in left_out(document)


def test_the_number_of_a_page_is_left_out_below_other_numbers(tmp_path: Path) -> None:
    def page(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, 760, f"The page about the letter {'abcdef'[number - 1]}.")
        for line in range(6 * (number == 4)):
            canvas.drawString(72, 700 - 40 * line, f"{line * 111}")
        canvas.drawString(290, 25, str(number))

    document = parsed(tmp_path, drawn(6, page))
    assert not {"3", "4", "5"} & set(document.text.splitlines())
    assert "555" in document.text.splitlines()


def test_the_box_with_the_number_of_a_document_is_left_out(tmp_path: Path) -> None:
    def page(canvas: Canvas, number: int) -> None:
        for row, cells in enumerate((("Document", "Page"), ("QM-7", f"{number} of 5"))):
            for column, cell in enumerate(cells):
                canvas.rect(72 + 200 * column, 790 - 20 * row, 200, 20)
                canvas.drawString(76 + 200 * column, 795 - 20 * row, cell)
        canvas.drawString(72, 700, f"The page about the letter {'abcde'[number - 1]}.")

    document = parsed(tmp_path, drawn(5, page))
    assert document.text.startswith("The page about the letter a.\n")
    assert "QM-7" not in document.text


def scanned(lines: Sequence[str]) -> bytes:
    """Return pages that are pictures of a line, with the stamp of a scanner below."""

    def page(canvas: Canvas, number: int) -> None:
        picture = Image.new("L", (1240, 1754), 255)
        ImageDraw.Draw(picture).text((120, 200), lines[number - 1], fill=0, font_size=40)
        canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        canvas.drawString(250, 20, f"Scanned with PaperScan {number}")

    return drawn(len(lines), page)


SCANNED = ["The walrus sleeps.", "The puffin nests.", "The narwhal dives.", "The lemming hides."]


def test_scanned_pages_that_say_the_stamp_of_the_scanner_only_need_ocr(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="none of its 4 pages holds text") as caught:
        parsed(tmp_path, scanned(SCANNED))
    assert caught.value.reason == "needs_ocr"


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not on the path")
def test_ocr_reads_pages_with_the_stamp_of_the_scanner(tmp_path: Path) -> None:
    document = parsed(tmp_path, scanned(SCANNED), Pdf(ocr=True, ocr_languages="eng"))
    assert all(line in document.text for line in SCANNED)
    assert "4 of 4 pages were read by OCR" in [each.message for each in document.remarks]


def test_a_picture_between_running_heads_is_counted_and_a_page_of_heads_alone_is_not(
    tmp_path: Path,
) -> None:
    def page(canvas: Canvas, number: int) -> None:
        canvas.drawString(72, 810, "Handbook of ice")
        if number == 2:
            canvas.drawImage(ImageReader(Image.new("L", (60, 80))), 60, 60, 400, 600)
        elif number != 4:
            canvas.drawString(72, 700, f"The page about the letter {'abcdef'[number - 1]}.")

    document = parsed(tmp_path, drawn(6, page))
    (remark,) = (each for each in document.remarks if each.code == "no_text")
    assert remark.message == "1 of 6 pages hold no text (2): they need OCR"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("pages", [1, 4])
def test_a_watermark_is_no_heading_and_left_out_where_it_repeats(
    tmp_path: Path, *, first: bool, pages: int
) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for number in range(pages):
        for mark in (first, not first):
            canvas.saveState()
            if mark:
                canvas.translate(150, 300)
                canvas.rotate(45)
                canvas.setFont("Helvetica", 80)
                canvas.drawString(0, 0, "DRAFT")
            else:
                canvas.setFont("Helvetica-Bold", 16)
                canvas.drawString(72, 780, f"Chapter {number + 1} of pumps")
                canvas.setFont("Helvetica", 10)
                for line in range(40):
                    canvas.drawString(72, 750 - 14 * line, f"It is about valve {line * 7}.")
            canvas.restoreState()
        canvas.showPage()
    canvas.save()
    document = parsed(tmp_path, buffer.getvalue())
    titles = {section.title for section in document.sections} - {"a"}
    assert titles == {f"Chapter {number + 1} of pumps" for number in range(pages)}
    left_out = "left out as a running head: DRAFT" in [each.message for each in document.remarks]
    assert left_out == ("DRAFT" not in document.text) == (pages > 1)
