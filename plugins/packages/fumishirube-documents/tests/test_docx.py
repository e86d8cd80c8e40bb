from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import samples
from docx.document import Document as Word
from docx.opc.constants import RELATIONSHIP_TYPE as RELATED
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from docx.shared import Inches
from fumishirube_documents import Docx
from opened_loaders import RunningContract, running
from word_files import W, body, word

from fumishirube import Document, Root, Source, Unreadable

FOLDERS = zipfile.ZIP_DEFLATED


def guide(document: Word) -> None:
    document.add_heading("就業規則", 0)
    document.add_paragraph("この規則は社員に適用する。")
    document.add_heading("休暇", 1)
    document.add_paragraph("年次有給休暇は10日とする。")
    document.add_paragraph("繰り越し", style="List Bullet")
    document.add_paragraph("失効", style="List Bullet 2")
    document.add_paragraph("申請", style="List Number")
    document.add_paragraph("承認", style="List Number")
    document.add_heading("例外", 2)
    table = document.add_table(2, 2)
    for row, (first, second) in zip(
        table.rows, [("区分", "日数"), ("パート | 他", "5日")], strict=True
    ):
        row.cells[0].text, row.cells[1].text = first, second


class TestDocx(RunningContract):
    stage = Docx()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "規則.docx": word(guide),
            "more/EMPTY.DOCX": word(lambda document: document),
            "~$規則.docx": b"somebody has it open",
            "notes.md": "# not ours\n",
        }


def load(folder: Path, written: bytes | Callable[[Word], object], **settings: int) -> Document:
    data = written if isinstance(written, bytes) else word(written)
    (folder / "page.docx").write_bytes(data)
    return running(Docx.model_validate(settings)).load(Root(folder), Source("page.docx"))


def text(folder: Path, write: Callable[[Word], object]) -> str:
    return load(folder, write).text


# --- sections -------------------------------------------------------------------------------


def test_a_document_is_read_as_markdown(tmp_path: Path) -> None:
    assert text(tmp_path, guide) == (
        "就業規則\n\nこの規則は社員に適用する。\n\n"
        "# 休暇\n\n年次有給休暇は10日とする。\n- 繰り越し\n- 失効\n1. 申請\n2. 承認\n\n"
        "## 例外\n\n| 区分 | 日数 |\n| --- | --- |\n| パート \\| 他 | 5日 |\n"
    )


def test_headings_open_sections_that_name_those_around_them(tmp_path: Path) -> None:
    assert [(s.title, s.level, s.ancestors) for s in load(tmp_path, guide).sections] == [
        ("就業規則", 1, ()),
        ("休暇", 1, ()),
        ("例外", 2, ("休暇",)),
    ]


def test_a_document_without_title_or_headings_is_called_by_its_name(tmp_path: Path) -> None:
    (section,) = load(tmp_path, lambda document: document.add_paragraph("x")).sections
    assert section.title == "page"


