"""Reads charts of slides: their titles, and their numbers as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lxml.etree import _Element as Element
from openpyxl.styles.numbers import is_date_format
from openpyxl.utils.datetime import from_excel
from pptx.oxml.ns import qn

from fumishirube_documents.markdown_rows import markdown_row
from fumishirube_documents.number_formats import shown
from fumishirube_documents.pptx_text import element_text, one_line

_GENERAL = "General"


def chart_lines(chart: Any) -> Iterator[str]:
    """Yield the titles of a chart and of its axes, and its numbers.

    In a table, categories or places on the horizontal axis are across, and a series is a row.
    """
    whole = chart._chartSpace  # noqa: SLF001 - the library offers neither parts nor formats
    yield from filter(None, map(_title, whole.xpath("./c:chart/c:title")))
    yield from filter(None, map(_title, whole.xpath("./c:chart/c:plotArea/*/c:title")))
    try:
        plots = [(plot, [*plot.series]) for plot in chart.plots]
    except (ValueError, NotImplementedError):  # of a kind that the library does not know
        return
    for plot, rows in plots:
        header = None
        longest = max((len(series.values) for series in rows), default=0)
        categories = _categories(plot._element.xpath("./c:ser[1]/c:cat"), longest)  # noqa: SLF001 - as above
        for series in rows:
            own = series._element  # noqa: SLF001 - as above
            across = categories or _texts(_points(own.xpath("./c:xVal")), len(series.values))
            if across != header:
                yield markdown_row(["", *across])
            header = across
            number_format = _format(own.xpath("./c:val | ./c:yVal"))
            values = (_value(value, number_format) for value in series.values)
            yield markdown_row([one_line(str(series.name)), *values])


def _title(title: Element) -> str:
    """Return the text of a title, also of one that a cell holds."""
    paragraphs = [*map(element_text, title.iter(qn("a:p")))]
    return one_line(" ".join([*paragraphs, *(text.text or "" for text in title.iter(qn("c:v")))]))


def _categories(elements: Sequence[Element], longest: int) -> list[str]:
    """Return the name of each category, after those of the groups that hold it."""
    levels = [_points([level]) for each in elements for level in each.iter(qn("c:lvl"))]
    own, *groups = levels or [_points(elements)]
    names = _texts(own, max(longest, len(own)))
    for group in groups:  # from the innermost; each goes on until the next one
        name = ""
        for place, below in enumerate(names):
            name = group.get(place, name)
            names[place] = f"{name} {below}".strip()
    return names if any(names) else []


def _texts(points: Mapping[int, str], count: int) -> list[str]:
    return [points.get(place, "") for place in range(count)]


def _points(elements: Iterable[Element]) -> dict[int, str]:
    """Return the texts of points by their places; numbers as their format shows them."""
    return {
        int(point.get("idx", "0")): _text(point.findtext(qn("c:v"), ""), number_format)
        for element in elements
        for number_format in [_format([element])]
        for point in element.iter(qn("c:pt"))
    }


def _format(elements: Iterable[Element]) -> str:
    """Return the format of numbers, or an empty text for what holds none."""
    formats = (each.text for element in elements for each in element.iter(qn("c:formatCode")))
    return next(filter(None, formats), "")


def _text(text: str, number_format: str) -> str:
    try:
        return _value(float(text), number_format) if number_format else one_line(text)
    except ValueError:
        return one_line(text)


def _value(value: float | None, number_format: str) -> str:
    if value is not None and is_date_format(number_format):
        try:
            return shown(from_excel(value), number_format)
        except (OverflowError, ValueError):
            return shown(value, _GENERAL)
    return shown(value, number_format or _GENERAL)
