"""Reads the text of paragraphs of slides: what a reader sees of their runs."""

from __future__ import annotations

from typing import Any

from lxml.etree import _Element as Element
from pptx.oxml.ns import qn

from fumishirube_documents.docx.equations import EQUATION, equation

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES, _CHOICE = f"{_COMPATIBILITY}AlternateContent", f"{_COMPATIBILITY}Choice"
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


def frame_text(frame: Any) -> str:
    """Return the text of a frame, such as that of a title or a cell, on one line."""
    return " ".join(filter(None, map(paragraph_text, frame.paragraphs)))


def paragraph_text(paragraph: Any) -> str:
    """Return the text of a paragraph on one line, with its equations."""
    pieces = []
    for element in paragraph._p.iter(_TEXT, _BREAK, EQUATION):  # noqa: SLF001 - not offered
        if element.tag == EQUATION:
            pieces.append(equation(element))
        else:
            pieces.append(" " if element.tag == _BREAK else element.text or "")
    return one_line("".join(pieces))


def one_line(text: str) -> str:
    """Return a text without unneeded white space."""
    return " ".join(text.split())
