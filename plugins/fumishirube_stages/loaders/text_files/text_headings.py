"""Finds the headings of reStructuredText, AsciiDoc and Org, and their titles as rendered."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from fumishirube import Heading
from fumishirube_stages.loaders.text_files.text_entries import BLOCK

_RST_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*")
_RST_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")
_RST_MARKED = re.compile(r"(?:[-+*•‣⁃|]|\.\.|__|:(?![:\s])(?:[^:]|:(?!\s|$))*:)(?:\s|$)")
"""A line of an item, a field or explicit markup, which only indented lines go on with."""
_RST_DOCTEST = ">>>"
_RST_SHORT = 4
"""An underline of this length is accepted for a longer title, with a warning in docutils."""
_ADOC_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S(?:.*?[^ \t])??)(?:[ \t]+\1)?[ \t]*")
_ADOC_LEVELS = "=-~^+"
_ADOC_RULE = re.compile(r"([=~^+-])\1\1+")
_ADOC_UNDERLINED = re.compile(r"[^\s\[|.=].*\w")
_ADOC_LONGEST = 400
_ADOC_NEAR = 1
"""The most characters by which an underline is shorter or longer than its title."""
_ADOC_ABOVE = re.compile(
    r"\s*|\[.*|//.*|([=.*_+`'<-])\1{2,}\s*|[|,:!]===\s*|--\s*"
    r"|:!?\w[^:]*:(?:\s.*)?|[a-z]\w*::\S*\[.*\]\s*"
)
"""A line above the beginning of a block: blank, of attributes, a macro, or the end of another."""
_ADOC_EXAMPLE = "===="
_ADOC_FENCES = ("----", "....", "++++", "////", "```")
"""The beginnings of lines around code and comments, where nothing is a title."""
_ADOC_SUFFIXES = (".adoc", ".asciidoc")
_ORG_TITLE = re.compile(r"(\*+)[ \t]+(\S(?:.*[^ \t])?)[ \t]*")
_ORG_STATES = ("TODO", "DONE", "NEXT", "WAITING", "CANCELLED")
_ORG_DEFINED = re.compile(r"#\+(?:seq_|typ_)?todo:[ \t]+(\S.*)", re.IGNORECASE)
_ORG_FILE_TITLE = re.compile(r"^#\+title:[ \t]+(\S(?:.*\S)?)", re.IGNORECASE | re.MULTILINE)
_ORG_PRIORITY = re.compile(r"^\[#\w\](?:[ \t]+|$)")
_ORG_COUNT = re.compile(r"(?<![ \t])[ \t]*\[(?:\d*/\d*|\d*%)\]")
_ORG_LINK = re.compile(r"\[\[(?:[^\[\]]*\]\[)?([^\[\]]*)\]\]")
_ORG_TAGS = re.compile(r"(?<![ \t])[ \t]+:[\w@#%:]+:$")
_DEEPEST = 6
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


def rst_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the titles that are underlined, or over- and underlined.

    The first style is the highest level, and so on, as in docutils.
    """
    kinds: list[str] = []
    number = 0
    begins = True
    while number < len(lines):
        titled = _rst_title(lines, number) if begins else None
        if titled is None:
            line = lines[number]
            begins = not line[:1].strip() or (begins and bool(_RST_MARKED.match(line)))
            number += 1
            continue
        kind, title, end = titled
        if kind not in kinds:
            kinds.append(kind)
        level = min(kinds.index(kind) + 1, _DEEPEST)
        yield Heading(title, level, number + 1, end + 1)
        number = end


