"""Reads fields of Word documents whose instructions hold what is shown: forms and ``EQ``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.styles import is_on, value_of
from fumishirube_documents.equation_terms import term
from fumishirube_documents.numerals import CIRCLED, raised

INSTRUCTION = qn("w:instrText")
FIELD = qn("w:fldChar")
_KIND = qn("w:fldCharType")
_EQUATION = re.compile(r"\s*EQ\b", re.IGNORECASE)
_FORMAT = re.compile(r'\\\*\s*(?:"[^"]*"|[^\\"\s]+)')
_PART = re.compile(r"\\([a-z])((?:\s*\\[^(),;]*)?)\s*\(([^()]*)\)", re.IGNORECASE)
_REST = re.compile(r"\\[a-z]+", re.IGNORECASE)
_LONGEST, _DEEPEST = 1000, 8
_FRAMES = set("○◯□△◇")
_SIGNS = {str(number): sign for number, sign in enumerate(CIRCLED, start=1)}


def box_sign(box: Element) -> str:
    """Return ``☒`` or ``☐``, the state of a check box."""
    own = is_on(box, "checked")
    return "☒" if (is_on(box, "default") if own is None else own) else "☐"


def chosen(choices: Element) -> str:
    """Return the entry of a drop-down field that is chosen."""
    entries = choices.findall(qn("w:listEntry"))
    place = value_of(choices, "result") or value_of(choices, "default") or "0"
    known = place.isdecimal() and len(place) < 6 and int(place) < len(entries)
    return str(entries[int(place)].get(qn("w:val"), "")) if known else ""


def equations_in(elements: Iterable[Element]) -> Iterator[Element | str]:
    """Yield the elements of a paragraph, and for each field ``EQ`` what it shows."""
    fields: list[list[str]] = []
    for element in elements:
        if element.tag == INSTRUCTION and fields:
            fields[-1].append(element.text or "")
        elif element.tag == FIELD:
            kind = element.get(_KIND)
            if kind == "begin":
                fields.append([])
            elif fields:
                yield shown_by("".join(fields[-1]))
                fields[-1].clear()
                if kind == "end":
                    fields.pop()
        else:
            yield element


def shown_by(instruction: str) -> str:
    """Return what the instruction of a field ``EQ`` shows, on a line; nothing for other fields.

    Of letters over each other it is the last, such as those below a reading.
    """
    if not _EQUATION.match(instruction) or len(instruction) > _LONGEST:
        return ""
    text = _FORMAT.sub("", _EQUATION.sub("", instruction, count=1))
    for _ in range(_DEEPEST):
        text, number = _PART.subn(_part, text)
        if not number:
            break
    return _REST.sub("", text).strip()


def _part(match: re.Match[str]) -> str:
    kind, options = match[1].lower(), match[2]
    terms = [each.strip() for each in re.split("[,;]", match[3])]
    match kind, terms:
        case "f", [above, below]:
            return f"{term(above)}/{term(below)}"
        case "r", [*degree, radicand]:
            return f"{raised(''.join(degree))}√{term(radicand)}"
        case "o", [frame, letters] if frame in _FRAMES:
            return _SIGNS.get(letters, f"({letters})")
        case "o", [*_, letters]:
            return letters
        case "s", _ if "up" in options:
            return raised(match[3])
    return match[3]
