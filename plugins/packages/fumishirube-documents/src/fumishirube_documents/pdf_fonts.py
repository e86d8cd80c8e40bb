"""Tells how letters of a PDF page look: their sizes, their fonts, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ctypes import byref, c_double, c_int, create_string_buffer
from math import hypot
from typing import Any

import pypdfium2.raw as pdfium

_LEAST_SLANT = 0.2
"""The least slope of a letter that is turned; a page may be scanned askew."""
_FONT_NAME = 128
_BOLD = re.compile(rb"bold|black|heavy|demi|-W[6-9]\b", re.IGNORECASE)
_TYPEWRITER = re.compile(
    rb"mono(?!type)|courier|consol|typewriter|menlo|monaco|(?:source|fira|cascadia)code|cmtt|sftt",
    re.IGNORECASE,
)
"""Fonts of code. That all letters are as wide is said of many Japanese fonts, too."""
_LINE_NUMBER = re.compile(r"\d+\s+(?=\S)")
_WORD = re.compile(r"\S+")
_USUAL_PITCH = 0.6
"""The width of a letter of code that stands alone, in letter sizes."""


def letter_size(textpage: Any, place: int) -> float:
    """Return the size of a letter on the page, in points; 0 if unknown."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, place, byref(matrix)):
        return 0.0
    return float(pdfium.FPDFText_GetFontSize(textpage, place) * hypot(matrix.c, matrix.d))


def is_slanted(textpage: Any, place: int) -> bool:
    """Return whether a letter is turned, and not by quarters of a turn, as those of a watermark."""
    matrix = pdfium.FS_MATRIX()
    known = pdfium.FPDFText_GetMatrix(textpage, place, byref(matrix))
    smaller, larger = sorted((abs(matrix.a), abs(matrix.b)))
    return bool(known) and smaller > _LEAST_SLANT * larger


def base_of(textpage: Any, place: int, bottom: float) -> float:
    """Return the height at which a letter stands; ``bottom`` if unknown."""
    origin = _origin(textpage, place)
    return bottom if origin is None else origin[1]


def is_bold(textpage: Any, place: int) -> bool:
    """Return whether the name of a letter's font says so; measured weights are unreliable."""
    return _BOLD.search(_font_name(textpage, place)) is not None


def pitch_of(textpage: Any, text: str, spans: Sequence[tuple[int, int]], size: float) -> float:
    """Return by how much each letter of a line of code is right of the one before; else 0.

    The ``spans`` are those of its cells. The number of the line before it may have another font.
    """
    (first, end), *others = spans
    number = _LINE_NUMBER.match(text, first, end)
    code = [(number.end() if number else first, end), *others]
    if others and text[first:end].strip().isdigit():
        code = others
    for start, stop in code:
        for place in (start, (start + stop) // 2, stop - 1):
            if not text[place].isspace() and not _is_typewriter(textpage, place):
                return 0.0
    words = [word for span in code for word in _WORD.finditer(text, *span)]
    begin, finish = max((word.span() for word in words), key=lambda span: span[1] - span[0])
    left, right = _origin(textpage, begin), _origin(textpage, finish - 1)
    if finish - begin == 1 or left is None or right is None or right[0] <= left[0]:
        return _USUAL_PITCH * size
    return (right[0] - left[0]) / (finish - 1 - begin)


def _is_typewriter(textpage: Any, place: int) -> bool:
    return _TYPEWRITER.search(_font_name(textpage, place)) is not None


def _origin(textpage: Any, place: int) -> tuple[float, float] | None:
    left, base = c_double(), c_double()
    known = pdfium.FPDFText_GetCharOrigin(textpage, place, byref(left), byref(base))
    return (float(left.value), float(base.value)) if known else None


def _font_name(textpage: Any, place: int) -> bytes:
    """Return the name of a letter's font; empty if unknown or long."""
    buffer, flags = create_string_buffer(_FONT_NAME), c_int()
    size = pdfium.FPDFText_GetFontInfo(textpage, place, buffer, _FONT_NAME, byref(flags))
    return buffer.value if 0 < size <= _FONT_NAME else b""