def _rst_title(lines: Sequence[str], number: int) -> tuple[str, str, int] | None:
    """Return the style of a title that begins on a line, its text, and the first line below it."""
    line = lines[number]
    if _RST_RULE.fullmatch(line):
        below = lines[number + 1 : number + 3]
        same = len(below) == len("ab") and below[1].strip() == line.strip()
        if same and below[0].strip() and not _RST_RULE.fullmatch(below[0]):
            return line[0] * 2, below[0].strip(), number + 3
        return None
    rule = lines[number + 1] if number + 1 < len(lines) else ""
    marked = line.startswith(_RST_DOCTEST) or _RST_MARKED.match(line)
    if not line[:1].strip() or marked or not _RST_UNDERLINE.fullmatch(rule):
        return None
    long_enough = len(rule.strip()) >= min(_width(line.strip()[:_RST_SHORT]), _RST_SHORT)
    return (rule[0], line.strip(), number + 2) if long_enough else None


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def adoc_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the titles that begin with ``=`` or are underlined, outside code and paragraphs."""
    fence = ""
    body = 0
    opened: set[str] = set()
    for at, line in enumerate(lines):
        if at < body:
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        begins = at == body or _ADOC_ABOVE.fullmatch(lines[at - 1])
        if not fence and begins and (level := _underlined(line, below, opened)):
            body = at + 2
            yield Heading(line.strip(), level, at + 1, at + 3)
        elif line.startswith(_ADOC_FENCES) and (marks := BLOCK.fullmatch(line)):
            fence = "" if fence == marks[1] else fence or marks[1]
        elif not fence and line.startswith(_ADOC_EXAMPLE) and (marks := BLOCK.fullmatch(line)):
            opened ^= {marks[1]}
        elif not fence and begins and (title := _ADOC_TITLE.fullmatch(line)):
            body = at + 1
            yield Heading(title[2], len(title[1]), at + 1, at + 2)


def _underlined(line: str, below: str, opened: Collection[str]) -> int:
    """Return the level of a title whose underline has about its length; 0 of other text.

    A line that closes one of the opened examples is no underline.
    """
    below = below.rstrip()
    if below in opened or len(below) > _ADOC_LONGEST or not _ADOC_RULE.fullmatch(below):
        return 0
    title = line.rstrip()
    if len(title) > len(below) + _ADOC_NEAR or not _ADOC_UNDERLINED.match(title):
        return 0
    # AsciiDoc counts characters; authors of Japanese also draw a rule as wide as the title.
    near = min(abs(len(title) - len(below)), abs(_width(title) - len(below)))
    return _ADOC_LEVELS.index(below[0]) + 1 if near <= _ADOC_NEAR else 0


def org_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the titles that begin with stars, without state, priority, counts, links and tags.

    Each ends the block above it: in blocks such lines are written with a comma, ``,* x``.
    """
    states = {*_ORG_STATES, *_org_states(lines)}
    for number, line in enumerate(lines, start=1):
        if title := _ORG_TITLE.fullmatch(line):
            shown = _ORG_TAGS.sub("", title[2])
            first, *others = shown.split(maxsplit=1)
            shown = _ORG_PRIORITY.sub("", "".join(others) if first in states else shown)
            shown = _ORG_LINK.sub(r"\1", _ORG_COUNT.sub("", shown)).strip()
            yield Heading(shown or title[2], min(len(title[1]), _DEEPEST), number, number + 1)


def _org_states(lines: Sequence[str]) -> Iterator[str]:
    """Yield the states of work that a file defines, without their keys: ``TODO(t) | DONE``."""
    for line in lines:
        if defined := _ORG_DEFINED.match(line):
            yield from (word.partition("(")[0] for word in defined[1].split())


def org_title(text: str) -> str:
    """Return the title of a file of Org, or an empty text."""
    title = _ORG_FILE_TITLE.search(text)
    return title[1] if title else ""


def rendered_titles(
    lines: Sequence[str], headings: Sequence[Heading], suffix: str
) -> Iterator[Heading]:
    """Yield the headings of a file with their titles as a reader sees them.

    A title that nothing would be left of stays as it is.
    """
    values = _values(lines) if suffix in _ADOC_SUFFIXES else {}
    for heading in headings:
        title = heading.title
        if suffix in _ADOC_SUFFIXES:
            title = _ADOC_ATTRIBUTE.sub(lambda name: values.get(name[1].lower(), name[0]), title)
            title = _ADOC_LINK.sub(_text, _ADOC_ANCHOR.sub("", title))
        elif suffix == ".rst" and "`" in title:
            title = _RST_ROLE.sub(_text, title)
        yield heading._replace(title=title.strip() or heading.title)


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


HEADINGS: Mapping[str, Callable[[Sequence[str]], Iterator[Heading]]] = MappingProxyType(
    {".rst": rst_headings, ".adoc": adoc_headings, ".asciidoc": adoc_headings, ".org": org_headings}
)
"""The heading parser of each suffix."""
