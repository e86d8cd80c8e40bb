"""Extracts the lines of a PDF page: text in reading order, positions, and letter sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_double, c_float, c_int, c_ushort, create_string_buffer
from itertools import pairwise
from math import hypot
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

from fumishirube.text import is_unspaced

_WIDE_GAP = 0.6
"""A gap of this many letter sizes may separate two table cells."""
_SAME_LINE = 0.4
_NO_WIDTH = 0.02
_GAPS = re.compile(r"(?<=\S)[ \u3000]+(?=\S)")
_HYPHENS = "\ufffe\x02"
_FONT_NAME = 128
_BOLD = re.compile(rb"bold|black|heavy|demi|-W[6-9]\b", re.IGNORECASE)
_INVISIBLE = re.compile("[\x00\ufeff\u200b\u00ad]")


Border: TypeAlias = Callable[[float, float, float], bool]
"""Whether a ruled line stands between a left and a right edge, at a height."""


class Cell(NamedTuple):
    """A part of a line between gaps, with its left and right edge."""

    text: str
    left: float
    right: float


class PdfLine(NamedTuple):
    """A line: its text, its left, bottom, right and top edge in points, and the letter size.

    ``cells`` are the parts between wide gaps. ``row`` is its form as a row of a ruled table, which
    ``goes_on`` from the row above. ``broken`` is whether it ends in a
    hyphen that only divides a word, and ``bold`` whether its first and last letter are bold.
    ``base`` is the height of its letters' feet, which those below the line do not change.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    cells: tuple[Cell, ...] = ()
    broken: bool = False
    bold: bool = False
    row: str = ""
    goes_on: bool = False
    base: float = 0.0


class PageObjects(NamedTuple):
    """The texts and the paths that a page draws."""

    texts: Sequence[Any]
    paths: Sequence[Any]

    @classmethod
    def of(cls, page: Any) -> PageObjects:
        """Return those of a page."""
        texts, paths = [], []
        for number in range(pdfium.FPDFPage_CountObjects(page)):
            drawn = pdfium.FPDFPage_GetObject(page, number)
            kind = pdfium.FPDFPageObj_GetType(drawn)
            if kind == pdfium.FPDF_PAGEOBJ_TEXT:
                texts.append(drawn)
            elif kind == pdfium.FPDF_PAGEOBJ_PATH:
                paths.append(drawn)
        return cls(texts, paths)


def text_page(page: Any, texts: Sequence[Any]) -> Any:
    """Return the text of a page, also of letters without a width, which PDFium leaves out.

    In fonts that the file does not embed, as many Japanese ones, a letter that is drawn alone has
    no width. An outline gives it one; the page is never drawn. Spaces without a width stay as they
    are: between the letters of a word they are no spaces.
    """
    changed = [*_outlined(texts)]
    text = page.get_textpage()
    blank = [(drawn, mode) for drawn, mode in changed if not _object_text(drawn, text).strip()]
    if not blank:
        return text
    text.close()
    for drawn, mode in blank:
        _set_mode(drawn, mode)
    return page.get_textpage()


