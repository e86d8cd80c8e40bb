"""Patterns of lines: parsed regular expressions that match within a line of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as codes  # type: ignore[attr-defined]  # no stub has it
from re import _parser as parser  # type: ignore[attr-defined]  # nor this
from typing import Any

_NEWLINE = ord("\n")
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_OF_TEXTS = re.MULTILINE | re.DOTALL
"""Flags by which a pattern would reach over lines, or not see their ends."""
_ANCHORS = {codes.AT_BEGINNING_STRING: codes.AT_BEGINNING, codes.AT_END_STRING: codes.AT_END}
_OPPOSITES = {
    codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
    codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
}
_ASCII_BLANKS = [(0x09, 0x09), (0x0B, 0x0D), (0x20, 0x20)]
_BLANKS = [
    *((0x09, 0x09), (0x0B, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680)),
    *((0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
]
"""Python's white space but the line feed."""

Items = Sequence[tuple[Any, Any]]


def within_lines(tree: Any) -> Any:
    """Return a syntax tree that matches in a text what the given one matches in each line alone.

    It is to be compiled with ``re.MULTILINE`` and without ``re.DOTALL``.
    """
    return _LineTree(ascii_only=bool(tree.state.flags & re.ASCII)).of(tree)


class _LineTree:
    """Copies syntax trees; ``ascii_only`` tells which white space there is."""

    def __init__(self, *, ascii_only: bool) -> None:
        self._blanks = _ASCII_BLANKS if ascii_only else _BLANKS

    def of(self, tree: Any) -> Any:
        """Return the copy of a sequence of items."""
        items = [new for code, value in tree for new in self._item(code, value)]
        return parser.SubPattern(tree.state, items)

    def _item(self, code: Any, value: Any) -> Items:
        """Return what replaces one item."""
        if code is codes.LITERAL and value == _NEWLINE:
            return [(codes.FAILURE, ())]
        if code is codes.NOT_LITERAL:
            return self._class([(codes.NEGATE, None), (codes.LITERAL, value)])
        if code is codes.IN:
            return self._class(value)
        if code is codes.AT:
            return [(code, _ANCHORS.get(value, value))]
        return [(code, self._nested(code, value))]

    def _nested(self, code: Any, value: Any) -> Any:
        """Return the value of an item with copies of the trees in it."""
        if code is codes.BRANCH:
            return value[0], [*map(self.of, value[1])]
        if code is codes.SUBPATTERN:
            return self._group(*value)
        if code in _REPEATS:
            return (*value[:2], self.of(value[2]))
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            return value[0], self.of(value[1])
        if code is codes.ATOMIC_GROUP:
            return self.of(value)
        if code is codes.GROUPREF_EXISTS:
            return (value[0], *(branch and self.of(branch) for branch in value[1:]))
        return value

    def _group(self, number: int | None, added: int, removed: int, inner: Any) -> Sequence[Any]:
        tree = _LineTree(ascii_only=True) if added & re.ASCII else self
        return number, added & ~_OF_TEXTS, removed & ~_OF_TEXTS, tree.of(inner)

    def _class(self, members: Items) -> Items:
        """Return the items for a class of characters, which then lacks the line feed."""
        if members[0][0] is codes.NEGATE:
            return [(codes.IN, [*members, (codes.LITERAL, _NEWLINE)])]
        if len(members) == 1 and members[0][1] in _OPPOSITES:
            opposite = (codes.CATEGORY, _OPPOSITES[members[0][1]])
            return [(codes.IN, [(codes.NEGATE, None), opposite, (codes.LITERAL, _NEWLINE)])]
        rest = [new for code, value in members for new in self._members(code, value)]
        if not rest:
            return [(codes.FAILURE, ())]
        if any(value in _OPPOSITES for _, value in rest):
            ahead = parser.SubPattern(None, [(codes.LITERAL, _NEWLINE)])
            return [(codes.ASSERT_NOT, (1, ahead)), (codes.IN, rest)]
        return [(codes.IN, rest)]

    def _members(self, code: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield what replaces one member of a class that is not negated."""
        if code is codes.CATEGORY and value is codes.CATEGORY_SPACE:
            yield from ((codes.RANGE, ends) for ends in self._blanks)
        elif code is codes.RANGE and value[0] <= _NEWLINE <= value[1]:
            ranges = [(value[0], _NEWLINE - 1), (_NEWLINE + 1, value[1])]
            yield from ((codes.RANGE, ends) for ends in ranges if ends[0] <= ends[1])
        elif (code, value) != (codes.LITERAL, _NEWLINE):
            yield code, value
