from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from fumishirube_documents import Html
from fumishirube_documents.html.main_text import main_text
from fumishirube_documents.html.page import read
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import RunningContract, running

from fumishirube import Document, Root, Source, Unreadable

GUIDE = """<!doctype html>
<html lang="ja"><head><meta charset="utf-8"><title>導入の手引き</title>
<style>p { color: red }</style><script>document.write("<h1>no</h1>")</script></head>
<body><nav><ul><li>Home</li></ul></nav>
<p>この手引きは管理者のためのものです。</p>
<section id="install"><h1>インストール <a class="headerlink" href="#install">¶</a></h1>
<p>まず <code>pip install</code> を<ruby>実行<rp>(</rp><rt>じっこう</rt><rp>)</rp></ruby>する。
<img src="a.png" alt="図1 構成"></p>
<h2>Options</h2><ul><li>one<li>two<ol start="3"><li>x<li>y</ol></ul>
<table><caption>All of them</caption><tr><th>name<th>meaning<tr><td><code>-v</code><td>a | b</table>
<pre class="language-sh">
$ fumishirube serve
  --http
</pre></section></body></html>
"""
ORDINARY = "<title>T</title><h1>A</h1><p>a<h2>B</h2><p>b<h1>C</h1><p>c"


class TestHtml(RunningContract):
    stage = Html()

    def files(self) -> Mapping[str, str | bytes]:
        return {
            "guide.html": GUIDE,
            "章/ordinary.HTM": ORDINARY,
            "bare.xhtml": "no tags at all",
            "notes.md": "# not ours\n",
        }


class TestHtmlWithoutAnchors(RunningContract):
    stage = Html(ignored=(), anchors=False)

    def files(self) -> Mapping[str, str | bytes]:
        return {"guide.html": GUIDE}


def load(folder: Path, page: str | bytes, stage: Html | None = None) -> Document:
    data = page.encode() if isinstance(page, str) else page
    (folder / "page.html").write_bytes(data)
    return running(stage or Html()).load(Root(folder), Source("page.html"))


def text(folder: Path, page: str | bytes) -> str:
    return load(folder, page).text


# --- sections -------------------------------------------------------------------------------


def test_headings_open_sections_that_name_those_around_them(tmp_path: Path) -> None:
    sections = load(tmp_path, GUIDE).sections
    assert [(section.title, section.level, section.ancestors) for section in sections] == [
        ("導入の手引き", 1, ()),
        ("インストール", 1, ()),
        ("Options", 2, ("インストール",)),
    ]


def test_the_lines_of_a_section_hold_its_text(tmp_path: Path) -> None:
    document = load(tmp_path, ORDINARY)
    lines = document.text.split("\n")
    assert [lines[section.start_line - 1] for section in document.sections] == [
        "# A",
        "## B",
        "# C",
    ]
    assert [document.text[section.body : section.end].strip() for section in document.sections] == [
        *"abc"
    ]


def test_a_page_without_headings_is_called_by_its_title_or_its_name(tmp_path: Path) -> None:
    assert load(tmp_path, "<title> A &amp;\n B </title><p>x").sections[0].title == "A & B"
    assert load(tmp_path, "<p>x").sections[0].title == "page"


def test_an_anchor_is_that_of_the_heading_or_of_what_begins_with_it(tmp_path: Path) -> None:
    page = (
        '<h1 id="own">A</h1><section id="around"><h2>B</h2></section><a name="old"></a><h2>C</h2>'
        '<p id="far">text</p><h2>D</h2><h2 id="no good">E</h2>'
    )
    document = load(tmp_path, page)
    lines = [line for line in document.text.split("\n") if line.startswith("#")]
    assert lines == ["# A {#own}", "## B {#around}", "## C {#old}", "## D", "## E"]
    assert [section.title for section in document.sections] == [*"ABCDE"]
    assert "{#own}" not in load(tmp_path, page, Html(anchors=False)).text


