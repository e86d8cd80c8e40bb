"""Finds the lines above a heading that name it: anchors, index entries and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fumishirube import Heading, Section
from fumishirube.text import Lines
from fumishirube_stages.loaders.text_files.text_entries import OBJECT

_BEFORE = (
    r"\.\. (?:\w+:)?(?:currentmodule|default-domain|glossary|highlight|index|module|program"
    r"|rst-class)::"
)
"""A directive that shows nothing by itself."""
_NEVER = re.compile(r"(?!)")
_ADOC_COMMENTS = "////"


class _Marks(NamedTuple):
    """Lines of a markup: those that name what is below, some with an indented part.

    ``between`` may be among them; ``silent`` are all lines that show nothing.
    """

    naming: re.Pattern[str]
    parted: re.Pattern[str]
    between: re.Pattern[str]
    silent: re.Pattern[str]


_RST = _Marks(
    naming=re.compile(rf"\.\. _.*:\s*$|{_BEFORE}"),
    parted=re.compile(_BEFORE),
    between=re.compile(r"\s*$"),
    silent=re.compile(
        rf"\s|$|{_BEFORE}|\.\.(?:\s*$| _| (?:default-role|meta|role)::| (?!\[)(?![\w:+-]+::))"
        r"|:(?:nocomments|nosearch|orphan|tocdepth):"
    ),
)
_ADOC = _Marks(
    naming=re.compile(r"\[.*\]\s*$"),
    parted=_NEVER,
    between=re.compile(r"\s*$|//(?!/)"),
    silent=re.compile(r"\s*$|\[.*\]\s*$|//|:!?\w[^:]*:(?:\s|$)"),
)
_ORG = _Marks(
    naming=_NEVER,
    parted=_NEVER,
    between=_NEVER,
    silent=re.compile(r"\s*$|#\+\w+:|#(?:\s|$)|:\w+:"),
)
_MARKS: Mapping[str, _Marks] = MappingProxyType(
    {".rst": _RST, ".adoc": _ADOC, ".asciidoc": _ADOC, ".org": _ORG}
)


def with_anchors(lines: Sequence[str], headings: Sequence[Heading], suffix: str) -> list[Heading]:
    """Return the headings in the order of their lines, each from the first line that names it.

    The first of a file is also named by all lines above it, if they show nothing.
    """
    marks = _MARKS.get(suffix)
    if marks is None:
        return [*headings]
    named: list[Heading] = []
    free = 0
    for heading in headings:
        top = heading.line - 1
        if free == 0 and _is_silent(lines[:top], marks):
            top = next(at for at, line in enumerate(lines) if line.strip())
        else:
            top = _first_naming(lines, heading, free, marks)
        below = heading.below if _is_title(heading) else top + 1
        named.append(heading._replace(line=top + 1, below=below))
        free = max(heading.below - 1, heading.line)
    return named


def _is_title(heading: Heading) -> bool:
    """Tell whether a heading has lines of its own; those of an entry are in its text."""
    return heading.below > heading.line


def _first_naming(lines: Sequence[str], heading: Heading, free: int, marks: _Marks) -> int:
    """Return the first of the lines, counted from 0, that name a heading, or its own."""
    first = heading.line - 1
    indented = False
    for at in range(first - 1, free - 1, -1):
        line = lines[at]
        if line[:1].isspace() and line.strip():
            indented = True
        elif (marks.parted if indented else marks.naming).match(line) or (
            # An object without text right above a title is a target of it.
            marks is _RST and _is_title(heading) and OBJECT.match(line)
        ):
            first, indented = at, False
        elif not marks.between.match(line):
            break
    return first


def _is_silent(lines: Sequence[str], marks: _Marks) -> bool:
    """Tell whether the first lines of a file show nothing."""
    comment = ""
    for line in lines:
        if comment:
            comment = "" if line.rstrip() == comment else comment
        elif not marks.silent.match(line):
            return False
        elif line.startswith(_ADOC_COMMENTS):
            comment = line.rstrip()
    return not next(filter(str.strip, lines), "")[:1].isspace()


def searched_by_anchors(
    text: str, sections: Sequence[Section], titles: Sequence[Heading]
) -> Iterator[Section]:
    """Yield the sections; those with text are searched with the lines that name them.

    ``titles`` are the headings before ``with_anchors`` moved them.
    """
    lines = Lines(text)
    own = {heading.below: heading.line for heading in titles if _is_title(heading)}
    for section in sections:
        title = own.get(lines.at(section.body)) if section.start < section.body else None
        above = text[section.start : lines.start(title)] if title else ""
        body = text[section.body : section.end]
        yield section._replace(searched=above + body) if above and body.strip() else section
