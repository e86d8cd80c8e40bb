"""Leaves out what a page draws beyond its edges, where nobody sees it."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from fumishirube_documents.pdf_lines import Box, PdfLine


def edges_of(page: Any) -> Box:
    """Return the left, bottom, right and top edge of what is seen of a page."""
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, byref(box))
    return box.left, box.bottom, box.right, box.top


class SeenLines(NamedTuple):
    """The lines that are seen, and the number of those that are left out, at least in part."""

    lines: list[PdfLine]
    beyond: int

    @classmethod
    def of(cls, lines: Sequence[PdfLine], edges: Box) -> SeenLines:
        """Leave out cells beyond the edges; one across an edge stays whole."""
        left, bottom, right, top = edges
        inside, beyond = [], 0
        for line in lines:
            if not line.size or _is_within(line, edges):
                inside.append(line)
                continue
            level = bottom < (line.bottom + line.top) / 2 < top
            cells = [
                cell for cell in line.cells if level and cell.left < right and left < cell.right
            ]
            if cells:
                inside.append(line.with_cells(cells))
            beyond += len(cells) < len(line.cells)
        return cls(inside, beyond)


def _is_within(line: PdfLine, edges: Box) -> bool:
    left, bottom, right, top = edges
    return left <= line.left and bottom <= line.bottom and line.right <= right and line.top <= top