def test_a_heading_that_says_nothing_opens_nothing(tmp_path: Path) -> None:
    assert len(load(tmp_path, "<h1>A</h1><h2> <br> </h2><p>x").sections) == 1


# --- what is read, and what is not -----------------------------------------------------------


def test_scripts_styles_and_readings_are_no_text(tmp_path: Path) -> None:
    said = text(tmp_path, GUIDE)
    for absent in ("document.write", "color", "じっこう", "Home", "¶"):
        assert absent not in said
    assert "を実行する。" in said


def test_what_is_hidden_or_ignored_is_left_out(tmp_path: Path) -> None:
    page = (
        "<p>a<p hidden>b<input hidden><img hidden>"
        '<div class="x ad">c<b>d</b></div><footer id="end">e</footer><p>f'
    )
    stage = Html(ignored=(".ad", "#end"))
    assert load(tmp_path, page, stage).text.split() == ["a", "f"]


def test_images_say_what_they_show(tmp_path: Path) -> None:
    assert "![図1 構成]" in text(tmp_path, GUIDE)
    assert text(tmp_path, "<p>a<img src=x><img alt=''>b") == "ab\n"


def test_a_table_is_rows_of_cells(tmp_path: Path) -> None:
    rows = "All of them\n| name | meaning |\n| --- | --- |\n| `-v` | a \\| b |\n"
    assert rows in text(tmp_path, GUIDE)


def test_a_table_that_arranges_the_page_is_no_table(tmp_path: Path) -> None:
    page = "<table><tr><td>menu<td><h1>T</h1><p>x<table><tr><td>1<td>2</table></table><p>after"
    assert text(tmp_path, page) == "menu\n\n# T\n\nx\n\n| 1 | 2 |\n\nafter\n"


def test_code_keeps_its_lines_and_says_its_language(tmp_path: Path) -> None:
    assert "```sh\n$ fumishirube serve\n  --http\n```\n" in text(tmp_path, GUIDE)
    inner = "<pre><code class='lang-c'>a &lt; b\n```\n</code></pre>"
    assert text(tmp_path, inner) == "````c\na < b\n```\n````\n"


def test_lists_are_numbered_as_the_page_says(tmp_path: Path) -> None:
    assert "- one\n- two\n  3. x\n  4. y\n" in text(tmp_path, GUIDE)
    page = "<ol start=-1><li>a<li value=5>b<li>c<li value=x>d</ol><ol reversed><li>e<li>f</ol>"
    assert text(tmp_path, page) == "-1. a\n5. b\n6. c\n7. d\n- e\n- f\n"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("10<sup>6</sup> and 10<sup><b>-3</b></sup> m", "10^6 and 10^-3 m"),
        ("x<sup>n+1</sup>, (a+b)<sup>2</sup>", "x^n+1, (a+b)^2"),
        ("12 bar<sup><a href='#f1'>1</a></sup>, word<sup>[2]</sup>", "12 bar^1, word[2]"),
        (
            "the 1<sup>st</sup>, le 2<sup>ème</sup>; <sup>1</sup> A note",
            "the 1st, le 2ème; 1 A note",
        ),
        ("<table><tr><td>10<sup>6</sup><td>b<sup></sup>2</table>", "| 10^6 | b2 |"),
        ("<pre>10<sup>6</sup></pre>", "```\n10^6\n```"),
    ],
)
def test_a_power_is_not_part_of_the_number_before_it(tmp_path: Path, page: str, said: str) -> None:
    assert text(tmp_path, page) == f"{said}\n"


def test_code_around_a_block_is_no_paragraph(tmp_path: Path) -> None:
    assert text(tmp_path, "<code><pre>int a;</pre></code>") == "```\nint a;\n```\n"


def test_sections_of_characters_in_xhtml_are_text(tmp_path: Path) -> None:
    inside = "<pre><![CDATA[if (a < b && c) run();]]></pre>"
    page = f"<?xml version='1.0'?><html><body>{inside}</body></html>"
    assert text(tmp_path, page) == "```\nif (a < b && c) run();\n```\n"
    assert text(tmp_path, f"<p>x</p>{inside}") == "x\n"  # a comment of HTML


