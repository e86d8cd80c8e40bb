"""Word documents: tables in tables, headings in tables, and tables that only arrange a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Docx
from opened_loaders import load
from word_files import body, word

STYLED = "<w:pPr><w:pStyle w:val='Heading1'/></w:pPr>"


def text(folder: Path, *blocks: str) -> str:
    return load(folder, "a.docx", word(body(*blocks)), Docx()).text


def cell(*blocks: str) -> str:
    return f"<w:tc>{''.join(blocks)}</w:tc>"


def rows(*cells: list[str]) -> str:
    written = "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in cells)
    return f"<w:tbl>{written}</w:tbl>"


def words(letters: str, style: str = "") -> str:
    return f"<w:p>{style}<w:r><w:t>{letters}</w:t></w:r></w:p>"


SMALL = rows([cell(words("oil")), cell(words("2 kg"))], [cell(words("wax")), cell(words("3 kg"))])
BOX = f"<w:pict><w:txbxContent>{SMALL}</w:txbxContent></w:pict>"
BOXED = f"<w:p><w:r><w:t>see</w:t>{BOX}</w:r></w:p>"


@pytest.mark.parametrize(
    ("blocks", "shown"),
    [
        ([words("see"), SMALL], "see oil, 2 kg; wax, 3 kg"),
        ([BOXED], "see oil, 2 kg; wax, 3 kg"),
        ([words("Group", STYLED)], "Group"),
    ],
)
def test_a_row_is_whole_with_a_table_or_a_heading_in_a_cell(
    tmp_path: Path, blocks: list[str], shown: str
) -> None:
    more = [[cell(words("B-2")), cell(words("200"))], [cell(words("C-3")), cell(words("300"))]]
    table = rows([cell(words("A-1")), cell(*blocks)], *more)
    assert text(tmp_path, table) == (
        f"| A-1 | {shown} |\n| --- | --- |\n| B-2 | 200 |\n| C-3 | 300 |\n"
    )


@pytest.mark.parametrize("down", [False, True])
def test_columns_of_a_page_and_frames_below_each_other_are_no_table(
    tmp_path: Path, *, down: bool
) -> None:
    cells = [cell(words("Scope", STYLED), words("all")), cell(words("also"), SMALL)]
    table = rows(*[[each] for each in cells]) if down else rows(cells)
    assert text(tmp_path, table) == (
        "# Scope\n\nall\n\nalso\n\n| oil | 2 kg |\n| --- | --- |\n| wax | 3 kg |\n"
    )


def test_a_table_of_headings_and_texts_is_divided_at_the_headings(tmp_path: Path) -> None:
    cells = [[cell(words(name, STYLED)), cell(words(name.lower()))] for name in ("Scope", "Terms")]
    assert text(tmp_path, rows(*cells)) == "# Scope\n\nscope\n\n# Terms\n\nterms\n"
