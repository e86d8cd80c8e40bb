"""Writes powers and equations of Word documents on a line."""

from __future__ import annotations

import re

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.equation_terms import term

_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
EQUATION = f"{_MATHS}oMath"
_UNREAD = {qn("w:del"), qn("w:moveFrom")}
_RAISED = str.maketrans("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_POWER = re.compile(r"[0-9+\u2212-]*")


def raised(text: str) -> str:
    """Return a text with its digits and signs as superscripts; letters have none."""
    return text.translate(_RAISED)


def equation(element: Element) -> str:
    """Return an equation on a line, such as ``1/2``, ``(a+b)/c``, ``x²``, ``x^(n+1)``, ``√x``."""
    kind = str(element.tag).removeprefix(_MATHS)
    if kind == "t":
        return element.text or ""
    text = "".join(equation(child) for child in element if child.tag not in _UNREAD)
    match kind:
        case "num":
            return term(text)
        case "den":
            return f"/{term(text)}"
        case "sup":
            return raised(text) if _POWER.fullmatch(text) else f"^{term(text)}"
        case "deg":
            return raised(text)
        case "d":
            return f"{_sign(element, 'dPr/begChr', '(')}{text}{_sign(element, 'dPr/endChr', ')')}"
        case "nary":
            return f"{_sign(element, 'naryPr/chr', '∫')}{text}"
        case "e" if str(getattr(element.getparent(), "tag", "")) == f"{_MATHS}rad":
            return f"√{term(text)}"
    return text


def _sign(element: Element, path: str, usual: str) -> str:
    """Return the sign that the properties of an element name, or the usual one."""
    sign = element.find("/".join(f"{_MATHS}{name}" for name in path.split("/")))
    return usual if sign is None else str(sign.get(f"{_MATHS}val", ""))
