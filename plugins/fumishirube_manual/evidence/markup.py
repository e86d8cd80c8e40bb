"""How lines read: without tags, web addresses and padding, and with letters for escapes of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from fumishirube.text import fold
from fumishirube_manual.evidence.code_blocks import code_lines, inside_code, language_names

_LONGEST = 20_000
_LOOKS = (
    r"(?:\s+(?:align|class|height|href|id|name|rel|src|style|target|title|width)"
    r"(?:=(?:\"[^\"<>]*\"|'[^'<>]*'))?)"
)
_TAGS = "b|br|em|font|i|small|span|strong|sub|sup|u"
_INCLUDE = r"\[!INCLUDE ?\[[^\[\]]*\]\("
_MARKUP = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<!\w)<(?:{_TAGS}){_LOOKS}*\s*/?>|<(?:a|img){_LOOKS}+\s*/?>|</(?:a|{_TAGS})>"
    r"|(?<=\]\()(?P<target>https?://[^()\s]{25,}(?:\s+\"[^\"]*\")?)(?=\))"
    rf"|(?P<included>{_INCLUDE})[^()\s]+(?=\)\])",
    re.IGNORECASE,
)
_ONLY_INCLUDES = re.compile(
    r"[^\w\[]*+(?:(?:\d+[.)]|[a-z][.)]|\[[ x]\])(?=\s))?"
    rf"(?:[^\w\[]*+{_INCLUDE}[^()\s]+\)\])++[^\w\[]*+$",
    re.IGNORECASE,
)
"""A line of included files alone, also as an item of a list, a task or a row of a table."""
_LINK_TARGET = re.compile(r"(?<=\]\()[^()\s]+")
_ANCHOR = re.compile(r"(?<!\s)\s*\{(?:#[\w.:-]+|/\*?[\w.:-]+\*?/)\}\s*$")
"""The anchor of a heading, also as a comment, and as one in a title, which has no asterisks."""
_MARKS = re.compile(
    r"!\[[^\[\]]*\]\([^()]*\)|\[(?P<text>[^\[\]]*)\]\([^()]*\)|\\(?P<sign>[^\w\s]|_)|[`\s]+"
    r"|(?<!\w)[*~]+(?=\S)|(?<=\S)[*~]+(?!\w)|(?<!\w)_+|(?<!_)_+(?!\w)"
)
"""A picture, a link, an escape, and what a heading has of marks and white space."""
_PADDING = re.compile(r"(?<=\|) {2,}|(?<! ) {2,}(?=\|)")
"""The spaces that align the cells of a table."""
_BLOCK_TAG = re.compile(r"\s*<(?!/?(?:b|em|i|small|span|strong|sub|sup|u)[\s>])", re.IGNORECASE)
_INDENTED = re.compile(r"(?: {4}|\t)\s*[^\s*+\-0-9>・]")
_RULE = re.compile(r"[\s|:=*_+~`#<>.-]*$")
_TARGET_DEFINED = r"\.\.\s+(?:_[^:]+:(?:\s+\S+)?\s*$|index::)"
"""The definition of a target, or an index entry, in reStructuredText."""
_LAYOUT = (
    "a|br|center|dd|details|div|dl|dt|figure|hr|li|ol|p|section|span|summary|table|tbody|td|th|thead"
    "|tr|ul"
)
"""The names of tags that a line alone may have, beside custom elements with attributes."""
_DEFINED = re.compile(
    r"\s*(?:\[(?!\^)[^\]]+\]:\s*(?:(?:<[^<>]*>|(?=\S*(?:[/#:]|\.\w))\S+)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*)?$"
    r"|:{3,}(?:[^:]+:{3,}|:{3})\s*$|<!--.*-->\s*$|(?:>\s*)?(?:\w\[|\[!)[\w.:-]+\]\s*$"
    rf"|(?:<(?:/[\w.-]+\s*|(?:{_LAYOUT})(?:[\s/][^<>]*)?|[a-z]+-[\w-]+\s[^<>]*)>\s*)+$"
    rf"|\{{\{{[<%][^{{}}]*[>%]\}}\}}\s*$|\{{%[^{{}}]*%\}}\s*$|{_TARGET_DEFINED})",
    re.IGNORECASE,
)
"""A line that defines a link, a target or an index entry, a comment, or tags, a layout mark, a
short code of a site generator or a label in brackets alone."""
_DEFINED_ELSEWHERE = re.compile(rf"\s*{_TARGET_DEFINED}", re.IGNORECASE)
_NO_MARKDOWN = re.compile(
    r"\.(?:adoc|asciidoc|csv|json|log|org|rst|text|tsv|txt|ya?ml)$|(?:^|/)[^./]+$", re.IGNORECASE
)
_WORD_DEFINED = re.compile(r"\s*\[(?!\^)[^\]]+\]:\s*\S+\s*$")
"""A line that defines a link if one beside it does: its target is a word, such as a name."""
_TARGET = re.compile(r"\s+<?https?://\S+$")
"""The target of a link, in the line below the beginning of its definition."""
_SUFFIX = ".json"
_ESCAPE = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<code>[0-9a-fA-F]{4})|.)"
)
_FIRST, _ASCII = 0x10000, 0x80
"""The first character of a pair of escapes, and the end of ASCII."""


def is_markdown(path: str) -> bool:
    """Tell whether a file is read as Markdown, as most loaders write it; others have no marks."""
    return _NO_MARKDOWN.search(path) is None


def rendered(line: str) -> str:
    """Return a line of Markdown without inline tags, long web addresses, anchors, and padding.

    Code, whether in the line or as the line, stays as it is: a line that begins with another tag or
    is indented like a block of code. So does a very long line, in which marks without an end would
    be looked for again and again.
    """
    if len(line) > _LONGEST or not line.strip("# \t"):
        return line
    if _BLOCK_TAG.match(line) or _INDENTED.match(line):
        return line
    if line.startswith("|"):
        line = _PADDING.sub(" ", line)
    if "<" not in line and "](" not in line and "{" not in line:
        return line
    if _ONLY_INCLUDES.match(line):  # the files may hold the answer
        return line
    shown = _MARKUP.sub(_replacement, line)
    return without_anchor(shown) if shown.startswith("#") else shown


def plain_rows(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines; rows of tables without inline tags and padding, those of code as they are."""
    for line, in_code in zip(lines, code_lines(lines), strict=True):
        is_row = line.startswith("|") and not in_code and len(line) <= _LONGEST
        yield _MARKUP.sub(_in_row, _PADDING.sub(" ", line)) if is_row else line


