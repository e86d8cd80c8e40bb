"""Passages of a section: paragraphs, lists, tables and code, with their introductions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fumishirube_manual.evidence.blocks import indentation, is_item, is_row, leads
from fumishirube_manual.evidence.code_blocks import inside_code

_HEADING = re.compile(
    r"\s*(?:第\s*[0-9０-９一二三四五六七八九十]+\s*[章節条項]|r\[[^\]]+\]\s*$|\*\*[^*]+\*\*\s*$)"
)
_OBJECT_END = re.compile(r"\s*\}[,;]?\s*$")
"""The last line of an object of JSON, or of a block of code."""
_LONGEST = 1_300
"""The most characters of a passage."""


def passages(lines: Sequence[str]) -> Iterator[range]:
    """Yield the passages of a text as ranges of its lines.

    A passage reaches from a line like a heading to the next one. Elsewhere it is a paragraph, and
    a paragraph that introduces the next block is joined to it. A passage of more than about 1,300
    characters is divided: a table or a list into its rows or items, others at the end of a line.
    """
    current: range | None = None
    for block in _blocks(lines):
        if current is None:
            current = block
        elif _joined(lines, current, block):
            current = range(current.start, block.stop)
        else:
            yield from _divided(lines, current)
            current = block
    if current is not None:
        yield from _divided(lines, current)


def _joined(lines: Sequence[str], current: range, block: range) -> bool:
    if _HEADING.match(lines[block.start]):
        return False
    size = sum(len(lines[at]) for at in range(current.start, block.stop))
    if size > _LONGEST:
        return False
    if _HEADING.match(lines[current.start]):
        return True
    return leads(lines[current.stop - 1])


def _blocks(lines: Sequence[str]) -> Iterator[range]:
    """Yield the blocks between blank lines: fenced code is undivided, and ``}`` ends a block."""
    first: int | None = None
    for at, (line, in_code) in enumerate(zip(lines, inside_code(lines), strict=True)):
        if line.strip() or in_code:
            first = at if first is None else first
        elif first is not None:
            yield range(first, at)
            first = None
        if first is not None and not in_code and _OBJECT_END.match(line):
            yield range(first, at + 1)
            first = None
    if first is not None:
        yield range(first, len(lines))


def _divided(lines: Sequence[str], passage: range) -> Iterator[range]:
    if sum(len(lines[at]) for at in passage) <= _LONGEST:
        yield passage
        return
    members = [at for at in passage if is_row(lines[at]) or is_item(lines[at])]
    if 2 * len(members) > len(passage):
        outer = min(indentation(lines[at]) for at in members)
        starts = [at for at in members[1:] if indentation(lines[at]) == outer]
    else:
        starts = [*_ends(lines, passage)]
    yield from map(range, [passage.start, *starts], [*starts, passage.stop])


def _ends(lines: Sequence[str], passage: range) -> Iterator[int]:
    """Yield the lines before which a long passage is divided."""
    size = 0
    for at in passage:
        if size and size + len(lines[at]) > _LONGEST:
            yield at
            size = 0
        size += len(lines[at])
