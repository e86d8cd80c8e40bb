"""Finds the headings of a PDF: in its outline, or else by larger or bold letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from fumishirube import Heading
from fumishirube_documents.pdf_lines import PdfLine, continued
from fumishirube_documents.pdf_vertical import is_vertical, middle

LONGEST_HEADING = 120
_LEVELS = 4
_LARGER = 1.15
_ROUGH = 0.5
_SMALLEST_BOLD = 0.9
"""The least size of a bold heading, as a share of the size of the text."""
_MOST_BOLD = 0.3
"""The share of letters in a document from which being bold or large marks no headings."""
_LEAST_TEXT, _LEAST_ENDING, _MOST_LARGER = 0.05, 0.05, 1.5
"""What running text has, where that of most letters is code: the least shares of the letters, and
of its lines that end a sentence, and how much larger it is at most."""
_PARAGRAPH_GAP = 1.7
_BULLETS = ("•", "●", "○", "▪", "■", "◦", "‣", "–", "— ", "* ", "- ", "・", "※", "†", "‡")
_SENTENCE_ENDS = (".", ",", ";", "。", "、", "．", "，")
_ABBREVIATED = re.compile(r"\b[A-Z]\w{0,3}\.$")
"""The end of a name, such as "Inc.", which is not that of a sentence."""
_BOX_TITLE = re.compile(
    r"\W*(?:note|tip|hint|caution|warning|danger|important|attention"
    r"|注意|警告|危険|重要|注記|ヒント|メモ)\W*",
    re.IGNORECASE,
)
"""The title of a box: the text below the box is not about it."""
_CAPTION = re.compile(r"(?:fig(?:ure|\.)?|table|chart|exhibit)\b|[図表]|.*[=∑∫]", re.IGNORECASE)
"""Lines that are often centred, and name or are something else than the page."""
_MOST_TITLE_LINES = 4
_INDENTED, _ALIGNED = 0.12, 0.03
"""The least indent of a centred line, and what alignment may be off by, as shares of the width."""
_SAME_LEFT = 0.2
"""The most, in letter sizes, by which the left edges of lines with the same left differ."""
_LONG_WORD = 4
_MOST_CAPITALS = 0.6
"""The least share of long words with a capital in a title."""


class OutlineEntry(NamedTuple):
    """An entry of an outline: its title, its level from 1, and its page from 1."""

    title: str
    level: int
    page: int


def outline_of(file: Any) -> list[OutlineEntry]:
    """Return the outline of a file, as far as its entries name pages."""
    entries = []
    for mark in file.get_toc(max_depth=_LEVELS):
        target = mark.get_dest()
        title = ""
        with suppress(UnicodeDecodeError):  # half a character, of a title that was cut
            title = " ".join(mark.get_title().split())
        index = target.get_index() if target else None
        if title and index is not None:
            entries.append(OutlineEntry(title, getattr(mark, "level", 0) + 1, index + 1))
    return entries


def outline_headings(
    entries: Sequence[OutlineEntry], body: Sequence[PdfLine], numbers: Sequence[int]
) -> Iterator[Heading]:
    """Yield the headings of a page in the outline, at the line with their text or at its start."""
    taken: set[int] = set()
    headings = []
    after = 0
    texts = [_bare(line.text) for line in body]
    for entry in entries:
        title = _bare(entry.title)
        exact = (at for at in range(after, len(body)) if texts[at] == title)
        similar = (
            at
            for at in range(after, len(body))
            if (text := texts[at])
            and (text in title or title in text)
            and len(text) <= 2 * len(title)
            and 2 * len(text) >= len(title)
        )
        place = next(chain(exact, similar), None)
        number = numbers[place] if place is not None else numbers[0]
        below = number + 1 if place is not None else number
        after = place if place is not None else after
        if number not in taken:
            taken.add(number)
            headings.append(Heading(entry.title, entry.level, number, below))
    yield from sorted(headings, key=lambda heading: heading.line)


class HeadingStyles(NamedTuple):
    """How the headings of a document look.

    ``levels`` are those of letter sizes above that of the text; ``bold`` is the level of bold lines
    with at least ``least_size``, or ``None`` where much of the text is bold. ``lowest`` is the
    level of other headings.
    """

    levels: Mapping[float, int]
    bold: int | None
    least_size: float
    lowest: int = 1

    @classmethod
    def of(cls, pages: Sequence[Sequence[PdfLine]]) -> HeadingStyles:
        """Return the styles of a document, from the lines of its pages."""
        lines = [line for page in pages for line in page if line.size and not line.slanted]
        if not lines:
            return cls({}, None, 0)
        chars = Counter[float]()
        for line in lines:
            chars[_rough(line.size)] += len(line.text)
        running = _running_text(lines, chars)
        text_size = max(running, key=lambda size: chars[size])
        most = _MOST_BOLD * chars.total()
        larger = sorted(
            (
                size
                for size in chars
                if size >= _LARGER * text_size and chars[size] <= most and size not in running
            ),
            reverse=True,
        )
        bold = sum(len(line.text) for line in lines if line.bold)
        levels = {size: min(level, _LEVELS) for level, size in enumerate(larger, start=1)}
        lowest = min(len(larger) + 1, _LEVELS)
        level = lowest if bold <= most else None
        return cls(levels, level, _SMALLEST_BOLD * text_size, lowest)

    def headings(self, lines: Sequence[tuple[PdfLine, int]], titles: int = 0) -> Iterator[Heading]:
        """Yield the headings among numbered lines of a page; a title may take several lines.

        The first ``titles`` lines are the title of the page.
        """
        title, level, begin, last = "", 0, 0, 0
        previous: PdfLine | None = None
        for place, (line, number) in enumerate(lines):
            in_title = place < titles
            below = number == last + 1 or (in_title and _is_centred_below(previous, line))
            follows = bool(title) and below
            own = self._level(line, previous, follows=follows) or (self.lowest if in_title else 0)
            joined = continued(title, line.text)
            if follows and own == level and len(joined) <= LONGEST_HEADING:
                title = joined
            else:
                if title:
                    yield Heading(title, level, begin, last + 1)
                title, level, begin = (line.text, own, number) if own else ("", 0, 0)
            previous, last = line, number
        if title:
            yield Heading(title, level, begin, last + 1)

    def _level(self, line: PdfLine, previous: PdfLine | None, *, follows: bool) -> int:
        """Return the level of a line as a heading; 0 for others."""
        if not line.size or line.slanted or len(line.text) > LONGEST_HEADING:
            return 0
        if not _says_something(line.text):
            return 0
        level = self.levels.get(_rough(line.size))
        if level is not None:
            return level
        alone = previous is None or follows or opens_paragraph(previous, line)
        large = line.bold and line.size >= self.least_size
        return self.bold if self.bold is not None and large and alone and _is_named(line) else 0


def _running_text(lines: Sequence[PdfLine], chars: Counter[float]) -> Sequence[float]:
    """Return the sizes of running text, in order: its lines often end a sentence.

    Where there are none, it is that of most letters, which may be those of code.
    """
    common = chars.most_common(1)[0][0]
    all_lines = Counter(_rough(line.size) for line in lines)
    ends = Counter(_rough(line.size) for line in lines if not _is_named(line))
    running = (
        size
        for size in sorted(chars)
        if common <= size < _MOST_LARGER * common
        and chars[size] >= _LEAST_TEXT * chars.total()
        and ends[size] >= _LEAST_ENDING * all_lines[size]
    )
    return [*running] or [common]


def title_lines(body: Sequence[PdfLine], leading: Sequence[PdfLine]) -> int:
    """Return how many of the ``leading`` lines of a page, those before any table, are its title.

    Statements and forms often have their title in letters of the text's size: in bold or capital
    letters, or centred.
    """
    placed = [line for line in body if line.size]
    if not placed:
        return 0
    left, right = min(line.left for line in placed), max(line.right for line in placed)
    number = 0
    for line in leading[: _MOST_TITLE_LINES + 1]:
        if not _is_title(line, left, right):
            break
        number += 1
    return number if number <= _MOST_TITLE_LINES and number < len(placed) else 0


def _is_title(line: PdfLine, left: float, right: float) -> bool:
    text, width = line.text, right - left
    if (
        line.slanted
        or line.row
        or len(line.cells) > 1
        or not line.size
        or len(text) > LONGEST_HEADING
    ):
        return False
    if not _says_something(text) or not _is_named(line) or text[0].islower():
        return False
    off = abs(line.left + line.right - left - right) / 2
    centred = line.left - left >= _INDENTED * width and off <= _ALIGNED * width
    if line.bold or text.isupper():
        return centred or line.left - left <= _ALIGNED * width
    return centred and not _CAPTION.match(text) and _has_capitals(text)


def _is_centred_below(previous: PdfLine | None, line: PdfLine) -> bool:
    if previous is None:
        return False
    off = abs(previous.left + previous.right - line.left - line.right) / 2
    apart = abs(previous.left - line.left)
    return off <= line.size and apart > _SAME_LEFT * line.size


def _has_capitals(text: str) -> bool:
    """Return whether most long words have a capital, in scripts that have any."""
    words = [word for word in text.split() if len(word) >= _LONG_WORD and word[0].isalpha()]
    capitals = sum(not word[0].islower() for word in words)
    return capitals >= _MOST_CAPITALS * len(words)


def _is_named(line: PdfLine) -> bool:
    """Return whether a line may end a heading."""
    return not line.text.endswith(_SENTENCE_ENDS) or _ABBREVIATED.search(line.text) is not None


def opens_paragraph(previous: PdfLine, line: PdfLine) -> bool:
    """Return whether the space between two lines is larger than within a paragraph."""
    if not previous.size or not line.size:
        return False
    vertical = is_vertical(previous)
    step = middle(previous) - middle(line) if vertical else previous.bottom - line.bottom
    return step < 0 or step > _PARAGRAPH_GAP * max(previous.size, line.size)


def _rough(size: float) -> float:
    return round(size / _ROUGH) * _ROUGH


def _says_something(text: str) -> bool:
    """Return whether a line may be a heading: it has letters, and is no list item or remark.

    Nor is it the title of a box.
    """
    remark = text.startswith("(") and text.endswith(")")
    other = remark or text.startswith(_BULLETS) or _BOX_TITLE.fullmatch(text)
    return any(map(str.isalpha, text)) and not other


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(".:")
