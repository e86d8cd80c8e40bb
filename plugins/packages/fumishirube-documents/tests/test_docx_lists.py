"""Word documents: the numbers of lists, also in tables and of empty paragraphs."""

from __future__ import annotations

from pathlib import Path

import pytest
from docx.document import Document as Word
from docx.oxml.parser import parse_xml
from fumishirube_documents import Docx
from hypothesis import given, settings
from hypothesis import strategies as st
from opened_loaders import load
from word_files import W, body, word


def item(text: str, *, more: str = "", number: int = 90, level: int = 0) -> str:
    """Return a paragraph of a list; ``more`` is what else its properties hold."""
    listed = f"<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{number}'/></w:numPr>"
    run = f"<w:r>{f'<w:t>{text}</w:t>' if text else ''}</w:r>"
    return f"<w:p><w:pPr>{listed}{more}</w:pPr>{run}</w:p>"


def table(*rows: list[str]) -> str:
    cells = ["".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def listed(
    *elements: str, form: str = "decimal", shown: str = "%1.", start: int = 1, deeper: str = ""
) -> bytes:
    """Return a document with a list, whose number is 90, and one of bullets, 91.

    Both have the ``deeper`` levels.
    """

    def write(document: Word) -> None:
        numbering = document.part.numbering_part.element
        for number, kind, text in ((90, form, shown), (91, "bullet", "•")):
            level = (
                f"<w:lvl w:ilvl='0'><w:start w:val='{start}'/><w:numFmt w:val='{kind}'/>"
                f"<w:lvlText w:val='{text}'/></w:lvl>{deeper}"
            )
            made = f"<w:abstractNum {W} w:abstractNumId='{number}'>{level}</w:abstractNum>"
            numbering.insert(0, parse_xml(made))
            used = f"<w:num {W} w:numId='{number}'><w:abstractNumId w:val='{number}'/></w:num>"
            numbering.append(parse_xml(used))
        body(*elements)(document)

    return word(write)


def lines(folder: Path, data: bytes) -> list[str]:
    """Return the lines with text."""
    return list(filter(None, load(folder, "a.docx", data, Docx()).text.split("\n")))


def test_a_number_is_all_that_a_cell_may_hold(tmp_path: Path) -> None:
    rows = [[item(""), plain("The pump stops")], [item(""), plain("The valve opens")]]
    data = listed(table([plain("No."), plain("Requirement")], *rows), shown="REQ-%1")
    assert lines(tmp_path, data) == [
        "| No. | Requirement |",
        "| --- | --- |",
        "| REQ-1 | The pump stops |",
        "| REQ-2 | The valve opens |",
    ]


def test_steps_in_a_cell_have_numbers_and_count_for_the_list_below(tmp_path: Path) -> None:
    cell = item("wash") + item("dry") + item("soap", number=91)
    data = listed(item("open"), table([cell, plain("x")]), item("close"))
    assert lines(tmp_path, data) == ["1. open", "| 2. wash 3. dry soap | x |", "4. close"]


def test_a_cell_merged_over_rows_counts_once(tmp_path: Path) -> None:
    tall = "<w:tcPr><w:vMerge w:val='restart'/></w:tcPr>" + item("")
    below = "<w:tcPr><w:vMerge/></w:tcPr>" + item("")
    data = listed(table([tall, plain("a")], [below, plain("b")], [item(""), plain("c")]))
    assert lines(tmp_path, data) == ["| 1. | a |", "| --- | --- |", "| 1. | b |", "| 2. | c |"]


def plain(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ("", "3."),
        ("<w:rPr><w:b/></w:rPr>", "3."),
        ("<w:rPr><w:vanish w:val='0'/></w:rPr>", "3."),
        ("<w:rPr><w:del w:id='1'/></w:rPr>", "2."),
        ("<w:rPr><w:moveFrom w:id='1'/></w:rPr>", "2."),
        ("<w:rPr><w:vanish/></w:rPr>", "2."),
    ],
)
def test_an_empty_step_counts_where_word_shows_its_number(
    tmp_path: Path, more: str, number: str
) -> None:
    data = listed(item("Open the lid"), item("", more=more), item("Close the lid"))
    assert lines(tmp_path, data) == ["1. Open the lid", f"{number} Close the lid"]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("aiueoFullWidth", "アイウ"),
        ("iroha", "イロハ"),
        ("irohaFullWidth", "イロハ"),
        ("ideographTraditional", "甲乙丙"),
        ("ideographZodiac", "子丑寅"),
        ("ideographZodiacTraditional", ["甲子", "乙丑", "丙寅"]),
        ("japaneseLegal", "壱弐参"),
        ("japaneseCounting", "一二三"),
        ("decimalEnclosedCircle", "①②③"),
        ("decimalEnclosedParen", "⑴⑵⑶"),
        ("decimalEnclosedFullstop", "⒈⒉⒊"),
        ("ordinal", ["1st", "2nd", "3rd"]),
    ],
)
def test_numbers_have_the_form_of_their_list(
    tmp_path: Path, form: str, shown: str | list[str]
) -> None:
    data = listed(*map(item, "abc"), form=form, shown="第%1条")
    expected = [f"第{sign}条 {text}" for sign, text in zip(shown, "abc", strict=True)]
    assert lines(tmp_path, data) == expected


