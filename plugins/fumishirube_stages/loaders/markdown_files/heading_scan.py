"""Finds the parts of a Markdown text that may contain headings, without parsing the other parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_IS_SOUND = re.fullmatch("(?:(?!b)a)++", "ab") is None
"""Python 3.11.2, as Debian 12 has it, goes on behind what a look-ahead in such a group has seen."""


def _repeated(group: str) -> str:
    """Return the pattern of a group once or more, of which nothing is given back."""
    return f"(?:{group})++" if _IS_SOUND else f"(?>(?:{group})+)"


# Paragraphs of lines that cannot begin any other block. Most lines of most manuals are like that,
# and trying every rule on them took most of the time.
PARAGRAPH = (
    _repeated(r"(?![0-9]{1,9}[.)])[^ \t\n#>+*_=~`<\[|:-][^\n]*+(?:\n|\Z)")
    + r"(?=[ \t]*(?:\n|\Z)|#{1,6}[ \t])"
)
_LINE = r"(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n|\Z)"
"""A line across the page; below a paragraph it would make it a heading."""
_PLAIN = re.compile(_repeated(rf"[ \t]*\n|{_LINE}|{PARAGRAPH}"))
_ATX = re.compile(r"#{1,6}[ \t][^\n]*+(?:\n|\Z)")
_FENCE = re.compile(r" {0,3}(?:(?P<ticks>`{3,})[^`\n]*|(?P<tildes>~{3,})[^\n]*)(?:\n|\Z)")
_COMMENT = re.compile(r" {0,3}<!--")
_CLOSED = {
    mark: re.compile(rf"^ {{0,3}}({mark}{{3,}})[ \t]*(?:\n|\Z)", re.MULTILINE) for mark in "`~"
}
# Nothing but code and HTML goes on behind a blank line with a line that is not indented.
_BOUNDARY = re.compile(r"\n[ \t]*+\n(?=[^ \t\n])")
# Sought at once: the next of one alone may be far behind many of the other.
_FENCE_OR_BOUNDARY = re.compile(
    rf"^(?P<indent> {{0,3}})(?:```|~~~)|{_BOUNDARY.pattern}", re.MULTILINE
)
_MAYBE_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)", re.MULTILINE)
_HTML = re.compile(r"^ {0,3}<", re.MULTILINE)
_LONG_HTML = re.compile(
    r"^ {0,3}<(?:script|pre|style|textarea|\?|![A-Za-z]|!\[CDATA\[|!--(?![^\n]*-->))",
    re.MULTILINE | re.IGNORECASE,
)
"""The beginnings of HTML blocks that may hold blank lines."""
_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)]) (?=[^ \t\n])")
_RULE = r"(?!(?:[-*][ \t]*){3,}(?:\n|\Z))"


@cache
def _item_lines(width: int) -> re.Pattern[str]:
    """Return a pattern of the lines of one list whose markers take so many characters."""
    marker = f"[0-9]{{{width - 2}}}[.)]" if width > len("- ") else "[-+*]"
    item = rf" {{{width}}}[^\n]*(?:\n|\Z)|{_RULE}{marker} [^ \t\n][^\n]*(?:\n|\Z)"
    return re.compile(_repeated(rf"[ \t]*\n|{item}"))


class Piece(NamedTuple):
    """A part of a text: one heading with hashes, or a few blocks with something like a heading."""

    start: int
    end: int
    heading: bool


def pieces(text: str, offset: int) -> list[Piece] | None:
    """Return the parts of a text that may have headings; ``None`` where that is not sure.

    The pieces begin and end between blocks that are in no list or quotation (CommonMark 0.31).
    The last one is the rest of the text where code or HTML may go on anywhere.
    """
    if "\0" in text or "\r" in text:
        return None
    return [*_pieces(text, offset)]


class _UnclearError(Exception):
    """Only a parser can divide the rest of the text."""


def _pieces(text: str, place: int) -> Iterator[Piece]:
    while place < len(text):
        if plain := _PLAIN.match(text, place):
            place = plain.end()
        elif heading := _ATX.match(text, place):
            yield Piece(place, heading.end(), heading=True)
            place = heading.end()
        elif fence := _FENCE.match(text, place):
            place = _closed(text, fence)
        elif _COMMENT.match(text, place):
            place = _end_of_comment(text, place)
        else:
            try:
                end = _end_of_blocks(text, place)
            except _UnclearError:
                end = len(text)
            if _MAYBE_HEADING.search(text, place, end):
                yield Piece(place, end, heading=False)
            place = end


def _closed(text: str, fence: re.Match[str]) -> int:
    """Return where a block of code ends: behind its closing fence, or with the text."""
    opening = fence["ticks"] or fence["tildes"]
    for closing in _CLOSED[opening[0]].finditer(text, fence.end()):
        if len(closing[1]) >= len(opening):
            return closing.end()
    return len(text)


def _end_of_comment(text: str, start: int) -> int:
    """Return where a block of HTML that begins with a comment ends: with the line of its end."""
    end = text.find("-->", start)
    line_end = text.find("\n", end)
    return line_end + 1 if end >= 0 <= line_end else len(text)


def _end_of_blocks(text: str, start: int) -> int:
    """Return where the next blocks end: before a fence, or where all blocks have ended.

    Raises:
        _UnclearError: when code or HTML in them may go on behind that.
    """
    first = _FENCE_OR_BOUNDARY.search(text, start)
    if first is None or first["indent"] is None:
        end = first.end() if first else len(text)
        if _LONG_HTML.search(text, start, end):
            raise _UnclearError
        return end
    if not first["indent"] and not _HTML.search(text, start, first.start()):
        if start < first.start() and _FENCE.match(text, first.start()):
            return first.start()
        raise _UnclearError
    boundary = _BOUNDARY.search(text, first.end())
    end = boundary.end() if boundary else len(text)
    if not _is_list(text, start, end):
        raise _UnclearError
    return end


def _is_list(text: str, start: int, end: int) -> bool:
    """Tell whether all lines are those of one list, where blocks end with their item at last."""
    marker = _MARKER.match(text, start)
    lines = marker and _item_lines(len(marker[0])).match(text, start, end)
    return bool(lines and lines.end() == end)
