"""Presentations: what is read of the shapes of a slide."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pptx
import pytest
from fumishirube_documents import Pptx
from lxml import etree
from opened_loaders import running
from PIL import Image
from pptx.opc.constants import RELATIONSHIP_TYPE as RELATED
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from fumishirube import Root, Source

_EQUATION = (
    '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"><m:oMath xmlns:m="'
    'http://schemas.openxmlformats.org/officeDocument/2006/math"><m:sSup><m:e><m:r><m:t>x</m:t>'
    "</m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m>"
)


def with_equation(shape: Any) -> None:
    """End the first paragraph of a shape in an equation, as PowerPoint stores such shapes."""
    own = shape._element  # noqa: SLF001 - the library has no equations
    both = parse_xml(
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/'
        '2006"><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
    )
    own.addprevious(both)
    both[1].append(parse_xml(etree.tostring(own)))
    for text in both[1].iter(qn("a:t")):
        text.text = " "
    own.find(f".//{qn('a:p')}").append(parse_xml(_EQUATION))
    both[0].append(own)


def text_of(folder: Path, shown: Any) -> str:
    """Return the text of a presentation."""
    buffer = io.BytesIO()
    shown.save(buffer)
    (folder / "a.pptx").write_bytes(buffer.getvalue())
    return running(Pptx()).load(Root(folder), Source("a.pptx")).text


def test_a_line_that_ends_in_a_paragraph_of_a_slide_divides_words(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    frame = shown.slides.add_slide(shown.slide_layouts[1]).placeholders[1].text_frame
    frame.text = "the brass\vkey"
    frame.paragraphs[0].add_run().text = "hole"
    assert "the brass keyhole\n" in text_of(tmp_path, shown)


def test_shapes_with_equations_are_read(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[1])
    slide.shapes.title.text = "The law of "
    body = slide.placeholders[1]
    body.text_frame.text = "At most 48 V at "
    body.text_frame.add_paragraph().text = "A line without an equation"
    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(0, 0, 1000, 1000)
    box.text_frame.text = "In a group: "
    slide.notes_slide.notes_text_frame.text = "Explain "
    for shape in (slide.shapes.title, body, box, slide.notes_slide.notes_placeholder):
        with_equation(shape)
    assert text_of(tmp_path, shown) == (
        "# The law of x²\n\nAt most 48 V at x²\nA line without an equation\nIn a group: x²\n"
        "\nNotes:\nExplain x²\n\n"
    )


def test_a_slide_with_ink_is_read(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    slide.shapes.title.text = "Signed"
    slide.shapes.title._element.addnext(  # noqa: SLF001 - the library has no ink
        parse_xml(
            '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/'
            '2006" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><mc:Choice '
            'Requires="p14"><p:contentPart/></mc:Choice><mc:Fallback><p:pic/></mc:Fallback>'
            "</mc:AlternateContent>"
        )
    )
    slide.shapes.add_textbox(0, 0, 1000, 1000).text_frame.text = "By the board"
    assert text_of(tmp_path, shown) == "# Signed\n\nBy the board\n\n"


def test_the_texts_of_a_diagram_are_read(tmp_path: Path) -> None:
    points = "".join(
        f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"
        for text in ("Draft", "Review", "Release")
    )
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    data = f'<d:dataModel xmlns:d="{drawing}/diagram" xmlns:a="{drawing}/main">{points}'
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[6])
    part = Part(
        PackURI("/ppt/diagrams/data1.xml"),
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
        shown.part.package,
        f"{data}</d:dataModel>".encode(),
    )
    related = slide.part.relate_to(part, RELATED.DIAGRAM_DATA)
    frame = slide.shapes.add_table(1, 1, 0, 0, 1000, 1000)._element  # noqa: SLF001
    graphic = frame.find(f".//{qn('a:graphicData')}")
    graphic.clear()
    graphic.append(
        parse_xml(
            f'<d:relIds xmlns:d="{drawing}/diagram" xmlns:r="http://schemas.openxmlformats.org/'
            f'officeDocument/2006/relationships" r:dm="{related}"/>'
        )
    )
    graphic.set("uri", f"{drawing}/diagram")
    assert "Draft\nReview\nRelease\n" in text_of(tmp_path, shown)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_boxes_of_a_column_or_a_row_are_read_in_its_order(
    tmp_path: Path, order: Sequence[int], *, across: bool
) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[6])
    for place in order:
        at = (900_000 * place, 0) if across else (0, 900_000 * place)
        box = slide.shapes.add_textbox(*at, 1_000_000, 1_000_000)
        box.text_frame.text = f"Step {place}"
        slide.shapes.add_textbox(0, 0, 9_000_000, 9_000_000)  # an empty frame around all
    assert "Step 0\nStep 1\nStep 2\n" in text_of(tmp_path, shown)


def test_boxes_below_and_beside_each_other_are_read_as_they_were_drawn(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[1])
    for name, left, top in (("D", 1, 1), ("B", 0, 1), ("C", 1, 0), ("A", 0, 0)):
        place = (1_000_000 * left, 1_000_000 * top, 1_000_000, 1_000_000)
        slide.shapes.add_textbox(*place).text_frame.text = name
    assert "D\nB\nC\nA\n" in text_of(tmp_path, shown)


def test_a_box_at_a_place_that_is_no_number_is_read(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[6])
    for text, place in (("first", "1.5"), ("second", "0")):
        box = slide.shapes.add_textbox(0, 0, 9, 9)
        box.text_frame.text = text
        box._element.find(f".//{qn('a:off')}").set("y", place)  # noqa: SLF001 - the library would not
    assert "first\nsecond\n" in text_of(tmp_path, shown)


def test_items_of_numbered_lists_have_their_numbers(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    frame = shown.slides.add_slide(shown.slide_layouts[1]).placeholders[1].text_frame
    for text, level, mark in (
        ("Open", 0, 'type="arabicPeriod"'),
        ("slowly", 1, 'type="alphaLcParenR"'),
        ("wholly", 1, 'type="alphaLcParenR"'),
        ("", 0, 'type="arabicPeriod"'),
        ("Close", 0, 'type="arabicPeriod"'),
        ("slowly", 1, 'type="alphaLcParenR"'),
        ("And then", 0, ""),
        ("Lock", 0, 'type="arabicParenBoth" startAt="7"'),
        ("Go", 0, 'type="arabicParenBoth" startAt="7"'),
        ("home", 1, 'type="romanLcPeriod"'),
    ):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
        if mark:
            paragraph._p.get_or_add_pPr().append(  # noqa: SLF001 - the library numbers nothing
                parse_xml(
                    f"<a:buAutoNum {mark} "
                    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/>'
                )
            )
    assert text_of(tmp_path, shown).splitlines()[2:-1] == [
        "1. Open",
        "  a) slowly",
        "  b) wholly",
        "2. Close",
        "  a) slowly",
        "And then",
        "(7) Lock",
        "(8) Go",
        "  - home",
    ]


def test_footers_are_read_once_and_numbers_of_slides_are_not(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    for date in ("May 1", "May 1", "May 2"):
        slide = shown.slides.add_slide(shown.slide_layouts[6])
        for kind, text in (("ftr", "ACME confidential"), ("dt", date), ("sldNum", "7")):
            box = slide.shapes.add_textbox(0, 0, 1000, 1000)
            box.text_frame.text = text
            named = box._element.nvSpPr.nvPr  # noqa: SLF001 - the library adds no footers
            named.append(named.makeelement(qn("p:ph"), {"type": kind, "idx": "10"}))
    assert text_of(tmp_path, shown) == (
        "# a 1\n\nACME confidential\nMay 1\n\n# a 2\n\n\n# a 3\n\nMay 2\n\n"
    )


def test_what_pictures_show_is_read_where_the_slide_says_it(tmp_path: Path) -> None:
    shown = pptx.Presentation()
    slide = shown.slides.add_slide(shown.slide_layouts[6])
    for text in ("The pump\nand its valve", "photo 1.PNG", ""):
        picture = io.BytesIO()
        Image.new("RGB", (9, 9)).save(picture, "PNG")
        named = slide.shapes.add_picture(picture, 0, 0)._element.nvPicPr  # noqa: SLF001 - no part of the library
        named.cNvPr.set("descr", text)
    assert text_of(tmp_path, shown) == "# a 1\n\n![The pump and its valve]\n\n"
