"""Parses e-books: the pages of a package, in the order of its spine."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from fumishirube import Document, Heading, Unreadable, divide_at_headings
from fumishirube_documents.epub_headings import ListedHeading, with_headings
from fumishirube_documents.html.encoding import text_of
from fumishirube_documents.html.page import read
from fumishirube_documents.packages import check_package

_CONTAINER = "META-INF/container.xml"
_KIND = "{http://www.idpf.org/2007/ops}type"
"""The attribute that tells the contents from other lists, such as that of the pages."""
_NCX = "application/x-dtbncx+xml"
_LOCKS = ("META-INF/encryption.xml", "META-INF/rights.xml")


def parsed_epub(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a book, chapter by chapter.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    check_package(data, settings["unpacked_bytes"], "an e-book")
    lines: list[str] = []
    headings: list[Heading] = []
    with ZipFile(BytesIO(data)) as package:
        title, chapters = _spine(package)
        pages = {chapter: text_of(package.read(chapter)) for chapter in chapters}
        styles = [text_of(package.read(each)) for each in package.namelist() if _is_style(each)]
        pages = with_headings(pages, styles, chapters)
    deeper = 0
    for chapter, markup in pages.items():
        page = read(markup, ("nav",), anchors=False)
        above = len(lines)
        own = page.headings or [*_listed(chapters[chapter], page.text)]
        deeper = _deeper(own, chapters[chapter], deeper)
        headings += [
            Heading(each.title, max(1, each.level + deeper), each.line + above, each.below + above)
            for each in own
        ]
        lines += [*page.text.split("\n")]
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(divide_at_headings(text, headings, title or name))
    return Document("", "epub", text, sections)


def _listed(entries: Sequence[ListedHeading], text: str) -> Iterator[Heading]:
    """Yield the title that the contents give a chapter, as its heading if it has none."""
    title = next((entry.title for entry in entries if entry.title), "")
    if title and text.strip():
        repeated = " ".join(text.partition("\n")[0].split()) == title
        below = 2 if repeated and "\n" in text.strip() else 1
        yield Heading(title, 1, 1, below)


def _deeper(own: Sequence[Heading], listed: Sequence[ListedHeading], above: int) -> int:
    """Return how much deeper the headings of a page are than they say, by the contents of the book.

    A page that the contents do not name goes on like that ``above``.
    """
    levels = [heading.level for heading in own]
    return listed[0].depth - min(levels) if listed and levels else above


def _is_style(name: str) -> bool:
    return name.lower().endswith(".css")


def _spine(package: ZipFile) -> tuple[str, dict[str, list[ListedHeading]]]:
    """Return the title, and the chapters in order: their names, and their entries in contents."""
    names = set(package.namelist())
    if _LOCKS[1] in names:
        raise Unreadable("the book is locked by its publisher", reason="encrypted")
    container = _xml(package.read(_CONTAINER))
    place = next(_elements(container, "rootfile")).get("full-path", "")
    book = _xml(package.read(place))
    items = {item.get("id"): item for item in _elements(book, "item")}
    listed = [
        items[ref.get("idref")] for ref in _elements(book, "itemref") if ref.get("idref") in items
    ]
    pages = [page for item in listed if (page := _target(place, item.get("href"))) in names]
    chapters: dict[str, list[ListedHeading]] = {page: [] for page in pages}
    for item in items.values():
        contents = _target(place, item.get("href"))
        if _is_contents(item) and contents in names:
            for target, entry in _entries(package.read(contents), contents):
                chapters.get(target, []).append(entry)
    titles = (" ".join((title.text or "").split()) for title in _elements(book, "title"))
    return next(titles, ""), chapters


def _is_contents(item: Any) -> bool:
    return item.get("media-type") == _NCX or "nav" in (item.get("properties") or "").split()


def _entries(data: bytes, contents: str) -> Iterator[tuple[str, ListedHeading]]:
    """Yield the entries of a table of contents, in either format, with their files."""
    try:
        tree = _xml(data)
    except etree.XMLSyntaxError:
        return
    for point in _elements(tree, "navPoint"):
        label, content = (
            next(_elements(point, "text"), None),
            next(_elements(point, "content"), None),
        )
        if label is not None and content is not None:
            title, depth = " ".join((label.text or "").split()), _depth(point, "navPoint")
            yield _target(contents, content.get("src")), ListedHeading(title, depth + 1)
    contents_of_book = (nav for nav in _elements(tree, "nav") if nav.get(_KIND) == "toc")
    for link in _elements(next(contents_of_book, tree), "a"):
        title, depth = " ".join("".join(link.itertext()).split()), _depth(link, "ol")
        yield _target(contents, link.get("href")), ListedHeading(title, max(1, depth))


def _depth(element: Any, name: str) -> int:
    """Return in how many elements of a name another one is."""
    return sum(1 for _ in element.iterancestors(f"{{*}}{name}"))


def _target(base: str, href: str | None) -> str:
    """Return the file that a reference names, in the package."""
    folder = posixpath.dirname(base)
    return posixpath.normpath(posixpath.join(folder, unquote((href or "").partition("#")[0])))


def _xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def _elements(tree: Any, name: str) -> Iterator[Any]:
    yield from tree.iter(f"{{*}}{name}")
