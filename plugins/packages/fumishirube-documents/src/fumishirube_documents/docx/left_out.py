"""Names what of a Word document is not read: headers, footers, comments, charts, diagrams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RELATED
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml

from fumishirube import LoaderRemark
from fumishirube_documents.docx.text import words

_HEADS = {RELATED.HEADER, RELATED.FOOTER}
_PARTS = {
    RELATED.CHART: ("chart", "charts"),
    "http://schemas.microsoft.com/office/2014/relationships/chartEx": ("chart", "charts"),
    RELATED.DIAGRAM_DATA: ("diagram", "diagrams"),
    RELATED.A_F_CHUNK: ("inserted file", "inserted files"),
}
"""What the parts of some relationships are called."""


def left_out(document: Document) -> Iterator[LoaderRemark]:
    """Yield a remark for each header and footer, and one for all comments, charts and so on."""
    heads: dict[str, None] = {}
    numbers = Counter[tuple[str, str]]()
    for related in document.part.rels.values():
        if related.reltype in _PARTS:
            numbers[_PARTS[related.reltype]] += 1
        elif related.is_external:  # what it names is in no package
            continue
        elif related.reltype in _HEADS:
            paragraphs = parse_xml(related.target_part.blob).iter(qn("w:p"))
            heads |= dict.fromkeys(filter(None, map(words, paragraphs)))
        elif related.reltype == RELATED.COMMENTS:
            comments = parse_xml(related.target_part.blob).findall(qn("w:comment"))
            numbers["comment", "comments"] += len(comments)
    for head in heads:
        yield LoaderRemark("running_head", 1, f"left out as a running head: {head}")
    for (name, names), number in numbers.items():
        if number:
            parts = f"1 {name} is" if number == 1 else f"{number} {names} are"
            yield LoaderRemark(names.replace(" ", "_"), 1, f"{parts} not read")
