"""Finds the entries of a reference in reStructuredText and AsciiDoc: what describes one name.

These are the objects that directives describe (``.. option:: --color``, ``.. function:: open()``),
and the terms of glossaries and of description lists (``core.editor::``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fumishirube import Heading

OBJECT = re.compile(
    r"\.\. (?:(?:[\w-]+:)?(?:alias|attribute|class|classmethod|cmdoption|command|concept|confval"
    r"|data|decorator|decoratormethod|describe|django-admin|enum|enumerator|envvar|event"
    r"|exception|fieldlookup|function|macro|member|method|object|opcode|option|pdbcommand|property"
    r"|setting|signal|staticmethod|struct|templatefilter|templatetag|type|union|var|variable)"
    r"|rst:(?:directive(?::option)?|role))::[ \t]+(\S.*)"
)
"""A directive that describes an object, in any domain of Sphinx."""
_STYLE = re.compile(r"\.\. class::[ \t]+[a-z][\w -]*$")
"""A class of Python if there is text below it; else it applies a style to what follows."""
_GLOSSARY = re.compile(r"\.\. glossary::\s*$")
_SILENT = re.compile(
    r"\.\.(?:$| _| (?:class|currentmodule|default-domain|highlight|index|module|program)::"
    r"| (?!\[)(?![\w:+-]+::))"
)
"""Explicit markup that shows nothing: targets, comments, and what changes a state."""

_TERM = re.compile(
    r"(?:\[\[[^\]]*\]\])*(?![*.-]+[ \t]|//|\[)(\S(?:.*?[^:\s])?)::(?:[ \t]+(\S.*)|[ \t]*)"
)
_LONGEST_TERM = 80
BLOCK = re.compile(
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
    """An open object: the indentation of its directive and of its content, if known yet.

    A glossary is one, too: below the heading around it, and made of terms.
    """

    heading: Heading
    indent: int
    content: int | None = None
    terms: bool = False


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


def _goes_on(above: Heading, number: int) -> Heading:
    """Return the heading where the text of a section or an object goes on after entries in it."""
    return Heading(above.title, above.level + 1, number, number)


def rst_entries(lines: Sequence[str], headings: Sequence[Heading], title: str) -> Sequence[Heading]:
    """Return a heading for each object, and one where the text of the section goes on after it.

    Objects without text between them are one entry. One right above a heading is a target of it,
    as of a setting in Django's manual, and no entry.
    """
    parents = _Parents(headings, title)
    objects = _Objects(lines, parents)
    after_blank = True
    for number, line in enumerate(lines, start=1):
        if parents.titles(number):
            objects.end_section()
        elif line.strip():
            objects.read(number, after_blank=after_blank)
        after_blank = not line.strip()
    return objects.entries


class _Objects:
    """The objects of reStructuredText up to a line, and the entries that they are."""

    def __init__(self, lines: Sequence[str], parents: _Parents) -> None:
        self.entries: list[Heading] = []
        self._lines = lines
        self._parents = parents
        self._opened: list[_Object] = []
        self._ended = False
        """Whether text here is of what is around the objects above."""
        self._alone: int | None = None
        """The indentation of the last object while it has no text."""

    def end_section(self) -> None:
        """End the section at a heading."""
        if self._alone is not None:
            self.entries.pop()
        self._opened.clear()
        self._ended, self._alone = False, None

    def read(self, number: int, *, after_blank: bool) -> None:
        """Read a line with text."""
        line = self._lines[number - 1]
        indent = _indentation(line)
        while self._opened and indent <= self._opened[-1].indent:
            self._opened.pop()
            self._ended = True
        inner = self._opened[-1] if self._opened else None
        if inner and inner.content is None and (after_blank or line.lstrip()[0] == ":"):
            inner = self._opened[-1] = inner._replace(content=indent)
        place = indent == (inner.content if inner else 0)
        above = inner.heading if inner else self._parents.heading
        if place and _GLOSSARY.match(line.lstrip()):
            self._opened.append(_Object(above, indent, terms=True))
            self._alone = None
            return
        entry_of = _term if inner and inner.terms else _object
        written = entry_of(self._lines, number) if place else None
        if written:
            self._add(written, Heading(written, above.level + 1, number, number), indent)
            return
        self._alone = None
        if place and self._ended and not _SILENT.match(line.lstrip()):
            self.entries.append(_goes_on(above, number))
            self._ended = False

    def _add(self, written: str, entry: Heading, indent: int) -> None:
        if self._ended and self._alone == indent:
            self.entries[-1] = _with_term(self.entries[-1], written)
        else:
            self.entries.append(entry)
        self._opened.append(_Object(self.entries[-1], indent))
        self._ended, self._alone = False, indent


def _indentation(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


def _object(lines: Sequence[str], number: int) -> str | None:
    """Return the signatures of the object that a line describes, if it does."""
    line = lines[number - 1].strip()
    match = OBJECT.match(line)
    if match is None:
        return None
    if _STYLE.match(line):
        below = (lines[at] for at in range(number, len(lines)) if lines[at].strip())
        return match[1] if next(below, "")[:1].isspace() else None
    signatures = match[1]
    for at in range(number, len(lines)):
        further = lines[at].strip()
        indented = _indentation(lines[at]) > _indentation(lines[number - 1])
        if not indented or further[:1] in ("", ":") or len(signatures) > _LONGEST_TERM:
            break
        goes_on = signatures.endswith("\\")
        signatures = signatures.removesuffix("\\").rstrip() if goes_on else f"{signatures},"
        signatures += further if signatures.endswith("(") else f" {further}"
    return signatures.removesuffix("\\").rstrip()


def _term(lines: Sequence[str], number: int) -> str | None:
    """Return the term of a glossary in a line, without its key; options and comments are none."""
    line = lines[number - 1].strip()
    return None if line.startswith((":", "..")) else line.partition(" : ")[0].rstrip()


class _TermList(NamedTuple):
    """A description list up to a line: the line of a term without text, and whether any text is."""

    last_term: int = -1
    described: bool = False


def adoc_entries(
    lines: Sequence[str], headings: Sequence[Heading], title: str
) -> Sequence[Heading]:
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
            opened, block, above = None, "", ""
        elif block:
            marks = BLOCK.fullmatch(line)
            if marks and marks[1] == block:
                block = above = ""
        elif line.strip():
            starts = opened or blank or lines[number - 2].startswith(_BESIDE_TERM)
            marks = BLOCK.fullmatch(line)
            term = None if marks or not starts else _TERM.fullmatch(line)
            if term and len(term[1]) <= _LONGEST_TERM:
                if opened and opened.last_term == number - 1:
                    entries[-1] = _with_term(entries[-1], term[1])
                else:
                    level = parents.heading.level + 1
                    entries.append(Heading(term[1], level, number, number))
                opened = _TermList(described=True) if term[2] else _TermList(last_term=number)
            elif opened and blank and opened.described and not _BELONGS.match(line):
                entries.append(_goes_on(parents.heading, number))
                opened = None
            elif opened and not line.startswith(_BESIDE_TERM):
                opened = _TermList(described=True)
            block = marks[1] if marks else ""
    return entries


def _with_term(entry: Heading, term: str) -> Heading:
    """Return an entry with one more term in its title, unless that is long."""
    terms = (entry.title, term)
    return entry if len(entry.title) > _LONGEST_TERM else entry._replace(title=", ".join(terms))


ENTRIES: Mapping[str, Callable[[Sequence[str], Sequence[Heading], str], Sequence[Heading]]] = (
    MappingProxyType({".rst": rst_entries, ".adoc": adoc_entries, ".asciidoc": adoc_entries})
)
"""The entries of each suffix."""
