"""Finds the blocks of a Word document: paragraphs, tables, rows, cells, text boxes."""

from __future__ import annotations

from collections.abc import Iterator

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.styles import value_of
from fumishirube_documents.docx.text import UNREAD


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


def _is_contents(element: Element) -> bool:
    if element.tag != qn("w:sdt"):
        return False
    made = element.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}")
    return value_of(made, "docPartGallery") == "Table of Contents"
