"""Converts a Word document to Markdown: headings, paragraphs, lists, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RELATED
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from lxml.etree import _Element as Element

from fumishirube import Heading
from fumishirube_documents.docx.blocks import blocks, join_paragraphs, nearest
from fumishirube_documents.docx.numbering import Numbering
from fumishirube_documents.docx.plain_headings import plain_headings
from fumishirube_documents.docx.styles import style_chain, style_elements, value_of
from fumishirube_documents.docx.tables import cells_of, shown_paragraphs, table_lines
from fumishirube_documents.docx.text import ParagraphTexts, note

_HEADING = re.compile(r"heading ([1-9])")
_CONTENTS = re.compile(r"toc \d|toc heading|table of figures")
_DEEPEST_HASHES = 6


class DocxContent(NamedTuple):
    """The text of a document, its headings, and its title."""

    text: str
    headings: Sequence[Heading]
    title: str


class _Style(NamedTuple):
    """A paragraph style, with what it inherits from the style it is based on."""

    name: str = ""
    level: int | None = None
    list: str = ""
    place: int | None = None


class DocxReader:
    """Converts a document, once."""

    def __init__(self, document: Document) -> None:
        self._lines: list[str] = []
        self._headings: list[Heading] = []
        self._title = ""
        self._body = document.element.body
        join_paragraphs(self._body)
        self._styles = _styles(document.styles.element)
        self._texts = ParagraphTexts(document.styles.element)
        self._text = self._texts.text
        self._plain: Mapping[Element, int] = {}
        if not any(self._is_heading(p) for p in self._body.iter(qn("w:p"))):
            own = (
                each
                for each in blocks(self._body)
                if each.tag == qn("w:p") and not self._is_item(each)
            )
            self._plain = plain_headings(document.styles.element, own)
        part = document.part
        self._numbering = Numbering(_related(part, RELATED.NUMBERING))
        self._notes = {
            **self._read_notes(_related(part, RELATED.FOOTNOTES), "footnote"),
            **self._read_notes(_related(part, RELATED.ENDNOTES), "endnote"),
        }

    def read(self) -> DocxContent:
        """Return the content of the document."""
        self._read(self._body)
        title = " ".join(self._title.split())
        text = "\n".join(self._lines)
        return DocxContent(f"{text}\n" if text else "", self._headings, title)

    def _read(self, parent: Element) -> None:
        for block in blocks(parent):
            if block.tag == qn("w:p"):
                self._paragraph(block)
            elif self._arranges(cells := cells_of(block)):
                for cell in chain.from_iterable(cells):
                    self._read(cell)
            else:
                self._write(table_lines(block, self._text_in_cell))
                self._write_notes(shown_paragraphs(block), close=False)

    def _paragraph(self, paragraph: Element) -> None:
        text = self._text(paragraph)
        marker = self._marker(paragraph, text)
        style = self._style(paragraph)
        if text and not _CONTENTS.fullmatch(style.name):
            if style.name == "title" and not self._headings and not self._title:
                self._title = self._texts.title(paragraph)
            if style.level is None:
                self._write_plain(text, marker)
            else:
                lead = "" if marker in {"", "-"} else f"{marker} "
                title = lead + (self._texts.title(paragraph) or text)
                self._write_heading(lead + " ".join(text.split()), title, style)
            self._write_notes([paragraph])
        for box in nearest(paragraph, "txbxContent"):
            self._read(box)

    def _text_in_cell(self, paragraph: Element) -> str:
        """Return the text of a paragraph in a table, with its number, which may be all it has."""
        text = self._text(paragraph)
        marker = self._marker(paragraph, text).strip()
        return text if marker == "-" else f"{marker} {text}"

    def _style(self, paragraph: Element) -> _Style:
        """Return the style of a paragraph, with its own properties applied."""
        properties = paragraph.find(qn("w:pPr"))
        style = _own(properties, self._styles.get(value_of(properties, "pStyle"), _Style()))
        return style._replace(level=self._plain.get(paragraph, style.level))

    def _is_heading(self, paragraph: Element) -> bool:
        return self._style(paragraph).level is not None

    def _is_item(self, paragraph: Element) -> bool:
        return self._style(paragraph).list not in {"", "0"}

    def _marker(self, paragraph: Element, text: str) -> str:
        """Count a paragraph of a list, and return its marker; Word counts empty ones too."""
        style = self._style(paragraph)
        counts = text or self._texts.shows_mark(paragraph)
        if style.list in {"", "0"} or not counts or _CONTENTS.fullmatch(style.name):
            return ""
        place = style.place
        if place is None:
            name = value_of(paragraph.find(qn("w:pPr")), "pStyle")
            place = self._numbering.level_of(style.list, name)
        marker = self._numbering.next(style.list, place)
        return marker if style.level is not None else f"{'  ' * place}{marker}"

    def _write_plain(self, text: str, marker: str) -> None:
        first, *rest = text.split("\n")
        lead = f"{marker} " if marker.strip() else ""
        block = [lead + first, *(" " * len(lead) + line for line in rest)]
        self._write(block, close=bool(lead))

    def _write_heading(self, text: str, title: str, style: _Style) -> None:
        level = style.level or 1
        self._write([f"{'#' * min(level, _DEEPEST_HASHES)} {text}"])
        line = len(self._lines)
        self._headings.append(Heading(title, level, line, line + 1))

    def _write_notes(self, paragraphs: Iterable[Element], *, close: bool = True) -> None:
        """Write the notes of paragraphs; the first one below a blank line unless ``close``."""
        for paragraph in paragraphs:
            for kind, number in self._texts.notes(paragraph):
                if text := self._notes.get((kind, number)):
                    self._write([f"{note(kind, number)}: {text}"], close=close)
                    close = True

    def _read_notes(self, part: Element | None, kind: str) -> dict[tuple[str, str], str]:
        """Return the texts of notes by kind and number."""
        return {
            (kind, str(each.get(qn("w:id"), ""))): " ".join(
                filter(None, (self._text(p).replace("\n", " ") for p in each.iter(qn("w:p"))))
            )
            for each in (() if part is None else part.iter(qn(f"w:{kind}")))
        }

    def _write(self, block: Sequence[str], *, close: bool = False) -> None:
        """Add a block, with a blank line before it unless ``close``."""
        if block and self._lines and not close:
            self._lines.append("")
        self._lines += block

    def _arranges(self, cells: Sequence[Sequence[Element]]) -> bool:
        """Return whether a table is layout only: one cell, or headings and tables in most.

        In a table of one row or column, one cell with a heading or a table is enough.
        """
        every = [cell for row in cells for cell in row]
        divided = sum(any(map(self._divides, blocks(cell))) for cell in every)
        filled = sum(any(text.text for text in cell.iter(qn("w:t"))) for cell in every)
        narrow = len(cells) == 1 or max(map(len, cells), default=0) == 1
        return len(every) == 1 or (divided > 0 and (narrow or 2 * divided >= filled))

    def _divides(self, block: Element) -> bool:
        return block.tag == qn("w:tbl") or self._is_heading(block)


def _own(properties: Element | None, style: _Style) -> _Style:
    """Return a style with the properties of a paragraph or style applied."""
    if properties is None:
        return style
    level = properties.find(qn("w:outlineLvl"))
    if level is not None:
        depth = str(level.get(qn("w:val"), ""))
        # Levels 0 to 8 are headings; 9 is body text.
        style = style._replace(level=int(depth) + 1 if re.fullmatch("[0-8]", depth) else None)
    numbered = properties.find(qn("w:numPr"))
    if numbered is not None:
        name, place = numbered.find(qn("w:numId")), numbered.find(qn("w:ilvl"))
        if name is not None:
            style = style._replace(list=str(name.get(qn("w:val"), "")), place=None)
        depth = "" if place is None else str(place.get(qn("w:val"), ""))
        if re.fullmatch("[0-8]", depth):
            style = style._replace(place=int(depth))
    return style


def _styles(part: Element) -> dict[str, _Style]:
    """Return the paragraph styles by id, with inheritance resolved."""
    elements = style_elements(part)
    styles: dict[str, _Style] = {}
    for name in elements:
        chain = [*style_chain(name, elements)]
        styles[name] = reduce(_based_on, reversed(chain), _Style())
    return styles


def _based_on(style: _Style, element: Element) -> _Style:
    """Return the style of an element that is based on another one."""
    label = value_of(element, "name").lower()
    heading = _HEADING.fullmatch(label)
    style = style._replace(name=label, level=int(heading[1]) if heading else style.level)
    return _own(element.find(qn("w:pPr")), style)


def _related(part: Part, kind: str) -> Element | None:
    for related in part.rels.values():
        if related.reltype == kind and not related.is_external:  # else it is in no package
            return parse_xml(related.target_part.blob)
    return None
