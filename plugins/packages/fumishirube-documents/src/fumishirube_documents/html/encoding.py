"""Decodes web pages, which may declare their encoding."""

from __future__ import annotations

import codecs
import re

from fumishirube.text import decode, unify_line_ends

_LOOKED_AT = 4096
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?charset|\?xml\b[^>]*?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# The labels as browsers read them: https://encoding.spec.whatwg.org/#names-and-labels
_CODECS = {
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
_SUPPORTED = re.compile(
    r"utf-8|cp\d+|euc[-_]jp|iso-2022-jp|gb18030|big5|koi8-[ru]|iso-8859-\d+|windows-125\d"
)


def text_of(data: bytes) -> str:
    """Return a page's text, with LF for every line end.

    A byte order mark decides; else the declared encoding, if the bytes are valid in it; else the
    result of :func:`fumishirube.text.decode`.

    Raises:
        Unreadable: when no encoding fits.
    """
    declared = None if data.startswith(_BOMS) else _DECLARED.search(data[:_LOOKED_AT])
    if declared:
        label = declared[1].decode("ascii", "replace").lower()
        name = _CODECS.get(label, label)
        try:
            return (
                unify_line_ends(data.decode(name)) if _SUPPORTED.fullmatch(name) else decode(data)
            )
        except (LookupError, UnicodeDecodeError):
            pass  # many pages declare a wrong encoding
    return decode(data)
