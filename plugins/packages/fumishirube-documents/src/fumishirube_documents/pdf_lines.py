"""Extracts the lines of a PDF page: text in reading order, positions, and letter sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof, c_double, c_int, c_void_p, cast, sizeof
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

from fumishirube.text import is_unspaced
from fumishirube_documents.pdf_fonts import base_of, is_bold, is_slanted, letter_size, pitch_of
from fumishirube_documents.pdf_objects import light

WIDE_GAP = 0.6
"""A gap of this many letter sizes may separate two table cells."""
_LOWER = 0.35
"""By which share of its height a letter at the left stands lower on a line of its own."""
_READING = 0.6
"""The size of a reading at most, in sizes of the kanji below it."""
_HYPHENS = "\ufffe\x02"
_GAPS = re.compile(
    rf"(?<=\S)(?:(?:[ \u3000]*[.·․‥…]){{6,}}[ \u3000]*|[ \u3000]+)(?=\S)|(?<=[{_HYPHENS}])(?=\S)"
    r"|(?<=[ぁ-ヺー])(?=[々\u4e00-\u9fff])"
)
"""Spaces, the dots that lead to a number, and the places after hyphens that divide a word.

Also those between kana, which may be a reading, and kanji.
"""
DIVIDED = re.compile(r"[^\W\d_]-$")
"""The end of a line that divides a word, or a compound of words."""
_INVISIBLE = re.compile(f"[\x00\ufeff\u200b\u00ad{_HYPHENS}]|[\ud800-\udbff]?[\ud800-\udfff]")
"""Letters that are left out, and the pairs of units of letters above U+FFFF."""
_PAIRED = re.compile("[\U00010000-\U0010ffff]")
_letter_box = light(pdfium.FPDFText_GetCharBox, c_int, c_void_p, c_int, *[c_void_p] * 4)

Box: TypeAlias = tuple[float, float, float, float]
"""The left, bottom, right and top edge."""
Border: TypeAlias = Callable[[float, float, float], bool]
"""Whether a ruled line stands between a left and a right edge, at a height."""


class Cell(NamedTuple):
    """A part of a line between gaps, with its left and right edge."""

    text: str
    left: float
    right: float


def share_width(part: Cell | PdfLine, other: Cell | PdfLine) -> bool:
    """Return whether two cells or lines are, at any height, in part one below the other."""
    return part.left < other.right and other.left < part.right


class PdfLine(NamedTuple):
    """A line: its text, its left, bottom, right and top edge in points, and the letter size.

    ``cells`` are the parts between wide gaps. ``row`` is its form as a row of a ruled table. That,
    and a line of code, ``goes_on`` from the line above. ``broken`` is whether it ends in a
    hyphen that only divides a word, and ``bold`` whether its first and last letter are bold.
    ``base`` is the height of its letters' feet, which those below the line do not change.
    ``pitch`` is by how much each letter of a line of code is right of the one before; else 0.
    ``slanted`` is whether it is neither level nor upright.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    cells: tuple[Cell, ...] = ()
    broken: bool = False
    bold: bool = False
    row: str = ""
    goes_on: bool = False
    base: float = 0.0
    pitch: float = 0.0
    slanted: bool = False

    def with_cells(self, cells: Sequence[Cell]) -> PdfLine:
        """Return the part of the line with some of its cells."""
        return self._replace(
            text=" ".join(cell.text for cell in cells),
            left=cells[0].left,
            right=cells[-1].right,
            cells=tuple(cells),
            broken=self.broken and cells[-1] == self.cells[-1],
        )


class LetterBoxes:
    """The places of the letters of a page."""

    def __init__(self, textpage: Any) -> None:
        self._text = cast(textpage.raw, c_void_p).value
        self._edges = (c_double * 4)()
        first = addressof(self._edges)
        self._places = [first + number * sizeof(c_double) for number in range(4)]

    def at(self, place: int) -> Box:
        """Return the left, bottom, right and top edge of a letter; zeros if unknown."""
        if not _letter_box(self._text, place, *self._places):
            return 0, 0, 0, 0
        left, right, bottom, top = self._edges
        return left, bottom, right, top


def page_fragments(textpage: Any, border: Border = lambda *_: False) -> list[PdfLine]:
    """Return the parts of the lines of a page in its own order, without blank ones."""
    count = textpage.count_chars()
    text = textpage.get_text_range() if count else ""
    if len(text) != count:  # PDFium counts letters above U+FFFF as two
        text = _PAIRED.sub(_units, text)
    if len(text) != count:
        return [_unplaced(line) for line in text.splitlines() if line.strip()]
    return [*_fragments(textpage, text, border)]


def _unplaced(line: str) -> PdfLine:
    return PdfLine(_clean(line), 0, 0, 0, 0, 0)


class _Gap(NamedTuple):
    """A gap in a line: where it begins and ends, and the places of the letters around it."""

    begin: int
    end: int
    before: Box
    after: Box


