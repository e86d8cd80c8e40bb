"""Parses e-books: the pages of a package, in the order of its spine."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from fumishirube import Document, Heading, Unreadable, divide_at_headings
from fumishirube_documents.html.encoding import text_of
from fumishirube_documents.html.page import read
from fumishirube_documents.packages import check_package

_CONTAINER = "META-INF/container.xml"
_LOCKS = ("META-INF/encryption.xml", "META-INF/rights.xml")


def parsed_epub(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a book, chapter by chapter.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    check_package(data, settings["unpacked_bytes"], ".epub")
    lines: list[str] = []
    headings: list[Heading] = []
    with ZipFile(BytesIO(data)) as package:
        title, chapters = _spine(package)
        for chapter in chapters:
            page = read(text_of(package.read(chapter)), ("nav",), anchors=False)
            above = len(lines)
            headings += [
                heading._replace(line=heading.line + above, below=heading.below + above)
                for heading in page.headings
            ]
            lines += [*page.text.split("\n")]
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(divide_at_headings(text, headings, title or name))
    return Document("", "epub", text, sections)


def _spine(package: ZipFile) -> tuple[str, list[str]]:
    """Return the title, and the names of the pages in the package, in order."""
    names = set(package.namelist())
    if _LOCKS[1] in names:
        raise Unreadable("the book is locked by its publisher", reason="encrypted")
    container = _xml(package.read(_CONTAINER))
    place = next(_elements(container, "rootfile")).get("full-path", "")
    book = _xml(package.read(place))
    folder = posixpath.dirname(place)
    items = {item.get("id"): item.get("href", "") for item in _elements(book, "item")}
    hrefs = [items.get(ref.get("idref"), "") for ref in _elements(book, "itemref")]
    pages = [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in hrefs if href]
    titles = (" ".join((title.text or "").split()) for title in _elements(book, "title"))
    return next(titles, ""), [page for page in dict.fromkeys(pages) if page in names]


def _xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def _elements(tree: Any, name: str) -> Iterator[Any]:
    yield from tree.iter(f"{{*}}{name}")
