"""Parses PDF files to text with pages, divided at headings and page starts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2 as pdfium

from fumishirube import Document, Heading, LoaderRemark, Unreadable, divide_at_headings
from fumishirube.parsing import Place
from fumishirube_documents.pdf_lines import PdfLine, give_width, page_lines
from fumishirube_documents.pdf_tables import with_rows

_PASSWORD = 4
"""PDFium's error code of a locked file, FPDF_ERR_PASSWORD."""
_EDGE_LINES = 2
"""The number of lines at the top and bottom of a page that may be running heads."""
_LEAST_PAGES, _LEAST_SHARE = 3, 0.25
_EDGE_SHARE = 0.15
"""The share of a page's height, at the top and at the bottom, with running heads."""
_NO_TITLES = ("untitled", "(anonymous)")
"""Titles that programs write when the author gave none."""
_LARGER = 1.15
_LONGEST_HEADING = 120
_LEVELS = 4
_PARAGRAPH_GAP = 1.7
_ROUGH = 0.5
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_WORD_END = re.compile(r"[^\W\d_]-$")
_WORD_BEGIN = re.compile(r"([a-zà-ÿ]\S*)[ ]?(.*)")


class _PdfPage(NamedTuple):
    """A page: its number from 1, its printed label, its height, and its lines."""

    number: int
    label: str | None
    height: float
    lines: list[PdfLine]


class _OutlineEntry(NamedTuple):
    title: str
    level: int
    page: int


