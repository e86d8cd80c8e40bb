"""Parses presentations: a section a slide, with its tables and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from pptx import Presentation

from fumishirube import Document, Heading, LoaderRemark, divide_at_headings
from fumishirube.parsing import Place
from fumishirube_documents.locked_office import unlocked_package
from fumishirube_documents.packages import check_package
from fumishirube_documents.pptx_shapes import SlideShapes
from fumishirube_documents.pptx_text import choose_alternatives, frame_text, paragraph_text
from fumishirube_documents.strict_packages import transitional


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
    shapes = SlideShapes()
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
        texts = [*shapes.lines(rest), *_notes(slide)]
        # A title with nothing below is the text of its section.
        headings.append(Heading(title, 1, len(lines), len(lines) + bool(texts)))
        lines += ["", *texts, ""]
    text = "".join(f"{line}\n" for line in lines)
    sections = tuple(divide_at_headings(text, headings, None))
    return Document("", "pptx", text, sections, places=tuple(places), remarks=tuple(remarks))


def _notes(slide: Any) -> Iterator[str]:
    if not slide.has_notes_slide:
        return
    choose_alternatives(slide.notes_slide.element)
    frame = slide.notes_slide.notes_text_frame
    if notes := [*filter(None, map(paragraph_text, frame.paragraphs if frame else ()))]:
        yield from ("", "Notes:", *notes)
