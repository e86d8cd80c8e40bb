"""Rewrites Office packages that libraries do not know into the form that they know."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

_RELATED, _TYPES = "_rels/.rels", "[Content_Types].xml"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_WITH_MACROS = b"vnd.ms-word.document.macroEnabled.main+xml"
_WITHOUT = b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def transitional(data: bytes) -> bytes:
    """Return a package with the usual names, if it is "Strict Open XML" or a document with macros.

    Raises:
        KeyError: when it is no Office package.
    """
    with ZipFile(BytesIO(data)) as package:
        is_strict = _STRICT.search(package.read(_RELATED)) is not None
        if not is_strict and _WITH_MACROS not in package.read(_TYPES):
            return data
        rewritten = BytesIO()
        with ZipFile(rewritten, "w") as other:
            for name in package.namelist():
                other.writestr(name, _rewritten(name, package.read(name)))
    return rewritten.getvalue()


def _rewritten(name: str, part: bytes) -> bytes:
    if not name.endswith((".xml", ".rels")):
        return part
    return _STRICT.sub(_TRANSITIONAL, part).replace(_WITH_MACROS, _WITHOUT)
