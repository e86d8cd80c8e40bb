"""Finds running heads and page numbers, which repeat from page to page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import NamedTuple

from fumishirube_documents.pdf_lines import PdfLine, share_width

_EDGE_LINES = 2
"""The number of lines at the top and bottom of a page that may be running heads."""
_LEAST_PAGES, _LEAST_SHARE = 3, 0.25
_LARGER, _LEAST_LARGE = 1.3, 0.6
"""How much larger than the text a line in large letters is, and on which share of pages it is."""
_EDGE_SHARE = 0.15
"""The share of a page's height, at the top and at the bottom, with running heads."""
_SERIES = 3
"""The number of lines of a page that differ in their numbers only, from which they are a list."""
_ROW_STEP = 2.5
"""The most distance of a row from that above it, in letter sizes."""
_SHARED_COLUMNS = 2
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMBER = re.compile(r"\d{1,5}")
_AMOUNT = re.compile(r"[\d.,]+")
_SIGNS = r"[^\w,#]*"
_PAGE_NUMBER = re.compile(
    rf"{_SIGNS}(?:(?:p|pg|page|seite|第){_SIGNS})?#"
    rf"(?:{_SIGNS}(?:(?:of|von){_SIGNS})?#)?{_SIGNS}(?:(?:ページ|頁){_SIGNS})?"
)
"""What a line may say beside the number of its page, and the number of pages."""


class PdfPage(NamedTuple):
    """A page: its number from 1, its printed label, its height, and its lines.

    ``beyond`` is the number of its lines that are beyond its edges, at least in part, and left out;
    a page that draws nothing is ``blank``, and one that pictures cover ``pictured``. The lines of a
    ``scanned`` page were read from its picture.
    """

    number: int
    label: str | None
    height: float
    lines: list[PdfLine]
    beyond: int = 0
    blank: bool = False
    pictured: bool = False
    scanned: bool = False


class RunningHeads(NamedTuple):
    """The keys of the running heads of a document."""

    keys: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, pages: Sequence[PdfPage]) -> RunningHeads:
        """Return the lines that repeat on many pages.

        Such a line is near an edge, at the same height on each page, numbers aside; or it is the
        outermost line, at any height, and a number in it counts the pages. One in larger letters
        than the text says the same on most pages; others are titles.
        """
        fixed = defaultdict[Hashable, list[_Edge]](list)
        counts = Counter[Hashable]()
        for page in pages:
            edges = [edge for edge in _edges(page) if not edge.listed]
            counts.update({key for edge in edges if edge.outermost for key in edge.counting_keys()})
            for key, edge in {each.fixed_key: each for each in edges if each.near}.items():
                fixed[key].append(edge)
        filled = sum(1 for page in pages if page.lines)
        least = max(_LEAST_PAGES, _LEAST_SHARE * filled)
        repeated = {
            key: edges
            for key, edges in fixed.items()
            if len(edges) >= (max(least, _LEAST_LARGE * filled) if edges[0].large else least)
        }
        heads = {key for key, edges in repeated.items() if _are_heads(edges, repeated.keys())}
        return cls(frozenset(heads | {key for key, count in counts.items() if count >= least}))

    def body(self, page: PdfPage) -> list[PdfLine]:
        """Return the lines of a page without its running heads."""
        if not self.keys:
            return page.lines
        heads = {id(edge.line) for edge in _edges(page) if self._hold(edge)}
        return [line for line in page.lines if id(line) not in heads]

    def texts(self) -> list[str]:
        """Return the running heads, with ``#`` for numbers, sorted."""
        texts = (key[0] for key in self.keys if isinstance(key, tuple))
        return sorted({_DIGITS.sub("#", text) for text in texts})

    def _hold(self, edge: _Edge) -> bool:
        fixed = edge.near and edge.fixed_key in self.keys
        return fixed or (edge.outermost and not self.keys.isdisjoint(edge.counting_keys()))


