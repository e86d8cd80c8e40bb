"""Pictures of PDF pages: each line of the text is found on its page, however it is drawn."""

from __future__ import annotations

import io
import random
from functools import partial
from pathlib import Path

import pypdfium2 as pdfium
import pytest
import samples
from fumishirube_documents import Pdf
from made_tables import pdf_of, rows_of
from opened_loaders import running
from PIL import Image, ImageChops
from pydantic import SecretStr
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from fumishirube import NotFound, Root, Source, Unreadable
from fumishirube.parsing import PagePictures, PageView


def pictures(folder: Path, data: bytes, stage: Pdf | None = None) -> PagePictures:
    (folder / "a.pdf").write_bytes(data)
    loader, root, source = running(stage or Pdf()), Root(folder), Source("a.pdf")
    return PagePictures(loader, root, source, partial(loader.load, root, source))


def lines(folder: Path, page: int) -> list[int]:
    """Return the numbers of the lines of a page that are not blank."""
    document = running(Pdf()).load(Root(folder), Source("a.pdf"))
    begins = [place.line for place in document.places] + [len(document.text)]
    at = next(n for n, place in enumerate(document.places) if place.page == page)
    texts = document.text.splitlines()
    return [n for n in range(begins[at], min(begins[at + 1], len(texts) + 1)) if texts[n - 1]]


def hyphened() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    words = ["The turbine needs lubri-", "cation every week, by the", "mechan-", "ic of the day."]
    for number, words_of_line in enumerate(words):
        canvas.drawString(72, 700 - 13 * number, words_of_line)
    canvas.save()
    return buffer.getvalue()


def turned() -> bytes:
    with pdfium.PdfDocument(samples.report()) as document:
        for page in document:
            page.set_rotation(90)
        buffer = io.BytesIO()
        document.save(buffer)
    return buffer.getvalue()


def sideways() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.translate(A4[0], 0)
    canvas.rotate(90)
    for number in range(5):
        canvas.drawString(60, 500 - 20 * number, f"The tide of day {number} is low.")
    canvas.save()
    return buffer.getvalue()


def table(*, ruled: bool, wrapped: bool) -> bytes:
    chance = random.Random(2)
    return pdf_of(rows_of(chance), ruled=ruled, wrapped=wrapped, chance=chance)


@pytest.mark.parametrize(
    "data",
    [
        samples.report(),
        hyphened(),
        turned(),
        sideways(),
        table(ruled=True, wrapped=True),
        table(ruled=True, wrapped=False),
        table(ruled=False, wrapped=False),
        table(ruled=False, wrapped=True),
    ],
    ids=[
        "report",
        "hyphens",
        "turned",
        "sideways",
        "ruled, wrapped",
        "ruled",
        "unruled",
        "unruled, wrapped",
    ],
)
def test_every_line_of_a_page_can_be_marked(tmp_path: Path, data: bytes) -> None:
    drawing = pictures(tmp_path, data)
    with pdfium.PdfDocument(data) as document:
        pages = len(document)
    for page in range(1, pages + 1):
        numbers = lines(tmp_path, page)
        assert drawing.draw(page, numbers).marked == len(numbers) > 0
        assert drawing.draw(page).marked == 0


def test_lines_that_read_the_same_are_marked_in_their_order(tmp_path: Path) -> None:
    data = samples.pdf([["Total 5", "one", "Total 5", "two"]])
    drawing = pictures(tmp_path, data)
    text = running(Pdf()).load(Root(tmp_path), Source("a.pdf")).text.splitlines()
    first, second = (number for number, line in enumerate(text, 1) if line == "Total 5")
    tops = []
    for number in (first, second):
        drawn = Image.open(io.BytesIO(drawing.draw(1, [number]).data)).convert("RGB")
        red, _, blue = drawn.split()
        tops.append(ImageChops.subtract(red, blue).getbbox())
    assert tops[0] is not None
    assert tops[1] is not None
    assert tops[0][3] < tops[1][1]
    assert drawing.draw(1, [first, first, second, 10_000]).marked == 2


def test_scanned_lines_are_not_marked_and_large_pages_are_drawn_smaller(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(14_400, 14_400), invariant=1)
    canvas.drawString(5000, 5000, "A wall")
    canvas.save()
    drawing = pictures(tmp_path, buffer.getvalue())
    drawn = drawing.draw(1, [1])
    assert drawn.marked == 1
    width, height = Image.open(io.BytesIO(drawn.data)).size
    assert width * height <= 3_100_000
    # Lines that are read from the picture of a page have no place on it.
    view = PageView(1, ("something else altogether, by OCR",), (0,))
    assert running(Pdf()).picture(Root(tmp_path), Source("a.pdf"), view).marked == 0


def test_a_page_that_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    drawing = pictures(tmp_path, samples.report())
    with pytest.raises(NotFound, match="no page 6"):
        drawing.draw(6)
    view = PageView(6, (), ())
    with pytest.raises(Unreadable, match="no page 6"):
        running(Pdf()).picture(Root(tmp_path), Source("a.pdf"), view)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and no more")
    with pytest.raises(Unreadable, match="ends early"):
        running(Pdf()).picture(Root(tmp_path), Source("a.pdf"), PageView(1, (), ()))


def test_a_locked_page_is_drawn_with_its_password(tmp_path: Path) -> None:
    stage = Pdf(passwords=(SecretStr("secret"),))
    data = samples.pdf([["The key is under the mat."]], password="secret")
    assert pictures(tmp_path, data, stage).draw(1, [1]).marked == 1
