"""The blocks of a page of Markdown that apply to some readers only, and the lines inside them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = re.compile(r":::[ \t]*+([a-z]++)(-end)?+[ \t]*+([^:\n]*+)$", re.MULTILINE)
"""The first or the last line of a block, as in ``::: zone pivot="linux"`` and ``::: zone-end``."""


class _Mark(NamedTuple):
    """The first line of a block, without its colons, or the last; numbered from 1."""

    line: int
    name: str
    ends: bool
    written: str


class EnclosingBlocks:
    """The blocks of one text, which are looked for once for all of its lines."""

    def __init__(self, text: str) -> None:
        marks = [*_marks(text)]
        last = {mark.name: mark.line for mark in marks if mark.ends}
        self._lines = [mark.line for mark in marks]
        self._inside = [""]
        opened: list[_Mark] = []
        for mark in marks:
            if not mark.ends:
                opened.append(mark)
            elif opened and opened[-1].name == mark.name:
                opened.pop()
            # A first line without a last one below, such as that of a picture, begins no block.
            while opened and last.get(opened[-1].name, 0) <= mark.line:
                opened.pop()
            self._inside.append(opened[-1].written if opened else "")

    def around(self, line: int) -> str:
        """Return the first line of the innermost block around a line, without its colons."""
        return self._inside[bisect_left(self._lines, line)]


def _marks(text: str) -> Iterator[_Mark]:
    """Yield the lines that begin or end a block; looking for colons first is ten times as fast."""
    led = f"\n{text}"
    number, counted = 0, 0
    place = led.find("\n:::")
    while place >= 0:
        number += led.count("\n", counted, place + 1)
        counted = place + 1
        if match := _BLOCK.match(led, counted):
            name, ends, rest = match.groups()
            yield _Mark(number, name, bool(ends), f"{name} {rest.strip()}".strip())
        place = led.find("\n:::", counted)