class _Edge(NamedTuple):
    """One of the first or last lines of a page, and the line beside it, away from the edge.

    It is ``near`` the edge of the page, or the ``outermost`` line, or both; a ``listed`` one is in
    a list or a table, for other lines of the page differ in their numbers only. A ``large`` one is
    in larger letters than most of the page, and no number of it.
    """

    page: PdfPage
    line: PdfLine
    inner: PdfLine | None
    near: bool
    outermost: bool
    listed: bool
    large: bool

    @property
    def fixed_key(self) -> Hashable:
        """Its text, without numbers unless it is large, and its height."""
        key = _fixed_key(self.line)
        return (self.line.text, key) if self.large else key

    def counting_keys(self) -> Iterator[Hashable]:
        """Yield for each number its text around it, and how far it is from the page's number."""
        text = "" if self.large else self.line.text.lower()
        for match in _NUMBER.finditer(text):
            around = f"{text[: match.start()]}#{text[match.end() :]}"
            yield around, "pages", int(match[0]) - self.page.number

    def distances(self) -> set[int]:
        """Return how far the numbers are from the page's number."""
        return {int(n) - self.page.number for n in _NUMBER.findall(self.line.text)}

    def is_in_table(self, repeated: Collection[Hashable]) -> bool:
        """Return whether the line is in one table with a line that does not repeat."""
        if self.inner is None or _fixed_key(self.inner) in repeated:
            return False
        upper, lower = sorted((self.line, self.inner), key=lambda line: -line.top)
        if upper.row or lower.row:
            return bool(upper.row) and lower.goes_on
        shared = sum(any(share_width(cell, other) for other in lower.cells) for cell in upper.cells)
        near = upper.bottom - lower.bottom < _ROW_STEP * max(upper.size, lower.size)
        return near and shared >= _SHARED_COLUMNS


def _edges(page: PdfPage) -> Iterator[_Edge]:
    """Yield the first and last lines of a page, and its watermarks, as if they were near."""
    placed = sorted((line for line in page.lines if line.size), key=lambda line: -line.top)
    series = Counter(map(_form, placed))
    low, high = _EDGE_SHARE * page.height, (1 - _EDGE_SHARE) * page.height
    last = len(placed) - 1
    sizes = Counter[int]()
    for line in placed:
        sizes[round(line.size)] += len(line.text)
    large = _LARGER * max(sizes, key=sizes.__getitem__, default=0)
    for place, line in enumerate(placed):
        is_large = line.size >= large and not _PAGE_NUMBER.fullmatch(_masked(line.text))
        watermark = line.slanted and is_large
        if min(place, last - place) >= _EDGE_LINES and not watermark:
            continue
        inner = place + 1 if 2 * place < last else place - 1
        yield _Edge(
            page,
            line,
            placed[inner] if 0 <= inner <= last and inner != place else None,
            watermark or line.top < low or line.bottom > high,
            place in {0, last},
            series[_form(line)] >= _SERIES,
            is_large,
        )


def _are_heads(edges: Sequence[_Edge], repeated: Collection[Hashable]) -> bool:
    """Return whether lines that are the same but for their numbers are running heads.

    Titles such as "Form 3" and the rows of tables are none, nor is the header of a table that goes
    on from page to page.
    """
    if 2 * sum(edge.is_in_table(repeated) for edge in edges) >= len(edges):
        return False
    texts = {edge.line.text for edge in edges}
    if 2 * len(texts) <= len(edges):
        return True
    counts = Counter(distance for edge in edges for distance in edge.distances())
    counting = max(counts.values(), default=0)
    numbers = all(_PAGE_NUMBER.fullmatch(_masked(text)) for text in texts)
    return numbers or 2 * counting >= len(edges)


def _fixed_key(line: PdfLine) -> Hashable:
    """Return the text of a line without numbers, and its height."""
    return _masked(line.text), round(line.bottom / 4)


def _masked(text: str) -> str:
    return _DIGITS.sub("#", text.lower())


def _form(line: PdfLine) -> str:
    return _AMOUNT.sub("#", line.text.lower())
