"""Lines that define something by its name: items, rows and members that begin with a label."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from fumishirube.text import fold

_NAME = r"[^\s`*|:：\"'][^`*|:：\"'\n]{0,40}?"
_MARKS = r"[`*_\"']*"
_REMARK = r"(?:[(（][^()（）]{0,40}[)）]\s*)?"
_LABEL = re.compile(
    rf"\s*(?:[-*+|]\s+|\d+[.)]\s+)?{_MARKS}"
    rf"(?:(?P<label>{_NAME}){_MARKS}\s*{_REMARK}(?:[:：|]|\s[-–—]\s)"
    rf"|(?P<term>{_NAME}){_MARKS}\s*$)"
)
"""A label with what follows it in the line, or a term alone, whose definition is the next line."""
_OPTION = re.compile(
    rf"\s*[-*+|]\s+{_MARKS}-[^:：|]{{0,60}}?[=\s\"'](?P<value>[\w.-]+)[`*\"'\])}}]*\s*(?:[:：|]|\s[-–—]\s)"
)
"""An option with its value, such as ``--kind=name``, and what follows."""


def defining_lines(
    lines: Sequence[str], likely: Iterable[int], names: Collection[str], most: int
) -> Sequence[int]:
    """Return the lines, of some likely ones, that first define ``most`` folded names, in order.

    Such are ``* `size`: …``, ``| size | … |``, ``"size": 20``, ``* --by=size - …``, and ``: …``
    below the term ``size``.
    """
    first: dict[str, tuple[int, ...]] = {}
    for at in likely:
        name, is_term = _defined(lines[at])
        is_defined = not is_term or (at + 1 < len(lines) and lines[at + 1].startswith(":"))
        if name in names and name not in first and is_defined:
            first[name] = (at, at + 1) if is_term else (at,)
        if len(first) == most:
            break
    return [at for defining in first.values() for at in defining]


def _defined(line: str) -> tuple[str, bool]:
    """Return the folded name that a line may define, and whether the line is the name alone."""
    if label := _LABEL.match(line):
        return fold(label["label"] or label["term"]), not label["label"]
    option = _OPTION.match(line)
    return fold(option["value"]) if option else "", False
