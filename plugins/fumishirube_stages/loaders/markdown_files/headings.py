"""Finds the headings of a Markdown text, and the texts of its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fumishirube import Heading, Unreadable
from fumishirube.text import Lines
from fumishirube_stages.divisions import MOST_STEPS
from fumishirube_stages.loaders.markdown_files.heading_scan import PARAGRAPH, pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_UNDERLINE = re.compile(r"[ \t]*(?:==+|--+)[ \t]*\n?")
_DEEPEST = 100
_LONGEST_PARSED_TITLE = 1_000
_INLINE_MARKUP = re.compile(r"[\\`*_~\[\]!<>&]")
_BLOCKS = frozenset(
    {"code_block", "definition", "fence", "heading_open", "html_block", "paragraph_open", "tr_open"}
)
_STEPS_LEFT = "fumishirube_steps_left"
_TERMINATORS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
"""Block rules that check at each of their lines whether another block begins."""
_BREAK = re.compile(r"<br\b", re.IGNORECASE)

_PROSE = re.compile(PARAGRAPH)
_HASHES = re.compile(r"(#{1,6})[ \t]([^\n]*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*\Z")
_REFERENCE = re.compile(r"^[^\n]*\]:", re.MULTILINE)


class ParsedBlock(NamedTuple):
    """The first line of a block, from 1, the first below it, and its text without markers.

    The text of code, HTML and link references is empty, that of a table is in its rows.
    """

    line: int
    below: int
    text: str


class Parsed(NamedTuple):
    """The headings; the blocks in their order, but for plain paragraphs; targets of references."""

    headings: list[Heading]
    blocks: list[ParsedBlock]
    references: Mapping[str, Any]


def headings(text: str, offset: int, lines: Lines, most_steps: int = MOST_STEPS) -> list[Heading]:
    """Return the headings of a text from an offset, parsing only what may hold some.

    Raises:
        Unreadable: when parsing takes too many steps.
    """
    return _headings(text, offset, lines, {_STEPS_LEFT: most_steps})


def headings_of_each(texts: Iterable[tuple[int, str]]) -> list[Heading]:
    """Return the headings of texts that are shown each alone, each with the lines above it.

    Raises:
        Unreadable: when parsing them takes too many steps together.
    """
    collected: list[Heading] = []
    left = MOST_STEPS
    for above, text in texts:
        env: MutableMapping[str, Any] = {_STEPS_LEFT: left}
        collected += (
            heading._replace(line=heading.line + above, below=heading.below + above)
            for heading in _headings(text, 0, Lines(text), env)
        )
        left = env[_STEPS_LEFT]
    return collected


def _headings(text: str, offset: int, lines: Lines, env: MutableMapping[str, Any]) -> list[Heading]:
    parts = pieces(text, offset)
    # A heading may be a link whose target is elsewhere in the text.
    linked = parts and _REFERENCE.search(text, offset)
    if parts is None or (linked and any("[" in text[start:end] for start, end, _ in parts)):
        return _parsed(text, offset, len(text), lines, env).headings
    collected: list[Heading] = []
    for start, end, heading in parts:
        if heading:
            collected.append(_plain_heading(text, start, lines))
        else:
            collected += _parsed(text, start, end, lines, env).headings
    return collected


def parsed(text: str, offset: int, lines: Lines, most_steps: int = MOST_STEPS) -> Parsed:
    """Parse a text from an offset; headings in lists, quotations and tables do not count.

    Raises:
        Unreadable: when parsing its blocks takes too many steps.
    """
    return _parsed(text, offset, len(text), lines, {_STEPS_LEFT: most_steps})


def _plain_heading(text: str, start: int, lines: Lines) -> Heading:
    match = _HASHES.match(text, start)
    assert match  # it is a heading with hashes
    line = lines.at(start)
    return Heading(_plain(_CLOSING.sub("", match[2]), {}), len(match[1]), line, line + 1)


def _parsed(
    text: str, start: int, end: int, lines: Lines, references: MutableMapping[str, Any]
) -> Parsed:
    above = lines.at(start) - 1 if start < len(text) else lines.total
    tokens = _parser().parse(text[start:end], references)
    collected: list[Heading] = []
    blocks: list[ParsedBlock] = []
    for opening, content in pairwise([*tokens, None]):
        if opening is None or opening.map is None:
            continue
        line, below = (above + 1 + number for number in opening.map)
        if opening.type in _BLOCKS:
            source = text[lines.start(line) : lines.start(below)]
            blocks.append(ParsedBlock(line, below, _block_text(opening, content, source)))
        if opening.type != "heading_open" or opening.level or content is None:
            continue
        second = text[lines.start(line + 1) : lines.start(below)]
        if second and not _UNDERLINE.fullmatch(second):
            continue  # a setext heading over several lines, or without text
        title = _plain(content.content, references)
        collected.append(Heading(title, int(opening.tag[1:]), line, below))
    return Parsed(collected, blocks, references.get("references", {}))


def _block_text(opening: Token, content: Token | None, source: str) -> str:
    """Return the text of a block with links; nothing of code and HTML."""
    if opening.type == "tr_open":
        return source
    if opening.type == "definition":  # a footnote's, too
        return source.partition("]:")[2] if opening.meta["label"].startswith("^") else ""
    return content.content if content and content.type == "inline" else ""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 20 ms that a search does not need

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 2, "inline_definitions": True})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("table", "prose", _prose)
    parser.block.ruler.before("prose", "deep", _deep)
    parser.block.ruler.before("deep", "steps", _counted, _TERMINATORS)
    # Compile the rules now: doing so at first use is not thread-safe.
    parser.inline.parse("*", parser, {}, [])
    parser.parse("*")
    return parser


def _counted(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    """Stop parsing a document after too many steps; each takes some microseconds."""
    left = state.env.get(_STEPS_LEFT)
    if left is not None:
        state.env[_STEPS_LEFT] = left = left - 1
        if left < len(state.tokens):
            raise Unreadable(
                "its lists, tables or other blocks take too long to parse; divide the file",
                reason="too_large",
            )
    return False


def _deep(state: StateBlock, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001 - the same
    """Skip a line that is nested too deeply; beyond its own limit the parser drops the rest."""
    if silent or state.level < _DEEPEST:
        return False
    state.line = start + 1
    return True


def _prose(state: StateBlock, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001 - the same
    """Skip a plain paragraph outside lists and quotations, which no other rule matches."""
    if silent or state.level:
        return False
    paragraph = _PROSE.match(state.src, state.bMarks[start])
    if paragraph is None:
        return False
    state.line = start + 1 + paragraph.group().count("\n", 0, -1)
    return True


# --- titles ---------------------------------------------------------------------------------


def _plain(content: str, references: MutableMapping[str, Any]) -> str:
    """Return the text of a heading without markup; with it when nothing else is left."""
    # Nested links take quadratic time.
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
