"""The lines of a range that are shown: in full, or up to the end of a sentence."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from fumishirube import Document, Section
from fumishirube.text import Lines
from fumishirube_manual.evidence.code_blocks import code_lines

_SENTENCE_END = re.compile(r"[。！？][」』）】]*|[.!?](?=\s)")


class ShownLines(NamedTuple):
    """The shown part of a range: numbered lines, the first line of the rest, and omitted code.

    ``cut_at`` is the offset in the document at which a line goes on that is shown in part.
    """

    lines: tuple[tuple[int, str], ...]
    next_line: int | None = None
    cut_at: int | None = None
    code: int = 0


def shown_lines(
    document: Document, lines: Lines, numbers: range, most: int, *, code: bool
) -> ShownLines:
    """Return the lines that fit, without blank ones; of an overlong first one, its beginning."""
    omitted = () if code else _code(document, lines, numbers)
    shown: list[tuple[int, str]] = []
    left, hidden = most, 0
    for number in numbers:
        line = _line(document, lines, number)
        if number in omitted:
            hidden += 1
            continue
        if len(line) > left:
            cut_at = None
            if not shown:
                end = _end(line, most)
                shown.append((number, f"{line[:end]}…"))
                cut_at = lines.start(number) + end
            return ShownLines(tuple(shown), number, cut_at, hidden)
        if line.strip():
            shown.append((number, line))
            left -= len(line)
    return ShownLines(tuple(shown), code=hidden)


def enclosing_section(document: Document, line: int) -> Section | None:
    """Return the section that contains a line: the last one that begins at or above it."""
    return next((s for s in reversed(document.sections) if s.start_line <= line), None)


def _code(document: Document, lines: Lines, numbers: range) -> Collection[int]:
    """Return which lines belong to code, which may begin above the range in its section."""
    section = enclosing_section(document, numbers.start)
    top = section.start_line if section is not None else 1
    texts = [_line(document, lines, number) for number in range(top, numbers.stop)]
    return {number for number, is_code in enumerate(code_lines(texts), top) if is_code}


def _line(document: Document, lines: Lines, number: int) -> str:
    return document.text[lines.start(number) : lines.start(number + 1)].rstrip("\r\n")


def _end(line: str, most: int) -> int:
    """Return where the beginning of an overlong line ends, after a sentence if it has one."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line, 0, most)]
    return ends[-1] if ends else most
