"""Fenced code in the lines of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"\s*(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)$", re.DOTALL)


def is_fence(line: str) -> bool:
    """Tell whether a line may open or close a block of code."""
    return _marks(line) != ""


def fenced(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it is below the first line of a fenced block, up to its last."""
    inside = [False] * len(lines)
    for block in _blocks(lines):
        inside[block.start + 1 : block.stop] = [True] * (len(block) - 1)
    return inside


def code_lines(lines: Sequence[str]) -> Sequence[bool]:
    """Tell of each line whether it belongs to a fenced block, its first and last lines included."""
    inside = [False] * len(lines)
    for block in _blocks(lines):
        inside[block.start : block.stop] = [True] * len(block)
    return inside


def _blocks(lines: Sequence[str]) -> Iterator[range]:
    """Yield the fenced blocks, from the line that opens each to the one that closes it.

    That is the next line with as many of the same marks, or more, and nothing else.
    """
    opened, first = "", 0
    marked = [at for at, line in enumerate(lines) if "```" in line or "~~~" in line]
    for at in marked:
        marks = _marks(lines[at])
        if not opened:
            opened, first = marks, at
        elif marks.startswith(opened) and lines[at].strip() == marks:
            yield range(first, at + 1)
            opened = ""
    if opened:
        yield range(first, len(lines))


def _marks(line: str) -> str:
    """Return the marks of a line that may open or close a block, or nothing."""
    match = _FENCE.match(line)
    return "" if match is None else match["ticks"] or match["tildes"]
