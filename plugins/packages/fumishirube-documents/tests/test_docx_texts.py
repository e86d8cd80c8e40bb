"""Word documents: powers, equations, symbols, hidden letters, and the columns of cells."""

from __future__ import annotations

from pathlib import Path

import pytest
from docx.document import Document as Word
from docx.oxml.parser import parse_xml
from fumishirube_documents import Docx
from fumishirube_documents.numerals import raised
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import load
from word_files import W, body, word

from fumishirube.text import fold

M = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"
RAISED = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r>"


def paragraph(folder: Path, *runs: str) -> str:
    """Return the text of a paragraph of runs."""
    data = word(body(f"<w:p>{''.join(runs)}</w:p>"))
    return load(folder, "a.docx", data, Docx()).text.removesuffix("\n")


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("text", "power", "shown"),
    [
        ("10", "6", "10⁶"),
        ("10", "-3", "10⁻³"),
        ("m", "2", "m²"),
        ("of 100", "1,2", "of 100¹,²"),
        ("the 1", "st", "the 1st"),
    ],
)
def test_numbers_that_are_raised_are_no_digits_of_the_number_before(
    tmp_path: Path, text: str, power: str, shown: str
) -> None:
    assert paragraph(tmp_path, run(text), RAISED.format(power)) == shown


STRUCK = "<w:r><w:rPr><w:{}/></w:rPr><w:t xml:space='preserve'>{}</w:t></w:r>"


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        ([STRUCK.format("strike", "12 bar"), run(" 8 bar")], "~~12 bar~~ 8 bar"),
        ([STRUCK.format("dstrike", "12 bar"), run(" 8 bar")], "~~12 bar~~ 8 bar"),
        ([STRUCK.format("strike w:val='0'", "12 bar")], "12 bar"),
        ([STRUCK.format("strike", "12 "), STRUCK.format("strike", "bar")], "~~12 bar~~"),
        ([STRUCK.format("strike", "12 "), run("8 bar")], "~~12~~ 8 bar"),
        ([run("8"), STRUCK.format("strike", " "), run("bar")], "8 bar"),
        (
            [STRUCK.format("strike", "12"), "<w:r><w:br/></w:r>", STRUCK.format("strike", "13")],
            "~~12~~\n~~13~~",
        ),
    ],
)
def test_struck_text_is_marked(tmp_path: Path, runs: list[str], shown: str) -> None:
    assert paragraph(tmp_path, *runs) == shown


def test_lines_behind_a_break_keep_the_spaces_before_them(tmp_path: Path) -> None:
    code = f"{run('  if  a:')}<w:r><w:br/></w:r>{run('    b = 1  ')}<w:r><w:br/></w:r>{run(' ')}"
    assert paragraph(tmp_path, code) == "if a:\n    b = 1"


@pytest.mark.parametrize("name", ["HTML Preformatted", "Source Code"])
def test_paragraphs_of_code_keep_their_spaces(tmp_path: Path, name: str) -> None:
    def write(document: Word) -> None:
        style = document.styles.add_style(name, 1)
        document.styles.add_style("Own", 1).base_style = style
        for line in ("def f():", "    return  1 "):
            document.add_paragraph(line, style="Own")

    shown = load(tmp_path, "a.docx", word(write), Docx()).text
    assert shown == "def f():\n\n    return  1\n"


@pytest.mark.property
@given(st.text())
def test_raised_text_is_equal_to_what_it_was_in_a_search(text: str) -> None:
    assert fold(raised(text)) == fold(text)


def letters(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, *content: str) -> str:
    return f"<m:{name}>{''.join(content)}</m:{name}>"


