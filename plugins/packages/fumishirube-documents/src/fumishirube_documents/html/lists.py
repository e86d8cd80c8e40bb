"""The open lists of a page, and the marks of their items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fumishirube_documents.numerals import roman

DEEPEST = 8
"""Lists below this depth are written as if they were in it."""
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_CLASSES = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
"""The types of lists that docutils names by classes."""
_MOST_ROMAN = 3_999


@dataclass
class _OpenList:
    """The number of the next item, ``None`` without numbers that rise, and how it is written."""

    number: int | None
    kind: str


class Lists:
    """Follows the lists of a page."""

    def __init__(self) -> None:
        self._open: list[_OpenList] = []

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Open a list."""
        upwards = tag == "ol" and "reversed" not in attributes
        classes = (_CLASSES.get(name) for name in attributes.get("class", "").split())
        kind = attributes.get("type") or next(filter(None, classes), "1")
        self._open.append(_OpenList(number(attributes.get("start")) if upwards else None, kind))

    def end(self) -> None:
        """Close a list."""
        del self._open[-1:]

    def marker(self, attributes: Mapping[str, str]) -> str:
        """Return what stands before the text of an item, with its indent."""
        indent = "  " * max(0, min(len(self._open), DEEPEST) - 1)
        innermost = self._open[-1] if self._open else None
        if innermost is None or innermost.number is None:
            return f"{indent}- "
        own = number(attributes.get("value"), innermost.number)
        innermost.number = own + 1
        return f"{indent}{_written(own, attributes.get('type') or innermost.kind)}. "


def number(text: str | None, otherwise: int = 1) -> int:
    """Return the number in an attribute, or another one where there is none."""
    return int(text) if text and _NUMBER.fullmatch(text) else otherwise


def _written(value: int, kind: str) -> str:
    """Return a number in the letters or Roman numerals of a ``kind``, as far as these go."""
    text = str(value)
    if kind in {"a", "A"} and value > 0:
        text = _letters(value)
    elif kind in {"i", "I"} and 0 < value <= _MOST_ROMAN:
        text = roman(value)
    return text.upper() if kind.isupper() else text


def _letters(value: int) -> str:
    text = ""
    while value > 0:
        value, letter = divmod(value - 1, 26)
        text = chr(ord("a") + letter) + text
    return text
