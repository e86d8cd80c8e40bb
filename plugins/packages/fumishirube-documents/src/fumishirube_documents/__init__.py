"""Loaders for Fumishirube: PDF, Office files, web pages and e-books, with pages and rows."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue, SecretStr

from fumishirube import DefaultRegister, Env, Loader, hook
from fumishirube_documents.isolated_loader import IsolatedLoader
from fumishirube_documents.locked_office import UNLOCKER
from fumishirube_documents.ocr_languages import lacking_languages
from fumishirube_documents.processes import ParseRequest

UnpackedBytes = Annotated[int, Field(ge=1)]
_UNPACKED = 128 * 1024 * 1024


def _revealed(passwords: Sequence[SecretStr]) -> list[JsonValue]:
    return [password.get_secret_value() for password in passwords]


def _digest(passwords: Sequence[SecretStr]) -> str:
    """Return one byte of a hash of passwords, which does not tell them."""
    words = "\0".join(password.get_secret_value() for password in passwords)
    return hashlib.sha256(words.encode()).hexdigest()[:2] if words else ""


class Pdf(IsolatedLoader):
    """Claims PDF files. A section begins at each heading and on each page.

    Headings come from the outline, else from larger or bold letters. Tables are rows. With
    ``running_heads`` false, running heads and page numbers are left out; with ``beyond_edges``
    false, what is beyond the edges of pages, where nobody sees it. ``passwords`` are tried on
    locked files. With ``ocr`` the program ``tesseract``, if it is on the path, reads the pages
    without text in ``ocr_languages``; a file may then take ``ocr_seconds``, if they are more.
    """

    parser: ClassVar[str] = "fumishirube_documents.pdf:parsed_pdf"
    drawer: ClassVar[str] = "fumishirube_documents.pdf_pictures:drawn_page"
    revision: ClassVar[int] = 14
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "pypdfium2")
    limits: ClassVar[frozenset[str]] = IsolatedLoader.limits | {"ocr_seconds"}

    suffixes: tuple[str, ...] = (".pdf",)
    running_heads: bool = False
    beyond_edges: bool = False
    passwords: Annotated[tuple[SecretStr, ...], Env("FUMISHIRUBE_PDF_PASSWORDS")] = ()
    ocr: bool = False
    ocr_languages: Annotated[str, Field(pattern=r"^\w+(\+\w+)*$")] = "jpn+eng"
    ocr_seconds: Annotated[float, Field(gt=0)] = 1800.0

    @property
    def surroundings(self) -> str:
        """One byte of a hash of the passwords; with ``ocr``, ``tesseract`` and what it lacks."""
        program = self._tesseract
        lacking = lacking_languages(program, self.ocr_languages) if program else ()
        return f"{_digest(self.passwords)}{'t' * (program is not None)}{'+'.join(lacking)}"

    @property
    def request(self) -> ParseRequest:
        """The request to a worker, with passwords, and the place of ``tesseract``."""
        request = super().request
        program = self._tesseract
        settings: dict[str, JsonValue] = {
            **request.settings,
            "passwords": _revealed(self.passwords),
            "tesseract": program,
        }
        if program and self.ocr_seconds > request.seconds:
            request = request._replace(seconds=self.ocr_seconds, seconds_of="ocr_seconds")
        return request._replace(settings=settings)

    @property
    def _tesseract(self) -> str | None:
        return shutil.which("tesseract") if self.ocr else None


class Office(IsolatedLoader):
    """What the loaders of Office files share.

    ``passwords`` are tried on locked files, if msoffcrypto-tool is installed. A document is a ZIP
    package; one that would unpack to over ``unpacked_bytes`` is skipped.
    """

    limits: ClassVar[frozenset[str]] = IsolatedLoader.limits | {"unpacked_bytes"}

    unpacked_bytes: UnpackedBytes = 4 * _UNPACKED
    passwords: Annotated[tuple[SecretStr, ...], Env("FUMISHIRUBE_OFFICE_PASSWORDS")] = ()

    @property
    def surroundings(self) -> str:
        """One byte of a hash of the passwords, and whether msoffcrypto-tool is installed."""
        return f"{_digest(self.passwords)}{'m' * (find_spec(UNLOCKER) is not None)}"

    @property
    def request(self) -> ParseRequest:
        """The request to a worker, with passwords."""
        request = super().request
        return request._replace(
            settings={**request.settings, "passwords": _revealed(self.passwords)}
        )


class Docx(Office):
    """Claims Word documents, and reads them as Markdown, divided at the headings."""

    parser: ClassVar[str] = "fumishirube_documents.docx:parsed_docx"
    revision: ClassVar[int] = 8
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "python-docx")

    suffixes: tuple[str, ...] = (".docx",)
    unpacked_bytes: UnpackedBytes = _UNPACKED


class Pptx(Office):
    """Claims PowerPoint presentations; each slide is a section, with its notes."""

    parser: ClassVar[str] = "fumishirube_documents.pptx:parsed_pptx"
    revision: ClassVar[int] = 7
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "python-pptx")

    suffixes: tuple[str, ...] = (".pptx",)


class Xlsx(Office):
    """Claims Excel workbooks: one line a row, in sections under the header of the sheet.

    Numbers are written as the sheet shows them, followed by the value where that differs.
    """

    parser: ClassVar[str] = "fumishirube_documents.sheets:parsed_xlsx"
    revision: ClassVar[int] = 8
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "openpyxl")

    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")


class OldSheets(Office):
    """Claims older Excel workbooks and OpenDocument sheets, and reads values only."""

    parser: ClassVar[str] = "fumishirube_documents.sheets:parsed_old_sheets"
    revision: ClassVar[int] = 7
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "python-calamine")

    suffixes: tuple[str, ...] = (".xls", ".ods")


_MAIN_TEXT = ("trafilatura", "lxml_html_clean")
"""What the main text needs: pip 23 installs the first without the second, which it imports."""


class Html(IsolatedLoader):
    """Claims HTML pages, and reads them as Markdown, divided at the headings.

    In pages by Sphinx, functions, options and other entries are sections too, and on any page the
    terms of lists that a link can name. Where a page has one ``main`` element, or exactly one in
    that role, or exactly one article, the rest is left out. On other pages trafilatura, if it is
    installed and ``main_text`` true, finds the main text, and blocks of links before and after it
    are left out with what is beyond them. The ``ignored`` elements are left out with their
    content, given by name (also for elements in the role that a name stands for, such as navigation
    for ``nav``), ``.class`` or ``#id``. With ``anchors`` the line of a heading ends in its anchor,
    such as ``{#install}``, for opening it in a browser.
    """

    parser: ClassVar[str] = "fumishirube_documents.html:parsed_html"
    revision: ClassVar[int] = 11
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "lxml", "trafilatura")

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")
    ignored: tuple[str, ...] = ("nav", ".headerlink", ".viewcode-link", ".mw-editsection")
    anchors: bool = True
    main_text: bool = True

    @property
    def surroundings(self) -> str:
        """Whether trafilatura can be imported, if it is wanted."""
        return "m" * self._finds_main_text

    @property
    def request(self) -> ParseRequest:
        """The request to a worker, with whether trafilatura can be imported."""
        request = super().request
        settings = {**request.settings, "main_text": self._finds_main_text}
        return request._replace(settings=settings)

    @property
    def _finds_main_text(self) -> bool:
        return self.main_text and all(map(find_spec, _MAIN_TEXT))


class Epub(IsolatedLoader):
    """Claims e-books, and reads their chapters in order, as web pages."""

    parser: ClassVar[str] = "fumishirube_documents.epub:parsed_epub"
    revision: ClassVar[int] = 10
    distributions: ClassVar[tuple[str, ...]] = ("fumishirube-documents", "lxml")
    limits: ClassVar[frozenset[str]] = IsolatedLoader.limits | {"unpacked_bytes"}

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
