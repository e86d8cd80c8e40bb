"""What a PDF page draws: its paths, and the texts that PDFium would leave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import PYFUNCTYPE, byref, c_float, c_int, c_ushort, c_void_p, cast
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

Handle: TypeAlias = int
"""The address of something of PDFium."""

_NO_WIDTH = 0.02
_COVERED = 0.3
"""The share of a page that pictures cover at least on one that is a picture, as a scanner makes."""


def light(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a function of PDFium that takes and gives addresses, in half of the time.

    Use it for what is called thousands of times a page.
    """
    return PYFUNCTYPE(result, *arguments)(cast(function, c_void_p).value or 0)


_object = light(pdfium.FPDFPage_GetObject, c_void_p, c_void_p, c_int)
_kind = light(pdfium.FPDFPageObj_GetType, c_int, c_void_p)
_font = light(pdfium.FPDFTextObj_GetFont, c_void_p, c_void_p)
_is_embedded = light(pdfium.FPDFFont_GetIsEmbedded, c_int, c_void_p)


class PageObjects(NamedTuple):
    """The paths that a page draws, and its texts in fonts that the file does not embed.

    A page that draws nothing is ``blank``, and one that pictures cover ``pictured``.
    """

    texts: Sequence[Any]
    paths: Sequence[Any]
    blank: bool
    pictured: bool

    @classmethod
    def of(cls, page: Any) -> PageObjects:
        """Return those of a page."""
        handle = cast(page.raw, c_void_p).value
        count = pdfium.FPDFPage_CountObjects(page.raw)
        drawn = [*map(_object, repeat(handle), range(count))]
        kinds = [*map(_kind, drawn)]
        texts = _of_kind(drawn, kinds, pdfium.FPDF_PAGEOBJ_TEXT)
        fonts = [*map(_font, texts)]
        outside = {font for font in set(fonts) if _is_embedded(font) != 1}
        return cls(
            [_typed(text) for text, font in zip(texts, fonts, strict=True) if font in outside],
            [*map(_typed, _of_kind(drawn, kinds, pdfium.FPDF_PAGEOBJ_PATH))],
            not drawn,
            _area(_pictures(drawn, kinds)) >= _COVERED * page.get_width() * page.get_height(),
        )


def _pictures(drawn: Sequence[Handle], kinds: Sequence[int]) -> Iterator[Any]:
    """Yield the pictures of a page, and the groups of objects that contain one."""
    yield from map(_typed, _of_kind(drawn, kinds, pdfium.FPDF_PAGEOBJ_IMAGE))
    for group in map(_typed, _of_kind(drawn, kinds, pdfium.FPDF_PAGEOBJ_FORM)):
        inside = range(pdfium.FPDFFormObj_CountObjects(group))
        parts = (pdfium.FPDFFormObj_GetObject(group, number) for number in inside)
        if any(pdfium.FPDFPageObj_GetType(each) == pdfium.FPDF_PAGEOBJ_IMAGE for each in parts):
            yield group


def _area(pictures: Iterable[Any]) -> float:
    """Return the area of objects; what they share counts for each."""
    edges = [c_float() for _ in range(4)]
    area = 0.0
    for picture in pictures:
        if pdfium.FPDFPageObj_GetBounds(picture, *map(byref, edges)):
            left, bottom, right, top = (edge.value for edge in edges)
            area += (right - left) * (top - bottom)
    return area


def _of_kind(drawn: Sequence[Handle], kinds: Sequence[int], wanted: int) -> list[Handle]:
    if wanted not in kinds:  # pages have thousands of objects
        return []
    return [each for each, kind in zip(drawn, kinds, strict=True) if kind == wanted]


def _typed(drawn: Handle) -> Any:
    return cast(drawn, pdfium.FPDF_PAGEOBJECT)


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
        pdfium.FPDFPageObj_GetBounds(drawn, *pointers)
        if right.value - left.value < _NO_WIDTH:
            yield drawn, pdfium.FPDFTextObj_GetTextRenderMode(drawn)
            pdfium.FPDFPageObj_SetStrokeWidth(drawn, 1.0)
            _set_mode(drawn, pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE)


def _set_mode(drawn: Any, mode: int) -> None:
    pdfium.FPDFTextObj_SetTextRenderMode(drawn, mode)
    pdfium.FPDFPageObj_Transform(drawn, 1, 0, 0, 1, 0, 0)  # makes PDFium measure it again


def _object_text(drawn: Any, text: Any) -> str:
    size = pdfium.FPDFTextObj_GetText(drawn, text, None, 0)
    buffer = (c_ushort * (size // 2 + 1))()
    pdfium.FPDFTextObj_GetText(drawn, text, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")