def test_lines_end_where_the_page_breaks_them(tmp_path: Path) -> None:
    page = "<p>one\n  line<br>two<blockquote><p>said</blockquote><dl><dt>term<dd>meaning</dl>"
    assert text(tmp_path, page) == "one line\ntwo\n\n> said\n\nterm\n: meaning\n"


def test_invisible_marks_do_not_tear_words_apart(tmp_path: Path) -> None:
    assert text(tmp_path, "<p>有給&shy;休暇&ZeroWidthSpace;の<wbr>例外") == "有給休暇の例外\n"


# --- encodings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("Shift_JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("EUC-JP", "euc_jp"),
        ("ISO-2022-JP", "iso-2022-jp"),
        ("utf-8", "utf-8"),
        ("big5", "utf-8"),  # it says what it is not
        ("no-such-thing", "cp932"),
        ("hex", "utf-8"),
    ],
)
def test_a_page_may_say_its_encoding(tmp_path: Path, declared: str, encoding: str) -> None:
    page = (
        f"<meta charset='{declared}'><title>表</title><p>年次有給休暇は入社から六か月後に与える。"
    )
    assert "年次有給休暇は入社から" in text(tmp_path, page.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_goes_before_what_the_page_says(tmp_path: Path, encoding: str) -> None:
    page = "<meta http-equiv=Content-Type content='text/html; charset=shift_jis'><p>有給休暇"
    assert text(tmp_path, page.encode(encoding)) == "有給休暇\n"


def test_an_xml_declaration_counts_too(tmp_path: Path) -> None:
    page = "<?xml version='1.0' encoding='Shift_JIS'?><html><body><p>有給休暇</p></body></html>"
    assert text(tmp_path, page.encode("cp932")) == "有給休暇\n"


@pytest.mark.parametrize(
    ("declared", "encoding", "said"),
    [
        ("ks_c_5601-1987", "cp949", "설치 방법"),
        ("windows-949", "cp949", "똠방각하"),
        ("tis-620", "tis-620", "คู่มือการใช้งาน"),
        ("windows-874", "cp874", "คู่มือ… ใช้งาน"),
        ("Big5-HKSCS", "big5hkscs", "使用手冊 安裝方法"),
        ("x-cp1251", "cp1251", "Руководство пользователя"),
        ("iso8859-1", "latin-1", "Größe für Übung"),
        ("ISO_8859-1", "cp1252", "Größe – Übung"),
        ("latin-1", "latin-1", "Größe für Übung"),
        ("macintosh", "mac-roman", "Größe für Übung"),
        ("x-gbk", "gb18030", "使用说明"),
    ],
)
def test_an_encoding_is_read_as_browsers_read_it(
    tmp_path: Path, declared: str, encoding: str, said: str
) -> None:
    page = f"<meta charset={declared}><p>{said}</p>"
    assert text(tmp_path, page.encode(encoding)) == f"{said}\n"


def test_a_byte_that_no_letter_has_costs_only_itself(tmp_path: Path) -> None:
    page = "<meta charset=iso-8859-1><p>Größe für \x81 Übung".encode("latin-1")
    assert text(tmp_path, page) == "Größe für � Übung\n"


@pytest.mark.parametrize("data", [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", b"\x89PNG\r\n\x1a\n\0\0\0\r"])
def test_what_is_no_page_says_what_it_is(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Unreadable, match="not a web page") as caught:
        load(tmp_path, data)
    assert caught.value.reason == "wrong_type"


def test_what_is_in_no_encoding_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no known encoding"):
        load(tmp_path, b"\xff\xfe\x00")


# --- pages that mean harm --------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 200_000 + "here",
        "<b>" * 1_000 + "<p>x" * 50_000 + "here",
        "<table><tr><td>" * 20_000 + "here",
        "<blockquote><ul><li>" * 20_000 + "here",
        "<h1>" * 20_000 + "here",
        "<!--" * 50_000 + "--><p>here",
        "<a " + "x=1 " * 100_000 + ">here",
        "</div></table></p>" * 50_000 + "here",
    ],
)
def test_no_page_is_too_much(tmp_path: Path, page: str) -> None:
    assert "here" in text(tmp_path, page)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (
            "<title>T</title><header>menu</header><main><h1>A</h1>x</main><footer>f</footer>",
            "# A\n\nx\n",
        ),
        ("<div>menu</div><article><p>x</article>", "x\n"),
        ("<article>a</article><article>b</article>", "a\n\nb\n"),
        ("<p>x<main></main>", "x\n"),
        ("<title>T</title><svg><title>Logo</title></svg><main><p>x</main>", "x\n"),
    ],
)
def test_the_main_part_is_read_alone(tmp_path: Path, page: str, said: str) -> None:
    assert text(tmp_path, page) == said


