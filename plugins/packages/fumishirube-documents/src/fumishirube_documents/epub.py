"""Parses e-books: the pages of a package, in the order of its spine."""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from html.entities import html5
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from lxml import etree

from fumishirube import Document, Heading, LoaderRemark, Unreadable, divide_at_headings
from fumishirube.text import decode_lossy
from fumishirube_documents.epub_headings import ListedHeading, with_headings
from fumishirube_documents.html.encoding import text_of
from fumishirube_documents.html.page import read
from fumishirube_documents.packages import check_package

_CONTAINER = "META-INF/container.xml"
_KIND = "{http://www.idpf.org/2007/ops}type"
"""The attribute that tells the contents from other lists, such as that of the pages."""
_NCX = "application/x-dtbncx+xml"
_LOCKS = ("META-INF/rights.xml", "META-INF/license.lcpl")
_ENCRYPTED = "META-INF/encryption.xml"
"""It names encrypted files; in many books only fonts."""
_NO_PAGE = re.compile(r"image/(?!svg)|audio/|video/|font/")
_NAMED = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)(\w{2,32};)")


def parsed_epub(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a book, chapter by chapter. Chapters that cannot be read are remarks.

    Raises:
        Unreadable: when it is too large, or locked, or no chapter can be read.
    """
    check_package(data, settings["unpacked_bytes"], "an e-book")
    lines: list[str] = []
    headings: list[Heading] = []
    with ZipFile(BytesIO(data)) as package:
        title, chapters, unread = _spine(package)
        pages: dict[str, str] = {}
        for chapter in chapters:
            try:
                pages[chapter] = text_of(_part(package, chapter))
            except Unreadable as error:
                unread[chapter] = str(error)
        styles: list[str] = []
        for each in package.namelist():
            if each.lower().endswith(".css"):
                with suppress(Unreadable):  # it only helps to find headings
                    styles.append(decode_lossy(_part(package, each)).text)
    messages = [f"{chapter} is left out: {reason}" for chapter, reason in unread.items()]
    if not pages:
        raise Unreadable(next(iter(messages), "no chapter is in the book"), "damaged")
    pages = with_headings(pages, styles, chapters)
    remarks = tuple(LoaderRemark("unread_chapter", 1, message) for message in messages)
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
    return Document("", "epub", text, sections, remarks=remarks)


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


class _Spine(NamedTuple):
    """The title, the chapters in order with their entries in contents, and why others are none."""

    title: str
    chapters: dict[str, list[ListedHeading]]
    unread: dict[str, str]


def _spine(package: ZipFile) -> _Spine:
    """Return what a book says of itself.

    Raises:
        Unreadable: when it is locked.
    """
    files = package.namelist()
    names = {**{name.lower(): name for name in files}, **{name: name for name in files}}
    container = _xml(package.read(_CONTAINER))
    full = next(_elements(container, "rootfile")).get("full-path", "")
    place = _file(full, names) or _file(_target("", full), names)
    book = _xml(package.read(place))
    items = {item.get("id"): item for item in _elements(book, "item")}
    titles = (" ".join((title.text or "").split()) for title in _elements(book, "title"))
    spine = _Spine(next(titles, ""), {}, {})
    for ref in _elements(book, "itemref"):
        item = items.get(ref.get("idref"))
        page = _target(place, item.get("href")) if item is not None else ""
        if item is None or _NO_PAGE.match(item.get("media-type", "")):
            continue
        if chapter := _file(page, names):
            spine.chapters[chapter] = []
        else:
            spine.unread[page] = "no such file is in the book"
    if not {*files}.isdisjoint(_LOCKS) or not _encrypted(package).isdisjoint(spine.chapters):
        raise Unreadable("the book is locked by its publisher", reason="encrypted")
    for item in items.values():
        contents = _file(_target(place, item.get("href")), names)
        if contents and _is_contents(item):
            with suppress(Unreadable):
                for target, entry in _entries(_part(package, contents), contents):
                    spine.chapters.get(_file(target, names), []).append(entry)
    return spine


def _part(package: ZipFile, name: str) -> bytes:
    """Return a file of a book.

    Raises:
        Unreadable: when it is damaged, or packed with a password.
    """
    try:
        return package.read(name)
    except (BadZipFile, EOFError, RuntimeError, zlib.error) as error:
        raise Unreadable("it is damaged, or packed with a password", "damaged") from error


def _file(name: str, names: Mapping[str, str]) -> str:
    """Return the file of a name, also if its letters are of another case; else an empty text."""
    return names.get(name) or names.get(name.lower(), "")


def _encrypted(package: ZipFile) -> set[str]:
    """Return the files that the book says are encrypted."""
    try:
        tree = _xml(package.read(_ENCRYPTED))
    except (KeyError, etree.XMLSyntaxError):
        return set()
    return {_target("", each.get("URI")) for each in _elements(tree, "CipherReference")}


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
    return etree.fromstring(_NAMED.sub(_numbered, data), parser)


def _numbered(match: re.Match[bytes]) -> bytes:
    """Return an entity of HTML as numbers, which XML knows too."""
    letters = html5.get(match[1].decode("ascii", "replace"))
    return "".join(f"&#{ord(letter)};" for letter in letters).encode() if letters else match[0]


def _elements(tree: Any, name: str) -> Iterator[Any]:
    yield from tree.iter(f"{{*}}{name}")
