"""Parses presentations: a section a slide, with its tables and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any

from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from fumishirube import Document, Heading, divide_at_headings
from fumishirube.parsing import Place
from fumishirube_documents.locked_office import unlocked_package
from fumishirube_documents.packages import check_package
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
    for number, slide in enumerate(Presentation(BytesIO(transitional(data))).slides, start=1):
        shown = slide.shapes.title
        if shown is not None and not shown.has_text_frame:  # a picture in the place of the title
            shown = None
        title = _line(shown.text_frame.text) if shown is not None else ""
        rest = (s for s in slide.shapes if shown is None or s.shape_id != shown.shape_id)
        title = title or f"{name} {number}"
        places.append(Place(len(lines) + 1, slide=number))
        lines.append(f"# {title}")
        texts = [*_texts(rest), *_notes(slide)]
        # A title with nothing below is the text of its section.
        headings.append(Heading(title, 1, len(lines), len(lines) + bool(texts)))
        lines += ["", *texts, ""]
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(divide_at_headings(text, headings, None))
    return Document("", "pptx", text, sections, places=tuple(places))


def _texts(shapes: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of shapes and groups of shapes, in the order of the slide."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _texts(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield from _rows(shape.table)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            yield from _chart(shape.chart)
        elif marks := [*shape._element.iter(_DIAGRAM)]:  # noqa: SLF001 - no part of the library
            yield from _diagram(shape.part.related_part(marks[0].get(_DATA)))
        elif shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                if text := _line(paragraph.text):
                    yield f"{'  ' * paragraph.level}- {text}" if paragraph.level else text


def _diagram(part: Any) -> Iterator[str]:
    """Yield the texts of a diagram ("SmartArt")."""
    for point in parse_xml(part.blob).iter(_POINT):
        if text := _line(" ".join(each.text or "" for each in point.iter(qn("a:t")))):
            yield text


def _rows(table: Any) -> Iterator[str]:
    """Yield the rows of a table; a cell merged over rows is in each of them."""
    above: list[str] = []
    for row in table.rows:
        cells = [_line(cell.text).replace("|", r"\|") for cell in row.cells]
        for place, (cell, text) in enumerate(zip(row.cells, above, strict=False)):
            if cell._tc.vMerge:  # noqa: SLF001 - the library does not tell rows from columns
                cells[place] = text
        yield f"| {' | '.join(cells)} |"
        above = cells


def _chart(chart: Any) -> Iterator[str]:
    """Yield a chart's title, and its numbers as a table: categories across, a row a series."""
    if chart.has_title and (title := _line(chart.chart_title.text_frame.text)):
        yield title
    try:
        plots = [(plot, [*plot.series]) for plot in chart.plots]
    except (ValueError, NotImplementedError):  # of a kind that the library does not know
        return
    for plot, rows in plots:
        categories = [_line(str(category)) for category in plot.categories]
        yield f"| | {' | '.join(categories)} |"
        for series in rows:
            values = ("" if value is None else f"{value:g}" for value in series.values)
            yield f"| {_line(str(series.name))} | {' | '.join(values)} |"


def _notes(slide: Any) -> Iterator[str]:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    notes = [line for each in (frame.text.split("\n") if frame else ()) if (line := _line(each))]
    if notes:
        yield from ("", "Notes:", *notes)


def _line(text: str) -> str:
    return " ".join(text.replace("\v", " ").split())