def parsed_pdf(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a PDF, page by page.

    Raises:
        Unreadable: when it is locked, damaged, or without any text.
    """
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD:
            raise Unreadable("the file is locked by a password", reason="encrypted") from error
        raise Unreadable("it is not a PDF, or damaged", reason="damaged") from error
    total = len(file)
    pages = [*_pages(file)]
    empty = [page.number for page in pages if not page.lines]
    if total and len(empty) == total:
        raise Unreadable(f"none of its {total} pages holds text: they need OCR", reason="needs_ocr")
    heads = set() if settings["running_heads"] else _running_heads(pages)
    writer = _PdfWriter(_outline(file), _heading_sizes(pages, heads))
    for page in pages:
        writer.write(page, heads)
    return writer.document(_title(file) or name, total, empty, heads)


def _pages(file: Any) -> Iterator[_PdfPage]:
    for index in range(len(file)):
        try:
            page = file[index]
            give_width(page)
            textpage = page.get_textpage()
        except pdfium.PdfiumError:  # treat a damaged page as one without text
            yield _PdfPage(index + 1, None, 0, [])
            continue
        lines = page_lines(textpage)
        label = file.get_page_label(index)
        shown = label if label and label != str(index + 1) else None
        yield _PdfPage(index + 1, shown, page.get_height(), lines)
        textpage.close()
        page.close()


def _title(file: Any) -> str:
    title = file.get_metadata_value("Title")
    title = " ".join(title.split())
    return title if len(title) <= _LONGEST_HEADING and title.lower() not in _NO_TITLES else ""


def _outline(file: Any) -> list[_OutlineEntry]:
    entries = []
    for mark in file.get_toc(max_depth=_LEVELS):
        target = mark.get_dest()
        title = " ".join(mark.get_title().split())
        index = target.get_index() if target else None
        if title and index is not None:
            entries.append(_OutlineEntry(title, getattr(mark, "level", 0) + 1, index + 1))
    return entries


# --- running heads --------------------------------------------------------------------------


def _running_heads(pages: Sequence[_PdfPage]) -> set[tuple[str, int]]:
    """Return the lines that repeat at the same height on many pages, numbers aside."""
    counts = Counter(
        key for page in pages for key in {_head_key(page, line) for line in _edges(page)}
    )
    least = max(_LEAST_PAGES, _LEAST_SHARE * sum(1 for page in pages if page.lines))
    return {key for key, count in counts.items() if count >= least}


def _edges(page: _PdfPage) -> list[PdfLine]:
    """Return the first and last lines near the edges, ordered by height."""
    placed = sorted((line for line in page.lines if line.size), key=lambda line: -line.top)
    outer = [*placed[:_EDGE_LINES], *placed[-_EDGE_LINES:]]
    low, high = _EDGE_SHARE * page.height, (1 - _EDGE_SHARE) * page.height
    return [line for line in outer if line.top < low or line.bottom > high]


def _head_key(page: _PdfPage, line: PdfLine) -> tuple[str, int]:
    """Return the key of a running head: its text without numbers, and its height."""
    del page
    return _DIGITS.sub("#", line.text.lower()), round(line.bottom / 4)


# --- headings by size -----------------------------------------------------------------------


def _heading_sizes(pages: Sequence[_PdfPage], heads: set[tuple[str, int]]) -> dict[float, int]:
    """Return the heading level of each letter size above that of most of the text."""
    chars: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if line.size and _head_key(page, line) not in heads:
                chars[_rough(line.size)] += len(line.text)
    if not chars:
        return {}
    body = chars.most_common(1)[0][0]
    larger = sorted((size for size in chars if size >= _LARGER * body), reverse=True)
    return {size: min(level, _LEVELS) for level, size in enumerate(larger, start=1)}


def _rough(size: float) -> float:
    return round(size / _ROUGH) * _ROUGH


# --- writing --------------------------------------------------------------------------------


@dataclass
class _PdfWriter:
    """Writes pages in order, as lines of one text."""

    outline: Sequence[_OutlineEntry]
    sizes: Mapping[float, int]
    lines: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def write(self, page: _PdfPage, heads: set[tuple[str, int]]) -> None:
        """Write a page, unless it has no text."""
        body = [line for line in page.lines if not line.size or _head_key(page, line) not in heads]
        if not body:
            return
        first = len(self.lines) + 1
        self.places.append(Place(first, page=page.number, label=page.label))
        numbers = self._write_lines(body)
        headings = [*self._headings(page.number, body, numbers)]
        if self.headings and not any(heading.line == first for heading in headings):
            above = self.headings[-1]
            self.headings.append(above._replace(line=first, below=first))
        elif not self.headings and not any(heading.line == first for heading in headings):
            self.headings.append(Heading("", 1, first, first))  # the document's title applies
        self.headings += headings
        self.lines.append("")

    def _write_lines(self, body: Sequence[PdfLine]) -> list[int]:
        """Write the lines, with a blank one before each paragraph; return their numbers."""
        numbers: list[int] = []
        previous: PdfLine | None = None
        carried = ""
        texts = [*with_rows(body)]
        for place, (line, row) in enumerate(zip(body, texts, strict=True)):
            text = row
            if carried:
                begin = _WORD_BEGIN.fullmatch(text)
                if begin:
                    self.lines[-1] = self.lines[-1][:-1] + begin[1]
                    text = begin[2]
                carried = ""
            if previous is not None and _opens_paragraph(previous, line):
                self.lines.append("")
            self.lines.append(text)
            numbers.append(len(self.lines))
            following = texts[place + 1] if place + 1 < len(texts) else ""
            hyphenated = line.broken or _WORD_END.search(text)
            carried = text if hyphenated and _WORD_BEGIN.fullmatch(following) else ""
            previous = line
        return numbers

    def _headings(
        self, page: int, body: Sequence[PdfLine], numbers: Sequence[int]
    ) -> Iterator[Heading]:
        if self.outline:
            yield from self._outlined(page, body, numbers)
            return
        last: tuple[int, int] | None = None
        for line, number in zip(body, numbers, strict=True):
            level = self.sizes.get(_rough(line.size)) if line.size else None
            named = level is not None and len(line.text) <= _LONGEST_HEADING
            # The second line of a long title is not a heading of its own.
            goes_on = last == (level, number - 1)
            if named and level is not None and not goes_on and _says_something(line.text):
                yield Heading(line.text, level, number, number + 1)
            last = (level, number) if named and level is not None else None

    def _outlined(
        self, page: int, body: Sequence[PdfLine], numbers: Sequence[int]
    ) -> Iterator[Heading]:
        """Yield a page's headings in the outline, at the line with their text or at its start."""
        taken: set[int] = set()
        headings = []
        after = 0
        for entry in self.outline:
            if entry.page != page:
                continue
            title = _bare(entry.title)
            place = next(
                (
                    at
                    for at in range(after, len(body))
                    if (text := _bare(body[at].text))
                    and (text in title or title in text)
                    and len(text) <= 2 * len(title)
                    and 2 * len(text) >= len(title)
                ),
                None,
            )
            number = numbers[place] if place is not None else numbers[0]
            below = number + 1 if place is not None else number
            after = place if place is not None else after
            if number not in taken:
                taken.add(number)
                headings.append(Heading(entry.title, entry.level, number, below))
        yield from sorted(headings, key=lambda heading: heading.line)

    def document(
        self, title: str, total: int, empty: Sequence[int], heads: set[tuple[str, int]]
    ) -> Document:
        """Return the document."""
        text = "".join(f"{line}\n" for line in self.lines)
        headings = [h if h.title else h._replace(title=title) for h in self.headings]
        remarks = [
            LoaderRemark("running_head", 1, f"left out as a running head: {head}")
            for head, _ in sorted(heads)
        ]
        if empty:
            count = f"{len(empty)} of {total} pages"
            remarks.append(LoaderRemark("no_text", 1, f"{count} hold no text: they need OCR"))
        sections = tuple(divide_at_headings(text, headings, None))
        return Document(
            "", "pdf", text, sections, places=tuple(self.places), remarks=tuple(remarks)
        )


def _opens_paragraph(previous: PdfLine, line: PdfLine) -> bool:
    """Return whether the space between two lines is larger than within a paragraph."""
    if not previous.size or not line.size:
        return False
    step = previous.bottom - line.bottom
    return step < 0 or step > _PARAGRAPH_GAP * max(previous.size, line.size)


def _says_something(text: str) -> bool:
    return any(map(str.isalpha, text))


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(".:")
