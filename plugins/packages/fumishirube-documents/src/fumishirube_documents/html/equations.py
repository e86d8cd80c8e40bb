"""Writes equations of web pages (MathML) on a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fumishirube_documents.equation_terms import term

_UNREAD = {"annotation", "annotation-xml", "mphantom", "none", "mprescripts"}
_BETWEEN = {"mtable": "; ", "mtr": ", ", "mfenced": ", "}
_UNSEEN = re.compile("[\u2061-\u2064]")
"""Signs that say what stands beside each other, such as a product."""
_WORD = re.compile("[A-Za-z]{2,}")
_DEEPEST = 100
"""Elements below this depth are read as text, so that deep nesting costs nothing."""


class Equation:
    """An equation on a line, such as ``1/2``, ``(a+b)/c``, ``x^(n+1)``, ``a_1``, ``√x``."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str, list[str]]] = [("math", "", [])]
        """Each open element: its name, its brackets, and the texts of its children."""
        self._deeper = 0

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        if len(self._open) == _DEEPEST:
            self._deeper += 1
            return
        brackets = ""
        if tag == "mfenced":
            brackets = f"{attributes.get('open', '(')}\n{attributes.get('close', ')')}"
        self._open.append((tag, brackets, []))

    def data(self, data: str) -> None:
        """Handle text."""
        if text := " ".join(_UNSEEN.sub("", data).split()):
            self._open[-1][2].append(text)

    def end(self) -> None:
        """Handle an end tag."""
        if self._deeper:
            self._deeper -= 1
        elif len(self._open) > 1:
            tag, brackets, parts = self._open.pop()
            opening, _, closing = brackets.partition("\n")
            self._open[-1][2].append(f"{opening}{_written(tag, parts)}{closing}")

    def text(self) -> str:
        """Return the equation; elements that are still open end with it."""
        while len(self._open) > 1:
            self.end()
        return _joined(self._open[0][2])


def _written(tag: str, parts: Sequence[str]) -> str:
    if tag in _UNREAD:
        return ""
    match tag, parts:
        case "mfrac", [above, below]:
            return f"{term(above)}/{term(below)}"
        case "msub" | "munder", [base, below]:
            return base + _limit("_", below)
        case "msup" | "mover", [base, above]:
            return term(base) + _limit("^", above)
        case "msubsup" | "munderover", [base, below, above]:
            return base + _limit("_", below) + _limit("^", above)
        case "mroot", [base, degree]:
            return f"{term(base)}^(1/{term(degree)})"
        case "msqrt", _:
            return f"√{term(_joined(parts))}"
    between = _BETWEEN.get(tag)
    return between.join(parts) if between else _joined(parts)


def _limit(sign: str, text: str) -> str:
    """Return what stands above or below a term; a bar or a prime needs no sign before it."""
    return f"{sign}{term(text)}" if any(map(str.isalnum, text)) else text


def _joined(parts: Sequence[str]) -> str:
    """Return parts beside each other, with a space at a word such as ``sin``."""
    text: list[str] = []
    last = ""
    for part in filter(None, parts):
        meet = last[-1:].isalnum() and part[0].isalnum()
        if meet and (_WORD.fullmatch(last) or _WORD.match(part)):
            text.append(" ")
        text.append(part)
        last = part
    return "".join(text)
