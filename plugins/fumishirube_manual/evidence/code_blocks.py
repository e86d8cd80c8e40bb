"""Blocks in the lines of a text: code, and what applies to some readers only.

Code is fenced, below the name of its language, or in a directive. Texts that were converted from
web pages have often lost the fences; the name of the language is left, as a paragraph. Quotations
may have code of either kind.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

_LANGUAGE = re.compile(
    r"(?:bash|c|c#|cmd|console|cpp|cs|cshtml|csharp|css|diff|dockerfile|dotnetcli|go|gradle|html"
    r"|http|ini|java|javascript|js|json|jsx|kotlin|nginx|php|powershell|protobuf|python|razor|ruby"
    r"|rust|sh|shell|sql|swift|text|toml|ts|tsx|typescript|xml|yaml|yml)(?:,[\w,=]+)?\s*$"
)
_MARKED = re.compile(r"#{1,6} |> |\||\[[^\]]+\]: |r\[|[-*] \S+ \S+ \S|\d+\. \S")
"""The beginning of a heading, a quotation, a row, the definition of a link, or an item."""
_COMMENT = re.compile(r"\s{2}|//|#|\*\s|<!--|--")
"""The beginning of an indented line, or of a comment in code."""
_WORDS = re.compile(
    r"\s?(?:[A-Z`\"'*_\[(](?:[^;{}=]*\s[a-z’']{2,}(?=[\s,.:])){4}"
    r"|[a-z*](?:[^;{}=]*\s[a-z’']{2,}(?=[\s,.:])){7}|[A-Z][^;{}=()<>]*[.:!?]\s*$)"
)
"""A sentence in English, or the beginning of one: some words in lower case, and no code."""
_CODE_END = re.compile(r"[;{}>,(]\s*$")
_FENCE = re.compile(r"\s*(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)$", re.DOTALL)
_QUOTED = re.compile(r" {0,3}> ?")
_DIRECTIVE = re.compile(
    r"(\s*)\.\. (?:code(?:-block)?|doctest|literalinclude|parsed-literal|prompt|sourcecode|testcode"
    r"|testoutput)::"
)
"""A directive of reStructuredText with code indented below it."""
_LISTING = re.compile(r"\[(?:source|listing|literal)\b[^\]]*\]\s*$")
"""The attributes of a block of code in AsciiDoc, whose marks are on the next line."""
_LISTING_MARKS = re.compile(r"(?:-{4,}|\.{4,})$")
_BEGINS = re.compile("|".join(each.pattern for each in (_LANGUAGE, _LISTING, _DIRECTIVE, _QUOTED)))
"""The beginning of each line at which a block between fenced ones may begin: hardly any line."""
_DEEPEST = 4
"""The most quotations within each other in which code is sought."""
_BLOCK = re.compile(r":::[ \t]*+([a-z]++)(-end)?+[ \t]*+([^:\n]*+)$", re.MULTILINE)
"""The first or the last line of a block, as in ``::: zone pivot="linux"`` and ``::: zone-end``."""


def is_fence(line: str) -> bool:
    """Tell whether a line may open or close a block of code."""
    while quoted := _QUOTED.match(line):
        line = line[quoted.end() :]
    return _marks(line) != ""


def inside_code(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it is below the first line of a block of code, up to its last."""
    return _in_ranges(lines, (block[1:] for block in _blocks(lines)))