def _in_row(match: re.Match[str]) -> str:
    return match[0] if match["target"] or match["included"] else _replacement(match)


def rendered_title(title: str) -> str:
    """Return the title of a section as it is rendered."""
    return without_anchor(rendered(title))


def without_anchor(heading: str) -> str:
    """Return a heading or a title without the anchor at its end."""
    return _ANCHOR.sub("", heading, count=1) if heading.rstrip().endswith("}") else heading


def is_one_of(titles: Iterable[str], line: str) -> bool:
    """Tell whether a line is one of some titles, with marks, tags and an anchor or without."""
    heading = _unmarked(line)
    return any(_unmarked(title) == heading for title in titles)


def _unmarked(heading: str) -> str:
    """Return a folded heading without marks, tags, an anchor, and white space."""
    shown = fold(rendered("# " + heading.strip("#= \t")))
    return _MARKS.sub(lambda match: match["text"] or match["sign"] or "", shown)


def _replacement(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"]
    if match["included"]:
        return f"{match['included']}…"
    start, end = match.span()
    between = match.string[max(0, start - 1) : start] + match.string[end : end + 1]
    return "…" if match["target"] else " " * (between in ("``", "`<"))


def without_targets(line: str) -> str:
    """Return a line without the targets of its links, whose words are not those of the text."""
    return _LINK_TARGET.sub("", line) if "](" in line else line


def rendered_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text as they are shown; those of fenced code as they are."""
    for line, in_code in zip(lines, code_lines(lines), strict=True):
        yield line if in_code else rendered(line)


def never_shown(
    lines: Sequence[str], titles: Iterable[str], *, markdown: bool = True
) -> Sequence[bool]:
    """Tell of each line whether it has nothing to show.

    That is a line without letters and digits, tags alone, a comment, the definition of a link, a
    label, the name of a language, and, as the first other line of a section, one of its titles.
    """
    defines = _DEFINED if markdown else _DEFINED_ELSEWHERE
    hidden = [
        bool(_RULE.match(line) or (not in_code and defines.match(line)))
        for line, in_code in zip(lines, inside_code(lines), strict=True)
    ]
    for at in range(1, len(hidden)):
        hidden[at] |= hidden[at - 1] and bool(_TARGET.match(lines[at]))
    likely = [at for at, line in enumerate(lines) if markdown and "]:" in line]
    defined = [at for at in likely if _WORD_DEFINED.match(lines[at])]
    for at, beside in (*pairwise(defined), *pairwise(reversed(defined))):
        hidden[beside] |= hidden[at] and abs(at - beside) == 1
    for at in language_names(lines):
        hidden[at] = True
    first = next((at for at, never in enumerate(hidden) if not never), None)
    if first is not None and is_one_of(titles, lines[first]):
        hidden[first] = True
    return hidden


def unescaped(path: str, text: str) -> str:
    """Return the text of a file with letters for their escapes, if it is JSON; line by line.

    Escapes of ASCII, which may mean something to JSON, and of what cannot be printed remain.
    """
    if "\\u" not in text or not path.lower().endswith(_SUFFIX):
        return text
    return _ESCAPE.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    if match["high"]:
        code = _FIRST + ((int(match["high"], 16) & 0x3FF) << 10 | int(match["low"], 16) & 0x3FF)
    elif match["code"]:
        code = int(match["code"], 16)
    else:
        return match.group()
    letter = chr(code)
    return letter if code >= _ASCII and letter.isprintable() else match.group()
