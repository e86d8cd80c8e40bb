"""Reads the characters that Word inserts as symbols: by a font and a place in it, or a code."""

from __future__ import annotations

import re

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

_BEFORE_A0 = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
_FROM_A0 = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_SYMBOL = dict(enumerate(_BEFORE_A0, start=0x20)) | dict(enumerate(_FROM_A0, start=0xA0))
_WINGDINGS = dict(zip(b"\x6c\x6f\xa7\xa8\xdf\xe0\xfb\xfc\xfd\xfe", "●□▪◻←→✗✓☒☑", strict=True))
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}
_PRIVATE = range(0xE000, 0xF900)
_UNKNOWN = "\ufffd"


def emoji(element: Element) -> str:
    """Return the character of a ``w16se:symEx``, whose code is that of Unicode."""
    codes = (str(code) for name, code in element.attrib.items() if str(name).endswith("}char"))
    code = next(codes, "")
    sign = chr(int(code, 16)) if re.fullmatch("[0-9A-Fa-f]{1,5}", code) else _UNKNOWN
    return sign if sign.isprintable() else _UNKNOWN


def symbol(element: Element) -> str:
    """Return the character of a ``w:sym``; U+FFFD if only its font knows it."""
    code, font = str(element.get(qn("w:char"), "")), str(element.get(qn("w:font"), ""))
    place = int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else 0
    letters = _FONTS.get(font.lower())
    if letters is not None:
        return letters.get(place & 0xFF, _UNKNOWN)
    return chr(place) if chr(place).isprintable() and place not in _PRIVATE else _UNKNOWN
