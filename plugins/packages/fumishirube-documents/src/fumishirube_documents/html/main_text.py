"""Finds the main text of a web page that does not mark it, with trafilatura."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence

from fumishirube_documents.html.blocks import Block
from fumishirube_documents.html.page import HtmlPage

_LEAST_TEXT = 250
"""The least number of letters of a main text; where fewer are found the page is read whole."""
_LEAST_LINE = 20
"""The least number of bytes of a line that begins or ends the main text."""
_NAVIGATION = 3
"""The least number of links to other pages, one after the other, that are navigation."""
_NO_LETTERS = re.compile(r"[\W_]+")
_ANCHOR = re.compile(r" \{#\S+\}$")


def main_text(page: HtmlPage, markup: str) -> HtmlPage:
    """Return a page without the navigation before and after its main text.

    From the first to the last line of the main text nothing is left out, nor what is beside it up
    to the next block of links to other pages or, after it, a footer. Lines before the first heading
    there are navigation too. Where trafilatura finds no text, the page is returned as it is.
    """
    import trafilatura  # noqa: PLC0415 - it takes a quarter of a second, and is not needed often

    extracted = trafilatura.extract(markup, include_comments=False, favor_recall=True)
    letters = _letters(extracted or "")
    if len(letters) < _LEAST_TEXT:
        return page
    lines = page.text.split("\n")
    first = next((number for number, line in enumerate(lines, 1) if _is_in(line, letters)), None)
    if first is None:
        return page
    last = next(number for number in range(len(lines), 0, -1) if _is_in(lines[number - 1], letters))
    return _part(page, lines, _begin(page, first), _end(page, last, len(lines)))


def _is_in(line: str, letters: str) -> bool:
    own = _letters(_ANCHOR.sub("", line))
    return len(own.encode()) >= _LEAST_LINE and own in letters


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _begin(page: HtmlPage, first: int) -> int:
    """Return the first line to read, if ``first`` is that of the main text."""
    *before, own = (block.line for block in page.blocks if block.line <= first)
    above = before[len(before) - _beside(reversed(page.blocks[: len(before)])) :]
    headings = {heading.line for heading in page.headings}
    return next((line for line in above if line in headings), own)


def _end(page: HtmlPage, last: int, lines: int) -> int:
    """Return the last line to read, if ``last`` is that of the main text."""
    below = [block for block in page.blocks if block.line > last]
    shown = itertools.takewhile(lambda block: not block.in_footer, below)
    beside = _beside(shown)
    headings = {heading.line for heading in page.headings}
    while beside and beside < len(below) and below[beside - 1].line in headings:
        beside -= 1  # the heading of what is left out
    return below[beside].line - 1 if beside < len(below) else lines


def _beside(blocks: Iterable[Block]) -> int:
    """Return how many blocks come before one of links to other pages."""
    run = links = number = 0
    for number, block in enumerate(blocks, 1):
        run, links = (run + 1, links + block.links) if block.links else (0, 0)
        if links >= _NAVIGATION:
            return number - run
    return number


def _part(page: HtmlPage, lines: Sequence[str], first: int, last: int) -> HtmlPage:
    above = first - 1
    headings = [
        heading._replace(line=heading.line - above, below=heading.below - above)
        for heading in page.headings
        if first <= heading.line <= last
    ]
    left_out = (sum(map(bool, lines[:above])), sum(map(bool, lines[last:])))
    text = "".join(f"{line}\n" for line in lines[above:last])
    return HtmlPage(f"{text.rstrip()}\n", headings, page.title, left_out=left_out)
