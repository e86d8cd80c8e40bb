"""Keeps the lines of code of a PDF as they are printed, with their indents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from fumishirube_documents.pdf_lines import Cell, PdfLine

_TYPEWRITTEN = 0.95
"""The share of letters of one width from which a page is typewritten, and its text no code."""
_GAP = 1.5
"""How much farther apart than others lines are that a blank one divides."""


def with_code(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines, those of code with the spaces that are printed, each as one cell.

    The lines of a block begin where its leftmost one does, and ``goes_on`` is false of those below
    a blank one. On a page that is typewritten
    nothing tells code from text and tables, so its lines are the same.
    """
    letters = sum(len(line.text) for line in lines)
    code = sum(len(line.text) for line in lines if line.pitch)
    if not code or code >= _TYPEWRITTEN * letters:
        return [*lines]
    return [
        line
        for is_code, block in groupby(lines, lambda line: line.pitch > 0 and not line.row)
        for line in (_block([*block]) if is_code else block)
    ]


def _block(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    left = min(line.left for line in lines)
    pitch = max(lines, key=lambda line: len(line.text)).pitch
    steps = [above.base - line.base for above, line in pairwise(lines)]
    most = _GAP * min((step for step in steps if step > 0), default=0)
    for line, step in zip(lines, (0, *steps), strict=True):
        text = ""
        for cell in line.cells:
            column = round((cell.left - left) / pitch)
            text += " " * max(bool(text), column - len(text)) + cell.text
        cells = (Cell(text, line.left, line.right),)
        yield line._replace(cells=cells, broken=False, goes_on=0 < step <= most)
