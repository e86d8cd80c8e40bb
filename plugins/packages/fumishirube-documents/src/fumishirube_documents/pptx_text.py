"""Reads the text of paragraphs of slides: what a reader sees of their runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml.etree import _Element as Element
from pptx.oxml.ns import qn

from fumishirube_documents.docx.equations import EQUATION, equation
from fumishirube_documents.run_texts import TextRun, joined_runs

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES, _CHOICE = f"{_COMPATIBILITY}AlternateContent", f"{_COMPATIBILITY}Choice"
_NUMBERED = re.compile("(arabic|alphaLc|alphaUc)(Period|ParenR|ParenBoth)")
_INK = qn("p:contentPart")
_NOT_STRUCK = "noStrike"
_TEXT, _BREAK = qn("a:t"), qn("a:br")


def choose_alternatives(slide: Element) -> None:
    """Put the newest form of each element in its place; the library sees no forms.

    PowerPoint writes a shape with an equation twice: as it is, and as a picture for old programs.
    """
    for alternatives in [*slide.iter(_ALTERNATIVES)]:
        above, choice = alternatives.getparent(), alternatives.find(_CHOICE)
        if above is not None and choice is not None:
            for element in [*choice]:
                alternatives.addprevious(element)
            above.remove(alternatives)
    for ink in [*slide.iter(_INK)]:  # which holds no text, and of which the library fails
        ink.getparent().remove(ink)


def frame_lines(frame: Any) -> Iterator[str]:
    """Yield the paragraphs of a frame as lines, those of lists with their numbers."""
    counted: dict[int, tuple[str, int]] = {}
    for paragraph in frame.paragraphs:
        text, level = paragraph_text(paragraph), paragraph.level
        if not text:
            continue
        for deeper in [other for other in counted if other > level]:
            del counted[deeper]
        marker = "- " if level else ""
        mark = paragraph._p.find(f"{qn('a:pPr')}/{qn('a:buAutoNum')}")  # noqa: SLF001 - not offered
        if mark is None:
            counted.pop(level, None)
        else:
            form, start = mark.get("type", ""), mark.get("startAt", "1")
            former, count = counted.get(level, ("", 0))
            goes_on = former == f"{form} {start}"
            count = count + 1 if goes_on else int(start) if start.isdecimal() else 1
            counted[level] = (f"{form} {start}", count)
            marker = _numbered(count, form) or marker
        yield f"{'  ' * level}{marker}{text}"


def _numbered(count: int, form: str) -> str:
    """Return the number of an item such as ``2. ``, or nothing for a form that is not known."""
    match = _NUMBERED.fullmatch(form)
    if match is None or count < 1:
        return ""
    letter = chr(ord("a") + (count - 1) % 26) * min(9, (count + 25) // 26)
    written = {"arabic": str(count), "alphaLc": letter, "alphaUc": letter.upper()}[match[1]]
    return {"Period": "{}. ", "ParenR": "{}) ", "ParenBoth": "({}) "}[match[2]].format(written)


def frame_text(frame: Any) -> str:
    """Return the text of a frame, such as that of a title or a cell, on one line."""
    return " ".join(filter(None, map(paragraph_text, frame.paragraphs)))


def paragraph_text(paragraph: Any) -> str:
    """Return the text of a paragraph on one line, with its equations and powers."""
    return element_text(paragraph._p)  # noqa: SLF001 - the library leaves equations out


def element_text(paragraph: Element) -> str:
    """Return the text of the element of a paragraph, on one line."""
    return one_line(joined_runs(map(_run, paragraph.iter(_TEXT, _BREAK, EQUATION))))


def _run(element: Element) -> TextRun:
    if element.tag == EQUATION:
        return TextRun(equation(element))
    above = element.getparent()
    properties = None if above is None else above.find(qn("a:rPr"))
    looks = {} if properties is None else properties.attrib
    baseline = looks.get("baseline", "")
    return TextRun(
        " " if element.tag == _BREAK else element.text or "",
        is_raised=not baseline.startswith("-") and bool(baseline.strip("0%")),
        is_struck=looks.get("strike", _NOT_STRUCK) != _NOT_STRUCK,
    )


def one_line(text: str) -> str:
    """Return a text without unneeded white space."""
    return " ".join(text.split())
