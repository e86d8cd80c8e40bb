"""Documents: one decoded file, divided into sections, with its links and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from pydantic import JsonValue

from fumishirube.places import Place
from fumishirube.text.folding import Lines

EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})

TITLE_CHARS = 1_000
"""A longer title is shortened, since lists and hits repeat titles."""

LinkKind = Literal["references", "depends_on", "implements", "extends", "conflicts_with"]

LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)
"""The kinds of links between documents; the first is the default."""


class Source(NamedTuple):
    """A file that a loader claims, and further files that affect its content."""

    path: str
    governed_by: tuple[str, ...] = ()


class Section(NamedTuple):
    """A titled part of a document.

    Lines are numbered from 1; offsets count code points of the document's text. ``start:end`` is
    the section's own text, its heading line included; ``start:extent`` also contains its children;
    ``body:end`` is what follows the heading. ``searched`` replaces the body in searches, where they
    differ.
    """

    title: str
    start_line: int
    end_line: int
    start: int
    end: int
    extent: int
    body: int
    level: int = 1
    ancestors: tuple[str, ...] = ()
    searched: str | None = None


class Link(NamedTuple):
    """A reference from a document to another, as written.

    ``text`` is its label, ``anchor`` the heading it names, ``kind`` one of ``LINK_KINDS``. A
    ``wiki`` link names a page, any other one a path.
    """

    target: str
    text: str
    line: int
    anchor: str = ""
    kind: LinkKind = LINK_KINDS[0]
    wiki: bool = False


class LoaderRemark(NamedTuple):
    """A fault of a file for its author, which did not prevent reading it."""

    code: str
    line: int
    message: str


class Document(NamedTuple):
    """A decoded file with its sections, whose own texts contain each character once.

    ``navigation`` marks a table of contents: it is listed and read, but not searched. ``encoding``
    is that of the file, and ``damaged`` means that parts could not be decoded, if the loader knows.
    The ``content`` begins below the front matter, whose values are ``facts``: a text under
    ``title`` is the title of the whole page, and searched as a heading above each section. A loader
    with links also sets ``links`` and ``remarks``. ``places`` are where people see the lines: on
    pages, slides, or in rows of sheets, in order. With ``scan_only`` the sections serve the search
    alone, and the text is read line by line.
    """

    path: str
    file_type: str
    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    navigation: bool = False
    encoding: str | None = None
    damaged: bool = False
    facts: Mapping[str, JsonValue] = EMPTY_MAPPING
    content: int = 0
    remarks: tuple[LoaderRemark, ...] = ()
    places: tuple[Place, ...] = ()
    scan_only: bool = False

    @property
    def title(self) -> str:
        """The title of the whole page in its front matter, or an empty text."""
        title = self.facts.get("title")
        return short_title(title.strip()) if isinstance(title, str) else ""

    def holds_text(self, section: Section) -> bool:
        """Tell whether a section or its children contain more than front matter and its title."""
        return bool(self.text[max(section.body, self.content) : section.extent].strip())


def short_title(title: str) -> str:
    """Return a title, or the beginning of a very long one."""
    return title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1] + "…"


# --- dividing a text at its headings ---------------------------------------------------------


class Heading(NamedTuple):
    """A heading: its line, counted from 1, and the first line below it."""

    title: str
    level: int
    line: int
    below: int


def divide_at_headings(
    text: str,
    headings: Sequence[Heading],
    title: str | None,
    body: int = 0,
    lines: Lines | None = None,
) -> Iterator[Section]:
    """Yield the sections of a text: the part before the first heading, then one per heading.

    The first part is named by ``title``, like a text without headings; its body begins at an offset
    of its own, such as the end of front matter. Without a title it is left out. The line of a
    heading whose title is shortened belongs to the body, so that all of it is searched.
    """
    lines = lines or Lines(text)
    first = lines.start(headings[0].line) if headings else len(text)
    if title is not None and (not headings or text[:first].strip()):
        last_line = lines.at(first - 1) if first else 1
        yield Section(title, 1, last_line, 0, first, first, body)
    yield from _heading_sections(text, headings, lines)


def _heading_sections(text: str, headings: Sequence[Heading], lines: Lines) -> Iterator[Section]:
    """Yield the section of each heading; sections inside it have it as an ancestor."""
    starts = [*(lines.start(heading.line) for heading in headings), len(text)]
    extents = _extents([heading.level for heading in headings], starts)
    enclosing: list[Heading] = []
    for heading, (start, end), extent in zip(headings, pairwise(starts), extents, strict=True):
        while enclosing and enclosing[-1].level >= heading.level:
            enclosing.pop()
        yield Section(
            title=short_title(heading.title),
            start_line=heading.line,
            end_line=lines.at(end - 1),
            start=start,
            end=end,
            extent=extent,
            body=start if len(heading.title) > TITLE_CHARS else lines.start(heading.below),
            level=heading.level,
            ancestors=tuple(short_title(above.title) for above in enclosing),
        )
        enclosing.append(heading)


def _extents(levels: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Return, for each heading, where the next of the same or a higher level begins."""
    extents = [starts[-1]] * len(levels)
    waiting: list[int] = []
    for index, level in enumerate(levels):
        while waiting and levels[waiting[-1]] >= level:
            extents[waiting.pop()] = starts[index]
        waiting.append(index)
    return extents
