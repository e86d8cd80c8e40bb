"""Word documents, made anew."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
from docx.document import Document as Word
from docx.oxml.parser import parse_xml

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(write: Callable[[Word], object]) -> bytes:
    """Return the bytes of a document that somebody writes."""
    document = docx.Document()
    write(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def body(*elements: str) -> Callable[[Word], object]:
    """Write a document of paragraphs and tables in Word's own XML."""

    def write(document: Word) -> None:
        for element in elements:
            made = parse_xml(element.replace(">", f" {W}>", 1).replace("/ " + W, " " + W + "/"))
            document.element.body.insert(len(document.element.body) - 1, made)

    return write
