"""Markdown: a file is divided at its headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from shirube import Document, Lines, Root, Section, Source, Stage, decode
from shirube_builtin.loaders.names import is_navigation, sources_ending
from shirube_builtin.loaders.sections import mended

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_FRONT_MATTER_OPENS = re.compile(r"---[ \t]*\n")
_FRONT_MATTER_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FRONT_MATTER_LIMIT = 16_384
_SETTING = re.compile(r"[\w-]+:(?:\s|$)|[ \t#-]")
_UNDERLINE = re.compile(r"[ \t]*(?:==+|--+)[ \t]*\n?")
_DEEPEST = 100
_LONGEST_PARSED_TITLE = 1_000
_INLINE_MARKUP = re.compile(r"[\\`*_~\[\]!<>&]")
_BREAK = re.compile(r"<br\b", re.IGNORECASE)

# Lines with which no block can begin, up to where their paragraph surely ends. Most lines of most
# manuals are such lines; trying every rule on them took most of the time.
_PARAGRAPH = (
    r"(?:(?![0-9]{1,9}[.)])[^ \t\n#>+*_=~`<\[|:-][^\n]*+(?:\n|\Z))++"
    r"(?=[ \t]*(?:\n|\Z)|#{1,6}[ \t])"
)
_PROSE = re.compile(_PARAGRAPH)
# Nothing but such paragraphs and headings that leave no doubt: no parser is needed.
_ALL_PROSE = re.compile(rf"(?:[ \t]*\n|#{{1,6}}[ \t][^\n\0]*+(?:\n|\Z)|{_PARAGRAPH})*+[ \t]*\Z")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*\Z")
_HASHES = re.compile(r"^(#{1,6})[ \t]([^\n]*)", re.MULTILINE)


class Markdown(Stage):
    """Speaks for Markdown files. Each heading opens a section; so does text before the first."""

    suffixes: tuple[str, ...] = (".md",)

    def sources(self, root: Root) -> list[Source]:
        """Return every file that ends in one of the suffixes, whatever their case."""
        return sources_ending(root, self.suffixes)

    def load(self, root: Root, source: Source) -> Document:
        """Read a file and divide it.

        Raises:
            Unreadable: when its text cannot be had.
        """
        path = source.path
        text = decode(root.read_bytes(path))
        sections = tuple(_sections(text, PurePosixPath(path).stem))
        return Document(path, "md", text, sections, navigation=is_navigation(path))


class _Heading(NamedTuple):
    """A heading: its line, counted from 1, and the first line below it."""

    title: str
    level: int
    line: int
    below: int


class _FrontMatter(NamedTuple):
    """The offset at which YAML front matter ends, and the title it gives."""

    end: int = 0
    title: str | None = None


# --- sections -------------------------------------------------------------------------------


def _sections(text: str, stem: str) -> Iterator[Section]:
    lines = Lines(text)
    front = _front_matter(text)
    headings = list(_headings(text, front.end, lines))
    first = lines.start(headings[0].line) if headings else len(text)
    if not headings or text[:first].strip():
        last_line = lines.at(first - 1) if first else 1
        yield Section(front.title or stem, 1, last_line, 0, first, first, front.end)
    starts = [*(lines.start(heading.line) for heading in headings), len(text)]
    extents = _extents([heading.level for heading in headings], starts)
    enclosing: list[_Heading] = []
    for heading, (start, end), extent in zip(headings, pairwise(starts), extents, strict=True):
        while enclosing and enclosing[-1].level >= heading.level:
            enclosing.pop()
        yield Section(
            title=heading.title,
            start_line=heading.line,
            end_line=lines.at(end - 1),
            start=start,
            end=end,
            extent=extent,
            body=lines.start(heading.below),
            level=heading.level,
            ancestors=tuple(above.title for above in enclosing),
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


# --- front matter ---------------------------------------------------------------------------


def _front_matter(text: str) -> _FrontMatter:
    """Find YAML between ``---`` and ``---`` at the very start; what is no mapping is text.

    Settings with a mistake, such as an unquoted colon, are still no text; they give no title.
    """
    opening = _FRONT_MATTER_OPENS.match(text)
    closing = opening and _FRONT_MATTER_CLOSES.search(text, opening.end())
    if not opening or not closing or closing.start() > _FRONT_MATTER_LIMIT:
        return _FrontMatter()
    import yaml  # noqa: PLC0415 - 12 ms that manuals without front matter do not need

    inner = text[opening.end() : closing.start()]
    try:
        # BaseLoader makes nothing but strings, lists and mappings.
        content = yaml.load(inner, yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        meant = all(_SETTING.match(line) for line in inner.splitlines() if line.strip())
        return _FrontMatter(closing.end()) if meant else _FrontMatter()
    if not isinstance(content, dict | None):
        return _FrontMatter()
    title = content.get("title") if content else None
    return _FrontMatter(closing.end(), mended(title.strip()) if isinstance(title, str) else None)


# --- headings -------------------------------------------------------------------------------


def _headings(text: str, offset: int, lines: Lines) -> Iterator[_Heading]:
    """Yield the headings after an offset that stand in no list, quotation, fence or table."""
    if _ALL_PROSE.match(text, offset):
        yield from _plain_headings(text, offset, lines)
    else:
        yield from _parsed_headings(text, offset, lines)


def _plain_headings(text: str, offset: int, lines: Lines) -> Iterator[_Heading]:
    for found in _HASHES.finditer(text, offset):
        line = lines.at(found.start())
        hashes, content = found.groups()
        title = _plain(_CLOSING.sub("", content), {})
        yield _Heading(title, len(hashes), line, line + 1)


def _parsed_headings(text: str, offset: int, lines: Lines) -> Iterator[_Heading]:
    above = lines.at(offset) - 1 if offset < len(text) else lines.total
    references: MutableMapping[str, Any] = {}
    tokens = _parser().parse(text[offset:], references)
    for opening, content in pairwise(tokens):
        if opening.type != "heading_open" or opening.level or opening.map is None:
            continue
        line, below = (above + 1 + number for number in opening.map)
        second = text[lines.start(line + 1) : lines.start(below)]
        if second and not _UNDERLINE.fullmatch(second):
            continue  # a paragraph of several lines, or a lone mark below one
        yield _Heading(_plain(content.content, references), int(opening.tag[1:]), line, below)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 20 ms that a search does not need

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 2})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("table", "prose", _prose)
    parser.block.ruler.before("prose", "deep", _deep)
    # Rules are compiled at first use, and not for several threads at once.
    parser.inline.parse("*", parser, {}, [])
    parser.parse("*")
    return parser


def _deep(state: StateBlock, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001
    """Pass over a line that is nested too deep; at its own limit the parser gives up the rest."""
    if silent or state.level < _DEEPEST:
        return False
    state.line = start + 1
    return True


def _prose(state: StateBlock, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001
    """Pass over a plain paragraph outside lists and quotations, which no other rule would take."""
    if silent or state.level:
        return False
    paragraph = _PROSE.match(state.src, state.bMarks[start])
    if paragraph is None:
        return False
    state.line = start + 1 + paragraph.group().count("\n", 0, -1)
    return True


# --- titles ---------------------------------------------------------------------------------


def _plain(content: str, references: MutableMapping[str, Any]) -> str:
    """Return the text of a heading without its markup; all of it when nothing else is left."""
    # The time for links within links grows with the square of their number.
    if len(content) > _LONGEST_PARSED_TITLE or not _INLINE_MARKUP.search(content):
        return content.strip()
    parser = _parser()
    tokens = parser.inline.parse(content, parser, references, [])
    return "".join(_texts(tokens)).strip() or content.strip()


def _texts(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "image":
            yield from _texts(token.children or ())
        elif token.type == "html_inline":
            yield " " if _BREAK.match(token.content) else ""
        else:
            yield " " if token.type.endswith("break") else token.content
