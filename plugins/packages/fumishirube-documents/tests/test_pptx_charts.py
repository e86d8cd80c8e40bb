"""Charts of slides: groups, dates, shares and the titles of axes."""

from __future__ import annotations

import io
from datetime import date
from pathlib import Path
from typing import Any

import pptx
from fumishirube_documents import Pptx
from opened_loaders import load
from pptx.chart import data as charts
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml


class Charts:
    """A slide of charts."""

    def __init__(self) -> None:
        self._shown = pptx.Presentation()
        self._slide = self._shown.slides.add_slide(self._shown.slide_layouts[6])

    def add(self, kind: XL_CHART_TYPE, data: Any) -> Any:
        """Return a new chart."""
        place = (0, 0, 1_000_000, 1_000_000)
        return self._slide.shapes.add_chart(kind, *place, data).chart

    def lines(self, folder: Path) -> list[str]:
        """Return what is read of the slide below its title."""
        buffer = io.BytesIO()
        self._shown.save(buffer)
        return load(folder, "a.pptx", buffer.getvalue(), Pptx()).text.splitlines()[2:-1]


def data_of(name: str, *number_format: str) -> Any:
    """Return new data of a chart; their constructors have no types."""
    return vars(charts)[name](*number_format)


def test_categories_of_a_chart_stand_with_their_groups(tmp_path: Path) -> None:
    data = data_of("CategoryChartData")
    for year, quarters in (("FY 2023", ("Q1", "Q2")), ("FY 2024", ("Q1", "Q2", "Q3"))):
        group = data.add_category(year)
        for quarter in quarters:
            group.add_sub_category(quarter)
    data.add_series("Sales", (1, 2, 3, 4, 5))
    shown = Charts()
    shown.add(XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    assert shown.lines(tmp_path) == [
        "|  | FY 2023 Q1 | FY 2023 Q2 | FY 2024 Q1 | FY 2024 Q2 | FY 2024 Q3 |",
        "| Sales | 1 | 2 | 3 | 4 | 5 |",
    ]


def test_a_category_without_a_name_moves_no_other(tmp_path: Path) -> None:
    data = data_of("CategoryChartData")
    data.categories = ["East", "gap", "West"]
    data.add_series("Sales", (1, 2, 3))
    shown = Charts()
    chart = shown.add(XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    (gap,) = chart._chartSpace.xpath("//c:cat//c:pt[@idx='1']")  # noqa: SLF001 - no such data
    gap.getparent().remove(gap)
    assert shown.lines(tmp_path) == ["|  | East |  | West |", "| Sales | 1 | 2 | 3 |"]


def test_dates_and_shares_of_a_chart_are_read_as_it_shows_them(tmp_path: Path) -> None:
    data = data_of("CategoryChartData")
    data.categories = [date(2024, 1, 1), date(2024, 2, 1)]
    data.add_series("Share", (0.1, None), number_format="0%")
    data.add_series("Users", (1234, 5678))
    points = data_of("XyChartData", '0.0" mm"')
    points.add_series("Wear").add_data_point(7, 1.25)
    shown = Charts()
    shown.add(XL_CHART_TYPE.LINE, data)
    shown.add(XL_CHART_TYPE.XY_SCATTER, points)
    assert shown.lines(tmp_path) == [
        "|  | 2024-01-01 | 2024-02-01 |",
        "| Share | 10% (0.1) |  |",
        "| Users | 1234 | 5678 |",
        "|  | 7.0 mm (7) |",
        "| Wear | 1.3 mm (1.25) |",
    ]


def test_titles_of_axes_and_titles_that_cells_hold_are_read(tmp_path: Path) -> None:
    data = data_of("CategoryChartData")
    data.categories = ["East"]
    data.add_series("Sales", (1,))
    shown = Charts()
    chart = shown.add(XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    chart.category_axis.axis_title.text_frame.text = "Branch"
    chart.value_axis.axis_title.text_frame.text = "Million yen"
    chart.has_title = True
    title = chart._chartSpace.xpath("./c:chart/c:title")[0]  # noqa: SLF001 - nor such a title
    title.insert(
        0,
        parse_xml(
            '<c:tx xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:strRef>'
            "<c:f>Sheet1!$A$1</c:f><c:strCache><c:ptCount val='1'/><c:pt idx='0'><c:v>Sales by "
            "branch</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        ),
    )
    assert shown.lines(tmp_path) == [
        "Sales by branch",
        "Branch",
        "Million yen",
        "|  | East |",
        "| Sales | 1 |",
    ]
