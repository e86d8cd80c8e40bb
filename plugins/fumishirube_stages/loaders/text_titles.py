"""Shows titles of reStructuredText and AsciiDoc as they are rendered: without targets and roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fumishirube import Heading

_ADOC = (".adoc", ".asciidoc")
_RST_ROLE = re.compile(
    r"(?::[\w:+.-]{1,60}:)?`[!~]?([^`<>]*[^`<>\s])\s*<[^`<>]*>`_{0,2}|:[\w:+.-]{1,60}:`[!~]?([^`]+)`"
)
"""A reference or a role: its text, with a target or without."""
_ADOC_VALUE = re.compile(r":(\w[\w-]*):[ \t]+(\S.*)")
_LONGEST_VALUE = 200
_ADOC_ATTRIBUTE = re.compile(r"(?<!\\)\{(\w[\w-]*)\}")
_ADOC_ANCHOR = re.compile(r"\[\[[^\[\]]*\]\]")
_ADOC_LINK = re.compile(
    r"\b(?:https?://|(?:link|mailto|xref):)[^\s\[\]]{1,500}\[([^\[\]]*[^\[\]^])\^?\]"
    r"|<<[^<>,]{1,200},([^<>]+)>>"
)


def rendered_titles(
    lines: Sequence[str], headings: Sequence[Heading], suffix: str
) -> Iterator[Heading]:
    """Yield the headings of a file with their titles as a reader sees them.

    A title that nothing would be left of stays as it is.
    """
    values = _values(lines) if suffix in _ADOC else {}
    for heading in headings:
        title = heading.title
        if suffix in _ADOC:
            title = _adoc_title(title, values)
        elif suffix == ".rst":
            title = _rst_title(title)
        yield heading._replace(title=title.strip() or heading.title)


def _rst_title(title: str) -> str:
    return _RST_ROLE.sub(_text, title) if "`" in title else title


def _adoc_title(title: str, values: Mapping[str, str]) -> str:
    title = _ADOC_ATTRIBUTE.sub(lambda name: values.get(name[1].lower(), name[0]), title)
    return _ADOC_LINK.sub(_text, _ADOC_ANCHOR.sub("", title))


def _text(match: re.Match[str]) -> str:
    return str(next(filter(None, match.groups()))).strip()


def _values(lines: Sequence[str]) -> Mapping[str, str]:
    """Return the first value of each attribute that a file defines, without very long ones."""
    values: dict[str, str] = {}
    for line in lines:
        match = _ADOC_VALUE.fullmatch(line)
        if match and len(match[2]) <= _LONGEST_VALUE and not match[2].endswith("\\"):
            value = _ADOC_ATTRIBUTE.sub(lambda name: values.get(name[1].lower(), name[0]), match[2])
            values.setdefault(match[1].lower(), value.rstrip()[:_LONGEST_VALUE])
    return values
