"""Finds the entries of a reference in reStructuredText and AsciiDoc: what describes one name.

These are the objects that directives describe (``.. option:: --color``, ``.. function:: open()``),
and the terms of description lists (``core.editor::``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fumishirube import Heading

_OBJECT = re.compile(
    r"\.\. (?:(?:[\w-]+:)?(?:alias|attribute|class|classmethod|cmdoption|concept|confval|data"
    r"|decorator|decoratormethod|describe|django-admin|enum|enumerator|envvar|event|exception"
    r"|fieldlookup|function|macro|member|method|object|opcode|option|pdbcommand|property|setting"
    r"|signal|staticmethod|struct|templatefilter|templatetag|type|union|var)"
    r"|rst:(?:directive(?::option)?|role))::[ \t]+(\S.*)"
)
"""A directive that describes an object, in any domain of Sphinx."""
_CLASS = ".. class::"
"""A class of Python if there is text below it; else it applies a style to what follows."""
_SILENT = re.compile(
    r"\.\.(?:$| _| (?:class|currentmodule|default-domain|highlight|index|module|program)::"
    r"| (?![\w:+-]+::))"
)
"""Explicit markup that shows nothing: targets, comments, and what changes a state."""

_TERM = re.compile(r"(?![*.-]+[ \t]|//|\[)(\S(?:.*?[^:\s])?)::(?:[ \t]+\S.*|[ \t]*)")
_LONGEST_TERM = 80
_BLOCK = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|`{3,}|\|={3,}|--)[ \t]*")
_BELONGS = re.compile(r"[ \t]|[*.-]+[ \t]|\d+\.[ \t]|<\d+>|//|\[|\+$|(?:include|if\w*|endif)::")
"""The beginning of a line that goes on with an entry, or is no text."""


class _Object(NamedTuple):
    """An open object: the indentation of its directive and of its content, if known yet."""

    heading: Heading
    indent: int
    content: int | None = None


class _Parents:
    """The section in which each line is, as entries need it."""

    def __init__(self, headings: Sequence[Heading], title: str) -> None:
        self._left = list(reversed(headings))
        self.heading = Heading(title, 0, 1, 1)
        self._below = 1

    def titles(self, number: int) -> bool:
        """Tell whether a line, in order and counted from 1, belongs to a heading."""
        if self._left and self._left[-1].line == number:
            self.heading = self._left.pop()
            self._below = self.heading.below
        return number < self._below


def rst_entries(lines: Sequence[str], headings: Sequence[Heading], title: str) -> Iterator[Heading]:
    """Yield a heading for each object, and one where the text of the section goes on after it."""
    parents = _Parents(headings, title)
    opened: list[_Object] = []
    ended, after_blank = False, True
    for number, line in enumerate(lines, start=1):
        if parents.titles(number):
            opened.clear()
            ended = False
        elif line.strip():
            indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
            while opened and indent <= opened[-1].indent:
                opened.pop()
                ended = True
            if opened and opened[-1].content is None and (after_blank or line.lstrip()[0] == ":"):
                opened[-1] = opened[-1]._replace(content=indent)
            place = (opened[-1].content if opened else 0) == indent
            above = opened[-1].heading if opened else parents.heading
            if place and (written := _object(lines, number)):
                entry = Heading(written, above.level + 1, number, number)
                opened.append(_Object(entry, indent))
                ended = False
                yield entry
            elif ended and place and not _SILENT.match(line.lstrip()):
                ended = False
                yield Heading(above.title, above.level + 1, number, number)
        after_blank = not line.strip()


def _object(lines: Sequence[str], number: int) -> str | None:
    """Return the signature of the object that a line describes, if it does."""
    line = lines[number - 1].lstrip()
    match = _OBJECT.match(line)
    if match is None:
        return None
    if line.startswith(_CLASS):
        below = next((text for text in lines[number:] if text.strip()), "")
        if not below[:1].isspace():
            return None
    return match[1].strip()


def adoc_entries(
    lines: Sequence[str], headings: Sequence[Heading], title: str
) -> Iterable[Heading]:
    """Return a heading for each term, and one where the text of the section goes on after a list.

    Terms without text between them are one entry.
    """
    parents = _Parents(headings, title)
    entries: list[Heading] = []
    in_list, block, last_term, after_blank = False, "", -1, True
    for number, line in enumerate(lines, start=1):
        level = parents.heading.level + 1
        if parents.titles(number):
            in_list = False
        elif marks := _BLOCK.fullmatch(line):
            block = "" if block == marks[1] else block or marks[1]
        elif block:
            continue
        elif term := _term(line, starts=after_blank or last_term == number - 1):
            if last_term == number - 1:
                entries[-1] = _with_term(entries[-1], term)
            else:
                entries.append(Heading(term, level, number, number))
            in_list, last_term = True, number
        elif in_list and after_blank and line.strip() and not _BELONGS.match(line):
            entries.append(Heading(parents.heading.title, level, number, number))
            in_list = False
        after_blank = not line.strip() or line.startswith(("[", "//"))
    return entries


def _with_term(entry: Heading, term: str) -> Heading:
    """Return an entry with one more term in its title, unless that is long."""
    terms = (entry.title, term)
    return entry if len(entry.title) > _LONGEST_TERM else entry._replace(title=", ".join(terms))


def _term(line: str, *, starts: bool) -> str | None:
    """Return the term of a description list with which a line begins, if it does."""
    match = _TERM.fullmatch(line)
    known = match is not None and len(match[1]) <= _LONGEST_TERM
    return match[1] if match and known and (starts or line.rstrip().endswith("::")) else None


ENTRIES: Mapping[str, Callable[[Sequence[str], Sequence[Heading], str], Iterable[Heading]]] = (
    MappingProxyType(
        {
            ".rst": rst_entries,
            ".adoc": adoc_entries,
            ".asciidoc": adoc_entries,
        }
    )
)
"""The entries of each suffix."""
