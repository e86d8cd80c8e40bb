"""Parses PDF files to text with pages, divided at headings and page starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import pypdfium2 as pdfium

from fumishirube import Document, Heading, LoaderRemark, Section, Unreadable, divide_at_headings
from fumishirube.parsing import Place
from fumishirube_documents.part_texts import send_pages
from fumishirube_documents.pdf_code import with_code
from fumishirube_documents.pdf_columns import in_columns
from fumishirube_documents.pdf_continued_tables import ContinuedTables
from fumishirube_documents.pdf_edges import SeenLines, edges_of
from fumishirube_documents.pdf_fields import in_rows, opened_page
from fumishirube_documents.pdf_grids import borders_of, grids_of, with_grid_rows
from fumishirube_documents.pdf_header_cells import with_header_rows
from fumishirube_documents.pdf_headings import (
    LONGEST_HEADING,
    HeadingStyles,
    OutlineEntry,
    opens_paragraph,
    outline_headings,
    outline_of,
    title_lines,
)
from fumishirube_documents.pdf_initials import with_initials
from fumishirube_documents.pdf_joins import (
    completed_word,
    compounds_of,
    divides_word,
    joined_cells,
    joined_lines,
)
from fumishirube_documents.pdf_late_cells import with_late_cells
from fumishirube_documents.pdf_lines import PdfLine, page_fragments
from fumishirube_documents.pdf_objects import PageObjects, text_page
from fumishirube_documents.pdf_ocr import OcrFailed, ocr_lines
from fumishirube_documents.pdf_readings import without_readings
from fumishirube_documents.pdf_running_heads import PdfPage, RunningHeads
from fumishirube_documents.pdf_tables import TextLine, with_rows
from fumishirube_documents.pdf_turns import Turn, turn_of, turn_page
from fumishirube_documents.pdf_vertical import from_the_right
from fumishirube_documents.pdf_wrapped_rows import with_wrapped_rows
from fumishirube_documents.signatures import check_type

_PASSWORD = 4
"""PDFium's error code of a locked file, FPDF_ERR_PASSWORD."""
_NAMED = 20
"""The most pages that are named in a remark."""
_BEGIN, _HEAD = b"%PDF-", 1024
_END, _TAIL = b"%%EOF", 2048
_NO_TITLES = re.compile(
    r"untitled|\(anonymous\)|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:doc|ppt|xls|ind)\w?",
    re.IGNORECASE,
)
"""Titles that programs write when the author gave none."""


def parsed_pdf(data: bytes, name: str, settings: Mapping[str, Any]) -> Document:
    """Parse a PDF, page by page.

    Raises:
        Unreadable: when it is locked, damaged, or without any text.
    """
    check_type(data, "a PDF")
    file = opened_pdf(data, settings["passwords"])
    total = len(file)
    pages = []
    reader = _OcrReader(file, settings)
    for number, page in enumerate(_pages(file, beyond_edges=settings["beyond_edges"]), start=1):
        pages.append(page if page.lines else reader.read(page))
        send_pages(number, total)
    heads = RunningHeads() if settings["running_heads"] else RunningHeads.of(pages)
    for place, page in enumerate(pages):
        if page.lines and page.pictured and not heads.body(page):
            pages[place] = reader.read(page)
    if total and not any(page.lines for page in pages):
        raise Unreadable(reader.needed(f"none of its {total} pages holds text"), "needs_ocr")
    if not any(map(heads.body, pages)):  # copies of one page
        heads = RunningHeads()
    bodies = [heads.body(page) for page in pages]
    writer = _PdfWriter(outline_of(file), HeadingStyles.of(bodies), compounds_of(bodies))
    for page, body in zip(pages, bodies, strict=True):
        writer.write(page, body)
    remarks = [*_remarks(pages, heads, reader)]
    return writer.document(_title(file) or name, remarks)


def opened_pdf(data: bytes, passwords: Sequence[str]) -> Any:
    """Open a PDF, with one of the passwords if it is locked.

    Raises:
        Unreadable: when it is locked or damaged.
    """
    for password in (None, *passwords):
        try:
            return pdfium.PdfDocument(data, password=password)
        except pdfium.PdfiumError as error:
            if getattr(error, "err_code", None) != _PASSWORD:
                early = _BEGIN in data[:_HEAD] and _END not in data[-_TAIL:]
                what = "ends early: fetch it again" if early else "is not a PDF, or damaged"
                raise Unreadable(f"it {what}", reason="damaged") from error
    message = "none of the passwords opens it" if passwords else "it is locked by a password"
    raise Unreadable(f"{message}; add its own to passwords of the loader 'pdf'", "encrypted")


