"""Finds running heads and page numbers, which repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from fumishirube_documents.pdf_lines import PdfLine

_EDGE_LINES = 2
"""The number of lines at the top and bottom of a page that may be running heads."""
_LEAST_PAGES, _LEAST_SHARE = 3, 0.25
_EDGE_SHARE = 0.15
"""The share of a page's height, at the top and at the bottom, with running heads."""
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMBER = re.compile(r"\d{1,5}")


class PdfPage(NamedTuple):
    """A page: its number from 1, its printed label, its height, and its lines.

    ``beyond`` is the number of its lines that are beyond its edges, at least in part, and left out;
    a page that draws nothing is ``blank``.
    """

    number: int
    label: str | None
    height: float
    lines: list[PdfLine]
    beyond: int = 0
    blank: bool = False


class RunningHeads(NamedTuple):
    """The keys of the running heads of a document."""

    keys: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, pages: Sequence[PdfPage]) -> RunningHeads:
        """Return the lines that repeat on many pages.

        Such a line is near an edge, at the same height on each page, numbers aside; or it is the
        outermost line, at any height, and a number in it counts the pages.
        """
        counts = Counter[Hashable]()
        for page in pages:
            counts.update({_fixed_key(line) for line in _edges(page)})
            counts.update({key for line in _outermost(page) for key in _counting_keys(page, line)})
        least = max(_LEAST_PAGES, _LEAST_SHARE * sum(1 for page in pages if page.lines))
        return cls(frozenset(key for key, count in counts.items() if count >= least))

    def body(self, page: PdfPage) -> list[PdfLine]:
        """Return the lines of a page without its running heads."""
        if not self.keys:
            return page.lines
        outermost = _outermost(page)
        return [
            line
            for line in page.lines
            if not line.size
            or not (
                _fixed_key(line) in self.keys
                or (line in outermost and not self.keys.isdisjoint(_counting_keys(page, line)))
            )
        ]

    def texts(self) -> list[str]:
        """Return the running heads, with ``#`` for numbers, sorted."""
        texts = (key[0] for key in self.keys if isinstance(key, tuple))
        return sorted({_DIGITS.sub("#", text) for text in texts})


def _edges(page: PdfPage) -> list[PdfLine]:
    """Return the first and last lines near the edges, ordered by height."""
    placed = _placed(page)
    outer = [*placed[:_EDGE_LINES], *placed[-_EDGE_LINES:]]
    low, high = _EDGE_SHARE * page.height, (1 - _EDGE_SHARE) * page.height
    return [line for line in outer if line.top < low or line.bottom > high]


def _outermost(page: PdfPage) -> list[PdfLine]:
    placed = _placed(page)
    return [*placed[:1], *placed[-1:]]


def _placed(page: PdfPage) -> list[PdfLine]:
    return sorted((line for line in page.lines if line.size), key=lambda line: -line.top)


def _fixed_key(line: PdfLine) -> Hashable:
    """Return the text of a line without numbers, and its height."""
    return _DIGITS.sub("#", line.text.lower()), round(line.bottom / 4)


def _counting_keys(page: PdfPage, line: PdfLine) -> Iterator[Hashable]:
    """Yield for each number its text around it, and how far it is from the page's own number."""
    text = line.text.lower()
    for match in _NUMBER.finditer(text):
        around = f"{text[: match.start()]}#{text[match.end() :]}"
        yield around, "pages", int(match[0]) - page.number
