"""Loaders for Fumishirube: PDF, Office files, web pages and e-books, with pages and rows."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import DefaultRegister, Loader, hook
from fumishirube.parsing import IsolatedLoader

UnpackedBytes = Annotated[int, Field(ge=1)]
_UNPACKED = 128 * 1024 * 1024


class Pdf(IsolatedLoader):
    """Claims PDF files. A section begins at each heading and on each page.

    Headings come from the outline, else from larger or bold letters. Tables are rows. With
    ``running_heads`` false, running heads and page numbers are left out.
    """

    parser: ClassVar[str] = "fumishirube_documents.pdf:parsed_pdf"

    suffixes: tuple[str, ...] = (".pdf",)
    running_heads: bool = False


class Docx(IsolatedLoader):
    """Claims Word documents, and reads them as Markdown, divided at the headings.

    A document is a ZIP package; one that would unpack to over ``unpacked_bytes`` is skipped.
    """

    parser: ClassVar[str] = "fumishirube_documents.docx:parsed_docx"

    suffixes: tuple[str, ...] = (".docx",)
    unpacked_bytes: UnpackedBytes = _UNPACKED


class Pptx(IsolatedLoader):
    """Claims PowerPoint presentations; each slide is a section, with its notes."""

    parser: ClassVar[str] = "fumishirube_documents.pptx:parsed_pptx"

    suffixes: tuple[str, ...] = (".pptx",)
    unpacked_bytes: UnpackedBytes = 4 * _UNPACKED


class Xlsx(IsolatedLoader):
    """Claims Excel workbooks: one line a row, in sections under the header of the sheet.

    Numbers are written as the sheet shows them, followed by the value where that differs.
    """

    parser: ClassVar[str] = "fumishirube_documents.sheets:parsed_xlsx"

    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")
    unpacked_bytes: UnpackedBytes = 4 * _UNPACKED


class OldSheets(IsolatedLoader):
    """Claims older Excel workbooks and OpenDocument sheets, and reads values only."""

    parser: ClassVar[str] = "fumishirube_documents.sheets:parsed_old_sheets"

    suffixes: tuple[str, ...] = (".xls", ".ods")


class Html(IsolatedLoader):
    """Claims HTML pages, and reads them as Markdown, divided at the headings.

    Where a page has a ``main`` element, or exactly one article, the rest is left out. So are the
    ``ignored`` elements with their content, given by name, ``.class`` or ``#id``. With ``anchors``
    the line of a heading ends in its anchor, such as ``{#install}``, for opening it in a browser.
    """

    parser: ClassVar[str] = "fumishirube_documents.html:parsed_html"

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")
    ignored: tuple[str, ...] = ("nav", ".headerlink")
    anchors: bool = True


class Epub(IsolatedLoader):
    """Claims e-books, and reads their chapters in order, as web pages."""

    parser: ClassVar[str] = "fumishirube_documents.epub:parsed_epub"

    suffixes: tuple[str, ...] = (".epub",)
    unpacked_bytes: UnpackedBytes = 4 * _UNPACKED


@hook
def register_loaders(register: DefaultRegister[Loader]) -> None:
    """Register the loaders; without configuration they read what no earlier loader claims."""
    register("pdf", Pdf, default=True)
    register("docx", Docx, default=True)
    register("pptx", Pptx, default=True)
    register("xlsx", Xlsx, default=True)
    register("old-sheets", OldSheets, default=True)
    register("html", Html, default=True)
    register("epub", Epub, default=True)