class _OcrReader:
    """Reads the pictures of pages, if that is configured."""

    def __init__(self, file: Any, settings: Mapping[str, Any]) -> None:
        self._file = file
        self._settings = settings
        self._failure = ""

    def read(self, page: PdfPage) -> PdfPage:
        """Return a page with what its picture says, and with nothing else.

        It has no text, or only a running head, which the picture shows too.
        """
        lines: list[PdfLine] = []
        if self._settings["ocr"] and (program := self._settings["tesseract"]):
            picture = self._file[page.number - 1]
            try:
                lines += ocr_lines(picture, program, self._settings["ocr_languages"])
            except OcrFailed as failure:
                self._failure = str(failure)
        return page._replace(lines=lines, scanned=bool(lines))

    def needed(self, pages: str) -> str:
        """Return why some pages have no text."""
        if not self._settings["ocr"]:
            return f"{pages}: they need OCR"
        if not self._settings["tesseract"]:
            return f"{pages}: tesseract is not on the path"
        if not self._failure:
            return f"{pages}: OCR found none"
        languages = self._settings["ocr_languages"]
        advice = f"install what it needs for {languages}, or set ocr_languages"
        return f"{pages}: tesseract failed ({self._failure}); {advice}"


def _remarks(
    pages: Sequence[PdfPage], heads: RunningHeads, reader: _OcrReader
) -> Iterator[LoaderRemark]:
    total = len(pages)
    for head in heads.texts():
        yield LoaderRemark("running_head", 1, f"left out as a running head: {head}")
    if empty := [page.number for page in pages if not page.lines and not page.blank]:
        message = f"{len(empty)} of {total} pages hold no text ({_named(empty)})"
        yield LoaderRemark("no_text", 1, reader.needed(message))
    if beyond := [page.number for page in pages if page.beyond]:
        lines = sum(page.beyond for page in pages)
        message = f"left out beyond the edges of pages ({_named(beyond)}): text of {lines} lines"
        yield LoaderRemark("beyond_edges", 1, message)
    if scanned := sum(page.scanned for page in pages):
        yield LoaderRemark("ocr", 1, f"{scanned} of {total} pages were read by OCR")


def _named(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages[:_NAMED])) + ", …" * (len(pages) > _NAMED)


def _pages(file: Any, *, beyond_edges: bool) -> Iterator[PdfPage]:
    for index in range(len(file)):
        label = file.get_page_label(index)
        shown = label if label and label != str(index + 1) else None
        try:
            page, _ = lines_of_page(file, index, beyond_edges=beyond_edges)
            yield page._replace(label=shown)
        except pdfium.PdfiumError:  # treat a damaged page as one without text
            yield PdfPage(index + 1, None, 0, [])


def lines_of_page(file: Any, index: int, *, beyond_edges: bool) -> tuple[PdfPage, Turn]:
    """Return a page, its lines in reading order, and how it was turned to read them.

    The lines ``beyond_edges`` are among them or not; its label is left out.

    Raises:
        PdfiumError: when the page is damaged.
    """
    page, filled = opened_page(file, index)
    drawn, edges = PageObjects.of(page), edges_of(page)
    textpage = text_page(page, drawn.texts)
    if turn := turn_of(page, textpage):
        textpage.close()
        turn_page(page, turn)
        edges = turn.box(edges)
        textpage = text_page(page, drawn.texts)
    grids = grids_of(drawn.paths)
    fragments = page_fragments(textpage, borders_of(grids))
    textpage.close()
    seen = SeenLines(fragments, 0) if beyond_edges else SeenLines.of(fragments, edges)
    read_lines = without_readings(seen.lines)
    ordered = in_rows(read_lines) if filled else [*from_the_right(read_lines)]
    parts = with_grid_rows(ordered, grids)
    whole = with_code([*joined_lines([*with_header_rows(parts)])])
    joined = [*joined_cells(with_late_cells([*with_initials(whole)]))]
    lines = [*with_wrapped_rows([*in_columns(joined)])]
    height = page.get_height()
    page.close()
    read = PdfPage(index + 1, None, height, lines, seen.beyond, drawn.blank, drawn.pictured)
    return read, turn or Turn()


def _title(file: Any) -> str:
    title = ""
    with suppress(UnicodeDecodeError):  # half a character, of a title that was cut
        title = " ".join(file.get_metadata_value("Title").split())
    return title if len(title) <= LONGEST_HEADING and not _NO_TITLES.fullmatch(title) else ""


