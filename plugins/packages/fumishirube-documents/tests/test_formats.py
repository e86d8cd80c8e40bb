"""PDF, presentations, sheets and books: what is read of them, and where it stands."""

from __future__ import annotations

import io
import random
import shutil
import zipfile
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pypdfium2 as pdfium
import pytest
import samples
from fumishirube_documents import Epub, OldSheets, Pdf, Pptx, Xlsx
from fumishirube_documents.number_formats import shown
from opened_loaders import RunningContract, running
from PIL import Image
from pptx.chart import data as charts
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml.ns import qn
from pydantic import SecretStr
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Document, Root, Source, Unreadable
from fumishirube.parsing import IsolatedLoader, PlaceRange, lines_of, place_at, place_range
from fumishirube.text import Lines

samples.workbook()  # a library writes a file for that, which no loader may


class TestPdf(RunningContract):
    stage = Pdf()

    def files(self) -> Mapping[str, str | bytes]:
        return {"report.pdf": samples.report(), "more/SHORT.PDF": samples.pdf([["x"]])}


class TestPptx(RunningContract):
    stage = Pptx()

    def files(self) -> Mapping[str, str | bytes]:
        return {"plan.pptx": samples.slides()}


class TestXlsx(RunningContract):
    stage = Xlsx()

    def files(self) -> Mapping[str, str | bytes]:
        return {"prices.xlsx": samples.workbook()}


class TestOldSheets(RunningContract):
    stage = OldSheets()

    def files(self) -> Mapping[str, str | bytes]:
        return {"prices.ods": samples.workbook()}


class TestEpub(RunningContract):
    stage = Epub()

    def files(self) -> Mapping[str, str | bytes]:
        return {"shop.epub": samples.book()}


def load(folder: Path, name: str, data: bytes, stage: IsolatedLoader) -> Document:
    (folder / name).write_bytes(data)
    return running(stage).load(Root(folder), Source(name))


def refused(folder: Path, data: bytes, stage: IsolatedLoader, name: str = "a.pdf") -> str:
    with pytest.raises(Unreadable) as caught:
        load(folder, name, data, stage)
    return caught.value.reason


def line_of(document: Document, text: str) -> int:
    return Lines(document.text).at(document.text.index(text))


# --- PDF ------------------------------------------------------------------------------------


def test_each_page_and_each_heading_opens_a_section(tmp_path: Path) -> None:
    document = load(tmp_path, "report.pdf", samples.report(), Pdf())
    pages = [place_at(document.places, each.start_line) for each in document.sections]
    assert [
        (each.title, page.page if page else 0)
        for each, page in zip(document.sections, pages, strict=True)
    ] == [
        ("Overview", 1),
        ("Overview", 2),
        ("Prices", 3),
        ("休暇", 4),
        ("休暇", 5),
    ]


def test_every_line_knows_its_page(tmp_path: Path) -> None:
    document = load(tmp_path, "report.pdf", samples.report(), Pdf())
    for text, page in [("brass key", 2), ("Bolt", 3), ("十日", 4), ("goodbye", 5)]:
        place = place_at(document.places, line_of(document, text))
        assert place is not None
        assert place.page == page
    assert lines_of(document.places, PlaceRange("page", 2, 2), Lines(document.text).total) == (
        line_of(document, "It has two"),
        line_of(document, "# Prices".removeprefix("# ")) - 1,
    )


def test_running_heads_and_numbers_of_pages_are_left_out_and_listed(tmp_path: Path) -> None:
    document = load(tmp_path, "report.pdf", samples.report(), Pdf())
    assert "Annual report" not in document.text
    assert "- 3 -" not in document.text
    assert [r.message for r in document.remarks] == [
        "left out as a running head: - # -",
        "left out as a running head: annual report of the shop",
    ]
    whole = load(tmp_path, "report.pdf", samples.report(), Pdf(running_heads=True))
    assert whole.text.count("Annual report") == 5


def test_a_table_is_rows_with_each_cell_in_its_column(tmp_path: Path) -> None:
    document = load(tmp_path, "report.pdf", samples.report(), Pdf())
    rows = "| Item | Price | Qty |\n| Bolt | 1.20 | 30 |\n| Nut |  | 7 |\n| Washer | 0.10 | 9 |\n"
    assert rows in document.text