BASE = part("e", letters("x"))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (part("f", part("num", letters("1")), part("den", letters("2"))), "1/2"),
        (part("f", part("num", letters("a+b")), part("den", letters("2c"))), "(a+b)/2c"),
        (part("sSup", BASE, part("sup", letters("3"))), "x³"),
        (part("sSup", BASE, part("sup", letters("n"))), "x^n"),
        (part("sSup", BASE, part("sup", letters("n+1"))), "x^(n+1)"),
        (part("sSub", BASE, part("sub", letters("1"))), "x_1"),
        (part("sSub", BASE, part("sub", letters("n+1"))), "x_(n+1)"),
        (part("sSub", BASE, part("sub")), "x"),
        (part("sSubSup", BASE, part("sub", letters("12")), part("sup", letters("2"))), "x_12²"),
        (part("d", part("e", letters("1")), BASE), "(1, x)"),
        (part("d", "<m:dPr><m:sepChr m:val='|'/></m:dPr>", BASE, BASE), "(x|x)"),
        (part("d", part("e", part("m", *[part("mr", BASE, BASE)] * 2))), "(x, x; x, x)"),
        (
            part(
                "d",
                "<m:dPr><m:begChr m:val='{'/><m:endChr m:val=''/></m:dPr>",
                part("e", part("eqArr", part("e", letters("10, x&gt;0")), BASE)),
            ),
            "{10, x>0; x",
        ),
        (
            part(
                "f",
                "<m:fPr><m:type m:val='noBar'/></m:fPr>",
                part("num", letters("n")),
                part("den", letters("2")),
            ),
            "(n 2)",
        ),
        (part("rad", part("deg"), BASE), "√x"),
        (part("rad", part("deg", letters("3")), part("e", letters("a+b"))), "³√(a+b)"),
        (letters("2") + part("d", part("e", letters("a+b"))), "2(a+b)"),
        (
            part("d", "<m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>", BASE),
            "[x]",
        ),
        (part("nary", "<m:naryPr><m:chr m:val='∑'/></m:naryPr>", BASE), "∑x"),
        (
            part(
                "nary",
                "<m:naryPr><m:chr m:val='∑'/></m:naryPr>",
                part("sub", letters("i=1")),
                part("sup", letters("10")),
                part("e", letters("5i")),
            ),
            "∑_(i=1)¹⁰ 5i",
        ),
        ("<w:del>" + letters("0") + "</w:del>" + letters("1"), "1"),
    ],
)
def test_equations_are_written_on_a_line(tmp_path: Path, written: str, shown: str) -> None:
    equation = f"<m:oMath {M}>{written}</m:oMath>"
    assert paragraph(tmp_path, run("y = "), equation, run(" mm")) == f"y = {shown} mm"


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Symbol", "F0B1", "±"),
        ("Symbol", "F0A3", "≤"),
        ("Symbol", "F057", "Ω"),
        ("Symbol", "F06D", "μ"),
        ("Symbol", "B0", "°"),
        ("Wingdings", "F0FC", "✓"),
        ("Wingdings", "F036", "\ufffd"),
        ("Arial", "00B5", "µ"),
        ("My own signs", "F041", "\ufffd"),
        ("Symbol", "", "\ufffd"),
        ("Arial", "D800", "\ufffd"),
    ],
)
def test_symbols_are_read(tmp_path: Path, font: str, code: str, shown: str) -> None:
    symbol = f"<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>"
    assert paragraph(tmp_path, run("5 "), symbol, run("V")) == f"5 {shown}V"


@pytest.mark.parametrize(
    ("code", "shown"),
    [("2705", "✅"), ("26A0", "⚠"), ("1F600", "😀"), ("D83D", "\ufffd"), ("", "\ufffd")],
)
def test_emoji_are_read_where_word_names_their_code(tmp_path: Path, code: str, shown: str) -> None:
    symbols = "http://schemas.microsoft.com/office/word/2015/wordml/symex"
    markup = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    either = (
        f"<c:AlternateContent xmlns:c='{markup}' xmlns:s='{symbols}'><c:Choice Requires='s'>"
        f"<s:symEx s:font='Segoe UI Emoji' s:char='{code}'/></c:Choice>"
        "<c:Fallback><w:t>☐</w:t></c:Fallback></c:AlternateContent>"
    )
    assert paragraph(tmp_path, run("Tested "), f"<w:r>{either}</w:r>") == f"Tested {shown}"


