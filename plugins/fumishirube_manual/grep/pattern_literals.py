"""Texts that every match of a regular expression contains, so that an index can exclude files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from re import _constants as codes  # type: ignore[attr-defined]  # no stub has it
from re import _parser as parser  # type: ignore[attr-defined]  # nor this
from typing import Any

from fumishirube.text import NORMAL, TextForm, form_of

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_SINGLE = (codes.LITERAL, codes.NOT_LITERAL)
_NAMED = (codes.RANGE, *_SINGLE)
_FOLDED = TextForm(fold=False, letters=True)
_ANCHORS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\^", re.DOTALL)
"""Escaped characters, classes of characters, and ``^``."""
_INDENT = r"[^\S\n]*"
INVALID = (re.error, RecursionError, OverflowError, MemoryError)
"""What Python raises for a pattern that it cannot take."""


def required_literals(pattern: str) -> tuple[str, ...]:
    """Return texts of which every line with a match contains at least one; empty if unknown.

    Of several such sets it returns the one whose shortest text is longest. Case does not count.
    """
    return _best(_sets(_parsed(pattern)))


def names_case(pattern: str) -> bool:
    """Tell whether a valid regular expression is written for letters of one case.

    That is so if it has a class of such letters, as in ``[A-Z_]+``, or if all its letters are
    capitals, and more than one.
    """
    tree = _parsed(pattern)
    if tree.state.flags & re.IGNORECASE:
        return False
    for members in _classes(tree):
        ranges = {end.isupper() for end in _letters(members, (codes.RANGE,))}
        if len(ranges) == 1:
            return True  # it would match all letters if case were ignored
    cased = _cased_letters(tree)
    return len(cased) > 1 and all(map(str.isupper, cased))


def names_spelling(pattern: str) -> bool:
    """Tell whether a valid regular expression has letters, or marks, that texts are folded to lack.

    The folded form of a pattern would be another one: of ``[\u064b-\u0652]`` nothing is left.
    """
    tree = _parsed(pattern)
    named = "".join(c for members in _classes(tree) for c in _characters(members, _NAMED))
    return form_of(named, _FOLDED) != form_of(named, NORMAL)


def holds_capital(pattern: str) -> bool:
    """Tell whether a valid regular expression is written with a capital, and heeds case."""
    tree = _parsed(pattern)
    return not tree.state.flags & re.IGNORECASE and any(map(str.isupper, _cased_letters(tree)))


def _cased_letters(tree: Any) -> list[str]:
    """Return the letters of a syntax tree that have two cases, with the ends of its ranges."""
    return [letter for members in _classes(tree) for letter in _letters(members, _NAMED)]


def _letters(members: Sequence[tuple[Any, Any]], kinds: Sequence[Any]) -> list[str]:
    """Return the letters with two cases among the members of a class that are of some kinds."""
    return [c for c in _characters(members, kinds) if c.upper() != c.lower()]


def _characters(members: Sequence[tuple[Any, Any]], kinds: Sequence[Any]) -> Iterator[str]:
    """Yield the characters, and the ends of ranges, among the members of a class."""
    values = [value for code, value in members if code in kinds]
    ends = (end for value in values for end in (value if isinstance(value, tuple) else (value,)))
    return map(chr, ends)


def _classes(tree: Any) -> Iterator[Sequence[tuple[Any, Any]]]:
    """Yield the members of each class of characters in a syntax tree, and each single character."""
    for code, value in tree:
        if code is codes.IN:
            yield value
        elif code in _SINGLE:
            yield [(code, value)]
        for branch in _inner(code, value):
            yield from _classes(branch)


def _inner(code: Any, value: Any) -> Sequence[Any]:
    if code is codes.BRANCH:
        branches: Sequence[Any] = value[1]
        return branches
    if code is codes.ATOMIC_GROUP:
        return (value,)
    if code is codes.GROUPREF_EXISTS:
        return [branch for branch in value[1:] if branch]
    if code in (codes.SUBPATTERN, codes.ASSERT, codes.ASSERT_NOT, *_REPEATS):
        return (value[-1],)
    return ()


def below_indents(pattern: str) -> str:
    """Return a pattern whose ``^`` also is where the text of an indented line begins, if it can."""
    wider = _ANCHORS.sub(lambda match: rf"^{_INDENT}" if match[0] == "^" else match[0], pattern)
    try:
        re.compile(wider)
    except INVALID:  # it is in a look behind, for example
        return pattern
    return wider


def holds_newline(pattern: str) -> bool:
    """Tell whether every match of a regular expression contains a line feed."""
    return _tree_holds_newline(_parsed(pattern))


def _tree_holds_newline(tree: Any) -> bool:
    for code, value in tree:
        if code is codes.LITERAL and value == ord("\n"):
            return True
        surely = code in (codes.BRANCH, codes.SUBPATTERN) or _repeats(code, value)
        if surely and all(map(_tree_holds_newline, _inner(code, value))):
            return True
    return False


def _repeats(code: Any, value: Any) -> bool:
    return code in _REPEATS and value[0] >= 1


def _parsed(pattern: str) -> Any:
    """Return the syntax tree of a regular expression; an empty one if it is invalid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(pattern)
    except INVALID:
        return ()


def _best(sets: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
    return max(sets, key=lambda texts: min(map(len, texts)), default=())


def _sets(tree: Any) -> Iterator[tuple[str, ...]]:
    """Yield sets of texts; every match of the items contains one text of each set."""
    for is_literal, items in groupby(tree, key=lambda item: item[0] is codes.LITERAL):
        if is_literal:
            yield ("".join(chr(value) for _, value in items),)
            continue
        for code, value in items:
            if texts := _of_item(code, value):
                yield texts


def _of_item(code: Any, value: Any) -> tuple[str, ...]:
    if code is codes.BRANCH:
        return _either(value[1])
    if code in (codes.SUBPATTERN, codes.ASSERT, codes.ATOMIC_GROUP) or _repeats(code, value):
        return _best(_sets(_inner(code, value)[0]))
    return ()


def _either(branches: Sequence[Any]) -> tuple[str, ...]:
    """Return the texts of alternative branches, if each branch has some."""
    each = [_best(_sets(branch)) for branch in branches]
    return tuple(dict.fromkeys(text for texts in each for text in texts)) if all(each) else ()
