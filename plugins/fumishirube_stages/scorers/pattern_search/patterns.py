"""Regular expressions in a normal form, for texts in NFKC, and in RE2's dialect.

The parser of the standard library decides what a pattern means. The parsed pattern is written
again with every literal escaped, so that no engine interprets it differently.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from re import _constants as codes  # type: ignore[attr-defined]  # no stub has it
from re import _parser as parser  # type: ignore[attr-defined]  # nor this
from threading import Lock
from typing import Any, NamedTuple

from fumishirube_stages.scorers.pattern_search.line_patterns import within_lines

_REPEATS_IN_RE2 = 1000
_EXPANDED = 2048
_LETTERS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.UNICODE: "u"}
_SUPPORTED_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE | re.DOTALL
_ANYTHING = r"(?s:.)"
_QUIET = Lock()

_AT = {
    codes.AT_BEGINNING: "^",
    codes.AT_BEGINNING_STRING: r"\A",
    codes.AT_BOUNDARY: r"\b",
    codes.AT_NON_BOUNDARY: r"\B",
    codes.AT_END: "$",
    codes.AT_END_STRING: r"\Z",
}
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
# The members of Python's classes, in RE2's syntax inside brackets.
_DIGIT, _WORD = r"\p{Nd}", r"\p{L}\p{N}_"
_SPACE = r"\t-\r\x1c-\x20\x{85}\p{Z}"
_RE2_CATEGORIES = {
    codes.CATEGORY_DIGIT: _DIGIT,
    codes.CATEGORY_NOT_DIGIT: r"\P{Nd}",
    codes.CATEGORY_SPACE: _SPACE,
    codes.CATEGORY_WORD: _WORD,
}
_RE2_NEGATED = {codes.CATEGORY_NOT_SPACE: f"[^{_SPACE}]", codes.CATEGORY_NOT_WORD: f"[^{_WORD}]"}


class Pattern(NamedTuple):
    """A pattern in normal form, its flags, and its form for RE2, if that means the same.

    ``needed`` are literals that occur in every match: most texts are ruled out by searching for
    them, without running the engine. With ``by_line``, no match reaches over the end of a line.
    """

    python: str
    flags: int
    re2: str | None
    needed: tuple[str, ...] = ()
    by_line: bool = False


class _NotInRe2(Exception):
    """RE2 does not support a construct, or interprets it differently."""


def parse_pattern(pattern: str, *, ignore_case: bool, by_line: bool = False) -> Pattern | None:
    """Parse a pattern; return ``None`` when it is not a regular expression.

    With ``by_line``, it matches in each line of a text as if the line were a text.
    """
    flags = re.IGNORECASE if ignore_case else 0
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern, flags)
        engine_flags = tree.state.flags & _SUPPORTED_FLAGS
        if by_line:
            tree = within_lines(tree)
            engine_flags = (engine_flags | re.MULTILINE) & ~re.DOTALL
        python = _PatternWriter(engine_flags).sequence(tree)
    except (re.error, RecursionError, OverflowError, MemoryError):
        return None
    try:
        modes = "".join(
            _LETTERS[flag] for flag in (re.IGNORECASE, re.DOTALL) if engine_flags & flag
        )
        re2 = (f"(?{modes})" if modes else "") + _Re2PatternWriter(engine_flags).sequence(tree)
    except (_NotInRe2, RecursionError):
        re2 = None
    needed = tuple(_needed(tree, cased=not engine_flags & re.IGNORECASE))
    return Pattern(python, engine_flags, re2, needed, by_line)


def _needed(tree: Iterable[tuple[Any, Any]], *, cased: bool) -> Iterator[str]:
    """Yield the literals outside all groups; when case is ignored, only those without case."""
    for is_literal, items in groupby(tree, key=lambda item: item[0] is codes.LITERAL):
        text = _nfkc("".join(chr(value) for _, value in items)) if is_literal else ""
        if text and (cased or text.lower() == text.upper() == text.casefold()):
            yield text


class _PatternWriter:
    """Writes a parsed pattern in Python's syntax."""

    def __init__(self, flags: int) -> None:
        self.flags = flags

    def sequence(self, tree: Iterable[tuple[Any, Any]]) -> str:
        """Write consecutive items; consecutive literals are normalised together."""
        parts: list[str] = []
        literals = ""
        for code, value in tree:
            if code is codes.LITERAL:
                literals += chr(value)
                continue
            parts.append(re.escape(_nfkc(literals)))
            literals = ""
            parts.append(self.item(code, value))
        return "".join([*parts, re.escape(_nfkc(literals))])

    def item(self, code: Any, value: Any) -> str:
        """Write one item that is not a literal."""
        if code is codes.NOT_LITERAL:
            return self.members([(codes.NEGATE, None), (codes.LITERAL, value)])
        if code is codes.ANY:
            return "."
        if code is codes.IN:
            return self.members(value)
        if code is codes.BRANCH:
            return f"(?:{'|'.join(map(self.sequence, value[1]))})"
        if code is codes.SUBPATTERN:
            return self.group(*value)
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self.repeated(value, "?" if code is codes.MIN_REPEAT else "")
        if code is codes.AT:
            return self.anchor(value)
        return self.beyond(code, value)

    def group(self, number: int | None, added: int, removed: int, inner: Any) -> str:
        """Write a group, with its own flags."""
        if number is not None:
            return f"({self.sequence(inner)})"
        on = "".join(letter for flag, letter in _LETTERS.items() if added & flag)
        off = "".join(letter for flag, letter in _LETTERS.items() if removed & flag)
        return f"(?{on}{'-' * bool(off)}{off}:{self.sequence(inner)})"

    def repeated(self, repetition: tuple[int, Any, Any], mode: str) -> str:
        """Write a repetition; ``mode`` follows the bounds."""
        least, most, inner = repetition
        bounds = {(0, codes.MAXREPEAT): "*", (1, codes.MAXREPEAT): "+", (0, 1): "?"}
        upper = "" if most is codes.MAXREPEAT else int(most)
        bound = bounds.get((least, most), f"{{{least},{upper}}}")
        return f"(?:{self.sequence(inner)}){bound}{mode}"

    def anchor(self, at: Any) -> str:
        """Write a zero-width assertion."""
        return _AT[at]

    def beyond(self, code: Any, value: Any) -> str:
        """Write a construct that only Python has."""
        if code is codes.POSSESSIVE_REPEAT:
            return self.repeated(value, "+")
        if code is codes.ATOMIC_GROUP:
            return f"(?>{self.sequence(value)})"
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            direction, inner = value
            sign = "=" if code is codes.ASSERT else "!"
            return f"(?{'<' * (direction < 0)}{sign}{self.sequence(inner)})"
        if code is codes.GROUPREF:
            return f"(?:\\{value})"
        if code is codes.GROUPREF_EXISTS:
            number, yes, no = value
            otherwise = f"|{self.sequence(no)}" if no else ""
            return f"(?({number}){self.sequence(yes)}{otherwise})"
        if code is codes.FAILURE:
            return "(?!)"
        raise re.error(f"{code} is not supported")

    def members(self, items: Sequence[tuple[Any, Any]]) -> str:
        """Write a character class; members with a longer normal form become alternatives."""
        negated = items[0][0] is codes.NEGATE
        inside: list[str] = []
        longer: list[str] = []
        for code, value in items[negated:]:
            if code is codes.CATEGORY:
                inside.append(self.category(value))
                continue
            low, high = value if code is codes.RANGE else (value, value)
            if _is_own_form(low, high):
                inside.append(f"{re.escape(chr(low))}-{re.escape(chr(high))}")
                continue
            for form in map(_nfkc, map(chr, range(low, high + 1))):
                (longer if len(form) > 1 else inside).append(re.escape(form))
        written = "".join(dict.fromkeys(inside))
        if negated:
            return f"[^{written}]" if written else _ANYTHING
        if not longer:
            return f"[{written}]"
        arms = sorted(set(longer), key=lambda arm: (-len(arm), arm))
        return f"(?:{'|'.join([*arms, *([f'[{written}]'] if written else [])])})"

    def category(self, category: Any) -> str:
        """Write a category, such as digits, inside a class."""
        return _CATEGORIES[category]