# --- writing --------------------------------------------------------------------------------


@dataclass
class _PdfWriter:
    """Writes pages in order, as lines of one text."""

    outline: Sequence[OutlineEntry]
    styles: HeadingStyles
    compounds: frozenset[str]
    lines: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    tables: ContinuedTables = field(default_factory=ContinuedTables)
    continued: dict[int, str] = field(default_factory=dict)
    """The lines on which tables go on from the page above, with their headers."""

    def write(self, page: PdfPage, body: Sequence[PdfLine]) -> None:
        """Write the lines of a page, unless it has none."""
        if not body:
            return
        first = len(self.lines) + 1
        self.places.append(Place(first, page=page.number, label=page.label))
        texts = [*with_rows(body)]
        if header := self.tables.header_of(texts):
            self.continued[first] = header
        numbers = self._write_lines(body, texts)
        headings = self._headings(page.number, body, numbers, texts)
        if self.headings and not any(heading.line == first for heading in headings):
            above = self.headings[-1]
            self.headings.append(above._replace(line=first, below=first))
        elif not self.headings and not any(heading.line == first for heading in headings):
            self.headings.append(Heading("", 1, first, first))  # the document's title applies
        self.headings += self._with_text(headings)
        self.lines.append("")

    def _headings(
        self, page: int, body: Sequence[PdfLine], numbers: list[int], texts: Sequence[TextLine]
    ) -> list[Heading]:
        """Return the headings of a page: those of the outline, or else by their letters."""
        pairs = zip(body, texts, strict=True)
        leading = [line for line, _ in takewhile(lambda pair: not pair[1].in_table, pairs)]
        titles = title_lines(body, leading)
        if entries := [entry for entry in self.outline if entry.page == page]:
            first, *others = outline_headings(entries, body, numbers)
            if first.line in numbers[:titles]:  # with the lines above it, such as a company's name
                first = first._replace(line=numbers[0], below=numbers[0])
            return [first, *others]
        lines = zip(body, numbers, texts, strict=True)
        outside = [(line, number) for line, number, text in lines if not text.in_table]
        levels = [entry.level for entry in self.outline if entry.page < page]
        above = levels[-1] if levels else 0
        headings = self.styles.headings(outside, titles)
        return [heading._replace(level=above + heading.level) for heading in headings]

    def _with_text(self, headings: Sequence[Heading]) -> Iterator[Heading]:
        """Yield the headings of a page; one with nothing below is the text of its section."""
        ends = [*(heading.line for heading in headings[1:]), len(self.lines) + 1]
        for heading, end in zip(headings, ends, strict=False):
            empty = not any(self.lines[heading.below - 1 : end - 1])
            yield heading._replace(below=heading.line) if empty else heading

    def _write_lines(self, body: Sequence[PdfLine], texts: Sequence[TextLine]) -> list[int]:
        """Write the lines, with a blank one before each paragraph; return their numbers."""
        numbers: list[int] = []
        previous: PdfLine | None = None
        divided = False
        for place, (line, (whole, in_table, goes_on)) in enumerate(zip(body, texts, strict=True)):
            text, goes_into_word = whole, False
            if divided:
                self.lines[-1], text = completed_word(self.lines[-1], whole, self.compounds)
                goes_into_word = not text
            if not goes_into_word:
                if previous is not None and not goes_on and opens_paragraph(previous, line):
                    self.lines.append("")
                self.lines.append(text)
            numbers.append(len(self.lines))
            previous, divided = line, False
            if place + 1 < len(texts) and not (in_table or texts[place + 1].in_table):
                below, following = body[place + 1], texts[place + 1].text
                divided = divides_word(line, self.lines[-1], below, following)
        return numbers

    def document(self, title: str, remarks: Sequence[LoaderRemark]) -> Document:
        """Return the document."""
        text = "".join(f"{line}\n" for line in self.lines)
        headings = [h if h.title else h._replace(title=title) for h in self.headings]
        sections = tuple(map(self._below_header, divide_at_headings(text, headings, None)))
        places = tuple(self.places)
        return Document("", "pdf", text, sections, places=places, remarks=tuple(remarks))

    def _below_header(self, section: Section) -> Section:
        """Return a section, below the header of its table if that is on a page above."""
        header = self.continued.get(section.start_line)
        return section._replace(ancestors=(*section.ancestors, header)) if header else section
