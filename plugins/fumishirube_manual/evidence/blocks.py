"""Lines that belong together: a row and its header, a list and its introduction, a passage."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice, takewhile

from fumishirube.text import wraps
from fumishirube_manual.evidence.code_blocks import code_start, inside_code, is_fence

_ROW = re.compile(r"\s*\|.*\|\s*$")
_ONE_CELL = re.compile(r"\s*\|[^|]*\|\s*$")
_ITEM = re.compile(
    r"\s*(?:>\s*)*(?:[-*+・●○■□◆▪•]|\d{1,3}[.)．]|[(（]?[0-9０-９①-⑳一二三四五六七八九十ア-ンa-z]{1,2}[)）])\s*\S"
)
_LEADS = re.compile(
    r"(?:[:：]|(?:次|以下|下記)[^。]{0,80}(?:。|です|ます)?|\bfollowing\b[^.]{0,80}\.)\s*(?:[*_]+\s*)?$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?:;。！？：；](?:[\"'”’」』）)*_`\]]|\s)*$")
_NO_SENTENCE = re.compile(r"\s*(?:\w[\w.-]{0,30}:(?:\s|$)|:\s|([-=*_~^#\"'+.])\1{2,}\s*$)")
"""The beginning of a line with a name and a value or a definition, and a rule or an underline."""
_OPEN = re.compile(r"[(\[{,\\]\s*$")
_STATEMENT = 3
_DEEPEST = 12
"""The greatest indentation that is compared: deeper lines count as indented by this much."""
_HEADING = re.compile(
    r"\s*(?:第\s*[0-9０-９一二三四五六七八九十]+\s*[章節条項]|r\[[^\]]+\]\s*$|\*\*[^*]+\*\*\s*$)"
)
_OBJECT_END = re.compile(r"\s*\}[,;]?\s*$")
"""The last line of an object of JSON, or of a block of code."""
_LONGEST = 1_300
"""The most characters of a passage."""


def is_row(line: str) -> bool:
    """Tell whether a line is a row of a table."""
    return bool(_ROW.match(line))


def is_item(line: str) -> bool:
    """Tell whether a line begins an item of a list."""
    return bool(_ITEM.match(line))


def lists_and_tables(lines: Sequence[str]) -> Iterator[range]:
    """Yield the ranges of consecutive rows, and of consecutive items with one indentation."""
    for kind, numbers in groupby(range(len(lines)), key=lambda at: _kind(lines[at])):
        if kind is not None:
            first, *others = numbers
            yield range(first, first + 1 + len(others))


def _kind(line: str) -> str | int | None:
    if is_row(line):
        return "row"
    return indentation(line) if is_item(line) else None


def sentence_goes_on(line: str, following: str) -> bool:
    """Tell whether a sentence of a line of text goes on in the next one: the text is wrapped."""
    return (
        bool(following.strip())
        and not _SENTENCE_END.search(line)
        and not _NO_SENTENCE.match(following)
        and wraps(line, following)
    )


def leads(line: str) -> bool:
    """Tell whether a line introduces the list or the text that follows it."""
    return bool(_LEADS.search(line))


def related(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the lines that belong to a line, the most closely related first.

    For a row of a table, that is the header, and for the header the rows. In code it is the rest of
    the statement, then the lines around it. In a list it is what is indented below the item, the
    introduction of the list, and its items. In other text it is the paragraph, with the list or the
    text that it introduces.
    """
    if is_row(lines[at]):
        yield from header_or_rows(lines, at)
    elif inside_code(lines[: at + 1])[at]:
        yield from _statement(lines, at)
        yield from _before_code(lines, at)
        yield from _paragraph(lines, at)
    elif is_item(lines[at]):
        yield from _continued(lines, at)
        yield from _lead(lines, at)
        yield from _items(lines, at)
    else:
        yield from _paragraph(lines, at)
        end = at
        while end + 1 < len(lines) and lines[end + 1].strip():
            end += 1
        below = (place for place in range(end + 1, len(lines)) if lines[place].strip())
        following = next(below, None)
        if following is not None and is_item(lines[following]):
            yield following
            yield from _items(lines, following)
        elif following is not None and leads(lines[end]):
            yield following
            yield from _paragraph(lines, following)


