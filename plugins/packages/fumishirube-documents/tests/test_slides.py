"""Presentations: a slide is a section, with its notes, charts and tables."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pptx
import samples
from fumishirube_documents import Pptx
from opened_loaders import load
from PIL import Image
from pptx.chart import data as charts
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml.ns import qn


def test_a_slide_is_a_section_with_its_notes(tmp_path: Path) -> None:
    document = load(tmp_path, "plan.pptx", samples.slides(), Pptx())
    assert [each.title for each in document.sections] == ["Plan", "Costs"]
    assert [place.slide for place in document.places] == [1, 2]
    costs = document.text[document.sections[1].start :]
    assert costs == (
        "# Costs\n\nTwo hundred euros\n| Item | Price |\n| Key | 4 \\| 5 |\n"
        "\nNotes:\nSay it slowly.\n\n"
    )


def test_a_slide_with_a_title_only_is_the_text_of_its_section(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    slide.shapes.title.text = "The brass key"
    buffer = io.BytesIO()
    shown.save(buffer)
    document = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx())
    (section,) = document.sections
    assert "The brass key" in document.text[section.body : section.end]


def test_titles_of_charts_and_cells_merged_over_rows_are_read(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data: Any = vars(charts)["CategoryChartData"]()  # its constructor has no types
    data.categories = ["東港", "西港"]
    data.add_series("2024年度", (131, 52))
    place = (0, 0, 1_000_000, 1_000_000)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "港別の取扱量（千トン）"
    table = slide.shapes.add_table(3, 2, *place).table
    for at, text in enumerate(("Pier", "Depth", "North", "9", "", "7")):
        table.cell(at // 2, at % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    buffer = io.BytesIO()
    made.save(buffer)
    assert load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text.splitlines()[2:-1] == [
        "港別の取扱量（千トン）",
        "|  | 東港 | 西港 |",
        "| 2024年度 | 131 | 52 |",
        "| Pier | Depth |",
        "| North | 9 |",
        "| North | 7 |",
    ]


def test_slides_with_unknown_charts_and_pictures_as_titles_are_read(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data: Any = vars(charts)["CategoryChartData"]()
    data.categories, place = ["a"], (0, 0, 1_000_000, 1_000_000)
    data.add_series("b", (1,))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    space = chart._chartSpace  # noqa: SLF001 - the library makes no such chart
    space.xpath("//c:barChart")[0].tag = str(qn("c:surface3DChart"))
    buffer = io.BytesIO()
    Image.new("RGB", (9, 9)).save(buffer, "PNG")
    picture = slide.shapes.add_picture(buffer, *place)
    named = picture._element.nvPicPr.nvPr  # noqa: SLF001 - nor such a title
    named.append(named.makeelement(qn("p:ph"), {"type": "title"}))
    slide.shapes.add_textbox(*place).text_frame.text = "Beside the chart"
    buffer = io.BytesIO()
    made.save(buffer)
    text = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text
    assert text.splitlines() == ["# a 1", "", "Beside the chart", ""]


def test_a_strict_presentation_is_read_like_others(tmp_path: Path) -> None:
    data = samples.strict(samples.slides())
    usual = load(tmp_path, "a.pptx", samples.slides(), Pptx())
    assert load(tmp_path, "a.pptx", data, Pptx()).text == usual.text


def test_numbers_of_charts_are_read_with_all_their_digits(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    place = (0, 0, 1_000_000, 1_000_000)
    bars: Any = vars(charts)["CategoryChartData"]()
    bars.categories = ["Q1", "Q2 | Q3"]
    bars.add_series("Sales | net", (1234567, 0.123456789))
    bars.add_series("Users", (123456789, None))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, bars)
    points: Any = vars(charts)["XyChartData"]()
    for name, shift in (("Near", 0), ("Nearer", 0), ("Far", 1)):
        series = points.add_series(name)
        series.add_data_point(1.5 + shift, 1234567)
        series.add_data_point(7 + shift, 8)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *place, points)
    buffer = io.BytesIO()
    made.save(buffer)
    assert load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text.splitlines()[2:-1] == [
        "|  | Q1 | Q2 \\| Q3 |",
        "| Sales \\| net | 1234567 | 0.123456789 |",
        "| Users | 123456789 |  |",
        "|  | 1.5 | 7 |",
        "| Near | 1234567 | 8 |",
        "| Nearer | 1234567 | 8 |",
        "|  | 2.5 | 8 |",
        "| Far | 1234567 | 8 |",
    ]


def test_a_shape_with_the_id_of_the_title_is_read(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    title = slide.shapes.title
    title.text = "Pressure"
    box = slide.shapes.add_textbox(0, 0, 1000, 1000)
    box.text_frame.text = "At most 12 bar"
    box._element.nvSpPr.cNvPr.set("id", str(title.shape_id))  # noqa: SLF001 - the library would not
    buffer = io.BytesIO()
    made.save(buffer)
    text = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text
    assert text == "# Pressure\n\nAt most 12 bar\n\n"


def test_hidden_slides_are_read_and_named(tmp_path: Path) -> None:
    made = pptx.Presentation(io.BytesIO(samples.slides()))
    made.slides[1].element.set("show", "0")
    buffer = io.BytesIO()
    made.save(buffer)
    document = load(tmp_path, "a.pptx", buffer.getvalue(), Pptx())
    assert document.text == load(tmp_path, "b.pptx", samples.slides(), Pptx()).text
    (remark,) = document.remarks
    assert (remark.code, remark.message) == ("hidden_slide", "slide 2 is hidden")
    assert document.text.split("\n")[remark.line - 1] == "# Costs"
