"""Names what a file really is, by its first bytes, when its suffix says otherwise."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from fumishirube import Unreadable

_LOOKED_AT = 1024
_SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"{\\rtf", "an RTF document"),
    (b"MZ", "a program"),
    (b"\x1f\x8b", "a gzip archive"),
)
_PACKAGES = (
    ("META-INF/container.xml", "an e-book"),
    ("word/document", "a Word document"),
    ("xl/workbook", "an Excel workbook"),
    ("ppt/presentation", "a PowerPoint presentation"),
    ("content.xml", "an OpenDocument file"),
)
_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|meta|body|table)\b", re.IGNORECASE
)
_BOM = b"\xef\xbb\xbf"


def is_web_page(data: bytes) -> bool:
    """Return whether a file begins as a web page does."""
    return _PAGE.match(data[:_LOOKED_AT].removeprefix(_BOM)) is not None


def check_type(data: bytes, *expected: str) -> str | None:
    """Return what a file is known to be, one of the ``expected`` types, or ``None``.

    Raises:
        Unreadable: with the reason ``wrong_type``, when it is known to be of another type.
    """
    known = _type_of(data)
    if known is not None and known not in expected:
        raise Unreadable(
            f"it is {known}, not {expected[0]}; rename it with its own suffix", "wrong_type"
        )
    return known


def _type_of(data: bytes) -> str | None:
    """Return what a file is by its first bytes, or ``None``."""
    if data.startswith(b"PK"):
        return _package(data)
    if is_web_page(data):
        return "a web page"
    return next((name for sign, name in _SIGNATURES if data.startswith(sign)), None)


def _package(data: bytes) -> str | None:
    try:
        with ZipFile(BytesIO(data)) as package:
            names = package.namelist()
    except (BadZipFile, OSError, ValueError):
        return None
    return next((kind for part, kind in _PACKAGES if any(n.startswith(part) for n in names)), None)
