"""Puts the large first letter of a chapter of a PDF before the rest of its word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fumishirube_documents.pdf_lines import PdfLine

_LARGER = 1.8
"""How much larger than the text such a letter is."""
_LOWER = 0.8
"""How much lower than the line beside its top it stands at least, in sizes of that line."""
_BESIDE = 1.0
"""The most distance of the line from it, in sizes of that line."""
_WORDS = "AI"
"""Letters that may be a word; the page tells whether what follows is one."""


def with_initials(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Yield the lines; a letter that is as high as several lines begins the first of them."""
    initial: PdfLine | None = None
    for line in lines:
        if initial is not None:
            if _begins(initial, line):
                yield _whole(initial, line, lines)
                initial = None
                continue
            yield initial
            initial = None
        if len(line.text) == 1 and line.text.isupper() and not line.row:
            initial = line
        else:
            yield line
    if initial is not None:
        yield initial


def _begins(initial: PdfLine, line: PdfLine) -> bool:
    level = not line.row and initial.slanted == line.slanted and line.size > 0
    larger = initial.size >= _LARGER * line.size
    high = _LOWER * line.size <= line.base - initial.base <= initial.size
    near = -_BESIDE * line.size <= line.left - initial.right <= _BESIDE * line.size
    return level and larger and high and near and line.text[0].isalpha()


def _whole(initial: PdfLine, line: PdfLine, lines: Sequence[PdfLine]) -> PdfLine:
    """Return the line with its first letter."""
    word = line.text.split()[0]
    alone = initial.text in _WORDS and any(
        word in other.text.split() for other in lines if other is not line
    )
    before = f"{initial.text}{' ' if alone else ''}"
    first, *others = line.cells
    first = first._replace(text=before + first.text, left=initial.left)
    return line._replace(text=before + line.text, left=initial.left, cells=(first, *others))
