"""A glimpse of a section: the lines that hold most of the words that matched."""

from __future__ import annotations

from collections.abc import Sequence

from fumishirube import Document, Root, TraceRow
from fumishirube.commands import clipped, digest, strip_controls, width
from fumishirube.text import Lines, decode, fold

LINES = 2


def body_of(row: TraceRow, folder: Root) -> str | None:
    """Return what follows a section's heading, read from the manual's folder.

    ``None`` when that takes a loader: the file holds something else than the section's text, or
    its first line more than the title.

    Raises:
        ToolError: when the file cannot be read.
    """
    text = decode(folder.read_bytes(row.path))
    lines = Lines(text)
    if row.end_line > lines.total:
        return None
    own = text[lines.start(row.start_line) : lines.start(row.end_line + 1)]
    heading, _, body = own.partition("\n")
    alone = fold(heading.strip("# \t")) == fold(row.title)
    return body.strip() or own if alone and digest(own) == row.digest else None


def body_in(document: Document, start_line: int) -> str:
    """Return what follows a section's heading; all of the section when nothing does."""
    section = next(
        (candidate for candidate in document.sections if candidate.start_line == start_line), None
    )
    if section is None:
        return ""
    body = document.text[section.body : section.end] if section.searched is None else ""
    return body.strip() or document.text[section.start : section.end]


def snippet_lines(title: str, body: str, matched: Sequence[str], columns: int) -> list[str]:
    """Return the first lines of a section, or those from its best match on, cut to a width."""
    lines = [strip_controls(line).strip() for line in body.splitlines()]
    folded = fold(title)
    lines = [line for line in lines if any(map(str.isalnum, line)) and fold(line) != folded]
    first, offset = _best(lines, matched)
    shown = [_window(lines[first], offset, columns)] if lines else []
    return shown + [clipped(line, columns) for line in lines[first + 1 : first + LINES]]


def _best(lines: Sequence[str], matched: Sequence[str]) -> tuple[int, int]:
    """Return the first line that holds the most of what matched, and the offset of one of it."""
    matches = [[span for span in matched if span in folded] for folded in map(fold, lines)]
    number = max(range(len(lines)), key=lambda n: len(matches[n]), default=0)
    if not lines or not matches[number]:
        return 0, 0
    return number, min(_offset(lines[number], span) for span in matches[number])


def _offset(line: str, span: str) -> int:
    """Return where a folded span ends in a line, by halving: folding keeps the order of text."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high) // 2
        if span in fold(line[:middle]):
            high = middle
        else:
            low = middle + 1
    return max(0, low - len(span))


def _window(line: str, offset: int, columns: int) -> str:
    """Return the part of a line that shows the match, some way in from its left edge."""
    if width(line[:offset]) < columns * 2 // 3:
        return clipped(line, columns)
    start, before = offset, columns // 3
    while start > 0 and before > 0:
        start -= 1
        before -= width(line[start])
    return "…" + clipped(line[start:], columns - 1)
