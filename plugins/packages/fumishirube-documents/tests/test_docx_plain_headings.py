"""Word documents whose headings have no style, only large or bold letters."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.shared import Pt
from fumishirube_documents import Docx
from opened_loaders import running

from fumishirube import Root, Source

TEXT = "The text of the rules is written in letters of the usual size, as it is said here."


def titles(folder: Path, write: Callable[[Any], None]) -> list[tuple[str, int]]:
    """Return the titles and levels of the sections of a document."""
    document = docx.Document()
    write(document)
    buffer = io.BytesIO()
    document.save(buffer)
    (folder / "rules.docx").write_bytes(buffer.getvalue())
    read = running(Docx()).load(Root(folder), Source("rules.docx"))
    return [(section.title, section.level) for section in read.sections]


def add(document: Any, text: str, size: float | None = None, *, bold: bool | None = None) -> Any:
    paragraph = document.add_paragraph()
    run = paragraph.add_run(text)
    run.bold, run.font.size = bold, None if size is None else Pt(size)
    return paragraph


def test_large_and_bold_paragraphs_are_headings(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        add(document, "就業規則", 20)
        document.add_paragraph(TEXT)
        for title in ("第1章 総則", "第2章 休暇"):
            add(document, title, 14, bold=True)
            add(document, "目的", bold=True)
            document.add_paragraph(TEXT)

    chapters = [("第1章 総則", 2), ("目的", 3), ("第2章 休暇", 2), ("目的", 3)]
    assert titles(tmp_path, write) == [("就業規則", 1), *chapters]


def test_the_letters_of_a_style_count(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        style = document.styles.add_style("Own", 1)
        style.font.size = Pt(18)
        document.styles.add_style("Based", 1).base_style = style
        for title in ("Holidays", "Wages"):
            document.add_paragraph(title, style="Based")
            document.add_paragraph(TEXT)

    assert titles(tmp_path, write) == [("Holidays", 1), ("Wages", 1)]


@pytest.mark.parametrize(
    "other",
    [
        lambda d: add(d, "This sentence is bold, and it is one.", bold=True),
        lambda d: add(d, "Note", bold=True).add_run(" that only a word of it is bold"),
        lambda d: setattr(add(d, "An item", bold=True), "style", d.styles["List Bullet"]),
        lambda d: add(d, "* * *", 20),
        lambda d: add(d, "small", 8),
    ],
)
def test_other_paragraphs_are_no_headings(tmp_path: Path, other: Callable[[Any], object]) -> None:
    def write(document: Any) -> None:
        for _ in range(8):
            document.add_paragraph(TEXT)
        other(document)
        document.add_paragraph(TEXT)

    assert [title for title, _ in titles(tmp_path, write)] == ["rules"]


def test_where_headings_have_styles_bold_lines_are_none(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_heading("Rules", 1)
        add(document, "Bold words", bold=True)
        document.add_paragraph(TEXT)

    assert titles(tmp_path, write) == [("Rules", 1)]


def test_a_document_in_bold_has_no_headings(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        for _ in range(4):
            add(document, "Short words", bold=True)

    assert [title for title, _ in titles(tmp_path, write)] == ["rules"]