def test_a_style_of_one_s_own_is_a_heading_if_it_is_based_on_one(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        style = document.styles.add_style("章見出し", 1)
        style.base_style = document.styles["Heading 2"]
        document.add_paragraph("総則", style=style)
        outlined = document.add_paragraph("細則")
        level = OxmlElement("w:outlineLvl")
        level.set(qn("w:val"), "2")
        outlined.paragraph_format.element.get_or_add_pPr().append(level)

    assert text(tmp_path, write) == "## 総則\n\n### 細則\n"


def test_numbers_that_word_shows_are_in_the_titles(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        numbering = document.part.numbering_part.element
        levels = "".join(
            f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
            f'<w:pStyle w:val="Heading{n + 1}"/><w:lvlText w:val="{shown}"/></w:lvl>'
            for n, (form, shown) in enumerate(
                [("japaneseCounting", "第%1章"), ("decimal", "%1.%2")]
            )
        )
        made = parse_xml(f'<w:abstractNum {W} w:abstractNumId="77">{levels}</w:abstractNum>')
        numbering.insert(0, made)
        numbering.append(
            parse_xml(f'<w:num {W} w:numId="77"><w:abstractNumId w:val="77"/></w:num>')
        )
        for name in ("Heading 1", "Heading 2"):
            properties = document.styles[name].element.get_or_add_pPr()
            properties.append(parse_xml(f'<w:numPr {W}><w:numId w:val="77"/></w:numPr>'))
        for title, level in [("総則", 1), ("目的", 2), ("範囲", 2), ("休暇", 1), ("種類", 2)]:
            document.add_heading(title, level)

    titles = [section.title for section in load(tmp_path, write).sections]
    assert titles == ["第一章 総則", "一.1 目的", "一.2 範囲", "第二章 休暇", "二.1 種類"]


STYLED = "<w:pPr><w:pStyle w:val='Heading1'/></w:pPr>"


def spaced(letters: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{letters}</w:t></w:r>"


# --- what is read, and what is not -----------------------------------------------------------


def test_what_was_inserted_is_read_and_what_was_deleted_is_not(tmp_path: Path) -> None:
    write = body(
        "<w:p><w:r><w:t>a</w:t></w:r><w:ins><w:r><w:t>b</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>c</w:delText></w:r></w:del>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>d</w:t></w:r>"
        "<w:hyperlink><w:r><w:t>e</w:t></w:r></w:hyperlink></w:p>"
    )
    assert text(tmp_path, write) == "abe\n"


GONE = "<w:pPr><w:pStyle w:val='Heading1'/><w:rPr><w:del w:id='1'/></w:rPr></w:pPr>"


@pytest.mark.parametrize(
    ("blocks", "shown"),
    [
        ([GONE + spaced("The pump "), spaced("must not run dry.")], "The pump must not run dry.\n"),
        ([GONE + spaced("a "), GONE + spaced("b "), STYLED + spaced("c")], "# a b c\n"),
        (["<w:del><w:r><w:delText>old</w:delText></w:r></w:del>", spaced("new")], "new\n"),
        ([spaced("a"), GONE + spaced("last")], "a\n\n# last\n"),
    ],
)
def test_a_paragraph_goes_on_where_its_mark_was_deleted(
    tmp_path: Path, blocks: list[str], shown: str
) -> None:
    paragraphs = [f"<w:p>{block}</w:p>" for block in blocks]
    assert text(tmp_path, body(*paragraphs)) == shown
    cell = f"<w:tc>{''.join(paragraphs)}</w:tc>"
    boxed = text(tmp_path, body(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>"))
    assert boxed == shown


@pytest.mark.parametrize(
    ("place", "shown"),
    [("drop", "点検は毎朝\n"), ("margin", "点検は毎朝\n"), ("none", "点\n\n検は毎朝\n")],
)
def test_a_large_first_letter_belongs_to_its_paragraph(
    tmp_path: Path, place: str, shown: str
) -> None:
    letter = f"<w:pPr><w:framePr w:dropCap='{place}' w:lines='3'/></w:pPr>{spaced('点')}"
    write = body(f"<w:p>{letter}</w:p>", f"<w:p>{spaced('検は毎朝')}</w:p>")
    assert text(tmp_path, write) == shown


def test_content_controls_and_text_boxes_are_read(tmp_path: Path) -> None:
    write = body(
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>kept</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        "<w:p><w:r><w:t>before</w:t><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>"
        "</w:txbxContent></w:pict><w:br/><w:t>after</w:t></w:r></w:p>",
    )
    assert text(tmp_path, write) == "kept\n\nbefore\nafter\n\nboxed\n"


def test_a_text_box_in_a_table_is_read_once(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    markup = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    either = (
        f"<m:AlternateContent xmlns:m='{markup}'><m:Choice Requires='wps'>{box}</m:Choice>"
        f"<m:Fallback><w:pict>{box}</w:pict></m:Fallback></m:AlternateContent>"
    )
    cell = f"<w:tc><w:p><w:r><w:t>cell</w:t>{either}</w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell}<w:tc><w:p/></w:tc></w:tr></w:tbl>"
    assert text(tmp_path, body(table)) == "| cell boxed |  |\n"


def test_readings_above_kanji_are_no_text(tmp_path: Path) -> None:
    write = body(
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>きゅうか</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>休暇</w:t></w:r></w:rubyBase></w:ruby><w:t>規程</w:t></w:r></w:p>"
    )
    assert text(tmp_path, write) == "休暇規程\n"


def test_a_table_of_contents_is_left_out(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        document.styles.add_style("toc 1", 1)
        document.add_paragraph("休暇\t3", style="toc 1")
        document.add_heading("休暇", 1)

    assert text(tmp_path, write) == "# 休暇\n"


def test_contents_without_a_style_of_their_own_are_left_out(tmp_path: Path) -> None:
    made = "<w:docPartObj><w:docPartGallery w:val='{}'/></w:docPartObj>"
    control = (
        f"<w:sdt><w:sdtPr>{made}</w:sdtPr><w:sdtContent>"
        "<w:p><w:hyperlink w:anchor='a'><w:r><w:t>休暇</w:t></w:r></w:hyperlink></w:p>"
        "</w:sdtContent></w:sdt>"
    )
    heading = "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>休暇</w:t></w:r></w:p>"
    made_by_word = control.format("Table of Contents")
    assert text(tmp_path, body(made_by_word, heading)) == "# 休暇\n"
    assert text(tmp_path, body(control.format("Cover Pages"), heading)) == "休暇\n\n# 休暇\n"


def test_a_text_box_that_was_deleted_is_not_read(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    gone = f"<w:del><w:r><w:pict>{box}</w:pict></w:r></w:del>"
    assert text(tmp_path, body(f"<w:p>{gone}<w:r><w:t>after</w:t></w:r></w:p>")) == "after\n"


def test_a_cell_merged_over_rows_is_in_each_of_them(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        table = document.add_table(3, 2)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
        table.cell(1, 0).merge(table.cell(2, 0)).text = "tall"
        table.cell(1, 1).text, table.cell(2, 1).text = "x", "y"

    assert text(tmp_path, write) == "| wide |  |\n| --- | --- |\n| tall | x |\n| tall | y |\n"


def test_headers_footers_and_comments_are_named_not_read(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        document.sections[0].header.paragraphs[0].text = "Draft"
        document.sections[0].footer.paragraphs[0].text = "様式第七号"
        paragraph = document.add_paragraph("The doors are painted.")
        document.add_comment(paragraph.runs, text="With cobalt?", author="Bo")

    document = load(tmp_path, write)
    assert document.text == "The doors are painted.\n"
    assert {remark.message for remark in document.remarks} == {
        "left out as a running head: Draft",
        "left out as a running head: 様式第七号",
        "1 comment is not read",
    }


@pytest.mark.parametrize("kind", [RELATED.HEADER, RELATED.COMMENTS, RELATED.FOOTNOTES])
def test_a_part_outside_the_package_leaves_the_text_as_it_is(tmp_path: Path, kind: str) -> None:
    def write(document: Word) -> None:
        document.add_paragraph("The doors are painted.")
        document.part.rels.get_or_add_ext_rel(kind, "https://example.com/other.xml")

    assert text(tmp_path, write) == "The doors are painted.\n"


def test_a_part_outside_the_package_hides_none_inside(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        document.add_paragraph("Bolts", style="List Number")
        document.part.rels.get_or_add_ext_rel(RELATED.NUMBERING, "https://example.com/other.xml")

    assert text(tmp_path, write) == "1. Bolts\n"


@pytest.mark.parametrize(
    ("kind", "name"),
    [("chart", "chart"), ("diagramData", "diagram"), ("aFChunk", "inserted file")],
)
@pytest.mark.parametrize("number", [1, 2])
def test_charts_diagrams_and_inserted_files_are_named_not_read(
    tmp_path: Path, kind: str, name: str, number: int
) -> None:
    related = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"

    def write(document: Word) -> None:
        package = document.part.package
        for place in range(number):
            part = Part(PackURI(f"/word/part{place}.xml"), "application/xml", b"<a/>", package)
            document.part.relate_to(part, related)

    shown = f"1 {name} is" if number == 1 else f"{number} {name}s are"
    assert [remark.message for remark in load(tmp_path, write).remarks] == [f"{shown} not read"]


def test_a_table_that_arranges_the_page_is_no_table(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        frame = document.add_table(1, 1).cell(0, 0)
        frame.text = "framed"
        inner = frame.add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "1", "2"

    assert text(tmp_path, write) == "framed\n\n| 1 | 2 |\n"


def test_images_say_what_they_show(tmp_path: Path) -> None:
    def write(document: Word) -> None:
        picture = (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc`"
            b"\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82"
        )
        document.add_picture(io.BytesIO(picture), width=Inches(1))
        (shape,) = document.element.body.iter(qn("wp:docPr"))
        shape.set("descr", "図1 構成")

    assert text(tmp_path, write) == "![図1 構成]\n"


def with_note(*blocks: str) -> bytes:
    """Return a document with a footnote."""
    plain = word(body(*blocks))
    note = "<w:footnote w:id='1'><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>"
    notes = f"<w:footnotes {W}>{note}</w:footnotes>"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    return repacked(
        plain,
        {
            "[Content_Types].xml": lambda xml: xml.replace(
                "</Types>",
                f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>',
            ),
            "word/_rels/document.xml.rels": lambda xml: xml.replace(
                "</Relationships>",
                f'<Relationship Id="rN" Type="{related}" Target="footnotes.xml"/></Relationships>',
            ),
        },
        {"word/footnotes.xml": notes},
    )


NOTED = "<w:p><w:r><w:t>text</w:t><w:footnoteReference w:id='1'/></w:r></w:p>"


def test_a_note_follows_the_paragraph_that_refers_to_it(tmp_path: Path) -> None:
    assert load(tmp_path, with_note(NOTED)).text == "text[^1]\n[^1]: note\n"


def test_the_mark_of_a_note_is_not_in_the_title(tmp_path: Path) -> None:
    document = load(tmp_path, with_note(NOTED.replace("<w:p>", f"<w:p>{STYLED}")))
    assert document.text == "# text[^1]\n[^1]: note\n"
    assert [section.title for section in document.sections] == ["text"]


def test_a_note_in_a_table_follows_the_table(tmp_path: Path) -> None:
    cells = f"<w:tc>{NOTED}</w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    assert load(tmp_path, with_note(table)).text == "| text[^1] | b |\n\n[^1]: note\n"


@pytest.mark.parametrize("change", ["del", "moveFrom", "vanish"])
@pytest.mark.parametrize("boxed", [False, True])
def test_a_note_is_not_read_where_its_reference_is_not(
    tmp_path: Path, change: str, *, boxed: bool
) -> None:
    hidden = "<w:rPr><w:vanish/></w:rPr>" * (change == "vanish")
    reference = f"<w:r>{hidden}<w:footnoteReference w:id='1'/></w:r>"
    gone = reference if hidden else f"<w:{change}>{reference}</w:{change}>"
    block = f"<w:p>{gone}<w:r><w:t>text</w:t></w:r></w:p>"
    if boxed:
        block = f"<w:tbl><w:tr><w:tc>{block}</w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"
    expected = "| text |  |\n" if boxed else "text\n"
    assert load(tmp_path, with_note(block)).text == expected


def test_a_note_in_a_text_box_is_read_once_below_the_text_of_the_box(tmp_path: Path) -> None:
    box = f"<w:p><w:r><w:t>before</w:t><w:pict><w:txbxContent>{NOTED}</w:txbxContent></w:pict>"
    data = with_note(f"{box}</w:r></w:p>")
    assert load(tmp_path, data).text == "before\n\ntext[^1]\n[^1]: note\n"


@pytest.mark.parametrize("form", ["strict", "with macros"])
def test_documents_in_other_forms_of_word_are_read_alike(tmp_path: Path, form: str) -> None:
    usual = word(guide)
    kind = b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    macros = b"vnd.ms-word.document.macroEnabled.main+xml"
    data = (
        samples.strict(usual)
        if form == "strict"
        else samples.edited(usual, lambda part: part.replace(kind, macros))
    )
    assert data != usual
    assert load(tmp_path, data).text == load(tmp_path, usual).text


# --- documents that are broken, or mean harm --------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("image", "NULL"),
        ("image", "../NULL"),
        ("image", "media/gone.png"),
        ("image", "/word/gone.png"),
        ("hyperlink", "#below"),
    ],
)
def test_a_picture_or_place_that_is_not_there_is_passed_over(
    tmp_path: Path, kind: str, target: str
) -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    lost = f'<Relationship Id="lost" Type="{office}/{kind}" Target="{target}"/></Relationships>'
    usual = word(guide)
    data = samples.edited(usual, lambda part: part.replace(b"</Relationships>", lost.encode()))
    assert data != usual
    assert load(tmp_path, data).text == load(tmp_path, usual).text


def test_a_part_with_text_that_is_not_there_is_not_passed_over(tmp_path: Path) -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    lost = f'<Relationship Id="lost" Type="{office}/footnotes" Target="gone.xml"/></Relationships>'
    data = samples.edited(
        word(guide), lambda part: part.replace(b"</Relationships>", lost.encode())
    )
    with pytest.raises(Unreadable, match="damaged"):
        load(tmp_path, data)


def repacked(
    data: bytes,
    changes: Mapping[str, Callable[[str], str]],
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Return a document with other parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", FOLDERS) as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, changes[name](part.decode()) if name in changes else part)
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return buffer.getvalue()


def refused(folder: Path, data: bytes, **settings: int) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        load(folder, data, **settings)
    return caught.value


def test_what_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    bomb = repacked(word(guide), {}, {"word/media/a.bin": b"\0" * 200_000_000})
    assert len(bomb) < 1_000_000
    assert refused(tmp_path, bomb).reason == "too_large"
    assert refused(tmp_path, word(guide), unpacked_bytes=1000).reason == "too_large"


def test_a_package_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    bomb = repacked(word(guide), {}, {"word/media/a.bin": b"\0" * 5_000_000})
    real, claimed = (5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")
    assert bomb.count(real) == 2
    related = b'<Relationship Id="rX" Type="x" Target="media/a.bin"/></Relationships>'
    lying = repacked(
        bomb,
        {
            "word/_rels/document.xml.rels": lambda xml: xml.replace(
                "</Relationships>", related.decode()
            )
        },
    ).replace(real, claimed)
    assert refused(tmp_path, lying).reason == "damaged"


@pytest.mark.parametrize(
    "change",
    [
        lambda xml: xml[: len(xml) // 2],
        lambda xml: re.sub(
            r"<w:document",
            '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><w:document',
            xml,
        ).replace("適用", "&b;&missing;"),
        lambda xml: xml.replace("<w:body>", "<w:body>" + "<w:sdt>" * 100_000),
        lambda xml: xml.replace("w:body", "w:other"),
    ],
)
def test_a_document_with_a_broken_part_is_damaged(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    broken = repacked(word(guide), {"word/document.xml": change})
    assert refused(tmp_path, broken).reason == "damaged"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04", "damaged"),
        (b"%PDF-1.7", "wrong_type"),
        (b"plain text", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old_format"),
    ],
)
def test_what_is_no_document_is_told_as_such(tmp_path: Path, data: bytes, reason: str) -> None:
    assert refused(tmp_path, data).reason == reason


def test_a_document_without_a_part_is_damaged(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word(guide))) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            if name != "word/document.xml":
                new.writestr(name, old.read(name))
    assert refused(tmp_path, buffer.getvalue()).reason == "damaged"


@pytest.mark.parametrize("depth", [2, 12, 30])
def test_entities_are_not_expanded(tmp_path: Path, depth: int) -> None:
    entities = '<!ENTITY e0 "haha">'
    for n in range(depth):
        entities += f'<!ENTITY e{n + 1} "&e{n};&e{n};">'
    laughs = repacked(
        word(guide),
        {
            "word/document.xml": lambda xml: xml.replace(
                "<w:document", f"<!DOCTYPE d [{entities}]><w:document", 1
            ).replace("適用", f"&e{depth};")
        },
    )
    with suppress(Unreadable):  # such as lxml says of entities in entities in entities
        assert "haha" not in load(tmp_path, laughs).text