# --- the main text of other pages -------------------------------------------------------------

PROSE = "".join(
    f"<p>In year {n} the boiler is opened, cleaned with vinegar and closed again by two people.</p>"
    for n in range(6)
)
LINKS = (
    "<ul>" + "".join(f"<li><a href='/{n}'>Older entry {n}</a></li>" for n in range(30)) + "</ul>"
)


def test_without_a_marked_part_the_main_text_is_read(tmp_path: Path) -> None:
    kept = (
        "<h1 id='boiler'>The boiler</h1><p>Short.</p><pre>x = 1</pre><table><tr><td>a<td>b</table>"
    )
    body = f"<div>{LINKS}</div><div>{kept}{PROSE}</div><div>{LINKS}<p>All rights reserved</div>"
    read = text(tmp_path, body)
    assert "Older entry" not in read
    assert "All rights reserved" not in read
    assert "vinegar" in read
    assert "Older entry" in load(tmp_path, body, Html(main_text=False)).text


def test_without_what_trafilatura_imports_pages_are_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lxml_html_clean", None)
    assert "Older entry" in text(tmp_path, f"<div>{LINKS}</div><div>{PROSE}</div>")


@pytest.mark.parametrize("inside", ["<pre>x = 1</pre>", "<table><tr><td>a<td>b</table>", "<p>No."])
def test_nothing_within_the_main_text_is_left_out(tmp_path: Path, inside: str) -> None:
    alone = text(tmp_path, inside).strip()
    assert alone in text(tmp_path, f"<div>{LINKS}</div><div>{PROSE}{inside}{PROSE}</div>")


@pytest.mark.timeout(30)
def test_lines_between_the_first_and_the_last_are_not_looked_for() -> None:
    words = Random(1).choices([f"word{number}" for number in range(5_000)], k=1_000_000)
    parts = (f"<p>{' '.join(words[at : at + 30])}.</p>" for at in range(0, len(words), 30))
    markup = f"<div><a href=x>home</a></div><div>{''.join(parts)}</div>"
    page = main_text(read(markup, (), anchors=False), markup)  # a square took over 30 seconds
    assert "home" not in page.text
    assert page.text.rstrip().endswith(f"{words[-1]}.")


def test_a_page_of_links_is_read_whole(tmp_path: Path) -> None:
    assert text(tmp_path, LINKS).count("Older entry") == 30


def test_what_a_doctype_declares_is_no_text(tmp_path: Path) -> None:
    page = """<?xml version="1.0"?>
<!-- made by hand -->
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://localhost/x.dtd" [
<!ENTITY a "[x]"> <!ENTITY b SYSTEM "file:///etc/hostname">
] >
<html><head><title>Keys</title></head><body><h1>Prices</h1><p>A key &b; is nine.</p></body></html>
"""
    assert text(tmp_path, page) == "# Prices\n\nA key &b; is nine.\n"


# --- cells over several columns and rows ----------------------------------------------------


