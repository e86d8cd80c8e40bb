"""Draws a page of a PDF, with lines of its text marked."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import pypdfium2 as pdfium
from PIL import Image, ImageChops, ImageDraw

from fumishirube import Unreadable
from fumishirube.parsing import PageView, Picture
from fumishirube_documents.pdf import lines_of_page, opened_pdf
from fumishirube_documents.pdf_lines import PdfLine
from fumishirube_documents.pdf_tables import with_rows

_SCALE = 1.75
"""Pixels of a point: 126 dots an inch."""
_MOST_PIXELS = 3_000_000
_MARK = (255, 230, 100)
_MARGIN = 2
"""The pixels of a mark around its line."""
_ALIKE = 0.6
"""How alike a line of the page and one of the text are that a hyphen made different."""
_SPACE = re.compile(r"\s+")


def drawn_page(data: bytes, view: PageView, settings: Mapping[str, Any]) -> Picture:
    """Draw a page.

    Raises:
        Unreadable: when there is no such page, or the file or the page is damaged.
    """
    file = opened_pdf(data, settings["passwords"])
    if not 1 <= view.page <= len(file):
        raise Unreadable(f"it has no page {view.page}", "no_page")
    try:
        page = file[view.page - 1]
        width, height = page.get_size()
        scale = min(_SCALE, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=scale)
        position = bitmap.get_posconv(page)
        picture = bitmap.to_pil().convert("RGB")
        # A second file is read, for that changes the page.
        second = opened_pdf(data, settings["passwords"])
        read, turn = lines_of_page(second, view.page - 1, beyond_edges=settings["beyond_edges"])
    except pdfium.PdfiumError as error:
        raise Unreadable("the page is damaged", "damaged") from error
    boxes = [
        (
            position.to_bitmap(*turn.back(line.left, line.top)),
            position.to_bitmap(*turn.back(line.right, line.bottom)),
        )
        for line in _marked(read.lines, view)
    ]
    buffer = io.BytesIO()
    _with_marks(picture, boxes).save(buffer, "PNG", compress_level=3)
    return Picture(buffer.getvalue(), len(boxes))


def _with_marks(
    picture: Image.Image, boxes: Sequence[tuple[tuple[int, int], tuple[int, int]]]
) -> Image.Image:
    """Colour some rectangles, of which two opposite corners are given, as a text marker does."""
    marks = Image.new("RGB", picture.size, "white")
    draw = ImageDraw.Draw(marks)
    for corners in boxes:
        (left, right), (top, bottom) = (sorted(pair) for pair in zip(*corners, strict=True))
        edges = (left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN)
        draw.rectangle(edges, fill=_MARK)
    return ImageChops.multiply(picture, marks)


def _marked(lines: Sequence[PdfLine], view: PageView) -> Iterator[PdfLine]:
    """Yield the lines of the page that are the marked ones of the text.

    Of lines that read the same, the first is the first of the text. A line that a divided word
    made longer or shorter is the one most alike.
    """
    drawn: dict[str, list[PdfLine]] = {}
    for line, written in zip(lines, with_rows(lines), strict=True):
        if line.right > line.left:
            drawn.setdefault(_letters(written.text), []).append(line)
    served = [*map(_letters, view.lines)]
    for number in view.marked:
        wanted = served[number]
        alike = get_close_matches(wanted, drawn, 1, _ALIKE) if wanted not in drawn else [wanted]
        if wanted and alike:
            equal = drawn[alike[0]]
            yield equal[min(served[:number].count(wanted), len(equal) - 1)]


def _letters(text: str) -> str:
    return _SPACE.sub("", text)