def _outlined(texts: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """Give texts without a width an outline, and yield them with their former mode."""
    edges = [c_float() for _ in range(4)]
    left, _, right, _ = edges
    pointers = [byref(edge) for edge in edges]
    for drawn in texts:
        if _is_embedded(drawn):
            continue
        pdfium.FPDFPageObj_GetBounds(drawn, *pointers)
        if right.value - left.value < _NO_WIDTH:
            yield drawn, pdfium.FPDFTextObj_GetTextRenderMode(drawn)
            pdfium.FPDFPageObj_SetStrokeWidth(drawn, 1.0)
            _set_mode(drawn, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE)


def _is_embedded(drawn: Any) -> bool:
    return bool(pdfium.FPDFFont_GetIsEmbedded(pdfium.FPDFTextObj_GetFont(drawn)) == 1)


def _set_mode(drawn: Any, mode: int) -> None:
    pdfium.FPDFTextObj_SetTextRenderMode(drawn, mode)
    pdfium.FPDFPageObj_Transform(drawn, 1, 0, 0, 1, 0, 0)  # makes PDFium measure it again


def _object_text(drawn: Any, text: Any) -> str:
    size = pdfium.FPDFTextObj_GetText(drawn, text, None, 0)
    buffer = (c_ushort * (size // 2 + 1))()
    pdfium.FPDFTextObj_GetText(drawn, text, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


def page_fragments(textpage: Any, border: Border = lambda *_: False) -> list[PdfLine]:
    """Return the parts of the lines of a page in its own order, without blank ones."""
    count = textpage.count_chars()
    text = textpage.get_text_range() if count else ""
    if len(text) != count:
        # Some characters take two UTF-16 units; their position is then unknown.
        return [_unplaced(line) for line in text.splitlines() if line.strip()]
    return [*_fragments(textpage, text, border)]


def _unplaced(line: str) -> PdfLine:
    return PdfLine(_clean(line), 0, 0, 0, 0, 0)


def _fragments(textpage: Any, text: str, border: Border) -> Iterator[PdfLine]:
    start = 0
    for raw_line in text.split("\n"):
        line = raw_line.rstrip("\r")
        stripped = line.rstrip()
        if stripped:
            first = start + len(stripped) - len(stripped.lstrip())
            yield _fragment(textpage, text, first, start + len(stripped), border)
        start += len(raw_line) + 1


def _fragment(textpage: Any, text: str, first: int, end: int, border: Border) -> PdfLine:
    """Return the line of the characters from ``first`` to before ``end``."""
    broken = text[end - 1] in _HYPHENS
    last = end - 2 if broken and end - 1 > first else end - 1
    begin, finish = textpage.get_charbox(first), textpage.get_charbox(last)
    size = _letter_size(textpage, first) or max(1.0, begin[3] - begin[1])
    cells = tuple(_cells(textpage, text, first, last + 1, size, border))
    written = " ".join(cell.text for cell in cells)
    return PdfLine(
        _clean(written) + ("-" if broken else ""),
        min(begin[0], finish[0]),
        min(begin[1], finish[1]),
        max(begin[2], finish[2]),
        max(begin[3], finish[3]),
        size,
        cells,
        broken,
        _is_bold(textpage, first) and _is_bold(textpage, last),
        base=_base(textpage, first, begin[1]),
    )


def _base(textpage: Any, place: int, bottom: float) -> float:
    """Return the height at which a letter stands; ``bottom`` if unknown."""
    left, base = c_double(), c_double()
    known = pdfium.FPDFText_GetCharOrigin(textpage, place, byref(left), byref(base))
    return float(base.value) if known else bottom


def _letter_size(textpage: Any, place: int) -> float:
    """Return the size of a letter on the page, in points; 0 if unknown."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, place, byref(matrix)):
        return 0.0
    return float(pdfium.FPDFText_GetFontSize(textpage, place) * hypot(matrix.c, matrix.d))


def _is_bold(textpage: Any, place: int) -> bool:
    """Return whether the name of a letter's font says so; measured weights are unreliable."""
    buffer, flags = create_string_buffer(_FONT_NAME), c_int()
    size = pdfium.FPDFText_GetFontInfo(textpage, place, buffer, _FONT_NAME, byref(flags))
    return 0 < size <= _FONT_NAME and _BOLD.search(buffer.value) is not None


def _cells(
    textpage: Any, text: str, first: int, end: int, size: float, border: Border
) -> Iterator[Cell]:
    """Yield the parts between wide gaps, and between ruled lines."""
    borders = [(first, first)]
    for gap in _GAPS.finditer(text, first, end):
        before, after = textpage.get_charbox(gap.start() - 1), textpage.get_charbox(gap.end())
        wide = after[0] - before[2] > _WIDE_GAP * size
        if wide or border(before[2], after[0], (before[1] + before[3]) / 2):
            borders.append((gap.start(), gap.end()))
    borders.append((end, end))
    for (_, begin), (stop, _) in pairwise(borders):
        left, right = textpage.get_charbox(begin)[0], textpage.get_charbox(stop - 1)[2]
        yield Cell(_clean(text[begin:stop]), left, right)


def joined_lines(fragments: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Join the parts of one line from left to right."""
    current: PdfLine | None = None
    for fragment in fragments:
        if current is not None and _goes_on(current, fragment):
            cells = (*current.cells, *fragment.cells)
            if fragment.left - current.right <= _WIDE_GAP * current.size:
                *before, last = current.cells
                first, *after = fragment.cells
                cells = (*before, Cell(f"{last.text} {first.text}", last.left, first.right), *after)
            current = current._replace(
                text=f"{current.text} {fragment.text}",
                right=fragment.right,
                top=max(current.top, fragment.top),
                bottom=min(current.bottom, fragment.bottom),
                cells=cells,
                broken=fragment.broken,
                bold=current.bold and fragment.bold,
            )
            continue
        if current is not None:
            yield current
        current = fragment
    if current is not None:
        yield current


def _goes_on(current: PdfLine, fragment: PdfLine) -> bool:
    close = abs(current.bottom - fragment.bottom) < _SAME_LINE * max(current.size, 1)
    apart = bool(current.row or fragment.row or current.broken)
    return close and fragment.left > current.right and not apart


def _clean(text: str) -> str:
    return " ".join(
        _INVISIBLE.sub("", text.translate({ord(sign): "" for sign in _HYPHENS})).split()
    )


def continued(text: str, more: str) -> str:
    """Return a text with the next line of it; between Japanese letters there is no space."""
    if not text or not more:
        return text or more
    return f"{text}{'' if is_unspaced(text[-1]) and is_unspaced(more[0]) else ' '}{more}"
