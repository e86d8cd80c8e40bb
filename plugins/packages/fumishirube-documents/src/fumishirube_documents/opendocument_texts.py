"""Rewrites what python-calamine glues or repeats in the texts of OpenDocument sheets."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

_CONTENT = "content.xml"
_BETWEEN = re.compile(rb"<text:(?:tab|line-break)(?=[\s/])[^<>]*/>")
_READING = re.compile(rb"<text:ruby-text\b[^<>]*>[^<>]*</text:ruby-text>")


def with_plain_texts(data: bytes) -> bytes:
    """Return a sheet with spaces for tabulators and line breaks in cells, and without readings.

    Raises:
        KeyError: when it is no OpenDocument file.
    """
    with ZipFile(BytesIO(data)) as package:
        content = package.read(_CONTENT)
        plain = _READING.sub(b"", _BETWEEN.sub(b"<text:s/>", content))
        if plain == content:
            return data
        rewritten = BytesIO()
        with ZipFile(rewritten, "w", ZIP_DEFLATED) as other:
            for name in package.namelist():
                other.writestr(name, plain if name == _CONTENT else package.read(name))
    return rewritten.getvalue()