class _Re2PatternWriter(_PatternWriter):
    """Writes a parsed pattern in RE2's syntax, as far as that means the same."""

    def sequence(self, tree: Iterable[tuple[Any, Any]]) -> str:
        if self.flags & re.ASCII:
            raise _NotInRe2
        return super().sequence(tree)

    def item(self, code: Any, value: Any) -> str:
        if code is codes.IN and len(value) == 1 and value[0][1] in _RE2_NEGATED:
            return _RE2_NEGATED[value[0][1]]
        return super().item(code, value)

    def group(self, number: int | None, added: int, removed: int, inner: Any) -> str:
        if added or removed:
            raise _NotInRe2
        return super().group(None, 0, 0, inner)

    def repeated(self, repetition: tuple[int, Any, Any], mode: str) -> str:
        least, most, inner = repetition
        bounded = 0 if most is codes.MAXREPEAT else most
        # Engines differ in how often they repeat an empty match.
        if max(least, bounded) > _REPEATS_IN_RE2 or not inner.getwidth()[0]:
            raise _NotInRe2
        return super().repeated(repetition, mode)

    def anchor(self, at: Any) -> str:
        if self.flags & re.MULTILINE and at in (codes.AT_BEGINNING, codes.AT_END):
            return f"(?m:{_AT[at]})"
        if at in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            return r"\A"
        if at is codes.AT_END_STRING:
            return r"\z"
        raise _NotInRe2

    def beyond(self, code: Any, value: Any) -> str:
        raise _NotInRe2

    def category(self, category: Any) -> str:
        if category not in _RE2_CATEGORIES:
            raise _NotInRe2
        return _RE2_CATEGORIES[category]


def _is_own_form(low: int, high: int) -> bool:
    """Return whether a range stays: it is in NFKC already, or too wide to normalise."""
    if high - low > _EXPANDED:
        return True
    return low < high and all(_nfkc(chr(code)) == chr(code) for code in range(low, high + 1))


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