@pytest.mark.parametrize(
    ("form", "number", "shown"),
    [
        ("japaneseCounting", 99, "九十九"),
        ("japaneseCounting", 100, "百"),
        ("japaneseCounting", 211, "二百十一"),
        ("japaneseCounting", 1050, "千五十"),
        ("japaneseCounting", 10_000, "10000"),
        ("chineseCounting", 11, "十一"),
        ("ideographDigital", 11, "一一"),
        ("japaneseDigitalTenThousand", 100, "一〇〇"),
    ],
)
def test_numbers_are_written_in_kanji(tmp_path: Path, form: str, number: int, shown: str) -> None:
    data = listed(item("x"), form=form, shown="第%1条", start=number)
    assert lines(tmp_path, data) == [f"第{shown}条 x"]


@pytest.mark.parametrize(
    ("restarts", "expected"),
    [
        (("", ""), "1 1 .1 .2 2 .1 2 1 .1"),
        (("<w:lvlRestart w:val='0'/>", ""), "1 1 .1 .2 2 .1 2 3 .1"),
        (("", "<w:lvlRestart w:val='1'/>"), "1 1 .1 .2 2 .3 2 1 .1"),
        (("", "<w:lvlRestart w:val='0'/>"), "1 1 .1 .2 2 .3 2 1 .4"),
    ],
)
def test_a_level_begins_again_below_the_levels_that_its_list_says(
    tmp_path: Path, restarts: tuple[str, str], expected: str
) -> None:
    deeper = "".join(
        f"<w:lvl w:ilvl='{level}'><w:numFmt w:val='decimal'/>{restart}<w:lvlText w:val='{shown}'/>"
        "</w:lvl>"
        for level, (restart, shown) in enumerate(zip(restarts, ("%2", ".%3"), strict=True), 1)
    )
    items = [item("x", level=level) for level in (0, 1, 2, 2, 1, 2, 0, 1, 2)]
    written = lines(tmp_path, listed(*items, shown="%1", deeper=deeper))
    assert [line.split()[0] for line in written] == expected.split()


def test_numbers_behind_the_last_sign_of_a_form_are_written_in_digits(tmp_path: Path) -> None:
    data = listed(*[item("x")] * 11, form="ideographTraditional", shown="%1")
    assert lines(tmp_path, data)[9:] == ["癸 x", "11 x"]


def test_ordinal_numbers_have_their_endings(tmp_path: Path) -> None:
    data = listed(*[item("x")] * 23, form="ordinal", shown="%1")
    assert lines(tmp_path, data)[9:] == [
        f"{number} x"
        for number in ("10th", "11th", "12th", "13th", "14th", "15th", "16th", "17th", "18th")
    ] + [f"{number} x" for number in ("19th", "20th", "21st", "22nd", "23rd")]


@pytest.mark.property
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["step", ""]), st.booleans()), max_size=12))
def test_each_step_has_the_number_of_those_before_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool]]
) -> None:
    made = [table([item(text), plain("x")]) if boxed else item(text) for text, boxed in steps]
    expected = [
        f"| {number}. {text} | x |".replace("  ", " ") if boxed else f"{number}. {text}"
        for number, (text, boxed) in enumerate(steps, start=1)
        if text or boxed
    ]
    assert lines(tmp_path_factory.mktemp("steps"), listed(*made)) == expected
