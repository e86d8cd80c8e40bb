"""Opens pages of a PDF with what is written into the fields of their forms, and beside the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from fumishirube_documents.pdf_lines import PdfLine

_WRITTEN = {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT}
_SAME_LINE = 0.4
"""The most difference of the heights of the parts of a line, in letter sizes."""


class OpenedPage(NamedTuple):
    """A page, and whether it is ``filled``: fields have become a part of it."""

    page: Any
    filled: bool


def opened_page(file: Any, index: int) -> OpenedPage:
    """Open a page; what its fields show becomes a part of it.

    Raises:
        PdfiumError: when the page is damaged.
    """
    page = file[index]
    if not _WRITTEN.intersection(_kinds(page)):
        return OpenedPage(page, filled=False)
    done = pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
    if done != pdfium.FLATTEN_SUCCESS:
        return OpenedPage(page, filled=False)
    page.close()  # what was added is read with the page opened anew
    return OpenedPage(file[index], filled=True)


def _kinds(page: Any) -> Iterator[int]:
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        if note := pdfium.FPDFPage_GetAnnot(page, number):
            yield pdfium.FPDFAnnot_GetSubtype(note)
            pdfium.FPDFPage_CloseAnnot(note)


def in_rows(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return lines from top to bottom, and from left to right in a row: labels beside fields."""
    ordered: list[PdfLine] = []
    row: list[PdfLine] = []
    for line in sorted(lines, key=lambda line: -line.bottom):
        if row and row[0].bottom - line.bottom > _SAME_LINE * max(row[0].size, 1):
            ordered += sorted(row, key=lambda each: each.left)
            row = []
        row.append(line)
    return [*ordered, *sorted(row, key=lambda each: each.left)]
