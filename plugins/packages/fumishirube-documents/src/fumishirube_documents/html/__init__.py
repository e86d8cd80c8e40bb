"""Web pages as Markdown, divided at their headings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fumishirube import Document, divide_at_headings
from fumishirube_documents.html.encoding import text_of
from fumishirube_documents.html.page import read


def parsed_html(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a web page; only its main part, if it has one.

    Raises:
        Unreadable: when its encoding is unknown.
    """
    page = read(text_of(data), settings["ignored"], anchors=settings["anchors"])
    sections = tuple(divide_at_headings(page.text, page.headings, page.title or name))
    return Document("", "html", page.text, sections)
