"""Decodes web pages, which may declare their encoding."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from fumishirube import Unreadable
from fumishirube.text import decode, unify_line_ends

_LOOKED_AT = 4096
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?charset|\?xml\b[^>]*?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# The labels as browsers read them: https://encoding.spec.whatwg.org/#names-and-labels
_LABELS = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "cn-big5": "big5",
    "x-x-big5": "big5",
    "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8",
    "visual": "iso8859-8",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "x-mac-cyrillic": "mac-cyrillic",
    "unicode-1-1-utf-8": "utf-8",
}
"""The labels that Python does not know."""
_NUMBERED = re.compile(r"(?:windows-|x-cp|dos-)(?=\d+$)")
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""The codecs, by Python's names, for which browsers take another one that knows more letters."""
_ONE_BYTE = re.compile(r"cp(?:125\d|8\d\d)|koi8-[ru]|iso8859-\d+|mac-(?:roman|cyrillic)")
_SUPPORTED = re.compile(
    rf"{_ONE_BYTE.pattern}|utf-8|cp(?:932|949)|euc_jp|iso2022_jp|gb18030|big5hkscs"
)


def text_of(data: bytes) -> str:
    """Return a page's text, with LF for every line end.

    A byte order mark decides; else the declared encoding, if the bytes are valid in it; else the
    result of :func:`fumishirube.text.decode`, and where no encoding fits either, the declared one
    if its letters are bytes, with U+FFFD for bytes that are none.

    Raises:
        Unreadable: when no encoding fits.
    """
    declared = None if data.startswith(_BOMS) else _DECLARED.search(data[:_LOOKED_AT])
    name = _codec(declared[1].decode("ascii", "replace").lower()) if declared else None
    if name:
        with suppress(UnicodeDecodeError):  # many pages declare a wrong encoding
            return unify_line_ends(data.decode(name))
    try:
        return decode(data)
    except Unreadable:
        if name and _ONE_BYTE.fullmatch(name):
            return unify_line_ends(data.decode(name, "replace"))
        raise


def _codec(label: str) -> str | None:
    """Return Python's name of a declared encoding; ``None`` for one that browsers do not read."""
    with suppress(LookupError):
        name = codecs.lookup(_NUMBERED.sub("cp", _LABELS.get(label, label))).name
        name = _READ_AS.get(name, name)
        return name if _SUPPORTED.fullmatch(name) else None
    return None
