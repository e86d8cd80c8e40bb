"""Parses presentations: a section a slide, with its tables and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any

from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from fumishirube import Document, Heading, LoaderRemark, divide_at_headings
from fumishirube.parsing import Place
from fumishirube_documents.locked_office import unlocked_package
from fumishirube_documents.markdown_rows import markdown_row
from fumishirube_documents.packages import check_package
from fumishirube_documents.pptx_charts import chart_lines
from fumishirube_documents.pptx_text import (
    choose_alternatives,
    frame_text,
    one_line,
    paragraph_text,
)
from fumishirube_documents.strict_packages import transitional

_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
_DATA = qn("r:dm")


def parsed_pptx(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a presentation, slide by slide.

    Raises:
        Unreadable: when it is too large, or locked.
    """
    data = unlocked_package(data, settings["passwords"], ".pptx")
    check_package(data, settings["unpacked_bytes"], "a PowerPoint presentation")
    lines: list[str] = []
    headings: list[Heading] = []
    places: list[Place] = []
    remarks: list[LoaderRemark] = []
    for number, slide in enumerate(Presentation(BytesIO(transitional(data))).slides, start=1):
        choose_alternatives(slide.element)
        heading = slide.shapes.title
        if heading is not None and not heading.has_text_frame:  # a picture in the title's place
            heading = None
        title = frame_text(heading.text_frame) if heading is not None else ""
        # Several shapes of a slide may have the same id.
        own = None if heading is None else heading.element
        rest = (shape for shape in slide.shapes if shape.element is not own)
        title = title or f"{name} {number}"
        places.append(Place(len(lines) + 1, slide=number))
        if slide.element.get("show") in {"0", "false"}:
            remarks.append(
                LoaderRemark("hidden_slide", len(lines) + 1, f"slide {number} is hidden")
            )
        lines.append(f"# {title}")
        texts = [*_texts(rest), *_notes(slide)]
        # A title with nothing below is the text of its section.
        headings.append(Heading(title, 1, len(lines), len(lines) + bool(texts)))
        lines += ["", *texts, ""]
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(divide_at_headings(text, headings, None))
    return Document("", "pptx", text, sections, places=tuple(places), remarks=tuple(remarks))


def _texts(shapes: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of shapes and groups of shapes, in the order of the slide."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _texts(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield from _rows(shape.table)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            yield from chart_lines(shape.chart)
        elif marks := [*shape._element.iter(_DIAGRAM)]:  # noqa: SLF001 - no part of the library
            yield from _diagram(shape.part.related_part(marks[0].get(_DATA)))
        elif shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                if text := paragraph_text(paragraph):
                    yield f"{'  ' * paragraph.level}- {text}" if paragraph.level else text


def _diagram(part: Any) -> Iterator[str]:
    """Yield the texts of a diagram ("SmartArt")."""
    for point in parse_xml(part.blob).iter(_POINT):
        if text := one_line(" ".join(each.text or "" for each in point.iter(qn("a:t")))):
            yield text


def _rows(table: Any) -> Iterator[str]:
    """Yield the rows of a table; a cell merged over rows is in each of them."""
    above: list[str] = []
    for row in table.rows:
        cells = [frame_text(cell.text_frame) for cell in row.cells]
        for place, (cell, text) in enumerate(zip(row.cells, above, strict=False)):
            if cell._tc.vMerge:  # noqa: SLF001 - the library does not tell rows from columns
                cells[place] = text
        yield markdown_row(cells)
        above = cells


def _notes(slide: Any) -> Iterator[str]:
    if not slide.has_notes_slide:
        return
    choose_alternatives(slide.notes_slide.element)
    frame = slide.notes_slide.notes_text_frame
    if notes := [*filter(None, map(paragraph_text, frame.paragraphs if frame else ()))]:
        yield from ("", "Notes:", *notes)
