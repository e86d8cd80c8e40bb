"""Leaves out of shown lines what renders as nothing: tags for looks, and targets on the web."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fumishirube_manual.evidence.blocks import is_fence

_LOOKS = (
    r"(?:\s+(?:align|class|height|href|id|name|rel|src|style|target|width)"
    r"(?:=(?:\"[^\"<>]*\"|'[^'<>]*'))?)"
)
_TAGS = "b|br|em|font|i|small|span|strong|sub|sup|u"
_MARKUP = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<!\w)<(?:{_TAGS}){_LOOKS}*\s*/?>|<(?:a|img){_LOOKS}+\s*/?>|</(?:a|{_TAGS})>"
    r"|(?<=\]\()(?P<target>https?://[^()\s]{25,}(?:\s+\"[^\"]*\")?)(?=\))",
    re.IGNORECASE,
)
_ANCHOR = re.compile(r"\s*\{#[\w.:-]+\}\s*$")
_BLOCK_TAG = re.compile(r"\s*<(?!/?(?:b|em|i|small|span|strong|sub|sup|u)[\s>])", re.IGNORECASE)
_INDENTED = re.compile(r"(?: {4}|\t)\s*[^\s*+\-0-9>・]")


def rendered(line: str) -> str:
    """Return a line of Markdown without inline tags, long web addresses of links, and anchors.

    Code, whether in the line or as the line, stays as it is: a line that begins with another tag or
    is indented like a block of code.
    """
    if "<" not in line and "](" not in line and "{#" not in line:
        return line
    if _BLOCK_TAG.match(line) or _INDENTED.match(line):
        return line
    return _ANCHOR.sub("", _MARKUP.sub(_replacement, line)) if line.strip("# \t") else line


def _replacement(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"]
    between = f"{match.string[: match.start()][-1:]}{match.string[match.end() :][:1]}"
    return "…" if match["target"] else " " * (between in ("``", "`<"))


def rendered_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text as they are shown; those of fenced code as they are."""
    in_code = False
    for line in lines:
        if is_fence(line):
            in_code = not in_code
        yield line if in_code else rendered(line)


def in_fenced_code(lines: Sequence[str], number: int) -> bool:
    """Tell whether a line, numbered from 1, is in a fenced block of code."""
    return sum(map(is_fence, lines[: number - 1])) % 2 == 1
