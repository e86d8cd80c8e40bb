"""Turns a page whose letters are not upright, such as one with a wide table."""

from __future__ import annotations

from collections import Counter
from ctypes import byref
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from fumishirube_documents.pdf_lines import Box

_MOST_LETTERS = 40
"""How many letters of a page decide how it is turned."""


class Turn(NamedTuple):
    """A turn of a page: it moves (x, y) to (a x + c y + e, b x + d y + f), as in a PDF."""

    a: float = 1
    b: float = 0
    c: float = 0
    d: float = 1
    e: float = 0
    f: float = 0

    def moved(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is after the turn."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point was before the turn."""
        x, y = x - self.e, y - self.f
        return self.a * x + self.b * y, self.c * x + self.d * y

    def box(self, box: Box) -> Box:
        """Return where a rectangle is after the turn."""
        corners = (self.moved(*box[:2]), self.moved(*box[2:]))
        (left, right), (bottom, top) = (sorted(pair) for pair in zip(*corners, strict=True))
        return left, bottom, right, top


def turn_of(page: Any, text: Any) -> Turn | None:
    """Return the turn that makes most letters of a page upright as it is drawn; ``None`` if none.

    It also undoes how the page is turned when it is shown.
    """
    left, bottom, right, top = page.get_mediabox()
    turns = (
        Turn(),
        Turn(0, -1, 1, 0, -bottom, right),
        Turn(-1, 0, 0, -1, right, top),
        Turn(0, 1, -1, 0, top, -left),
    )
    turn = turns[_quarter_of_letters(text)]
    return turn if turn != Turn() or page.get_rotation() else None


def turn_page(page: Any, turn: Turn) -> None:
    """Turn what a page draws, and its edges; it can be read, but not be drawn, afterwards."""
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        pdfium.FPDFPageObj_Transform(pdfium.FPDFPage_GetObject(page, number), *turn)
    media, crop = page.get_mediabox(), page.get_cropbox()
    page.set_rotation(0)
    page.set_mediabox(*turn.box(media))
    page.set_cropbox(*turn.box(crop))


def _quarter_of_letters(text: Any) -> int:
    """Return by how many quarters of a turn, to the left, most letters are turned."""
    count = text.count_chars()
    matrix = pdfium.FS_MATRIX()
    quarters = Counter[int]()
    for place in range(0, count, max(1, count // _MOST_LETTERS)):
        letter = pdfium.FPDFText_GetUnicode(text, place)
        if letter > ord(" ") and pdfium.FPDFText_GetMatrix(text, place, byref(matrix)):
            level = abs(matrix.a) >= abs(matrix.b)
            quarters[(0 if matrix.a >= 0 else 2) if level else 1 if matrix.b > 0 else 3] += 1
    return quarters.most_common(1)[0][0] if quarters else 0
