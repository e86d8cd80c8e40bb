"""Fenced code in the lines of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"\s*(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)$", re.DOTALL)


def is_fence(line: str) -> bool:
    """Tell whether a line may open or close a block of code."""
    return _marks(line) != ""


def fenced(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it is below the first line of a fenced block, up to its last.

    A block ends at a line with as many of the marks that opened it, or more, and nothing else.
    """
    inside: list[bool] = []
    opened = ""
    for line in lines:
        inside.append(bool(opened))
        marks = _marks(line)
        if not opened:
            opened = marks
        elif marks.startswith(opened) and line.strip() == marks:
            opened = ""
    return inside


def code_lines(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it belongs to a fenced block, its first and last lines included."""
    return [inside or is_fence(line) for line, inside in zip(lines, fenced(lines), strict=True)]


def _marks(line: str) -> str:
    """Return the marks of a line that may open or close a block, or nothing."""
    if "```" not in line and "~~~" not in line:
        return ""
    match = _FENCE.match(line)
    return "" if match is None else match["ticks"] or match["tildes"]
