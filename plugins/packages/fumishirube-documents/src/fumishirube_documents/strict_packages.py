"""Rewrites Office packages that libraries do not know into the form that they know."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from io import BytesIO
from zipfile import ZipFile

from lxml import etree

_RELATED, _TYPES = "_rels/.rels", "[Content_Types].xml"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_WITH_MACROS = b"vnd.ms-word.document.macroEnabled.main+xml"
_WITHOUT = b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


_WITHOUT_TEXT = ("/image", "/hyperlink")
"""How the types of relationships end that lead to no text."""


def transitional(data: bytes) -> bytes:
    """Return a package with the usual names, if it is "Strict Open XML" or a document with macros.

    Pictures that it names but does not hold are named no more: Word passes over them, such as over
    the file ``NULL`` of some programs, and python-docx fails.

    Raises:
        KeyError: when it is no Office package.
    """
    with ZipFile(BytesIO(data)) as package:
        names = package.namelist()
        is_strict = _STRICT.search(package.read(_RELATED)) is not None
        has_macros = _WITH_MACROS in package.read(_TYPES)
        parts = frozenset(name.lower() for name in names)
        related = {
            name: known
            for name in names
            if name.endswith(".rels") and (known := _known(name, package.read(name), parts))
        }
        if not (is_strict or has_macros or related):
            return data
        rewritten = BytesIO()
        with ZipFile(rewritten, "w") as other:
            for name in names:
                other.writestr(name, _rewritten(name, related.get(name) or package.read(name)))
    return rewritten.getvalue()


def _known(name: str, part: bytes, parts: Collection[str]) -> bytes | None:
    """Return relationships without those to pictures that are no parts; ``None`` for no change."""
    try:
        tree = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None  # the library says so
    folder = posixpath.dirname(posixpath.dirname(name))
    lost = [
        each
        for each in tree.iterchildren("{*}Relationship")
        if each.get("Type", "").endswith(_WITHOUT_TEXT)
        and each.get("TargetMode") != "External"
        and _target(folder, each.get("Target", "")).lower() not in parts
    ]
    for each in lost:
        tree.remove(each)
    return etree.tostring(tree) if lost else None


def _target(folder: str, named: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, named)).lstrip("/")


def _rewritten(name: str, part: bytes) -> bytes:
    if not name.endswith((".xml", ".rels")):
        return part
    return _STRICT.sub(_TRANSITIONAL, part).replace(_WITH_MACROS, _WITHOUT)
