"""Converts a web page to Markdown blocks, as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import NamedTuple

from lxml import etree

from fumishirube import Heading
from fumishirube_documents.html.blocks import Block
from fumishirube_documents.html.page_reader import PageReader

_DECLARATIONS = re.compile(
    r"(\s*(?:<\?[^>]*>\s*)?(?:<!--.*?-->\s*)?<!doctype[^>\[]*)\[", re.IGNORECASE | re.DOTALL
)
_DECLARATIONS_END = re.compile(r"\](?=\s*>)")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_MAIN_PARTS = {
    "main": r"<main[\s>]",
    "role=main": r"<\w+\s[^<>]*\brole\s*=\s*[\"']?main\b",
    "article": r"<article[\s>]",
}
"""What marks the main part of a page, the surest first, and how its beginning is known."""


class HtmlPage(NamedTuple):
    """The text of a page, its headings, the title in its head, and whether it is a marked part.

    ``left_out`` is the number of its lines before and after the text, where these were cut off.
    """

    text: str
    headings: Sequence[Heading]
    title: str
    marked: bool = False
    blocks: Sequence[Block] = ()
    left_out: tuple[int, int] = (0, 0)


def read(markup: str, ignored: Sequence[str], *, anchors: bool) -> HtmlPage:
    """Convert a page; any input gives a result.

    Where the page has exactly one ``main`` element, or else one in that role, or else one article,
    with text in it, the rest is left out.
    """
    markup = _without_declarations(markup)
    if markup.lstrip().startswith("<?xml"):  # libxml2 takes these for comments, as HTML does
        markup = _CDATA.sub(lambda match: escape(match[1], quote=False), markup)
    for main, beginning in _MAIN_PARTS.items():
        if len(re.findall(beginning, markup, re.IGNORECASE)) == 1:
            page = _read(markup, ignored, main, anchors=anchors)
            if page.text:
                return page._replace(marked=True)
    return _read(markup, ignored, "", anchors=anchors)


def _without_declarations(markup: str) -> str:
    """Return a page without what its doctype declares, which libxml2 takes for text."""
    begin = _DECLARATIONS.match(markup)
    end = _DECLARATIONS_END.search(markup, begin.end()) if begin else None
    return f"{begin[1]}{markup[end.end() :]}" if begin and end else markup


def _read(markup: str, ignored: Sequence[str], main: str, *, anchors: bool) -> HtmlPage:
    reader = PageReader(frozenset(ignored), main, anchors=anchors)
    parser = etree.HTMLParser(target=reader)
    parser.feed(markup)
    with suppress(etree.XMLSyntaxError):  # a page without any element or text
        parser.close()
    reader.finish()
    text = "\n".join(reader.lines)
    return HtmlPage(
        f"{text}\n" if text else "", reader.headings, reader.title, blocks=reader.blocks.written
    )