@pytest.mark.parametrize("kind", ["character", "paragraph"])
def test_letters_that_a_style_hides_are_not_read(tmp_path: Path, kind: str) -> None:
    def write(document: Word) -> None:
        for name, based, vanish in (("Hid", "", "<w:vanish/>"), ("Also", "Hid", "<w:i/>")):
            document.styles.element.append(
                parse_xml(
                    f"<w:style {W} w:type='{kind}' w:styleId='{name}'><w:name w:val='{name}'/>"
                    f"<w:basedOn w:val='{based}'/><w:rPr>{vanish}</w:rPr></w:style>"
                )
            )
        of_paragraph = "<w:pPr><w:pStyle w:val='Also'/></w:pPr>" * (kind == "paragraph")
        of_run = "<w:rStyle w:val='Also'/>" * (kind == "character")
        body(
            f"<w:p>{of_paragraph}<w:r><w:rPr>{of_run}</w:rPr><w:t>secret</w:t></w:r>"
            f"<w:r><w:rPr>{of_run}<w:vanish w:val='0'/></w:rPr><w:t>shown</w:t></w:r></w:p>"
        )(document)

    assert load(tmp_path, "a.docx", word(write), Docx()).text == "shown\n"


def test_cells_of_a_row_that_begins_further_right_are_in_their_columns(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        table = document.add_table(3, 3)
        for at, text in enumerate(("Name", "Price", "Qty", "", "5", "7", "Nut", "6", "8")):
            table.cell(at // 3, at % 3).text = text
        row = table.rows[1]._tr  # noqa: SLF001 - the library has no such rows
        row.remove(row.tc_lst[0])
        row.get_or_add_trPr().append(parse_xml(f"<w:gridBefore {W} w:val='1'/>"))

    assert load(tmp_path, "a.docx", word(write), Docx()).text.splitlines() == [
        "| Name | Price | Qty |",
        "| --- | --- | --- |",
        "|  | 5 | 7 |",
        "| Nut | 6 | 8 |",
    ]


def level(place: int, form: str, shown: str, *more: str, start: int = 1) -> str:
    """Return a level of a list."""
    return (
        f"<w:lvl w:ilvl='{place}'><w:start w:val='{start}'/><w:numFmt w:val='{form}'/>"
        f"{''.join(more)}<w:lvlText w:val='{shown}'/></w:lvl>"
    )


ROMAN = level(0, "upperRoman", "Article %1")


@pytest.mark.parametrize(
    ("lists", "override", "titles"),
    [
        (
            [ROMAN + level(1, "decimal", "%1.%2", "<w:isLgl/>")],
            "",
            ["Article I Scope", "1.1 Terms", "Article II Payment", "2.1 Due"],
        ),
        (
            [ROMAN + level(1, "upperLetter", "%1.%2", "<w:isLgl w:val='0'/>")],
            "",
            ["Article I Scope", "I.A Terms", "Article II Payment", "II.A Due"],
        ),
        (
            ["<w:numStyleLink w:val='Legal'/>", "<w:styleLink w:val='Legal'/>" + ROMAN],
            "",
            ["Article I Scope", "Terms", "Article II Payment", "Due"],
        ),
        (
            [ROMAN + level(1, "decimal", "%1.%2")],
            f"<w:lvlOverride w:ilvl='0'>{level(0, 'upperLetter', '(%1)', start=5)}</w:lvlOverride>",
            ["(E) Scope", "E.1 Terms", "(F) Payment", "F.1 Due"],
        ),
    ],
)
def test_numbers_are_those_that_word_shows(
    tmp_path: Path, lists: list[str], override: str, titles: list[str]
) -> None:
    def write(document: Word) -> None:
        numbering = document.part.numbering_part.element
        for number, levels in enumerate(lists, start=90):
            made = f"<w:abstractNum {W} w:abstractNumId='{number}'>{levels}</w:abstractNum>"
            numbering.insert(0, parse_xml(made))
        made = f"<w:num {W} w:numId='90'><w:abstractNumId w:val='90'/>{override}</w:num>"
        numbering.append(parse_xml(made))
        for title, depth in (("Scope", 0), ("Terms", 1), ("Payment", 0), ("Due", 1)):
            heading = document.add_heading(title, depth + 1)
            listed = f"<w:numPr {W}><w:ilvl w:val='{depth}'/><w:numId w:val='90'/></w:numPr>"
            heading.paragraph_format.element.get_or_add_pPr().append(parse_xml(listed))

    document = load(tmp_path, "a.docx", word(write), Docx())
    assert [section.title for section in document.sections] == titles
