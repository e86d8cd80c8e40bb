"""Web pages as Markdown, divided at their headings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fumishirube import Document, LoaderRemark, Unreadable, divide_at_headings
from fumishirube_documents.html.encoding import text_of
from fumishirube_documents.html.main_text import main_text
from fumishirube_documents.html.page import HtmlPage, read
from fumishirube_documents.signatures import check_type


def parsed_html(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a web page; only its main part, if it marks one or ``main_text`` finds one.

    Raises:
        Unreadable: when it is a file of another format, its encoding is unknown, or it shows no
            text.
    """
    check_type(data, "a web page")
    markup = text_of(data)
    page = read(markup, settings["ignored"], anchors=settings["anchors"])
    if not page.text.strip():
        raise Unreadable("it shows no text without its scripts or frames", "empty")
    if settings["main_text"] and not page.marked:
        page = main_text(page, markup)
    sections = tuple(divide_at_headings(page.text, page.headings, page.title or name))
    return Document("", "html", page.text, sections, remarks=tuple(_remarks(page)))


def _remarks(page: HtmlPage) -> Iterator[LoaderRemark]:
    before, after = page.left_out
    if before or after:
        message = f"lines left out beside the main text: {before} before it, {after} after it"
        yield LoaderRemark("beside_main_text", 1, message)