def header_or_rows(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the header of the table of a row; for the header itself, yield the rows."""
    top = at
    while top and is_row(lines[top - 1]):
        top -= 1
    if not _ONE_CELL.match(lines[at]):
        top = _below_titles(lines, range(top, at + 1))
    if top != at:
        yield top
        return
    for place in range(at + 1, len(lines)):
        if not is_row(lines[place]):
            return
        if any(map(str.isalnum, lines[place])):
            yield place


def headers(lines: Sequence[str], rows: Collection[int]) -> Iterator[int]:
    """Yield the headers of some rows, as :func:`related` does, reading each table once."""
    tables = (each for each in lists_and_tables(lines) if is_row(lines[each.start]))
    for table in tables if rows else ():
        named = _below_titles(lines, table)
        for at in table:
            header = table.start if _ONE_CELL.match(lines[at]) else named
            if at in rows and header < at:
                yield header


def _below_titles(lines: Sequence[str], table: range) -> int:
    """Return the header of the rows with several cells; rows of one above it are titles."""
    return next((at for at in table if not _ONE_CELL.match(lines[at])), table.start)


def _statement(lines: Sequence[str], at: int) -> Iterator[int]:
    for end in range(at, min(at + _STATEMENT, len(lines) - 1)):
        if not _OPEN.search(lines[end]):
            return
        yield end + 1


def _before_code(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the last line before a block of code, which may introduce it."""
    above = (place for place in range(code_start(lines, at) - 1, -1, -1) if lines[place].strip())
    yield from islice(above, 1)


def _paragraph(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the lines around a line up to a blank line, a fence, or one that is indented less."""
    indent = indentation(lines[at])
    first = last = at
    while first or last + 1 < len(lines):
        before = first and _joins(lines[first - 1], indent)
        after = last + 1 < len(lines) and _joins(lines[last + 1], indent)
        if after:
            last += 1
            yield last
        if before:
            first -= 1
            yield first
        if not before and not after:
            return


def _joins(line: str, indent: int) -> bool:
    return bool(line.strip()) and not is_fence(line) and indentation(line) >= min(indent, _DEEPEST)


def _continued(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the lines that are indented below an item."""
    indent = indentation(lines[at])
    for place in range(at + 1, len(lines)):
        line = lines[place]
        if line.strip() and (indentation(line) <= indent or is_fence(line)):
            return
        if line.strip():
            yield place


def _lead(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the last line before a list, which may introduce it."""
    above = (place for place in range(at - 1, -1, -1) if lines[place].strip())
    yield from islice((place for place in above if not _in_list(lines[place])), 1)


def _items(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the rest of a list: the lines after an item, then those before it."""
    for direction in (range(at + 1, len(lines)), range(at - 1, -1, -1)):
        filled = (place for place in direction if lines[place].strip())
        yield from takewhile(lambda place: _in_list(lines[place]), filled)


def _in_list(line: str) -> bool:
    """Tell whether a line of a list is an item, or indented below one."""
    return is_item(line) or indentation(line) > 0


def indentation(line: str) -> int:
    """Return the number of white-space characters at the beginning of a line."""
    return len(line) - len(line.lstrip())


def passages(lines: Sequence[str]) -> Iterator[range]:
    """Yield the passages of a text as ranges of its lines.

    A passage reaches from a line like a heading to the next one. Elsewhere it is a paragraph, and
    a paragraph that introduces the next block is joined to it. A passage of more than about 1,300
    characters is divided: a table or a list into its rows or items, others at the end of a line.
    """
    current = range(0)
    for block in _blocks(lines):
        if current and not _joined(lines, current, block):
            yield from _divided(lines, current)
            current = range(0)
        current = range(current.start if current else block.start, block.stop)
    if current:
        yield from _divided(lines, current)


def _joined(lines: Sequence[str], current: range, block: range) -> bool:
    size = sum(len(lines[at]) for at in range(current.start, block.stop))
    if size > _LONGEST or _HEADING.match(lines[block.start]):
        return False
    return bool(_HEADING.match(lines[current.start])) or leads(lines[current.stop - 1])


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
