"""Reads the shapes of slides: boxes, tables, charts, diagrams, and what pictures show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from pptx.exc import PythonPptxError
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from fumishirube_documents.markdown_rows import markdown_row
from fumishirube_documents.pptx_charts import chart_lines
from fumishirube_documents.pptx_text import frame_lines, frame_text, one_line

_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
_DATA, _PICTURE = qn("r:dm"), qn("p:pic")
_FOOTERS = {"ftr", "dt"}
_PICTURE_FILES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg")


class SlideShapes:
    """Reads the shapes of the slides of a presentation, in order."""

    def __init__(self) -> None:
        self._footers: set[str] = set()

    def lines(self, shapes: Iterable[Any]) -> Iterator[str]:
        """Yield the lines of shapes and groups of shapes.

        Footers and dates are those of the first slide that has them; numbers of slides are none.
        """
        for _, lines in _in_order([(each, [*self._lines(each)]) for each in shapes]):
            yield from lines

    def _lines(self, shape: Any) -> Iterator[str]:
        element = shape.element
        kind = _placeholder(shape)
        if kind in _FOOTERS and shape.has_text_frame:
            text = frame_text(shape.text_frame)
            if text not in self._footers:
                self._footers.add(text)
                yield from filter(None, [text])
        elif kind == "sldNum":
            return
        elif hasattr(shape, "shapes"):
            yield from self.lines(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield from _rows(shape.table)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            yield from chart_lines(shape.chart)
        elif marks := [*element.iter(_DIAGRAM)]:
            yield from _diagram(shape.part.related_part(marks[0].get(_DATA)))
        elif element.tag == _PICTURE:
            yield from _description(element)
        elif shape.has_text_frame:
            yield from frame_lines(shape.text_frame)


def _placeholder(shape: Any) -> str:
    """Return the kind of a placeholder; empty for other shapes."""
    mark = shape.element.ph
    return "" if mark is None else mark.get("type", "obj")


def _in_order(read: Sequence[tuple[Any, list[str]]]) -> Iterator[tuple[Any, list[str]]]:
    """Yield shapes with their lines, from top to bottom or from left to right.

    Shapes that stand both below and beside each other, and placeholders, stay in the order in which
    they were drawn.
    """
    free = [each for each in read if _is_free(each)]
    try:
        columns = [(each[0].top, each[0].height, each) for each in free]
        rows = [(each[0].left, each[0].width, each) for each in free]
    except (PythonPptxError, ValueError):  # a place that is no number
        columns = rows = []
    ordered = iter(_one_after_another(columns) or _one_after_another(rows) or free)
    for each in read:
        yield next(ordered) if _is_free(each) else each


def _is_free(read: tuple[Any, list[str]]) -> bool:
    shape, lines = read
    return bool(lines) and not _placeholder(shape)


def _one_after_another(placed: Sequence[tuple[Any, Any, Any]]) -> list[Any]:
    """Return what begins, each below the middle of the former; nothing where any does not."""
    if any(begin is None or size is None for begin, size, _ in placed):
        return []
    ordered = sorted(placed, key=lambda each: each[0])
    if any(below[0] < above[0] + above[1] / 2 for above, below in pairwise(ordered)):
        return []
    return [each for _, _, each in ordered]


def _description(picture: Any) -> Iterator[str]:
    """Yield what a picture shows, as its alternative text says; names of files say nothing."""
    text = one_line(picture.nvPicPr.cNvPr.get("descr", ""))
    if text and not text.lower().endswith(_PICTURE_FILES):
        yield f"![{text}]"


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
