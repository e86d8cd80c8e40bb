"""Writes equations of Word documents on a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.equation_terms import term
from fumishirube_documents.numerals import raised

_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
EQUATION = f"{_MATHS}oMath"
_BASE = f"{_MATHS}e"
_BETWEEN = {"m": "; ", "eqArr": "; ", "mr": ", "}
_UNREAD = {qn("w:del"), qn("w:moveFrom")}
_POWER = re.compile(r"[0-9+\u2212-]*")


def equation(element: Element) -> str:
    """Return an equation on a line, such as ``1/2``, ``(a+b)/c``, ``x²``, ``x_(n+1)``, ``√x``."""
    kind = str(element.tag).removeprefix(_MATHS)
    if kind == "t":
        return element.text or ""
    children = (child for child in element if child.tag not in _UNREAD)
    parts = [(child.tag, equation(child)) for child in children]
    text = _BETWEEN.get(kind, "").join(part for _, part in parts if part)
    match kind:
        case "num":
            return term(text)
        case "den":
            return f"/{term(text)}"
        case "sub" | "sup" if text:
            return _limit(kind, text)
        case "deg":
            return raised(text)
        case "f" | "d" | "nary":
            return _framed(kind, element, parts)
        case "e" if str(getattr(element.getparent(), "tag", "")) == f"{_MATHS}rad":
            return f"√{term(text)}"
    return text


def _limit(kind: str, text: str) -> str:
    if kind == "sub":
        return f"_{term(text)}"
    return raised(text) if _POWER.fullmatch(text) else f"^{term(text)}"


def _framed(kind: str, element: Element, parts: Sequence[tuple[str, str]]) -> str:
    """Return a fraction, a term in brackets, or a sum or integral of its terms."""
    terms = [part for tag, part in parts if part and tag == _BASE]
    others = [part for tag, part in parts if part and tag != _BASE]
    if kind == "nary":
        space = " " if others else ""
        return f"{_sign(element, 'naryPr/chr', '∫')}{''.join(others)}{space}{''.join(terms)}"
    if kind == "d":
        between = _sign(element, "dPr/sepChr", ", ")
        begin, end = _sign(element, "dPr/begChr", "("), _sign(element, "dPr/endChr", ")")
        return f"{begin}{between.join(terms)}{end}"
    if _sign(element, "fPr/type", "") == "noBar":  # a binomial
        return f"({' '.join(part.removeprefix('/') for part in others)})"
    return "".join(others)


def _sign(element: Element, path: str, usual: str) -> str:
    """Return the sign that the properties of an element name, or the usual one."""
    sign = element.find("/".join(f"{_MATHS}{name}" for name in path.split("/")))
    return usual if sign is None else str(sign.get(f"{_MATHS}val", ""))