def test_a_cell_over_rows_is_in_each_of_them_in_its_column(tmp_path: Path) -> None:
    page = (
        "<table><tr><th rowspan=2>Port<th colspan=2>Height<tr><th>Spring<th>Neap"
        "<tr><td rowspan=2>Padstow<td>7.3<td>5.6<tr><td>7.1<td>5.4<tr><td>Looe<td>5.4</table>"
    )
    assert text(tmp_path, page) == (
        "| Port | Height |  |\n| --- | --- | --- |\n| Port | Spring | Neap |\n"
        "| Padstow | 7.3 | 5.6 |\n| Padstow | 7.1 | 5.4 |\n| Looe | 5.4 |  |\n"
    )


@given(st.lists(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=5), max_size=6))
def test_each_row_of_a_table_has_as_many_cells(spans: list[list[tuple[int, int]]]) -> None:
    rows = (
        "".join(f"<td colspan={wide} rowspan={high}>{wide}x{high}</td>" for wide, high in row)
        for row in spans
    )
    page = read(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>", (), anchors=False)
    widths = {line.count("|") for line in page.text.splitlines()}
    assert len(widths) <= 1
    assert page.text.count("x") >= sum(map(len, spans))


def test_no_table_is_wider_than_its_cells_for_long(tmp_path: Path) -> None:
    row = "<tr>" + "<td rowspan=1000 colspan=64>a"
    read = text(tmp_path, f"<table>{row * 400}</table>")
    assert max(line.count("|") for line in read.split("\n")) < 1_500
    wide = "".join(f"<td>{number}" for number in range(3_000))
    read = text(tmp_path, f"<table><tr>{wide}{'<tr><td>b' * 2_000}</table>")
    assert "| 2999 |" in read
    assert len(read) < 10_000_000


@pytest.mark.parametrize("span", ["0", "-1", "x", "99999999999999", "", "２"])
def test_a_strange_span_is_one(tmp_path: Path, span: str) -> None:
    page = f'<table><tr><td rowspan="{span}" colspan="{span}">a<td>b<tr><td>c<td>d</table>'
    assert text(tmp_path, page) == "| a | b |\n| --- | --- |\n| c | d |\n"


def test_what_is_struck_out_is_marked(tmp_path: Path) -> None:
    page = "<p>It costs <del>30 euros</del> <ins>25 euros</ins>, not <s>9</s><s>8</s>.<p><s></s>"
    shown = "It costs ~~30 euros~~ 25 euros, not ~~98~~.\n\nx\n"
    assert text(tmp_path, f"{page}<del><p>x</del>") == shown


REFERENCE = """<title>os</title><h1>os</h1><p>All of it.</p><h2>Files</h2>
<dl class="py function"><dt class="sig sig-object py" id="os.open"><code>open</code>
(<em>path</em>)<a class="headerlink" href="#os.open">¶</a></dt><dt>open(path, flags)</dt>
<dd><p>Open a file.</p><dl class="field-list simple"><dt>Raises</dt><dd>OSError</dd></dl></dd></dl>
<p>Files go on.</p>
<dl class="py class"><dt id="os.File">File</dt><dd><p>A file.</p>
<dl class="py method"><dt id="os.File.close">close()</dt><dd><p>Close it.</p></dd></dl>
<p>Files close by themselves.</p></dd></dl>
<dl><dt>inode</dt><dd>A number.</dd></dl><h2>Users</h2><p>None.</p>"""


def test_entries_of_a_reference_are_sections_below_their_heading(tmp_path: Path) -> None:
    document = load(tmp_path, REFERENCE)
    outline = [(each.title, each.level, each.ancestors) for each in document.sections]
    assert outline == [
        ("os", 1, ()),
        ("Files", 2, ("os",)),
        ("open (path), open(path, flags)", 3, ("os", "Files")),
        ("Files", 3, ("os", "Files")),
        ("File", 3, ("os", "Files")),
        ("close()", 4, ("os", "Files", "File")),
        ("File", 4, ("os", "Files", "File")),
        ("Files", 3, ("os", "Files")),
        ("Users", 2, ("os",)),
    ]
    texts = [document.text[each.start : each.end].strip() for each in document.sections]
    assert texts[2] == (
        "### open (path) {#os.open}\n\nopen(path, flags)\n\nOpen a file.\n\nRaises\n: OSError"
    )
    assert texts[3] == "Files go on."
    assert texts[6] == "Files close by themselves."
    assert texts[7] == "inode\n: A number."


METHODS = """<dl class="py class"><dt>C</dt><dd>
<dl class="py method"><dt>open()</dt><dd>O.</dd></dl>
<dl class="py method"><dt>shut()</dt><dd>S.</dd></dl></dd></dl>"""
SIGNATURES = """<dl class="py function"><dt>b()</dt><dt>b(x)</dt><dt>b(x,y)</dt>
<dd>Text.</dd></dl>"""
OPTIONS = """<dl class="std option"><dt>-v</dt><dd></dd></dl>
<dl class="std option"><dt>--verbose</dt><dd>Text.</dd></dl><p>On.</p>"""
HEADED = """<dl class="py class"><dt>C</dt><dd>doc<h3>Examples</h3>ex</dd></dl><p>On.</p>
<dl class="py class"><dt>D</dt><dd>Text.</dd></dl>"""


@pytest.mark.parametrize(
    ("entries", "outline"),
    [
        (METHODS, "C@2 open()@3 shut()@3"),
        (SIGNATURES, "b(), b(x), b(x,y)@2"),
        (OPTIONS, "-v, --verbose@2 API@2"),
        ("<dl class='py data'><dt>a</dt><dt></dt><dd>Text.</dd></dl>", "a@2"),
        (HEADED, "C@2 Examples@3 API@2 D@2"),
    ],
)
def test_lists_of_entries_by_sphinx_are_read(tmp_path: Path, entries: str, outline: str) -> None:
    document = load(tmp_path, f"<title>t</title><h1>API</h1><p>All.</p>{entries}")
    assert " ".join(f"{each.title}@{each.level}" for each in document.sections[1:]) == outline


OLD = """<DL><DT><b><a name="notify">notify (default: me)</a></b></DT><DD><p>Whom.</p></DD>
<DT><b><a name="code">code</a> (default: 450)</b></DT><DD>A code.
<dl><dt>4xx</dt><dd>Later.</dd></dl></DD>
<DT>last</DT><DD>The last.</DD></DL><p>On.</p>"""
MANUAL_PAGE = """<dl class="Bl-tag"><dt id="v"><a class="permalink" href="#v">-v</a></dt>
<dd>Loud.</dd>
<dt id="q"><a class="permalink" href="#q">-q</a></dt><dd>Quiet.</dd></dl>"""
NOTES = """<dl class="footnote brackets"><dt class="label" id="n1">1</dt><dd>A note.</dd></dl>
<dl class="citation"><dt id="c1"><a name="c">Ei05</a></dt><dd>A paper.</dd></dl>
<dl id="list"><dt>term</dt><dd id="d">Its <a name="x">meaning</a>.</dd>
<dt>other</dt><dd>O.</dd></dl>"""


@pytest.mark.parametrize(
    ("terms", "outline"),
    [
        (OLD, "notify (default: me)@2 code (default: 450)@2 last@2 API@2"),
        (MANUAL_PAGE, "-v@2 -q@2"),
        ("<dl><dt><dfn id='i'>inode</dfn><dd>A number.</dl>", "inode@2"),
        ("<dl><dt>a<dd>A.<dt id='b'>b<dd>B.<dt>c<dd>C.</dl>", "b@2 c@2"),
        (NOTES, ""),
    ],
)
def test_terms_that_a_link_can_name_are_entries(tmp_path: Path, terms: str, outline: str) -> None:
    document = load(tmp_path, f"<title>t</title><h1>API</h1><p>All.</p>{terms}")
    assert " ".join(f"{each.title}@{each.level}" for each in document.sections[1:]) == outline


JAVADOC = """<h2>Fields</h2><div class="caption"><span>All fields</span></div>
<div class="summary-table three-column-summary"><div class="table-header col-first">Type</div>
<div class="table-header col-second">Field</div><div class="table-header col-last">Description</div>
<div class="col-first even-row-color"><code>static int</code></div>
<div class="col-second even-row-color"><code><a href="#MOST">MOST</a></code></div>
<div class="col-last even-row-color"><div class="block">The most, <ul><li>a</ul> of all.</div></div>
<div class="col-first"><code>long</code></div><div class="col-second"><code>size</code></div>
<div class="col-last">&nbsp;</div></div><div class="inherited-list">Others: <code>A</code></div>"""


def test_tables_of_javadoc_are_tables(tmp_path: Path) -> None:
    assert text(tmp_path, JAVADOC) == (
        "## Fields\n\nAll fields\n\n"
        "| Type | Field | Description |\n| --- | --- | --- |\n"
        "| `static int` | `MOST` | The most, - a of all. |\n| `long` | `size` |  |\n\n"
        "Others: `A`\n"
    )


def test_a_cell_outside_a_table_is_a_block(tmp_path: Path) -> None:
    page = "<div class='row'><div class='col-6'>a</div><div class='col-last'>b</div></div></div>c"
    assert text(tmp_path, page) == "a\n\nb\n\nc\n"


def test_many_open_lists_are_read_in_time(tmp_path: Path) -> None:
    document = load(tmp_path, "<h1>A</h1>" + "<dl class='option'><dt>a</dt><dd>t" * 5_000)
    assert len(document.sections) == 5_001


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup>", "x^(n+1)"),
        ("<mo>(</mo><mi>a</mi><msup><mo>)</mo><mn>2</mn></msup>", "(a)^2"),
        ("<msub><mi>a</mi><mn>1</mn></msub>", "a_1"),
        ("<msup><mi>f</mi><mo>\u2032</mo></msup>", "f\u2032"),
        ("<munderover><mo>\u2211</mo><mi>i</mi><mi>n</mi></munderover>", "\u2211_i^n"),
        ("<msqrt><mn>2</mn><mi>x</mi></msqrt>", "\u221a2x"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "sin x"),
        ("<mn>5</mn><mspace/><mtext>km</mtext>", "5 km"),
        ("<mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced>", "f(x, y)"),
        ("<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd></mtr></mtable>", "1, 2; 3"),
        ("<mfrac><mn>1</mn></mfrac>", "1"),
        ("<mfrac><mn>1<p>next", "1\n\nnext"),
    ],
)
def test_an_equation_is_written_on_a_line(tmp_path: Path, equation: str, line: str) -> None:
    page = load(tmp_path, f"<p>So <math>{equation}</math> it is.")
    assert page.text.startswith(f"So {line}"), page.text


