"""Presentations: what is read of the shapes of a slide."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pptx
from fumishirube_documents import Pptx
from opened_loaders import running
from pptx.opc.constants import RELATIONSHIP_TYPE as RELATED
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from fumishirube import Root, Source


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
