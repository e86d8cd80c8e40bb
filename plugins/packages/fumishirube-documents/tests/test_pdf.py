"""PDF: what is read of its pages, where it stands, and why a file is not read."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pypdfium2 as pdfium
import pytest
import samples
from fumishirube_documents import Pdf
from fumishirube_documents.isolated_loader import IsolatedLoader
from opened_loaders import line_of, load
from pydantic import SecretStr
from reportlab.pdfgen.canvas import Canvas

from fumishirube import Unreadable
from fumishirube.parsing import PlaceRange, lines_of, place_at
from fumishirube.text import Lines


def refused(folder: Path, data: bytes, stage: IsolatedLoader, name: str = "a.pdf") -> str:
    with pytest.raises(Unreadable) as caught:
        load(folder, name, data, stage)
    return caught.value.reason


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
    with pytest.raises(Unreadable, match=message):
        load(tmp_path, "a.pdf", data, Pdf())
