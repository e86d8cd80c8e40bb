"""Where the blocks of a page begin, and which of them only lead to other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_FOOTER = "contentinfo"
"""The role of a footer; what follows it belongs to it too, for its end is not looked for."""


class Block(NamedTuple):
    """The first line of a block, and how many links to other pages it consists of mostly."""

    line: int
    links: int
    in_footer: bool


class Blocks:
    """Follows the links of a page, and notes each block that is written."""

    def __init__(self) -> None:
        self.written: list[Block] = []
        self._links = 0
        self._linked = 0
        """The number of letters in the links of the next block."""
        self._is_open = False
        self._footers = 0

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag; a link with a ``#`` in it leads to a part of this or another page."""
        if tag == "a" and (target := attributes.get("href")):
            self._is_open = "#" not in target
            self._links += self._is_open
        elif tag == "footer" or attributes.get("role") == _FOOTER:
            self._footers += 1

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        if tag == "a":
            self._is_open = False
        elif tag == "footer":
            self._footers -= 1

    def data(self, data: str) -> None:
        """Handle text."""
        if self._is_open:
            self._linked += _letters(data)

    def add(self, line: int, block: Sequence[str]) -> None:
        """Note a block with its first line."""
        mostly = 2 * self._linked > sum(map(_letters, block))
        self.written.append(Block(line, self._links if mostly else 0, self._footers > 0))
        self._links = self._linked = 0


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
