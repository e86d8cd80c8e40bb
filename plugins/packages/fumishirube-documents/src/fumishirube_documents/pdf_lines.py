"""Extracts the lines of a PDF page: text in reading order, positions, and letter sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import byref, c_float
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

CELL_SIGN = " | "
_WIDE_GAP = 1.8
"""A gap of this many letter sizes separates two table cells."""
_SAME_LINE = 0.4
_NO_WIDTH = 0.02
_GAPS = re.compile(r"(?<=\S)[ \u3000]+(?=\S)")
_HYPHENS = "\ufffe\x02"
_INVISIBLE = re.compile("[\x00\ufeff\u200b\u00ad]")


class PdfLine(NamedTuple):
    """A line: its text, its left, bottom, right and top edge in points, and the letter size.

    ``cells`` are the parts between wide gaps, with their edges. ``broken`` is whether it ends in a
    hyphen that only divides a word.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    cells: tuple[tuple[str, float, float], ...] = ()
    broken: bool = False


def give_width(page: Any) -> None:
    """Give texts without a width one, so that PDFium reads them; call it before reading the page.

    In fonts without glyph outlines, as many Japanese ones, a letter that is drawn alone has no
    width. An outline gives it one; the page is never drawn.
    """
    edges = [c_float() for _ in range(4)]
    left, _, right, _ = edges
    pointers = [byref(edge) for edge in edges]
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        drawn = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        pdfium.FPDFPageObj_GetBounds(drawn, *pointers)
        if right.value - left.value < _NO_WIDTH:
            pdfium.FPDFTextObj_SetTextRenderMode(drawn, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE)
            pdfium.FPDFPageObj_SetStrokeWidth(drawn, 1.0)
            pdfium.FPDFPageObj_Transform(drawn, 1, 0, 0, 1, 0, 0)  # makes PDFium measure it again


def page_lines(textpage: Any) -> list[PdfLine]:
    """Return the lines of a page in its own order, without blank ones."""
    count = textpage.count_chars()
    text = textpage.get_text_range() if count else ""
    if len(text) != count:
        # Some characters take two UTF-16 units; their position is then unknown.
        return [_unplaced(line) for line in text.splitlines() if line.strip()]
    fragments = [*_fragments(textpage, text)]
    return [*_joined(fragments)]


def _unplaced(line: str) -> PdfLine:
    return PdfLine(_clean(line), 0, 0, 0, 0, 0)


def _fragments(textpage: Any, text: str) -> Iterator[PdfLine]:
    start = 0
    for raw_line in text.split("\n"):
        line = raw_line.rstrip("\r")
        stripped = line.rstrip()
        if stripped:
            first = start + len(stripped) - len(stripped.lstrip())
            yield _fragment(textpage, text, first, start + len(stripped))
        start += len(raw_line) + 1


def _fragment(textpage: Any, text: str, first: int, end: int) -> PdfLine:
    """Return the line of the characters from ``first`` to before ``end``."""
    broken = text[end - 1] in _HYPHENS
    last = end - 2 if broken and end - 1 > first else end - 1
    begin, finish = textpage.get_charbox(first), textpage.get_charbox(last)
    # The size of the first letter: spaces added by PDFium have none.
    size = pdfium.FPDFText_GetFontSize(textpage, first)
    size = size if size > 1 else max(1.0, begin[3] - begin[1])  # scaled by a matrix
    cells = tuple(_cells(textpage, text, first, last + 1, size))
    written = CELL_SIGN.join(cell for cell, _, _ in cells)
    return PdfLine(
        _clean(written) + ("-" if broken else ""),
        min(begin[0], finish[0]),
        min(begin[1], finish[1]),
        max(begin[2], finish[2]),
        max(begin[3], finish[3]),
        size,
        cells,
        broken,
    )


def _cells(
    textpage: Any, text: str, first: int, end: int, size: float
) -> Iterator[tuple[str, float, float]]:
    """Yield the text between wide gaps, with its left and right edge."""
    borders = [(first, first)]
    for gap in _GAPS.finditer(text, first, end):
        before, after = textpage.get_charbox(gap.start() - 1), textpage.get_charbox(gap.end())
        if after[0] - before[2] > _WIDE_GAP * size:
            borders.append((gap.start(), gap.end()))
    borders.append((end, end))
    for (_, begin), (stop, _) in pairwise(borders):
        left, right = textpage.get_charbox(begin)[0], textpage.get_charbox(stop - 1)[2]
        yield _clean(text[begin:stop]), left, right


def _joined(fragments: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Join fragments of one line from left to right: the cells of a row."""
    current: PdfLine | None = None
    for fragment in fragments:
        if current is not None and _goes_on(current, fragment):
            gap = fragment.left - current.right
            sign = CELL_SIGN if gap > _WIDE_GAP * current.size else " "
            cells = (
                (*current.cells, *fragment.cells)
                if sign == CELL_SIGN
                else (
                    *current.cells[:-1],
                    (
                        f"{current.cells[-1][0]} {fragment.cells[0][0]}",
                        current.cells[-1][1],
                        fragment.cells[0][2],
                    ),
                    *fragment.cells[1:],
                )
            )
            current = current._replace(
                text=f"{current.text}{sign}{fragment.text}",
                right=fragment.right,
                top=max(current.top, fragment.top),
                bottom=min(current.bottom, fragment.bottom),
                cells=cells,
                broken=fragment.broken,
            )
            continue
        if current is not None:
            yield current
        current = fragment
    if current is not None:
        yield current


def _goes_on(current: PdfLine, fragment: PdfLine) -> bool:
    close = abs(current.bottom - fragment.bottom) < _SAME_LINE * max(current.size, 1)
    return close and fragment.left > current.right and not current.broken


def _clean(text: str) -> str:
    return " ".join(
        _INVISIBLE.sub("", text.translate({ord(sign): "" for sign in _HYPHENS})).split()
    )
