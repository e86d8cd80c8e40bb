"""Small documents in each format, made anew."""

from __future__ import annotations

import functools
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date

import openpyxl
import pptx
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

HEAD = 18
TABLE = [
    ("Item", "Price", "Qty"),
    ("Bolt", "1.20", "30"),
    ("Nut", "", "7"),
    ("Washer", "0.10", "9"),
]


def pdf(
    pages: Sequence[Sequence[str]],
    *,
    outline: Mapping[str, int] | None = None,
    password: str | None = None,
    labels: Mapping[int, str] | None = None,
    compressed: bool = True,
) -> bytes:
    """Return pages of lines; ``# x`` is in large letters, ``|`` draws a table, no line a shape.

    ``outline`` names headings and their pages; ``labels`` are prefixes of labels by page.
    """
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    buffer = io.BytesIO()
    canvas = Canvas(
        buffer, pagesize=A4, encrypt=password, invariant=1, pageCompression=int(compressed)
    )
    for number, lines in enumerate(pages, start=1):
        for title, page in (outline or {}).items():
            if page == number:
                canvas.bookmarkPage(title)
                canvas.addOutlineEntry(title, title)
        if labels and number in labels:
            canvas.addPageLabel(number - 1, style="ROMAN_LOWER", start=1, prefix=labels[number])
        if lines:
            _page(canvas, number, lines)
        else:
            canvas.rect(72, 400, 200, 200, fill=1)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _page(canvas: Canvas, number: int, lines: Sequence[str]) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(72, 815, "Annual report of the shop")
    canvas.drawString(290, 25, f"- {number} -")
    y = 770.0
    for line in lines:
        rows = TABLE if line == "|" else [(line.removeprefix("# "),)]
        for row in rows:
            large = line.startswith("# ")
            font = "Helvetica" if line.isascii() else "HeiseiMin-W3"
            canvas.setFont(font, HEAD if large else 10)
            for place, cell in enumerate(row):
                canvas.drawString(72 + 150 * place, y, cell)
            y -= 28 if large else 13


@functools.cache
def report() -> bytes:
    """Return a report of five pages."""
    return pdf(
        [
            ["# Overview", "The shop sells bolts."],
            ["It has two cellars, and a brass key."],
            ["# Prices", "All prices are in euros.", "|", "After the table."],
            ["# 休暇", "年次有給休暇は十日とする。"],
            ["The last page says goodbye."],
        ]
    )


@functools.cache
def slides() -> bytes:
    """Return a presentation of two slides."""
    made = pptx.Presentation()
    for title, text in (("Plan", "Open the second cellar"), ("Costs", "Two hundred euros")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    table = slide.shapes.add_table(2, 2, 0, 0, 1_000_000, 1_000_000).table
    for at, cell in enumerate(("Item", "Price", "Key", "4 | 5")):
        table.cell(at // 2, at % 2).text = cell
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@functools.cache
def workbook() -> bytes:
    """Return a workbook of two sheets."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prices"
    sheet.append(["Part", "Price", "Share", "Since"])
    for number in range(1, 101):
        sheet.append([f"A-{number}", number * 1000, number / 1000, date(2024, 4, 1)])
        row = sheet.max_row
        sheet.cell(row, 2).number_format = '"¥"#,##0'
        sheet.cell(row, 3).number_format = "0.0%"
        sheet.cell(row, 4).number_format = 'ggge"年"m"月"d"日"'
    other = book.create_sheet("Q1 plan!")
    other["A5"], other["B5"] = "total", 3
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def book_files() -> dict[str, str]:
    """Return the files of an e-book of two chapters."""
    return {
        "META-INF/container.xml": (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
        ),
        "OPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Shop</dc:title></metadata>'
            '<manifest><item id="b" href="two.xhtml"/><item id="a" href="one%20.xhtml"/></manifest>'
            '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
        ),
        "OPS/one .xhtml": "<h1>First</h1><p>The brass key.</p>",
        "OPS/two.xhtml": "<h1>Second</h1><p>The cellar.</p>",
    }


@functools.cache
def book() -> bytes:
    """Return an e-book of two chapters."""
    return packed(book_files())


def edited(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return a package with each of its parts changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return packed({name: change(package.read(name)) for name in package.namelist()})


def strict(data: bytes) -> bytes:
    """Return an Office document as "Strict Open XML", with the names that Word gives it then."""
    schema, other = (
        rb"http://schemas\.openxmlformats\.org/(\w+)/2006/",
        rb"http://purl.oclc.org/ooxml/",
    )
    known = rb"(?=main|relationships|math|chart|diagram|picture|wordprocessingDrawing)"
    return edited(data, lambda part: re.sub(schema + known, other + rb"\1/", part))


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Return a package of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return buffer.getvalue()
