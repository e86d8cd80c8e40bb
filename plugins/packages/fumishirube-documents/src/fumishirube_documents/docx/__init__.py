"""Word documents as Markdown, divided at their headings."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import docx

from fumishirube import Document, divide_at_headings
from fumishirube_documents.docx.content import DocxReader
from fumishirube_documents.docx.left_out import left_out
from fumishirube_documents.locked_office import unlocked_package
from fumishirube_documents.packages import check_package
from fumishirube_documents.strict_packages import transitional


def parsed_docx(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a Word document.

    Raises:
        Unreadable: when it is too large, locked, or not a Word document.
    """
    data = unlocked_package(data, settings["passwords"], ".docx")
    check_package(data, settings["unpacked_bytes"], "a Word document")
    document = docx.Document(BytesIO(transitional(data)))
    content = DocxReader(document).read()
    title = content.title or name
    sections = tuple(divide_at_headings(content.text, content.headings, title))
    return Document("", "docx", content.text, sections, remarks=tuple(left_out(document)))
