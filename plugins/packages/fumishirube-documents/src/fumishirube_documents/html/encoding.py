"""Bytes to text: a page may say itself which encoding it is in."""

from __future__ import annotations

import codecs
import re

from fumishirube.text import decode, unify_line_ends

_LOOKED_AT = 4096
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?charset|\?xml\b[^>]*?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# What browsers take these names for: https://encoding.spec.whatwg.org/#names-and-labels
_MEANT = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "utf8": "utf-8",
}
_TAKEN = re.compile(
    r"utf-8|cp\d+|euc[-_]jp|iso-2022-jp|gb18030|big5|koi8-[ru]|iso-8859-\d+|windows-125\d"
)


def text_of(data: bytes) -> str:
    """Return a page's text, with plain line ends.

    A byte order mark decides; else the encoding that the page declares, if its bytes are valid in
    it; else what :func:`fumishirube.text.decode` finds.

    Raises:
        Unreadable: when none of these fits.
    """
    declared = None if data.startswith(_BOMS) else _DECLARED.search(data[:_LOOKED_AT])
    if declared:
        label = declared[1].decode("ascii", "replace").lower()
        name = _MEANT.get(label, label)
        try:
            return unify_line_ends(data.decode(name)) if _TAKEN.fullmatch(name) else decode(data)
        except (LookupError, UnicodeDecodeError):
            pass  # many a page is not what it says
    return decode(data)