@pytest.mark.parametrize(
    "again",
    [
        '<span class="katex-html" aria-hidden="true">x2</span>',
        '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}">',
    ],
)
def test_an_equation_that_a_page_has_in_several_forms_is_read_once(
    tmp_path: Path, again: str
) -> None:
    annotation = '<annotation encoding="application/x-tex">x^2</annotation>'
    power = "<msup><mi>x</mi><mn>2</mn></msup>"
    page = load(
        tmp_path,
        f"<p>So <span><math><semantics>{power}{annotation}</semantics></math></span>{again} it is "
        f'<math>{power}</math>, and <span class="katex-html">alone</span>.',
    )
    assert page.text == "So x^2 it is x^2, and alone.\n"


@given(st.lists(st.sampled_from(["mfrac", "mrow", "msup", "mn", "p"]), max_size=300))
def test_any_equation_keeps_its_letters(tags: list[str]) -> None:
    markup = "".join(f"<{tag}>{number % 10}" for number, tag in enumerate(tags))
    text = read(f"<math>{markup}</math>", (), anchors=False).text
    shown = "".join(letter for letter in text if letter.isdecimal())
    assert shown == "".join(str(number % 10) for number in range(len(tags)))


def test_a_deep_equation_costs_no_more_than_its_length(tmp_path: Path) -> None:
    page = load(tmp_path, "<math>" + "<msup>x" * 100_000)
    assert page.text.count("x") == 100_000
