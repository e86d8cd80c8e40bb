"""Divides text into sections: whole files, passages of some lines, or at headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fumishirube import Heading, Section, divide_at_headings
from fumishirube.text import Lines

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = ("", "+")
PASSAGE_LINES, PASSAGE_CHARS = 30, 1_500
"""The most lines and characters of a passage; a single longer line is still one passage."""
MOST_STEPS = 500_000
"""The most parser steps for a document, about four seconds of work."""


def whole(text: str, title: str, searched: str | None = None) -> tuple[Section]:
    """Return a file as one section."""
    section = Section(
        title=without_surrogates(title),
        start_line=1,
        end_line=Lines(text).total,
        start=0,
        end=len(text),
        extent=len(text),
        body=0,
        searched=None if searched is None else without_surrogates(searched),
    )
    return (section,)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON escapes can produce, with U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def passage_starts(text: str, lines: Lines, first: int = 1, last: int | None = None) -> list[int]:
    """Return the first lines of the passages between two lines.

    A passage ends at the last blank line that leaves it at least half full, or where it is full.
    ``+`` between paragraphs of AsciiDoc counts as blank.
    """
    last = lines.total if last is None else last
    starts, blank = [first], 0
    line = first
    while line <= last:
        size = lines.start(line + 1) - lines.start(starts[-1])
        if line > starts[-1] and (line - starts[-1] >= PASSAGE_LINES or size > PASSAGE_CHARS):
            roomy = 2 * (lines.start(blank + 1) - lines.start(starts[-1])) if blank else 0
            half_full = roomy >= PASSAGE_CHARS or 2 * (blank + 1 - starts[-1]) >= PASSAGE_LINES
            starts.append(blank + 1 if half_full and starts[-1] < blank + 1 <= line else line)
            blank, line = 0, starts[-1]
            continue
        if text[lines.start(line) : lines.start(line + 1)].strip() in _BREAKS:
            blank = line
        line += 1
    # A blank passage belongs to the one before.
    bounds = pairwise([*starts, last + 1])
    filled = [start for start, end in bounds if text[lines.start(start) : lines.start(end)].strip()]
    return [starts[0], *filled[1:]]


def sections_at(
    text: str, lines: Lines, starts: Sequence[int], titles: Sequence[str], *ancestors: str
) -> tuple[Section, ...]:
    """Return a section from each of these lines to the next, the first from offset 0."""
    bounds = [0, *(lines.start(start) for start in starts[1:]), len(text)]
    return tuple(
        Section(
            title=title,
            start_line=lines.at(start),
            end_line=lines.at(max(start, end - 1)),
            start=start,
            end=end,
            extent=end,
            body=start,
            ancestors=ancestors,
        )
        for title, (start, end) in zip(titles, pairwise(bounds), strict=True)
    )


def passages(text: str, title: str) -> tuple[Section, ...]:
    """Divide a text into passages, all with the same title."""
    lines = Lines(text)
    starts = passage_starts(text, lines)
    return sections_at(text, lines, starts, [title] * len(starts))


def divided(text: str, headings: Sequence[Heading], title: str) -> tuple[Section, ...]:
    """Divide a text at its headings, and long sections into passages.

    Those are sections of the same title, below that of the heading.
    """
    lines = Lines(text)
    further = [*_continued(text, headings, title, lines)]
    both = sorted([*headings, *further], key=lambda heading: heading.line)
    return tuple(divide_at_headings(text, both, title, lines=lines))


def _continued(
    text: str, headings: Sequence[Heading], title: str, lines: Lines
) -> Iterator[Heading]:
    """Yield the starts of the second and later passages below a heading."""
    above = Heading(title, 1, 1, 1)
    begins = headings if headings and headings[0].line == 1 else [above, *headings]
    ends = [*(heading.line for heading in begins[1:]), lines.total + 1]
    for heading, end in zip(begins, ends, strict=True):
        for start in passage_starts(text, lines, heading.line, end - 1)[1:]:
            # Text above the first heading has no parent section.
            level = 1 if heading is above else heading.level + 1
            if start >= heading.below:  # a title may be long, with long rules around it
                yield Heading(heading.title, level, start, start)
