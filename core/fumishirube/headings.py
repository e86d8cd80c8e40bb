"""Dividing a text at its headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube.model import Section
from fumishirube.text.folding import Lines


class Heading(NamedTuple):
    """A heading: its line, counted from 1, and the first line below it."""

    title: str
    level: int
    line: int
    below: int


def divide_at_headings(
    text: str,
    headings: Sequence[Heading],
    title: str,
    body: int = 0,
    lines: Lines | None = None,
) -> Iterator[Section]:
    """Yield the sections of a text: what stands before the first heading, then a heading each.

    What stands before is called by the ``title``, and so is a text without headings; its body
    begins at an offset of its own, such as the end of front matter.
    """
    lines = lines or Lines(text)
    first = lines.start(headings[0].line) if headings else len(text)
    if not headings or text[:first].strip():
        last_line = lines.at(first - 1) if first else 1
        yield Section(title, 1, last_line, 0, first, first, body)
    yield from heading_sections(text, headings, lines)


def heading_sections(text: str, headings: Sequence[Heading], lines: Lines) -> Iterator[Section]:
    """Yield the section that each heading opens; deeper ones inside it have it as an ancestor."""
    starts = [*(lines.start(heading.line) for heading in headings), len(text)]
    extents = _extents([heading.level for heading in headings], starts)
    enclosing: list[Heading] = []
    for heading, (start, end), extent in zip(headings, pairwise(starts), extents, strict=True):
        while enclosing and enclosing[-1].level >= heading.level:
            enclosing.pop()
        yield Section(
            title=heading.title,
            start_line=heading.line,
            end_line=lines.at(end - 1),
            start=start,
            end=end,
            extent=extent,
            body=lines.start(heading.below),
            level=heading.level,
            ancestors=tuple(above.title for above in enclosing),
        )
        enclosing.append(heading)


def _extents(levels: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Return, for each heading, where the next of the same or a higher level begins."""
    extents = [starts[-1]] * len(levels)
    waiting: list[int] = []
    for index, level in enumerate(levels):
        while waiting and levels[waiting[-1]] >= level:
            extents[waiting.pop()] = starts[index]
        waiting.append(index)
    return extents
