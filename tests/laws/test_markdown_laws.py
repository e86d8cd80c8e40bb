"""What is true of the sections of any Markdown text."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loaded_documents import laws, own
from markdown_it import MarkdownIt
from torture import examples

from fumishirube import Root, Source
from fumishirube.text import Lines
from fumishirube_stages.loaders import Markdown

PIECES = st.sampled_from(
    [
        *"#=-`~>|*_+\n\n\n \t\\<[]:!&a1あ。",
        *(
            "# ",
            "## ",
            "---\n",
            "===\n",
            "- ",
            "* ",
            "+ ",
            "1. ",
            "2) ",
            "####### ",
            "\n\n  b\n  ---\n",
            "    ",
            "```\n",
            "~~~\n",
            "|-|\n",
        ),
        *(
            "<!--",
            "-->",
            "<div>\n",
            "</div>\n",
            "<b>",
            "[a]: b\n",
            "[a]:\n",
            "> ",
            "本文\n",
            "text\n",
        ),
        *(
            "\x0b",
            "\x0c",
            "\x85",
            "\u2028",
            "\u3000",
            "\0",
            "a: b\n",
            "title: 版\n",
            "...\n",
            "。\n\n",
        ),
    ]
)
markdownish = st.lists(PIECES, max_size=40).map("".join)


@laws
@given(markdownish)
def test_sections_are_the_text_each_character_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_bytes(text.encode("utf-8-sig"))
    document = Markdown().load(Root(tmp_path), Source("a.md"))
    sections = document.sections
    assert document.text == text
    assert not text[: sections[0].start].strip()
    assert text[sections[0].start :] == "".join(own(document, each) for each in sections)
    assert all(each.start < each.end for each in sections) or text == ""


@laws
@given(markdownish)
def test_lines_agree_with_offsets(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_bytes(text.encode("utf-8-sig"))
    lines = Lines(text)
    for each in Markdown().load(Root(tmp_path), Source("a.md")).sections:
        assert each.start == lines.start(each.start_line)
        assert each.end == lines.start(each.end_line + 1)
        assert each.body == each.start or lines.at(each.body - 1) <= each.end_line


@laws
@given(markdownish)
def test_extents_nest(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_bytes(text.encode("utf-8-sig"))
    sections = Markdown().load(Root(tmp_path), Source("a.md")).sections
    for number, each in enumerate(sections):
        assert each.start <= each.body <= each.end <= each.extent <= len(text)
        inside = [other for other in sections[number + 1 :] if other.start < each.extent]
        assert all(other.level > each.level for other in inside)
        assert all(other.extent <= each.extent for other in inside)
        depth = len(each.ancestors)
        assert all(
            other.ancestors[: depth + 1] == (*each.ancestors, each.title) for other in inside
        )


def plainly(text: str) -> list[tuple[int, int]]:
    """Parse without any of the loader's own rules; return each heading's line and level."""
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    found = []
    for token in parser.parse(text):
        if token.type != "heading_open" or token.level or not token.map:
            continue
        line, below = token.map
        under = text.split("\n")[below - 1].strip()
        if token.markup not in {"=", "-"} or (below - line == 2 and len(under) > 1):
            found.append((line + 1, int(token.tag[1:])))
    return found


@settings(
    max_examples=examples(1500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(markdownish)
def test_headings_are_those_of_an_unhurried_parser(tmp_path: Path, text: str) -> None:
    text = "\n" + text  # so that nothing is front matter
    (tmp_path / "a.md").write_bytes(text.encode("utf-8-sig"))
    document = Markdown().load(Root(tmp_path), Source("a.md"))
    headings = [(each.start_line, each.level) for each in document.sections if each.start]
    assert headings == plainly(text)


PROSE = st.sampled_from(
    ["# ", "## ", "#\t", "#", " #", " ##", "\\#", "*x*", "[a]", "\n", "\n\n", "文", "a b"]
)


@laws
@given(st.lists(PROSE, max_size=30).map("".join))
def test_a_quotation_far_below_changes_no_heading(tmp_path: Path, text: str) -> None:
    """Without it the file may be nothing but headings and prose, and need no parser."""
    found = []
    for name, content in (("a.md", text), ("b.md", f"{text}\n\n> 引用\n")):
        (tmp_path / name).write_bytes(content.encode())
        sections = Markdown().load(Root(tmp_path), Source(name)).sections
        found.append([(one.title, one.level, one.start_line) for one in sections if one.start])
    assert found[0] == found[1]


@laws
@given(st.text("a1あ #$%()+-./:=?@^{|}\"',;。", min_size=1))
def test_titles_without_markup_are_as_written(tmp_path: Path, title: str) -> None:
    (tmp_path / "a.md").write_bytes(f"# x {title} x\n".encode())
    document = Markdown().load(Root(tmp_path), Source("a.md"))
    (inline,) = MarkdownIt("commonmark").parseInline(f"x {title} x")
    assert [each.title for each in document.sections] == [f"x {title} x"]
    assert "".join(token.content for token in inline.children or ()) == f"x {title} x"


LINKED = st.lists(
    st.sampled_from(
        [
            *("a ", "`", "``", "\\[", "\\]", "[a ", "]", ": it ", "*", "\n"),
            *("[x](p.md)", "[x](<q r.md>)", "[x](p%20q.md#s)", "(b&amp;c.md)", "(p\\&amp;.md)"),
            *("[r]", "[r][]", "[z][r]", "[z]", "\n\n[r]: p.md 'x'\n"),
            *("![i](p.md)", "<http://x/[x](p.md)>", "<a href='[x](p.md)'>", "<!-- ", "-->"),
            *("\n\n", "\n- ", "\n1. ", "\n> ", "\n# ", "\n---\n", "\n```\n", "\n<div>\n", "\n    "),
            *("\n\n|a|\n|-|\n", "\n|"),
        ]
    ),
    max_size=9,
).map("".join)


@laws
@given(LINKED)
@example("See [r]: it.\n\n[r]: p.md")
@example("- a ` b\n- [x](p.md) ` c")
@example("# a ` b\n[x](p.md) ` c")
@example("|a|\n|-|\n|`|\n|[x](p.md)|\n|`|")
@example("[a [x](p.md) b](q.md)")
def test_links_are_those_of_commonmark_in_each_block(tmp_path: Path, text: str) -> None:
    text = "\n" + text  # so that nothing is front matter
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    read = Markdown().load_with_links(Root(tmp_path), Source("a.md")).links
    led = [
        (unquote(str(token.attrs["href"])).partition("#")[0], block.map or [0, 0])
        for block in MarkdownIt("commonmark").enable("table").parse(text)
        for token in block.children or ()
        if token.type == "link_open"
    ]
    wanted = [(target, lines) for target, lines in led if target.endswith(".md")]
    assert [each.target for each in read] == [target for target, _ in wanted]
    for each, (_, (above, last)) in zip(read, wanted, strict=True):
        assert above < each.line <= last