def test_headings_of_the_outline_go_before_large_letters(tmp_path: Path) -> None:
    pages = [["Opening", "x"], ["text", "# Large", "Ending", "y"], ["z"]]
    data = samples.pdf(pages, outline={"Opening": 1, "Ending": 2})
    document = load(tmp_path, "a.pdf", data, Pdf())
    titles = [(each.title, each.start_line) for each in document.sections]
    assert titles == [
        ("Opening", 1),
        ("Opening", line_of(document, "text")),
        ("Ending", line_of(document, "Ending")),
        ("Ending", line_of(document, "z")),
    ]


def test_a_letter_that_is_drawn_alone_is_read(tmp_path: Path) -> None:
    document = load(tmp_path, "a.pdf", samples.pdf([["tarball", "が", "ある。"]]), Pdf())
    assert "tarball\nが\nある。\n" in document.text


def test_labels_that_are_printed_stand_beside_the_numbers(tmp_path: Path) -> None:
    data = samples.pdf([["one"], ["two"]], labels={1: "", 2: "A-"})
    document = load(tmp_path, "a.pdf", data, Pdf())
    assert [(place.page, place.label) for place in document.places] == [(1, "i"), (2, "A-i")]


def test_pages_without_text_are_counted_except_blank_ones(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.drawString(72, 700, "one")
    canvas.showPage()
    canvas.rect(72, 500, 200, 200, fill=1)
    canvas.showPage()
    canvas.showPage()
    canvas.drawString(72, 700, "four")
    canvas.showPage()
    canvas.save()
    document = load(tmp_path, "a.pdf", buffer.getvalue(), Pdf())
    assert [place.page for place in document.places] == [1, 4]
    (remark,) = (r for r in document.remarks if r.code == "no_text")
    assert remark.message == "1 of 4 pages hold no text (2): they need OCR"
    assert refused(tmp_path, samples.pdf([[], []]), Pdf()) == "needs_ocr"


def test_a_password_of_the_settings_opens_a_locked_file(tmp_path: Path) -> None:
    data = samples.pdf([["The key is under the mat."]], password="secret")
    other, secret = SecretStr("other"), SecretStr("secret")
    right = Pdf(passwords=(other, secret))
    assert "under the mat" in load(tmp_path, "a.pdf", data, right).text
    with pytest.raises(Unreadable, match="none of the passwords opens it") as caught:
        load(tmp_path, "a.pdf", data, Pdf(passwords=(other,)))
    assert caught.value.reason == "encrypted"
    assert "secret" not in repr(right) + str(right.model_dump(mode="json"))
    assert right.fingerprint != Pdf(passwords=(other, other)).fingerprint


def scan(lines: list[str]) -> bytes:
    """Return a PDF whose only page is a picture of lines."""
    with pdfium.PdfDocument(samples.pdf([lines])) as document:
        picture = document[0].render(scale=3).to_pil()
    buffer = io.BytesIO()
    picture.save(buffer, "PDF", resolution=216)
    return buffer.getvalue()


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not on the path")
def test_ocr_reads_pages_without_text_when_it_is_asked_for(tmp_path: Path) -> None:
    data = scan(["# The quarterly balance", "It shows a profit of 4711 euros."])
    assert refused(tmp_path, data, Pdf()) == "needs_ocr"
    document = load(tmp_path, "a.pdf", data, Pdf(ocr=True, ocr_languages="eng"))
    assert "profit of 4711 euros" in document.text
    assert [place.page for place in document.places] == [1]
    (remark,) = document.remarks
    assert remark.message == "1 of 1 pages were read by OCR"


def test_without_the_program_for_ocr_the_reason_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unreadable, match="tesseract is not on the path") as caught:
        load(tmp_path, "a.pdf", samples.pdf([[], []]), Pdf(ocr=True))
    assert caught.value.reason == "needs_ocr"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (samples.pdf([["x"]], password="secret"), "encrypted"),
        (b"%PDF-1.7 and no more", "damaged"),
        (b"", "empty"),
        (samples.report()[:200], "damaged"),
    ],
)
def test_what_is_no_readable_pdf_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    assert refused(tmp_path, data, Pdf()) == reason


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"hello", "is not a PDF"), (samples.report()[:-300], "ends early: fetch it again")],
)
def test_only_a_pdf_ends_early(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(Unreadable, match=message):
        running(Pdf()).load(Root(tmp_path), Source("a.pdf"))


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever the bytes, the server stays, and so does what it reads next."""
    chance = random.Random(7)
    originals = [
        ("a.pdf", samples.report(), Pdf()),
        ("a.xlsx", samples.workbook(), Xlsx()),
        ("a.pptx", samples.slides(), Pptx()),
        ("a.epub", samples.book(), Epub()),
    ]
    reasons: set[str] = set()
    for name, original, stage in originals:
        for _ in range(15):
            data = bytearray(original)
            for _ in range(chance.choice([1, 10, 100])):
                data[chance.randrange(len(data))] = chance.randrange(256)
            try:
                load(tmp_path, name, bytes(data), stage)
            except Unreadable as error:
                reasons.add(error.reason)
        assert load(tmp_path, name, original, stage).text
    assert "damaged" in reasons
    assert "" not in reasons


# --- presentations --------------------------------------------------------------------------


def test_a_slide_is_a_section_with_its_notes(tmp_path: Path) -> None:
    document = load(tmp_path, "plan.pptx", samples.slides(), Pptx())
    assert [each.title for each in document.sections] == ["Plan", "Costs"]
    assert [place.slide for place in document.places] == [1, 2]
    costs = document.text[document.sections[1].start :]
    assert costs == (
        "# Costs\n\nTwo hundred euros\n| Item | Price |\n| Key | 4 \\| 5 |\n"
        "\nNotes:\nSay it slowly.\n\n"
    )


def test_a_slide_with_a_title_only_is_the_text_of_its_section(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    slide.shapes.title.text = "The brass key"
    buffer = io.BytesIO()
    shown.save(buffer)
    document = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx())
    (section,) = document.sections
    assert "The brass key" in document.text[section.body : section.end]


# --- sheets ---------------------------------------------------------------------------------


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
        (3, "General", "3"),
        (3.0, "General", "3"),
        (0.1, "General", "0.1"),
        (3, "0", "3"),
        (1e20, "General", "1e+20"),
        (True, "General", "TRUE"),
        (None, "General", ""),
        (" a\nb ", "@", "a b"),
        (date(2024, 4, 1), "yyyy/m/d", "2024-04-01"),
        (datetime(2024, 4, 1, 9, 30), "yyyy-mm-dd hh:mm", "2024-04-01 09:30"),  # noqa: DTZ001 - sheets know no zones
        (datetime(2024, 4, 1), "ge.m.d", "令和6年4月1日 (2024-04-01)"),  # noqa: DTZ001 - sheets know no zones
        (datetime(1989, 1, 7), 'ggge"年"', "昭和64年1月7日 (1989-01-07)"),  # noqa: DTZ001 - sheets know no zones
        (time(9, 30), "h:mm", "09:30"),
    ],
)
def test_values_are_shown_as_the_sheet_shows_them(
    value: object, number_format: str, text: str
) -> None:
    assert shown(value, number_format) == text


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


# --- books ----------------------------------------------------------------------------------


def test_chapters_come_in_their_order(tmp_path: Path) -> None:
    document = load(tmp_path, "shop.epub", samples.book(), Epub())
    assert [each.title for each in document.sections] == ["First", "Second"]
    assert document.text.index("brass key") < document.text.index("cellar")


@pytest.mark.parametrize("kind", ["ncx", "nav"])
def test_chapters_without_headings_have_the_titles_of_the_contents(
    tmp_path: Path, kind: str
) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = "<p>Keys</p><p>The brass key.</p>"
    files["OPS/two.xhtml"] = "<p>The cellar.</p>"
    entries = {"Keys": "one%20.xhtml", "Cellars": "two.xhtml#top"}
    if kind == "ncx":
        item = '<item id="c" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        points = (
            f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{href}"/></navPoint>'
            for title, href in entries.items()
        )
        files["OPS/toc.ncx"] = f"<ncx><navMap>{''.join(points)}</navMap></ncx>"
    else:
        item = '<item id="c" href="toc.xhtml" properties="nav"/>'
        links = (f'<li><a href="{href}">{title}</a></li>' for title, href in entries.items())
        files["OPS/toc.xhtml"] = f"<html><body><nav><ol>{''.join(links)}</ol></nav></body></html>"
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("<manifest>", f"<manifest>{item}")
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    texts = {each.title: document.text[each.body : each.end] for each in document.sections}
    assert {title: text.split() for title, text in texts.items()} == {
        "Keys": ["The", "brass", "key."],
        "Cellars": ["The", "cellar."],
    }


def test_pages_without_headings_have_those_that_the_contents_name(tmp_path: Path) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = (
        "<p>Lights</p><p>They guide.</p><p>Sector lights</p><p>Green is east.</p><p>Lights</p>"
    )
    links = '<a href="one%20.xhtml">Lights</a><ol><li><a href="one%20.xhtml#s">Sector lights</a>'
    files["OPS/toc.xhtml"] = f"<nav><ol><li>{links}</li></ol></li></ol></nav>"
    item = '<item id="c" href="toc.xhtml" properties="nav"/>'
    files["OPS/book.opf"] = files["OPS/book.opf"].replace("<manifest>", f"<manifest>{item}")
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert [(s.title, s.level, s.ancestors) for s in document.sections] == [
        ("Lights", 1, ()),
        ("Sector lights", 2, ("Lights",)),
        ("Second", 1, ()),
    ]


def test_pages_without_headings_have_those_in_larger_letters(tmp_path: Path) -> None:
    files = dict(samples.book_files())
    files["OPS/a.css"] = (
        "p { font-size: 1em } .big { font-size: 24pt; } span.mid, .x { font-weight: bold; "
        "font-size: 1.5em } .cap { font-size: 300% }"
    )
    long = "The keeper trims the wick and writes down the hour. " * 4
    for name, title in (("one .xhtml", "Lights"), ("two.xhtml", "Horns")):
        files[f"OPS/{name}"] = (
            f'<p><span class="big">{title}</span></p><p><span class="cap">T</span>he sea. {long}'
            f'</p><div><p><span class="mid">{title} at night</span></p></div><p>{long}</p>'
        )
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert [(section.title, section.level) for section in document.sections] == [
        ("Lights", 1),
        ("Lights at night", 2),
        ("Horns", 1),
        ("Horns at night", 2),
    ]
    assert document.text.count("The keeper") == 16


def test_marking_headings_loses_no_text_of_a_broken_page(tmp_path: Path) -> None:
    files = dict(samples.book_files())
    files["OPS/one .xhtml"] = (
        '<p style="font-size:30pt">Keys</div><p>all is &nbsp;<b>lost<p>at</i>s'
    )
    document = load(tmp_path, "a.epub", samples.packed(files), Epub())
    assert document.text.split()[:5] == ["#", "Keys", "all", "is", "lost"]


# --- presentations --------------------------------------------------------------------------


def test_titles_of_charts_and_cells_merged_over_rows_are_read(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data: Any = vars(charts)["CategoryChartData"]()  # its constructor has no types
    data.categories = ["東港", "西港"]
    data.add_series("2024年度", (131, 52))
    place = (0, 0, 1_000_000, 1_000_000)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "港別の取扱量（千トン）"
    table = slide.shapes.add_table(3, 2, *place).table
    for at, text in enumerate(("Pier", "Depth", "North", "9", "", "7")):
        table.cell(at // 2, at % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    buffer = io.BytesIO()
    made.save(buffer)
    assert load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text.splitlines()[2:-1] == [
        "港別の取扱量（千トン）",
        "| | 東港 | 西港 |",
        "| 2024年度 | 131 | 52 |",
        "| Pier | Depth |",
        "| North | 9 |",
        "| North | 7 |",
    ]


def test_a_strict_workbook_is_read_by_its_values(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(samples.workbook())) as package:
        files = {name: package.read(name).decode() for name in package.namelist()}
    schemas, strict = "http://schemas.openxmlformats.org", "http://purl.oclc.org/ooxml"
    kinds = {
        f"{schemas}/spreadsheetml/2006/main": f"{strict}/spreadsheetml/main",
        f"{schemas}/officeDocument/2006/": f"{strict}/officeDocument/",
    }
    for old, new in kinds.items():
        files = {name: content.replace(old, new) for name, content in files.items()}
    document = load(tmp_path, "a.xlsx", samples.packed(files), Xlsx())
    values = load(tmp_path, "b.xls", samples.workbook(), OldSheets())
    assert document.text == values.text
    assert [remark.code for remark in document.remarks] == ["values_only"]


def test_slides_with_unknown_charts_and_pictures_as_titles_are_read(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data: Any = vars(charts)["CategoryChartData"]()
    data.categories, place = ["a"], (0, 0, 1_000_000, 1_000_000)
    data.add_series("b", (1,))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    space = chart._chartSpace  # noqa: SLF001 - the library makes no such chart
    space.xpath("//c:barChart")[0].tag = str(qn("c:surface3DChart"))
    buffer = io.BytesIO()
    Image.new("RGB", (9, 9)).save(buffer, "PNG")
    picture = slide.shapes.add_picture(buffer, *place)
    named = picture._element.nvPicPr.nvPr  # noqa: SLF001 - nor such a title
    named.append(named.makeelement(qn("p:ph"), {"type": "title"}))
    slide.shapes.add_textbox(*place).text_frame.text = "Beside the chart"
    buffer = io.BytesIO()
    made.save(buffer)
    text = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text
    assert text.splitlines() == ["# a 1", "", "Beside the chart", ""]
