"""Puts lines of vertical writing in order: they are read from right to left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fumishirube.text import is_cjk
from fumishirube_documents.pdf_lines import PdfLine

_HIGHER = 2.0
"""How much higher than wide a line of vertical writing is."""


def is_vertical(line: PdfLine) -> bool:
    """Return whether a line is written from top to bottom."""
    high = line.top - line.bottom > _HIGHER * (line.right - line.left)
    return high and any(map(is_cjk, line.text))


def middle(line: PdfLine) -> float:
    """Return where a line of vertical writing stands, which its letters do not change."""
    return (line.left + line.right) / 2


def from_the_right(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the lines; vertical ones beside each other, of which PDFium began with the left one.

    It does so on pages with little text.
    """
    group: list[PdfLine] = []
    for line in lines:
        if group and not (_may_be_vertical(line) and _are_beside(group[-1], line)):
            yield from _in_order(group)
            group = []
        if _may_be_vertical(line):
            group.append(line)
        else:
            yield line
    yield from _in_order(group)


def _in_order(group: list[PdfLine]) -> list[PdfLine]:
    ascending = all(middle(line) < middle(following) for line, following in pairwise(group))
    return group[::-1] if ascending and any(map(is_vertical, group)) else group


def _may_be_vertical(line: PdfLine) -> bool:
    return is_vertical(line) or (len(line.text) == 1 and is_cjk(line.text))


def _are_beside(line: PdfLine, other: PdfLine) -> bool:
    return line.bottom < other.top and other.bottom < line.top
