"""Finds the entries of a reference in reStructuredText and AsciiDoc: what describes one name.

These are the objects that directives describe (``.. option:: --color``, ``.. function:: open()``),
and the terms of description lists (``core.editor::``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
_STYLE = re.compile(r"\.\. class::[ \t]+[a-z][\w -]*$")
"""A class of Python if there is text below it; else it applies a style to what follows."""
_SILENT = re.compile(
    r"\.\.(?:$| _| (?:class|currentmodule|default-domain|highlight|index|module|program)::"
    r"| (?!\[)(?![\w:+-]+::))"
)
"""Explicit markup that shows nothing: targets, comments, and what changes a state."""

_TERM = re.compile(
    r"(?:\[\[[^\]]*\]\])*(?![*.-]+[ \t]|//|\[)(\S(?:.*?[^:\s])?)::(?:[ \t]+(\S.*)|[ \t]*)"
)
_LONGEST_TERM = 80
_BLOCK = re.compile(
    r"(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|\|={3,}|--|`{3,}(?=[\w.,+#-]*\s*$))"
    r"(?:(?<=`)\S*)?\s*"
)
"""The line that opens or closes a block; one of backticks may name a language."""
_BELONGS = re.compile(
    r"[ \t]|[*.-]+[ \t]|(?:\d+|[A-Za-z])\.[ \t]|<\d+>|//|\[|\+$|(?:include|if\w*|endif)::"
    r"|.*(?:;;|:{3,4})(?:[ \t]|$)"
)
"""A line that goes on with an entry, such as an item within it, or that is no text."""
_BESIDE_TERM = ("[", "//")
"""The beginnings of lines above a term that belong to it: anchors, attributes and comments."""


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

    def goes_on(self, number: int) -> Heading:
        """Return the heading where the text of the section goes on after entries."""
        return Heading(self.heading.title, self.heading.level + 1, number, number)


def rst_entries(lines: Sequence[str], headings: Sequence[Heading], title: str) -> Iterable[Heading]:
    """Return a heading for each object, and one where the text of the section goes on after it.

    Objects without text between them are one entry.
    """
    parents = _Parents(headings, title)
    entries: list[Heading] = []
    opened: list[_Object] = []
    ended, after_blank = False, True
    alone: int | None = None  # the indentation of the last object while it has no text
    for number, line in enumerate(lines, start=1):
        if parents.titles(number):
            if alone is not None:
                entries.pop()  # a target above a heading, as of a setting in Django's manual
            opened.clear()
            ended, alone = False, None
        elif line.strip():
            indent = _indentation(line)
            while opened and indent <= opened[-1].indent:
                opened.pop()
                ended = True
            if opened and opened[-1].content is None and (after_blank or line.lstrip()[0] == ":"):
                opened[-1] = opened[-1]._replace(content=indent)
            place = (opened[-1].content if opened else 0) == indent
            above = opened[-1].heading if opened else parents.heading
            if place and (written := _object(lines, number)):
                if ended and alone == indent:
                    entries[-1] = _with_term(entries[-1], written)
                else:
                    entries.append(Heading(written, above.level + 1, number, number))
                opened.append(_Object(entries[-1], indent))
                ended, alone = False, indent
            else:
                if ended and place and not _SILENT.match(line.lstrip()):
                    entries.append(Heading(above.title, above.level + 1, number, number))
                    ended = False
                alone = None
        after_blank = not line.strip()
    return entries


def _indentation(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


def _object(lines: Sequence[str], number: int) -> str | None:
    """Return the signature of the object that a line describes, if it does."""
    line = lines[number - 1].strip()
    match = _OBJECT.match(line)
    if match and _STYLE.match(line):
        below = (lines[at] for at in range(number, len(lines)) if lines[at].strip())
        return match[1] if next(below, "")[:1].isspace() else None
    return match[1].removesuffix("\\").rstrip() if match else None


class _TermList(NamedTuple):
    """A description list up to a line: the line of a term without text, and whether any text is."""

    last_term: int = -1
    described: bool = False


def adoc_entries(
    lines: Sequence[str], headings: Sequence[Heading], title: str
) -> Iterable[Heading]:
    """Return a heading for each term, and one where the text of the section goes on after a list.

    Terms without text between them are one entry.
    """
    parents = _Parents(headings, title)
    entries: list[Heading] = []
    opened: _TermList | None = None
    block, above = "", ""
    for number, line in enumerate(lines, start=1):
        blank, above = not above.strip(), line
        if parents.titles(number):
            opened, block = None, ""
        elif block:
            marks = _BLOCK.fullmatch(line)
            block = "" if marks and marks[1] == block else block
        elif line.strip():
            starts = opened or blank or lines[number - 2].startswith(_BESIDE_TERM)
            marks = _BLOCK.fullmatch(line)
            term = None if marks or not starts else _TERM.fullmatch(line)
            if term and len(term[1]) <= _LONGEST_TERM:
                if opened and opened.last_term == number - 1:
                    entries[-1] = _with_term(entries[-1], term[1])
                else:
                    level = parents.heading.level + 1
                    entries.append(Heading(term[1], level, number, number))
                opened = _TermList(described=True) if term[2] else _TermList(last_term=number)
            elif opened and blank and opened.described and not _BELONGS.match(line):
                entries.append(parents.goes_on(number))
                opened = None
            elif opened and not line.startswith(_BESIDE_TERM):
                opened = _TermList(described=True)
            block = marks[1] if marks else ""
    return entries


def _with_term(entry: Heading, term: str) -> Heading:
    """Return an entry with one more term in its title, unless that is long."""
    terms = (entry.title, term)
    return entry if len(entry.title) > _LONGEST_TERM else entry._replace(title=", ".join(terms))


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
