"""Finds the blocks of a Word document: paragraphs, tables, rows, cells, text boxes."""

from __future__ import annotations

from collections.abc import Iterator

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.styles import value_of
from fumishirube_documents.docx.text import UNREAD, lacks_mark

_APART = {qn("w:tbl"), qn("w:sdt")}
"""What ends a paragraph, whatever was deleted."""


def nearest(parent: Element, *names: str) -> Iterator[Element]:
    """Yield the elements of some names in order, without those that are in one of them.

    They may be in content controls and insertions. Contents that Word or Google Docs made of the
    headings are passed over.
    """
    tags = {qn(f"w:{name}") for name in names}
    waiting = [iter(parent)]
    while waiting:
        for child in waiting[-1]:
            if child.tag in tags:
                yield child
            elif child.tag not in UNREAD and not _is_contents(child):
                waiting.append(iter(child))
                break
        else:
            waiting.pop()


def blocks(parent: Element) -> Iterator[Element]:
    """Yield paragraphs and tables in order."""
    return nearest(parent, "p", "tbl")


def join_paragraphs(body: Element) -> None:
    """Move the text of paragraphs that go on in the next ones to the beginning of these."""
    for parent in {each.getparent(): None for each in body.iter(qn("w:p")) if _goes_on(each)}:
        following: Element | None = None
        for block in reversed(parent):
            if block.tag != qn("w:p"):
                following = None if block.tag in _APART else following
            elif following is None or not _goes_on(block):
                following = block
            else:
                _move(block, following)


def _goes_on(paragraph: Element) -> bool:
    """Return whether a paragraph lacks its mark, or is the large first letter of the next one."""
    frame = paragraph.find(f"{qn('w:pPr')}/{qn('w:framePr')}")
    drop = "" if frame is None else frame.get(qn("w:dropCap"))
    return drop in {"drop", "margin"} or lacks_mark(paragraph)


def _move(paragraph: Element, following: Element) -> None:
    first = next(iter(following), None)  # a search for the properties may pass all children
    properties = first if first is not None and first.tag == qn("w:pPr") else None
    for each in reversed([each for each in paragraph if each.tag != qn("w:pPr")]):
        if properties is None:
            following.insert(0, each)
        else:
            properties.addnext(each)
    paragraph.getparent().remove(paragraph)


def _is_contents(element: Element) -> bool:
    if element.tag != qn("w:sdt"):
        return False
    made = element.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}")
    return value_of(made, "docPartGallery") == "Table of Contents"