def code_lines(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it belongs to code, with its fences or the name of its language."""
    return _in_ranges(lines, _blocks(lines))


def _in_ranges(lines: Sequence[str], ranges: Iterable[range]) -> Sequence[bool]:
    inside = [False] * len(lines)
    for each in ranges:
        inside[each.start : each.stop] = [True] * len(each)
    return inside


def code_start(lines: Sequence[str], at: int) -> int:
    """Return the first line of the block of code of a line: its fence, or the name above it."""
    return next(block.start for block in _blocks(lines) if at in block)


def language_names(lines: Sequence[str]) -> Collection[int]:
    """Return the lines that name the language of code without fences below them."""
    return {block.start for block in _blocks(lines) if not is_fence(lines[block.start])}


def _names_language(lines: Sequence[str], at: int) -> bool:
    """Tell whether a line is a paragraph of only the name of a language, with code below it."""
    if not _LANGUAGE.match(lines[at]) or (at and lines[at - 1].strip()):
        return False
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(below.strip()) and not _is_text(below)


def _blocks(lines: Sequence[str], depth: int = 0) -> Iterator[range]:
    """Yield the blocks of code: fenced, below the name of their language, or in a directive."""
    end = 0
    for block in (*_fenced(lines), range(len(lines), len(lines))):
        yield from _unfenced(lines, range(end, block.start), depth)
        if block:
            yield block
        end = block.stop


def _unfenced(lines: Sequence[str], between: range, depth: int) -> Iterator[range]:
    """Yield the blocks between fenced ones: below a language's name, in directives, quotations."""
    end = between.start
    for at in [at for at in between if _BEGINS.match(lines[at])]:
        if at < end:
            continue
        if _names_language(lines, at):
            end = _end_below(lines, at, between.stop)
            yield range(at, end)
        elif listing := _listing(lines, at, between.stop):
            end = listing.stop
            yield listing
        elif directive := _DIRECTIVE.match(lines[at]):
            end = _end_indented(lines, at, between.stop, len(directive[1].expandtabs()))
            yield range(at, end)
        elif depth < _DEEPEST and _QUOTED.match(lines[at]):
            quoted = takewhile(_QUOTED.match, islice(lines, at, between.stop))
            inner = [_QUOTED.sub("", line, count=1) for line in quoted]
            yield from (range(at + b.start, at + b.stop) for b in _blocks(inner, depth + 1))
            end = at + len(inner)


def _end_below(lines: Sequence[str], at: int, most: int) -> int:
    """Return the end of the code below the name of a language: a blank line before other text."""
    end = at + 1
    for place in range(at + 1, most):
        if lines[place].strip():
            if end < place and (_is_text(lines[place]) or _names_language(lines, place)):
                return end
            end = place + 1
    return end


def _listing(lines: Sequence[str], at: int, most: int) -> range | None:
    """Return the lines of a listing of AsciiDoc whose attributes are on a line, to its end mark."""
    if not _LISTING.match(lines[at]) or at + 1 == most:
        return None
    marks = lines[at + 1].rstrip()
    if not _LISTING_MARKS.match(marks):
        return None
    ends = (place for place in range(at + 2, most) if lines[place].rstrip() == marks)
    end = next(ends, None)
    return None if end is None else range(at, end + 1)


def _end_indented(lines: Sequence[str], at: int, most: int, indent: int) -> int:
    """Return the end of what is indented further than the directive on a line."""
    end = at + 1
    for place in range(at + 1, most):
        line = lines[place].expandtabs()
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                return end
            end = place + 1
    return end


def _is_text(line: str) -> bool:
    """Tell whether a line after a blank one is text; in doubt it is, so that none is left out."""
    if _MARKED.match(line):
        return True
    if _COMMENT.match(line):
        return False
    foreign = any(letter.isalpha() and not letter.isascii() for letter in line)
    return (foreign and not _CODE_END.search(line)) or bool(_WORDS.match(line))


def _fenced(lines: Sequence[str]) -> Iterator[range]:
    """Yield the fenced blocks, from the line that opens each to the one that closes it.

    That is the next line with as many of the same marks, or more, and nothing else.
    """
    opened, first = "", 0
    marked = [at for at, line in enumerate(lines) if "```" in line or "~~~" in line]
    for at in marked:
        marks = _marks(lines[at])
        if not opened:
            opened, first = marks, at
        elif marks.startswith(opened) and lines[at].strip() == marks:
            yield range(first, at + 1)
            opened = ""
    if opened:
        yield range(first, len(lines))


def _marks(line: str) -> str:
    """Return the marks of a line that may open or close a block, or nothing."""
    match = _FENCE.match(line)
    return "" if match is None else match["ticks"] or match["tildes"]


class _Mark(NamedTuple):
    """The first line of a block, without its colons, or the last; numbered from 1."""

    line: int
    name: str
    ends: bool
    written: str


class EnclosingBlocks:
    """The blocks of one text, which are looked for once for all of its lines."""

    def __init__(self, text: str) -> None:
        marks = [*_block_marks(text)]
        last = {mark.name: mark.line for mark in marks if mark.ends}
        self._lines = [mark.line for mark in marks]
        self._inside = [""]
        opened: list[_Mark] = []
        for mark in marks:
            if not mark.ends:
                opened.append(mark)
            elif opened and opened[-1].name == mark.name:
                opened.pop()
            # A first line without a last one below, such as that of a picture, begins no block.
            while opened and last.get(opened[-1].name, 0) <= mark.line:
                opened.pop()
            self._inside.append(opened[-1].written if opened else "")

    def around(self, line: int) -> str:
        """Return the first line of the innermost block around a line, without its colons."""
        return self._inside[bisect_left(self._lines, line)]


def _block_marks(text: str) -> Iterator[_Mark]:
    """Yield the lines that begin or end a block; looking for colons first is ten times as fast."""
    led = f"\n{text}"
    number, counted = 0, 0
    place = led.find("\n:::")
    while place >= 0:
        number += led.count("\n", counted, place + 1)
        counted = place + 1
        if match := _BLOCK.match(led, counted):
            name, ends, rest = match.groups()
            yield _Mark(number, name, bool(ends), f"{name} {rest.strip()}".strip())
        place = led.find("\n:::", counted)
