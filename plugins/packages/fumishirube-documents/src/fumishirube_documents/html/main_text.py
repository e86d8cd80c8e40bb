"""Finds the main text of a web page that does not mark it, with trafilatura."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fumishirube_documents.html.page import HtmlPage

_LEAST_TEXT = 250
"""The least number of letters of a main text; where fewer are found the page is read whole."""
_LEAST_LINE = 20
"""The least number of bytes of a line that begins or ends the main text."""
_NO_LETTERS = re.compile(r"[\W_]+")
_ANCHOR = re.compile(r" \{#\S+\}$")


def main_text(page: HtmlPage, markup: str) -> HtmlPage:
    """Return a page from the first to the last line of its main text.

    Nothing between them is left out, so that tables, code and lists stay. Where trafilatura finds
    no text, the page is returned as it is.
    """
    import trafilatura  # noqa: PLC0415 - it takes a quarter of a second, and is not needed often

    extracted = trafilatura.extract(markup, include_comments=False, favor_recall=True)
    letters = _letters(extracted or "")
    if len(letters) < _LEAST_TEXT:
        return page
    lines = page.text.split("\n")
    first = next((number for number, line in enumerate(lines) if _is_in(line, letters)), None)
    if first is None:
        return page
    last = next(number for number in range(len(lines), 0, -1) if _is_in(lines[number - 1], letters))
    return _part(page, lines, _with_heading(page, first + 1), last)


def _is_in(line: str, letters: str) -> bool:
    own = _letters(_ANCHOR.sub("", line))
    return len(own.encode()) >= _LEAST_LINE and own in letters


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _with_heading(page: HtmlPage, first: int) -> int:
    """Return the line of the heading directly above a line, or that line."""
    above = [heading.line for heading in page.headings if first - 2 <= heading.line < first]
    return min(above, default=first)


def _part(page: HtmlPage, lines: Sequence[str], first: int, last: int) -> HtmlPage:
    above = first - 1
    headings = [
        heading._replace(line=heading.line - above, below=heading.below - above)
        for heading in page.headings
        if first <= heading.line <= last
    ]
    return HtmlPage("".join(f"{line}\n" for line in lines[above:last]), headings, page.title)
