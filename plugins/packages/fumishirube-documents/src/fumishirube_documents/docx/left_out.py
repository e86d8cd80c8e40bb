"""Names what of a Word document is not read: headers, footers, comments."""

from __future__ import annotations

from collections.abc import Iterator

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RELATED
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from lxml.etree import _Element as Element

from fumishirube import LoaderRemark

_HEADS = {RELATED.HEADER, RELATED.FOOTER}


def left_out(document: Document) -> Iterator[LoaderRemark]:
    """Yield a remark for each header and footer, and one for all comments."""
    heads: dict[str, None] = {}
    comments = 0
    for related in document.part.rels.values():
        if related.reltype in _HEADS:
            paragraphs = parse_xml(related.target_part.blob).iter(qn("w:p"))
            heads |= dict.fromkeys(filter(None, map(_words, paragraphs)))
        elif related.reltype == RELATED.COMMENTS:
            comments += len(parse_xml(related.target_part.blob).findall(qn("w:comment")))
    for head in heads:
        yield LoaderRemark("running_head", 1, f"left out as a running head: {head}")
    if comments:
        number = "1 comment is" if comments == 1 else f"{comments} comments are"
        yield LoaderRemark("comments", 1, f"{number} not read")


def _words(paragraph: Element) -> str:
    return " ".join("".join(text.text or "" for text in paragraph.iter(qn("w:t"))).split())
