"""White space of a page: one space, or none where a line ends between Japanese letters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fumishirube.text import is_unspaced

_LINE_END = "\r"
"""What stands for white space with a line end, until the letters around it are known."""
_SPACE = re.compile(r"[ \t\n\f\r\xa0]+")
_GAP = re.compile(rf"[ {_LINE_END}]+")


def collapsed(text: str) -> str:
    """Return a text with one character for each white space; :func:`joined` writes it."""
    return _SPACE.sub(lambda space: _LINE_END if "\n" in space[0] else " ", text)


def joined(words: Sequence[str]) -> str:
    """Return words beside each other, with one space where there is any."""
    return _GAP.sub(_between, "".join(words))


def plain(text: str) -> str:
    """Return a text on one line."""
    return _SPACE.sub(" ", text).strip()


def _between(gap: re.Match[str]) -> str:
    text, begin, end = gap.string, gap.start(), gap.end()
    if _LINE_END not in gap[0] or begin == 0 or end == len(text):
        return " "
    return "" if is_unspaced(text[begin - 1]) and is_unspaced(text[end]) else " "
