"""Reads the styles of a Word document, and what each is based on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docx.oxml.ns import qn
from lxml.etree import _Element as Element


def style_elements(part: Element) -> Mapping[str, Element]:
    """Return the styles by id."""
    return {str(style.get(qn("w:styleId"), "")): style for style in part.iter(qn("w:style"))}


def style_chain(name: str, styles: Mapping[str, Element]) -> Iterator[Element]:
    """Yield a style, that on which it is based, and so on."""
    seen: set[str] = set()
    while name in styles and name not in seen:
        seen.add(name)
        yield styles[name]
        name = value_of(styles[name], "basedOn")
        if not name:
            return


def value_of(element: Element | None, name: str) -> str:
    """Return the value of a child element, such as the name of a style, or an empty text."""
    child = None if element is None else element.find(qn(f"w:{name}"))
    return "" if child is None else str(child.get(qn("w:val"), ""))


def is_on(properties: Element | None, name: str) -> bool | None:
    """Return whether properties turn something on, such as bold letters; ``None`` if unsaid."""
    child = None if properties is None else properties.find(qn(f"w:{name}"))
    return None if child is None else child.get(qn("w:val"), "1") not in {"0", "false", "off"}
