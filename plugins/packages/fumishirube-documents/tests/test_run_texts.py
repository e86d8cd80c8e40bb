"""Powers and struck words of slides and cells."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import samples
from fumishirube_documents import Pptx, Xlsx
from fumishirube_documents.run_texts import TextRun, joined_runs
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import load
from openpyxl.styles import Font

Runs = Sequence[tuple[str, Mapping[str, str]]]
LOAD: Runs = (
    ("Load 10", {}),
    ("6", {"baseline": "30000"}),
    (" N, H", {}),
    ("2", {"baseline": "-25000"}),
)
PRICE: Runs = (("was ", {}), ("1", {"strike": "sngStrike"}), ("00 ", {"strike": "dblStrike"}))
NOW: Runs = (("80", {"strike": "noStrike", "baseline": "0"}),)
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHARED = (
    '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def fill(paragraph: Any, runs: Runs) -> None:
    """Write runs into a paragraph of a slide, with the attributes of each."""
    for text, attributes in runs:
        run = paragraph.add_run()
        run.text = text
        for name, value in attributes.items():
            run.font._element.set(name, value)  # noqa: SLF001 - the library offers neither


def test_powers_and_struck_words_of_slides_are_read_as_such(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    fill(slide.shapes.title.text_frame.paragraphs[0], LOAD)
    frame = slide.shapes.add_textbox(0, 0, 1000, 1000).text_frame
    fill(frame.paragraphs[0], LOAD)
    fill(frame.add_paragraph(), (*PRICE, *NOW))
    cell = slide.shapes.add_table(1, 1, 0, 0, 1000, 1000).table.cell(0, 0)
    fill(cell.text_frame.paragraphs[0], (*PRICE, *LOAD))
    buffer = io.BytesIO()
    made.save(buffer)
    assert load(tmp_path, "a.pptx", buffer.getvalue(), Pptx()).text.splitlines() == [
        "# Load 10⁶ N, H2",
        "",
        "Load 10⁶ N, H2",
        "was ~~100~~ 80",
        "| was ~~100~~ Load 10⁶ N, H2 |",
        "",
    ]


def with_shared_texts(data: bytes, texts: Sequence[str]) -> bytes:
    """Return a workbook whose cells ``text N`` hold texts as Excel stores them."""
    data = samples.edited(
        data,
        lambda part: re.sub(
            rb't="inlineStr"><is><t>text (\d)</t></is>', rb't="s"><v>\1</v>', part
        ).replace(b"</Types>", f"{SHARED}</Types>".encode()),
    )
    written = "".join(f"<si>{text}</si>" for text in texts)
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a") as package:
        package.writestr("xl/sharedStrings.xml", f'<sst xmlns="{SHEETS}">{written}</sst>')
    return buffer.getvalue()


def test_powers_and_struck_words_of_cells_are_read_as_such(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (("Part", "Load"), ("text 0", 5), ("old", 1200), ("text 1", None)):
        book.active.append(row)
    for cell in ("A3", "B3", "A4"):
        book.active[cell].font = Font(strike=True)
    book.active["B3"].number_format = "#,##0"
    buffer = io.BytesIO()
    book.save(buffer)
    load_of = (
        '<r><t>Load 10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>-3</t></r>'
        '<r><rPr><strike/></rPr><t xml:space="preserve"> or more</t></r>'
        '<r><rPr><b/></rPr><t xml:space="preserve"> N</t></r>'
    )
    renamed = '<r><t>gone</t></r><r><rPr><b/></rPr><t xml:space="preserve"> new</t></r>'
    data = with_shared_texts(buffer.getvalue(), (load_of, renamed))
    assert load(tmp_path, "a.xlsx", data, Xlsx()).text.splitlines()[1:] == [
        "| Part | Load |",
        "| Load 10⁻³ ~~or more~~ N | 5 |",
        "| ~~old~~ | ~~1,200 (1200)~~ |",
        "| ~~gone~~ new |",
    ]


TEXTS = st.text(st.characters(exclude_characters="~", codec="utf-8"))


@given(st.lists(st.builds(TextRun, TEXTS, st.just(value=False), st.booleans())))
def test_marks_of_struck_words_change_nothing_else(runs: list[TextRun]) -> None:
    text = joined_runs(runs)
    assert text.replace("~~", "") == "".join(run.text for run in runs)
    struck = [each for each in text.split("~~")[1::2] if each]
    assert sum(map(len, struck)) <= sum(len(run.text) for run in runs if run.is_struck)
    assert bool(struck) == any(run.is_struck and run.text.strip() for run in runs)