def _fragments(textpage: Any, text: str, border: Border) -> Iterator[PdfLine]:
    boxes = LetterBoxes(textpage)
    start = 0
    for raw_line in text.split("\n"):
        stripped = raw_line.rstrip()
        if stripped:
            first = start + len(stripped) - len(stripped.lstrip())
            gaps: list[_Gap] = []
            for space in _GAPS.finditer(text, first, start + len(stripped)):
                begin, end = space.span()
                hyphen = text[begin - 1] in _HYPHENS
                gap = _Gap(begin, end, boxes.at(begin - 1 - hyphen), boxes.at(end))
                if _is_new_line(gap) or _is_at_reading(textpage.raw, gap):
                    yield _fragment(textpage.raw, boxes, text, (first, begin), gaps, border)
                    first, gaps = end, []
                elif begin < end:
                    gaps.append(gap)
            end = start + len(stripped)
            yield _fragment(textpage.raw, boxes, text, (first, end), gaps, border)
        start += len(raw_line) + 1


def _is_new_line(gap: _Gap) -> bool:
    """Return whether a line begins after a gap.

    PDFium joins lines that divide a word, those of which the second begins with one letter, and
    cells beside each other of which the second stands a little lower.
    """
    return gap.after[2] <= gap.before[0] and _descends(gap)


def _descends(gap: _Gap) -> bool:
    return gap.before[1] - gap.after[1] > _LOWER * (gap.before[3] - gap.before[1])


def _is_at_reading(textpage: Any, gap: _Gap) -> bool:
    """Return whether a gap is between a reading and the kanji below it, or the text and a reading.

    PDFium joins these, too. Letters of vertical writing, which go down and up, are all as large.
    """
    below = gap.begin == gap.end and gap.after[0] < gap.before[2] and _descends(gap)
    above = gap.after[2] <= gap.before[0] and gap.after[1] > gap.before[3]
    if not below and not above:
        return False
    before, after = letter_size(textpage, gap.begin - 1), letter_size(textpage, gap.end)
    return before <= _READING * after if below else after <= _READING * before


def _fragment(
    textpage: Any,
    boxes: LetterBoxes,
    text: str,
    span: tuple[int, int],
    gaps: Sequence[_Gap],
    border: Border,
) -> PdfLine:
    """Return the line of the characters of a span."""
    first, end = span
    broken = text[end - 1] in _HYPHENS
    last = end - 2 if broken and end - 1 > first else end - 1
    begin, finish = boxes.at(first), boxes.at(last)
    size = letter_size(textpage, first) or max(1.0, begin[3] - begin[1])
    borders = [
        gap
        for gap in gaps
        if gap.after[0] - gap.before[2] > WIDE_GAP * size
        or border(gap.before[2], gap.after[0], (gap.before[1] + gap.before[3]) / 2)
    ]
    starts = [(first, begin[0]), *((gap.end, gap.after[0]) for gap in borders)]
    ends = [*((gap.begin, gap.before[2]) for gap in borders), (last + 1, finish[2])]
    spans = [(start, stop) for (start, _), (stop, _) in zip(starts, ends, strict=True)]
    cells = [
        Cell(_clean(text[start:stop]), left, right)
        for (start, left), (stop, right) in zip(starts, ends, strict=True)
    ]
    if broken:
        cells[-1] = cells[-1]._replace(text=f"{cells[-1].text}-")
    return PdfLine(
        " ".join(cell.text for cell in cells if cell.text),
        min(begin[0], finish[0]),
        min(begin[1], finish[1]),
        max(begin[2], finish[2]),
        max(begin[3], finish[3]),
        size,
        tuple(cells),
        broken,
        is_bold(textpage, first) and is_bold(textpage, last),
        base=base_of(textpage, first, begin[1]),
        pitch=pitch_of(textpage, text, spans, size),
        slanted=is_slanted(textpage, first),
    )


def _clean(text: str) -> str:
    return " ".join(_INVISIBLE.sub(_letter, text).split())


def _units(letter: re.Match[str]) -> str:
    """Return the two UTF-16 units of a letter."""
    units = letter[0].encode("utf-16-le")
    return chr(int.from_bytes(units[:2], "little")) + chr(int.from_bytes(units[2:], "little"))


def _letter(units: re.Match[str]) -> str:
    """Return the letter of two UTF-16 units, and nothing of anything else."""
    return (
        units[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        if len(units[0]) > 1
        else ""
    )


def continued(text: str, more: str) -> str:
    """Return a text with the next line of it.

    Between Japanese letters there is no space. A hyphen that divides a word is left out, unless a
    capital or a digit follows.
    """
    if not text or not more:
        return text or more
    if DIVIDED.search(text):
        return text[:-1] + more if more[0].islower() else text + more
    return beside(text, more)


def beside(text: str, more: str) -> str:
    """Return two texts beside each other, with a space unless both are Japanese there."""
    apart = not text or not more or not (is_unspaced(text[-1]) and is_unspaced(more[0]))
    return f"{text}{' ' if apart else ''}{more}"
