"""Joins the parts of a line, the lines of a divided cell, and the parts of a divided word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fumishirube_documents.pdf_lines import (
    DIVIDED,
    WIDE_GAP,
    Cell,
    PdfLine,
    beside,
    continued,
    share_width,
)

_SAME_LINE = 0.4
_SAME_PLACE = 0.1
"""By how much, in letter sizes, parts with Japanese letters may begin before the end of others."""
_LEAST_CELLS = 2
_LEADING = 2.0
"""The most distance of the lines of a cell, in letter sizes."""
_FOOTNOTE = 0.85
"""The most size of a footnote, as a share of that of the text."""
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+-[^\W\d_]+")
_LAST_WORD = re.compile(r"(?<![^\W_])[^\W_]+(?=-$)")
_FIRST_WORD = re.compile(r"([^\W_]+)(\S*)[ ]?(.*)")


def joined_cells(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the lines; a cell that divides a word is joined with that below it, in the same row."""
    above: PdfLine | None = None
    for line in lines:
        joined = line if above is None else _with_above(line, above)
        if above is not None and joined is line:
            yield above
        above = joined
        if not (joined.broken and len(joined.cells) == 1 and not joined.row):
            yield joined
            above = None
    if above is not None:
        yield above


def _with_above(line: PdfLine, above: PdfLine) -> PdfLine:
    """Return a row with the beginning of one of its cells, or the same line where it has none."""
    if len(line.cells) < _LEAST_CELLS or not 0 < above.bottom - line.bottom < _LEADING * line.size:
        return line
    (begin,) = above.cells
    for place, cell in enumerate(line.cells):
        if share_width(cell, begin):
            left, right = min(begin.left, cell.left), max(begin.right, cell.right)
            whole = Cell(continued(begin.text, cell.text), left, right)
            cells = (*line.cells[:place], whole, *line.cells[place + 1 :])
            text = " ".join(each.text for each in cells)
            return line._replace(text=text, cells=cells, left=min(line.left, left), top=above.top)
    return line


def joined_lines(fragments: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Join the parts of one line from left to right."""
    current: PdfLine | None = None
    for fragment in fragments:
        if current is not None and _goes_on(current, fragment):
            cells, text = (*current.cells, *fragment.cells), f"{current.text} {fragment.text}"
            if fragment.left - current.right <= WIDE_GAP * current.size:
                *before, last = current.cells
                first, *after = fragment.cells
                whole = Cell(beside(last.text, first.text), last.left, first.right)
                cells, text = (*before, whole, *after), beside(current.text, fragment.text)
            current = current._replace(
                text=text,
                right=fragment.right,
                top=max(current.top, fragment.top),
                bottom=min(current.bottom, fragment.bottom),
                cells=cells,
                broken=fragment.broken,
                bold=current.bold and fragment.bold,
                pitch=current.pitch * (fragment.pitch > 0),
            )
            continue
        if current is not None:
            yield current
        current = fragment
    if current is not None:
        yield current


def _goes_on(current: PdfLine, fragment: PdfLine) -> bool:
    close = abs(current.bottom - fragment.bottom) < _SAME_LINE * max(current.size, 1)
    apart = bool(current.row or fragment.row or current.broken)
    apart = apart or current.slanted != fragment.slanted
    together = not beside(current.text[-1:], fragment.text[:1]).count(" ")
    left = current.right - _SAME_PLACE * current.size * together
    return close and fragment.left > left and not apart


def compounds_of(bodies: Sequence[Sequence[PdfLine]]) -> frozenset[str]:
    """Return the words with hyphens that no line divides, without regard to capitals."""
    return frozenset(
        word.casefold()
        for body in bodies
        for line in body
        if "-" in line.text
        for word in _COMPOUND.findall(line.text)
    )


def divides_word(line: PdfLine, text: str, below: PdfLine, following: str) -> bool:
    """Return whether the last word of a line goes on in that below; both come with their texts.

    It does not in a footnote.
    """
    if (
        below.size < _FOOTNOTE * line.size
        or line.pitch
        or not text.endswith("-")
        or not _FIRST_WORD.fullmatch(following)
    ):
        return False
    return line.broken or (DIVIDED.search(text) is not None and following[0].islower())


def completed_word(text: str, following: str, compounds: frozenset[str]) -> tuple[str, str]:
    """Return a line with its last word as a whole, and the rest of the following line.

    The hyphen is left out, unless the word is one of the ``compounds``, or a capital or a digit
    follows.
    """
    first, last = _FIRST_WORD.fullmatch(following), _LAST_WORD.search(text)
    assert first is not None
    compound = f"{last[0] if last else ''}-{first[1]}".casefold()
    keep = not first[1][0].islower() or compound in compounds
    return f"{text if keep else text[:-1]}{first[1]}{first[2]}", first[3]
