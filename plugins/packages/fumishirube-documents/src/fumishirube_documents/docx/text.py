"""Reads the text of paragraphs: what a reader sees of their runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from docx.oxml.ns import qn
from lxml import etree
from lxml.etree import _Element as Element

from fumishirube_documents.docx.equations import EQUATION, equation
from fumishirube_documents.docx.fields import box_sign, chosen, equations_in
from fumishirube_documents.docx.styles import is_on, style_chain, style_elements, value_of
from fumishirube_documents.docx.symbols import emoji, symbol
from fumishirube_documents.numerals import raised
from fumishirube_documents.run_texts import struck

FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
UNREAD = {qn(f"w:{name}") for name in ("del", "moveFrom", "pPr", "rPr", "rt", "txbxContent")}
UNREAD.add(FALLBACK)
NOTES = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}
_EMOJI = "{http://schemas.microsoft.com/office/word/2015/wordml/symex}symEx"
_GONE = {qn("w:del"), qn("w:moveFrom")}
_CHARACTERS = {
    qn("w:tab"): " ",
    qn("w:ptab"): " ",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
_READERS = {
    EQUATION: equation,
    _EMOJI: emoji,
    qn("w:sym"): symbol,
    qn("w:checkBox"): box_sign,
    qn("w:ddList"): chosen,
}
_STRUCK = re.compile("\0([^\0]*)\0")
"""Text that is struck, between characters that XML does not allow."""
_CODE = {"HTML Preformatted", "Code", "Source Code", "Preformatted Text", "macro"}
"""The names of styles for code: of Word, pandoc and LibreOffice."""
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")


class ParagraphTexts:
    """Reads the text of paragraphs of a document, whose styles may hide letters."""

    def __init__(self, styles: Element) -> None:
        elements = style_elements(styles)
        self._code = {
            name
            for name in elements
            if any(value_of(each, "name") in _CODE for each in style_chain(name, elements))
        }
        self._hiding = {name for name in elements if _hides(style_chain(name, elements))}

    def title(self, heading: Element) -> str:
        """Return the text of a heading on one line, without the marks of its notes."""
        shown = (each for each in self._shown(heading) if each.tag not in NOTES)
        return " ".join(_written(shown).split())

    def text(self, paragraph: Element) -> str:
        """Return the lines of a paragraph, without unneeded white space.

        Lines behind a line break keep the spaces before them, lines of code all.
        """
        is_code = value_of(paragraph.find(qn("w:pPr")), "pStyle") in self._code
        return _written(self._shown(paragraph), is_code=is_code)

    def notes(self, paragraph: Element) -> Iterator[tuple[str, str]]:
        """Yield the kinds and numbers of the notes to which the text of a paragraph refers."""
        for element in self._shown(paragraph):
            if element.tag in NOTES:
                yield NOTES[element.tag], str(element.get(qn("w:id"), ""))

    def _shown(self, paragraph: Element) -> Iterator[Element]:
        """Yield the elements of a paragraph that a reader sees, an equation as a whole."""
        hides = self._hides(paragraph)
        walker = etree.iterwalk(paragraph, events=("start",))
        for _, element in walker:
            tag = element.tag
            if tag in UNREAD or (tag == qn("w:r") and self._is_hidden(element, hides=hides)):
                walker.skip_subtree()
                continue
            if tag == EQUATION:
                walker.skip_subtree()
            yield element

    def shows_mark(self, paragraph: Element) -> bool:
        """Return whether the mark at the end of a paragraph is neither deleted nor hidden."""
        properties = paragraph.find(f"{qn('w:pPr')}/{qn('w:rPr')}")
        hidden = is_on(properties, "vanish")
        hidden = self._hides(paragraph) if hidden is None else hidden
        return not hidden and not lacks_mark(paragraph)

    def _hides(self, paragraph: Element) -> bool:
        """Return whether the style of a paragraph hides its letters."""
        return value_of(paragraph.find(qn("w:pPr")), "pStyle") in self._hiding

    def _is_hidden(self, run: Element, *, hides: bool) -> bool:
        """Return whether a run is hidden; ``hides`` says what the style of its paragraph does."""
        properties = run.find(qn("w:rPr"))
        own = is_on(properties, "vanish")
        return hides or value_of(properties, "rStyle") in self._hiding if own is None else own


def lacks_mark(paragraph: Element) -> bool:
    """Return whether the mark at the end of a paragraph was deleted or moved elsewhere."""
    properties = paragraph.find(f"{qn('w:pPr')}/{qn('w:rPr')}")
    return properties is not None and any(each.tag in _GONE for each in properties)


def words(paragraph: Element) -> str:
    """Return all letters of a paragraph, those too that a reader does not see."""
    return " ".join("".join(text.text or "" for text in paragraph.iter(qn("w:t"))).split())


def note(kind: str, number: str) -> str:
    """Return the mark of a note."""
    return f"[^{number}]" if kind == "footnote" else f"[^e{number}]"


def _hides(chain: Iterable[Element]) -> bool:
    own = (is_on(style.find(qn("w:rPr")), "vanish") for style in chain)
    return next((hidden for hidden in own if hidden is not None), False)


def _written(elements: Iterable[Element], *, is_code: bool = False) -> str:
    pieces = (each if isinstance(each, str) else _piece(each) for each in equations_in(elements))
    text = _STRUCK.sub(lambda match: struck(match[1]), "".join(pieces).replace("\0\0", ""))
    first, *rest = text.replace("\ufeff", "").split("\n")
    if is_code:
        lines = [line.rstrip() for line in (first, *rest)]
    else:
        lines = [_spaced(first).strip(), *map(_indented, rest)]
    return "\n".join(filter(None, lines))


def _spaced(line: str) -> str:
    return _SPACE.sub(" ", line)


def _indented(line: str) -> str:
    """Return a line with the spaces at its beginning, which code needs."""
    words = _spaced(line).strip()
    return f"{' ' * (len(line) - len(line.lstrip(' ')))}{words}" if words else ""


def _piece(element: Element) -> str:
    """Return what an element adds to its paragraph, without the elements in it."""
    tag = element.tag
    if tag == qn("w:t"):
        run = element.getparent()
        properties = None if run is None else run.find(qn("w:rPr"))
        text = element.text or ""
        if value_of(properties, "vertAlign") == "superscript":
            text = raised(text)
        struck = is_on(properties, "strike") or is_on(properties, "dstrike")
        return f"\0{text}\0" if struck else text
    if tag == qn("wp:docPr"):
        shown = " ".join(element.get("descr", "").split())
        return f"![{shown}]" if shown else ""
    if tag in NOTES:
        return note(NOTES[tag], str(element.get(qn("w:id"), "")))
    return _READERS[tag](element) if tag in _READERS else _CHARACTERS.get(tag, "")
