from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import ValidationError
from torture import examples

from fumishirube import Chapter, Document, NotFound, Root, Section, Source, Stage, Unreadable
from fumishirube.text import Lines
from fumishirube_stages.loaders import Json, Markdown, TocText

RULES = "# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n### 参照\n別表を参照。\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Root]:
    def written(files: Mapping[str, str | bytes]) -> Root:
        for path, content in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return Root(tmp_path)

    return written


Write = Callable[[Mapping[str, str | bytes]], Root]


@pytest.fixture
def markdown(write: Write) -> Callable[[str | bytes], Document]:
    def loaded(content: str | bytes) -> Document:
        root = write({"rules.md": content})
        return Markdown().load(root, Source("rules.md"))

    return loaded


Loaded = Callable[[str | bytes], Document]


def paths(stage: Markdown | Json | TocText, root: Root) -> list[str]:
    return [source.path for source in stage.sources(root)]


def outline(document: Document) -> list[tuple[int, int, str]]:
    return [(each.start_line, each.level, each.title) for each in document.sections]


def own(document: Document, section: Section) -> str:
    return document.text[section.start : section.end]


def body(document: Document, section: Section) -> str:
    return document.text[section.body : section.end]


# --- headings -------------------------------------------------------------------------------


def test_a_file_is_divided_at_its_headings(markdown: Loaded) -> None:
    document = markdown(RULES)
    assert document == Document(
        path="rules.md",
        file_type="md",
        text=RULES,
        sections=(
            Section("総則", 1, 2, 0, 11, 43, 5, 1, ()),
            Section("例外", 3, 4, 11, 29, 43, 17, 2, ("総則",)),
            Section("参照", 5, 6, 29, 43, 43, 36, 3, ("総則", "例外")),
        ),
    )


def test_an_extent_ends_at_the_next_heading_of_the_same_or_a_higher_level(markdown: Loaded) -> None:
    document = markdown("# a\n### b\n## c\n### d\n# e\n")
    extents = [document.text[each.start : each.extent] for each in document.sections]
    assert extents == [
        "# a\n### b\n## c\n### d\n",
        "### b\n",
        "## c\n### d\n",
        "### d\n",
        "# e\n",
    ]
    assert [each.ancestors for each in document.sections] == [(), ("a",), ("a",), ("a", "c"), ()]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# 総則", "総則"),
        ("   # 総則 ##  ", "総則"),
        ("#\t総則 #", "総則"),
        ("# C#", "C#"),
        ("# 総則 \\#", "総則 #"),
        ("#", ""),
        ("# `code` と *強調* と **太字** と ~~消す~~", "code と 強調 と 太字 と 消す"),
        (
            "# [別表](table.md) と ![図1](a.png) と <https://a.example/>",
            "別表 と 図1 と https://a.example/",
        ),
        ("# [別表][t]", "別表"),
        ("# R&amp;D &copy;", "R&D ©"),
        ("# \\*印 と snake_case_name", "*印 と snake_case_name"),
        ("# 第1章<br>総則", "第1章 総則"),
        ("# <a id='x'></a>総則", "総則"),
        ("# <a id='x'></a>", "<a id='x'></a>"),
        ("# 総則 {#id}", "総則 {#id}"),
        ("#  　総則　", "総則"),
    ],
)
def test_a_title_is_the_heading_without_its_markup(markdown: Loaded, line: str, title: str) -> None:
    document = markdown(f"{line}\n\n本文\n\n[t]: table.md\n")
    assert [each.title for each in document.sections] == [title]
    assert body(document, document.sections[0]) == "\n本文\n\n[t]: table.md\n"


@pytest.mark.parametrize(
    "line",
    ["#総則", "    # 総則", "\t# 総則", "####### 総則", "\\# 総則", "#　総則", "＃ 総則", "a # b"],
)
def test_what_only_looks_like_a_heading_is_text(markdown: Loaded, line: str) -> None:
    assert outline(markdown(f"{line}\n")) == [(1, 1, "rules")]


def test_a_line_over_two_or_more_marks_is_a_heading(markdown: Loaded) -> None:
    document = markdown("総則\n====\n\n本文\n\n 例外\n  --  \n本文\n")
    assert outline(document) == [(1, 1, "総則"), (6, 2, "例外")]
    assert [body(document, each) for each in document.sections] == ["\n本文\n\n", "本文\n"]


@pytest.mark.parametrize(
    "text",
    [
        "二行の\n段落\n----\n",
        "二行の\n段落\n====\n",
        "一つ\n=\n",
        "一つ\n-\n",
        "離れて\n\n----\n",
        "> 引用\n----\n",
        "- 項目\n----\n",
        "= =\n= =\n",
        "    字下げ\n----\n",
    ],
)
def test_other_lines_over_marks_are_text(markdown: Loaded, text: str) -> None:
    assert outline(markdown(text)) == [(1, 1, "rules")]


@pytest.mark.parametrize(
    "block",
    [
        "```\n# a\n```",
        "```python\n# a\nb\n---\n```",
        "~~~\n# a\n```\n# b\n~~~",
        "````\n```\n# a\n```\n# b\n````",
        "```\n# a\n``\n# b\n  `````  ",
        "   ```\n# a\n   ```",
        "- 項目\n\n  ```\n  # a\n  ```",
        "> ```\n> # a\n> ```",
        "    # a\n\n    # b",
        "\ta\n\t---",
        "<!-- 注\n\n# a\n\nb\n---\n-->",
        "<!-- # a -->",
        "<div>\n# a\nb\n---\n</div>",
        "<pre>\n\n# a\n\n</pre>",
        "<script>\n\n# a\n</script>",
        "<details>\n<summary>a</summary>\n# b\n</details>",
        "| 項目 |\n|---|\n| # a |",
        "| a |\n---\n",
        "a | b\n--|--\n# | d",
        "- # a\n  b\n  ---\n- c",
        "1. # a",
        "> # a\n> b\n> ---",
        "- 項目\n\n      # a\n\n  # b",
    ],
)
def test_nothing_inside_other_blocks_is_a_heading(markdown: Loaded, block: str) -> None:
    text = f"# 前\n\n{block}\n\n# 後\n"
    if block == "a | b\n--|--\n# | d":  # a heading ends a table
        text = text.replace("# | d", "c | # d")
    after = text.count("\n")
    assert outline(markdown(text)) == [(1, 1, "前"), (after, 1, "後")]


@pytest.mark.parametrize("block", ["```\n# a\n~~~\n", "~~~~\n# a\n~~~\n", "<!--\n\n# a\n\n"])
def test_an_unclosed_block_runs_to_the_end(markdown: Loaded, block: str) -> None:
    document = markdown(f"# 前\n\n{block}# b\n")
    assert outline(document) == [(1, 1, "前")]
    assert own(document, document.sections[0]) == document.text


def test_a_fence_in_a_list_ends_with_the_list(markdown: Loaded) -> None:
    assert outline(markdown("- ```\n  # a\n# b\n")) == [(1, 1, "rules"), (3, 1, "b")]


def test_headings_after_very_deep_nesting_are_found(markdown: Loaded) -> None:
    assert outline(markdown("* + " * 300 + "a\n\n# 後\n"))[-1] == (3, 1, "後")
    assert outline(markdown(">" * 5000 + "a\n\n# 後\n"))[-1] == (3, 1, "後")


def test_hostile_headings_take_no_more_time_than_others(markdown: Loaded) -> None:
    began = time.perf_counter()
    for noise in ("[", "![", "*a ", "`", "<a ", "&"):
        markdown("# " + noise * 50_000 + "\n")
    assert time.perf_counter() - began < 5


# --- text before the first heading ----------------------------------------------------------


def test_text_before_the_first_heading_is_a_section(markdown: Loaded) -> None:
    document = markdown("\nはじめに\n\n## 総則\n本文\n")
    first, second = document.sections
    assert first == Section("rules", 1, 3, 0, 7, 7, 0)
    assert (second.start_line, second.start, second.ancestors) == (4, 7, ())


@pytest.mark.parametrize("blank", ["\n", "\n \n\t\n", "　\n", "\x0c\n\u2028\n"])
def test_blank_lines_before_the_first_heading_belong_to_no_section(
    markdown: Loaded, blank: str
) -> None:
    document = markdown(f"{blank}# 総則\n本文\n")
    assert [each.title for each in document.sections] == ["総則"]
    assert document.sections[0].start == len(blank)
    assert document.sections[0].start_line == blank.count("\n") + 1


@pytest.mark.parametrize("text", ["", "\n", " \n\n", "本文", "本文\n二行目\n"])
def test_a_file_without_headings_is_one_section(markdown: Loaded, text: str) -> None:
    document = markdown(text)
    total = Lines(text).total
    assert document.sections == (Section("rules", 1, total, 0, len(text), len(text), 0),)


def test_front_matter_gives_the_preamble_its_title_and_no_heading(markdown: Loaded) -> None:
    text = "---\ntitle: 出張 規程\n# 注\ntags: [a]\n---\n\nはじめに\n\n# 総則\n"
    document = markdown(text)
    assert outline(document) == [(1, 1, "出張 規程"), (9, 1, "総則")]
    assert body(document, document.sections[0]) == "\nはじめに\n\n"


def test_front_matter_alone_leaves_a_blank_body(markdown: Loaded) -> None:
    document = markdown("---\nlayout: page\n...\n# 総則\n本文\n")
    assert outline(document) == [(1, 1, "rules"), (4, 1, "総則")]
    assert body(document, document.sections[0]) == ""


def test_front_matter_may_be_all_there_is(markdown: Loaded) -> None:
    for text in ("---\ntitle: 版\n---", "---\ntitle: 版\n---\n", "---\ntitle: 版\n---\n本文"):
        document = markdown(text)
        assert outline(document) == [(1, 1, "版")]
        assert body(document, document.sections[0]) in {"", "本文"}


@pytest.mark.parametrize("value", ["[a, b]", "{a: b}", "", "''"])
def test_a_title_that_is_no_text_is_not_used(markdown: Loaded, value: str) -> None:
    assert outline(markdown(f"---\ntitle: {value}\n---\n本文\n")) == [(1, 1, "rules")]


def test_a_title_can_always_be_written(markdown: Loaded) -> None:
    assert outline(markdown('---\ntitle: "\\uD800版"\n---\n本文\n')) == [(1, 1, "\ufffd版")]


def test_front_matter_keeps_scalars_as_written(markdown: Loaded) -> None:
    assert outline(markdown("---\ntitle: 007\n---\n本文\n")) == [(1, 1, "007")]


@pytest.mark.parametrize(
    "inner",
    [
        "\n目的を述べる。\n\n",
        "- a\n\n",
        "[" * 5000 + "\n\n",
    ],
)
def test_what_is_no_yaml_mapping_is_text(markdown: Loaded, inner: str) -> None:
    document = markdown(f"---\n{inner}---\n\n# 総則\n")
    assert document.sections[0].body == 0
    assert document.sections[0].title == "rules"
    assert document.sections[-1].title == "総則"


@pytest.mark.parametrize(
    "inner", ["title: [\n", "title: C: guide\n", "\tx: y\n", "a:\n- b: c: d\n"]
)
def test_settings_with_a_mistake_are_no_text_and_give_no_title(
    markdown: Loaded, inner: str
) -> None:
    assert outline(markdown(f"---\n{inner}---\n\n本文\n")) == [(1, 1, "rules")]
    document = markdown(f"---\n{inner}---\n\n# 総則\n")
    assert [section.title for section in document.sections] == ["rules", "総則"]
    assert body(document, document.sections[0]).strip() == ""


def test_a_rule_at_the_top_that_nothing_closes_is_a_rule(markdown: Loaded) -> None:
    assert outline(markdown("---\ntitle: a\n# 総則\n")) == [(1, 1, "rules"), (3, 1, "総則")]


def test_front_matter_stands_at_the_very_start(markdown: Loaded) -> None:
    assert outline(markdown("\n---\ntitle: a\n---\n"))[-1] == (3, 2, "title: a")


# --- lines and encodings --------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_give_the_same_document(markdown: Loaded, end: str) -> None:
    assert markdown(RULES.replace("\n", end)) == markdown(RULES)


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp932", "euc_jp"]
)
def test_encodings_give_the_same_document(markdown: Loaded, encoding: str) -> None:
    assert markdown(RULES.encode(encoding)) == markdown(RULES)


@pytest.mark.parametrize(
    "odd", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
)
def test_only_line_feeds_separate_lines(markdown: Loaded, odd: str) -> None:
    text = f"# 一{odd}二\n本{odd}文\n\n三{odd}\n---\n{odd}\n{odd}# 四\n# 五\n"
    document = markdown(text)
    assert [each.start_line for each in document.sections] == [1, 4, 8]
    assert document.text == text
    assert own(document, document.sections[2]) == "# 五\n"


def test_what_cannot_be_decoded_is_unreadable(markdown: Loaded) -> None:
    with pytest.raises(Unreadable) as caught:
        markdown(b"\xff\xfe\x00")
    assert caught.value.reason == "undecodable"


def test_a_file_that_vanished_is_not_found(write: Write) -> None:
    with pytest.raises(NotFound):
        Markdown().load(write({}), Source("rules.md"))


# --- which files ----------------------------------------------------------------------------


def test_markdown_speaks_for_its_suffix_whatever_the_case(write: Write) -> None:
    root = write(
        {"b.MD": "# b\n", "a/c.Md": "", "d.txt": "", "e.markdown": "", ".md": "", ".x/f.md": ""}
    )
    assert paths(Markdown(), root) == ["a/c.Md", "b.MD"]
    assert Markdown().load(root, Source("b.MD")).file_type == "md"


def test_other_suffixes_can_be_set(write: Write) -> None:
    root = write({"a.markdown": "", "b.md": "", "c.MKD": ""})
    stage = Markdown(suffixes=(".markdown", ".mkd"))
    assert paths(stage, root) == ["a.markdown", "c.MKD"]
    assert stage.fingerprint != Markdown().fingerprint


@pytest.mark.parametrize("stage", [Markdown, Json, TocText])
def test_an_unknown_setting_is_refused(stage: type[Stage]) -> None:
    with pytest.raises(ValidationError):
        stage.model_validate({"nothing": 1})


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(("stage", "suffix"), [(Markdown(), "md"), (Json(), "json")])
def test_links_are_not_spoken_for(write: Write, stage: Markdown | Json, suffix: str) -> None:
    root = write({f"a.{suffix}": ""})
    (root.path / f"b.{suffix}").symlink_to(root.path / f"a.{suffix}")
    assert paths(stage, root) == [f"a.{suffix}"]


def test_names_are_composed(write: Write) -> None:
    name = "ガイド.md"
    root = write({unicodedata.normalize("NFD", name): RULES})
    assert paths(Markdown(), root) == [name]
    document = Markdown().load(root, Source(name))
    assert (document.path, document.text) == (name, RULES)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere both spellings are one file")
def test_two_spellings_of_one_name_are_one_source(write: Write) -> None:
    name = "ガイド.md"
    root = write({unicodedata.normalize("NFD", name): "a", name: "b"})
    assert paths(Markdown(), root) == [name]
    assert Markdown().load(root, Source(name)).text == "b"


@pytest.mark.parametrize(
    "name",
    ["目次", "00_目次", "もくじ", "01-もくじ", "toc", "TOC", "1.2 toc", "００　目次", "00_目　次"],
)
def test_tables_of_contents_are_navigation(write: Write, name: str) -> None:
    root = write({f"{name}.md": "# a\n", f"{name}.json": "{}"})
    assert Markdown().load(root, Source(f"{name}.md")).navigation
    assert Json().load(root, Source(f"{name}.json")).navigation


@pytest.mark.parametrize("name", ["index", "目次案", "総目次", "tocs", "_目次", "toc1", "protocol"])
def test_other_files_are_not_navigation(write: Write, name: str) -> None:
    root = write({f"{name}.md": "# a\n"})
    assert not Markdown().load(root, Source(f"{name}.md")).navigation


# --- laws -----------------------------------------------------------------------------------

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
laws = settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


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


def test_many_threads_may_load_at_once(write: Write) -> None:
    root = write({f"{number}.md": f"# *{number}*\n\n- a\n\n本文\n" for number in range(40)})
    stage = Markdown()
    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda source: stage.load(root, source), stage.sources(root)))
    assert [each.sections[0].title for each in documents] == [
        source.path.removesuffix(".md") for source in stage.sources(root)
    ]


# --- json -----------------------------------------------------------------------------------


@pytest.fixture
def searched(write: Write) -> Callable[[str | bytes], str | None]:
    def load(content: str | bytes) -> str | None:
        root = write({"codes.json": content})
        (section,) = Json().load(root, Source("codes.json")).sections
        return section.searched

    return load


Searched = Callable[[str | bytes], str | None]


def test_a_json_file_is_one_section_titled_by_its_name(write: Write) -> None:
    text = '{"code": "E1",\r\n "text": "\\u8ca0\\u8377"}\r\n'
    root = write({"sub/error-codes.JSON": text, "x.jsonl": "", "y.txt": ""})
    assert paths(Json(), root) == ["sub/error-codes.JSON"]
    document = Json().load(root, Source("sub/error-codes.JSON"))
    read = text.replace("\r\n", "\n")
    assert document == Document(
        path="sub/error-codes.JSON",
        file_type="json",
        text=read,
        sections=(
            Section(
                title="error-codes.JSON",
                start_line=1,
                end_line=2,
                start=0,
                end=len(read),
                extent=len(read),
                body=0,
                searched="code\nE1\ntext\n負荷",
            ),
        ),
        scan_only=True,
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"a": {"b": [1, "c", {"d": []}], "e": {}}, "f": "g"}', "a b 1 c d e f g"),
        ("[true, false, null]", "true false null"),
        ("[1.50, -0, 1e400, 12345678901234567890]", "1.50 -0 1e400 12345678901234567890"),
        ("[NaN, Infinity, -Infinity]", "NaN Infinity -Infinity"),
        ('{"a": 1, "a": 2}', "a 1 a 2"),
        ('"\\ud83d\\ude00 \\ud800"', "😀 \ufffd"),
        ("[" + "1" * 5000 + "]", "1" * 5000),
        ("{}", ""),
        ("7", "7"),
    ],
)
def test_keys_and_values_are_searched_in_order(searched: Searched, text: str, lines: str) -> None:
    found = searched(text)
    assert found is not None
    assert found.replace("\n", " ") == lines


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "a: b", "[" * 200_000, '{"a":' * 200_000])
def test_what_is_no_json_is_searched_as_it_stands(searched: Searched, text: str) -> None:
    assert searched(text) is None


def test_deep_json_is_searched(searched: Searched) -> None:
    assert searched("[" * 400 + '"底"' + "]" * 400) == "底"


def test_json_in_another_encoding_is_read(searched: Searched) -> None:
    for encoding in ("utf-8-sig", "utf-16", "cp932"):
        assert searched('{"説明": "規程の対象"}'.encode(encoding)) == "説明\n規程の対象"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@laws
@given(values)
def test_every_key_and_value_is_searched(tmp_path: Path, value: object) -> None:
    (tmp_path / "a.json").write_text(json.dumps(value), encoding="utf-8")
    (section,) = Json().load(Root(tmp_path), Source("a.json")).sections

    def scalars(part: object) -> list[str]:
        if isinstance(part, dict):
            return [text for key, inner in part.items() for text in (key, *scalars(inner))]
        if isinstance(part, list):
            return [text for inner in part for text in scalars(inner)]
        return [part if isinstance(part, str) else json.dumps(part)]

    assert section.searched == "\n".join(scalars(value))


# --- chapters -------------------------------------------------------------------------------


def toc(*entries: object, **others: object) -> str:
    return json.dumps({"manual": "編", "toc": entries, **others})


def entry(number: object, file: object, title: object = None) -> dict[str, object]:
    return {"id": number, "file": file, "title": title, "children": None}


def test_chapters_are_the_files_that_the_toc_names(write: Write) -> None:
    root = write(
        {
            "編/00_目次.json": toc(
                entry("01", "01.txt", "第1章 総則"), entry("02", "02.txt", "第2章")
            ),
            "編/01.txt": "第1条\r\n# 本文\r\n",
            "編/03.txt": "目次にない",
            "other.txt": "",
        }
    )
    (source,) = TocText().sources(root)
    assert source == Source("編/01.txt", ("編/00_目次.json",))
    assert TocText().load(root, source) == Document(
        path="編/01.txt",
        file_type="txt",
        text="第1条\n# 本文\n",
        sections=(Section("第1章 総則", 1, 2, 0, 9, 9, 0),),
    )


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"id": "01"}, "01"),
        ({"id": 7, "title": None}, "7"),
        ({"id": "01", "title": 5}, "01"),
        ({"id": "", "title": "章"}, "章"),
        ({"id": "01", "title": "\ud800章"}, "\ufffd章"),
    ],
)
def test_a_missing_title_is_the_id(write: Write, fields: dict[str, object], title: str) -> None:
    root = write({"00_目次.json": toc({"file": "a.txt", **fields}), "a.txt": "本文"})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == title


@pytest.mark.parametrize(
    "broken",
    [
        None,
        "01",
        [],
        {"id": "01"},
        {"file": "a.txt"},
        entry(None, "a.txt"),
        entry(True, "a.txt"),
        entry(1.5, "a.txt"),
        entry("01", None),
        entry("01", 7),
        entry("01", ""),
        entry("01", "../a.txt"),
        entry("01", "sub/../a.txt"),
        entry("01", "/a.txt"),
        entry("01", "C:/a.txt"),
        entry("01", "sub\\c.txt"),
        entry("01", "a.txt\0"),
        entry("01", "\ud800.txt"),
        entry("01", "00_目次.json"),
        entry("01", "a.md"),
        entry("01", "sub"),
        entry("01", "none.txt"),
        entry("01", ".hidden.txt"),
        entry("01", "folder.txt"),
    ],
)
def test_a_defective_entry_costs_only_itself(write: Write, broken: object) -> None:
    root = write(
        {
            "編/00_目次.json": toc(broken, entry("02", "b.txt")),
            **dict.fromkeys(["編/b.txt", "編/a.md", "編/sub/c.txt", "編/.hidden.txt", "a.txt"], ""),
            "編/folder.txt/x": "",
        }
    )
    assert paths(TocText(), root) == ["編/b.txt"]


@pytest.mark.parametrize(
    "unusable",
    [
        "",
        "{",
        "[]",
        "null",
        '{"toc": {}}',
        '{"manual": "編"}',
        b"\xff\xfe\x00",
        "[" * 200_000,
        '{"toc":' * 99_999,
    ],
)
def test_a_defective_toc_costs_only_itself(write: Write, unusable: str | bytes) -> None:
    root = write(
        {
            "a/00_目次.json": unusable,
            "a/01.txt": "",
            "b/00_目次.json": toc(entry("01", "01.txt")),
            "b/01.txt": "",
        }
    )
    assert paths(TocText(), root) == ["b/01.txt"]


def test_a_toc_over_the_limit_is_not_read(write: Write) -> None:
    content = toc(entry("01", "01.txt"))
    root = write({"00_目次.json": content, "01.txt": ""})
    assert paths(TocText(max_chapter_bytes=len(content.encode())), root) == ["01.txt"]
    assert paths(TocText(max_chapter_bytes=len(content.encode()) - 1), root) == []


def test_the_first_entry_for_a_file_wins(write: Write) -> None:
    entries = (entry("01", "a.txt", "先"), entry("02", "./a.txt", "後"))
    root = write({"00_目次.json": toc(*entries), "a.txt": ""})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == "先"


def test_the_outermost_toc_decides(write: Write) -> None:
    root = write(
        {
            "0/00_目次.json": toc(entry("01", "a.txt", "内"), entry("02", "b.txt", "内")),
            "00_目次.json": toc(entry("01", "0/a.txt", "外")),
            "0/a.txt": "",
            "0/b.txt": "",
        }
    )
    documents = [TocText().load(root, source) for source in TocText().sources(root)]
    assert [(each.path, each.sections[0].title) for each in documents] == [
        ("0/a.txt", "外"),
        ("0/b.txt", "内"),
    ]


def test_chapters_are_found_whatever_the_unicode_form_of_their_names(write: Write) -> None:
    name = "01_ガイド.TXT"
    decomposed = unicodedata.normalize("NFD", name)
    for on_disk, in_toc in ((decomposed, name), (name, decomposed)):
        root = write({"00_目次.json": toc(entry("01", in_toc, "章")), on_disk: "本文"})
        (source,) = TocText().sources(root)
        document = TocText().load(root, source)
        assert (document.path, document.sections[0].title) == (name, "章")
        (root.path / on_disk).unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_linked_chapters_and_tocs_are_not_spoken_for(write: Write) -> None:
    root = write(
        {
            "a/00_目次.json": toc(entry("01", "01.txt"), entry("02", "b/x.txt")),
            "c.txt": "",
            "d/x.txt": "",
        }
    )
    (root.path / "a" / "01.txt").symlink_to(root.path / "c.txt")
    (root.path / "a" / "b").symlink_to(root.path / "d")
    (root.path / "00_目次.json").symlink_to(root.path / "a" / "00_目次.json")
    assert paths(TocText(), root) == []


def test_a_changed_toc_changes_the_title(write: Write) -> None:
    root = write({"00_目次.json": toc(entry("01", "a.txt", "旧")), "a.txt": ""})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).sections[0].title == "旧"
    write({"00_目次.json": toc(entry("01", "a.txt", "新"))})
    assert TocText().load(root, source).sections[0].title == "新"
    write({"00_目次.json": "{"})
    assert TocText().load(root, source).sections[0].title == "a"


def test_a_toc_in_another_encoding_is_read(write: Write) -> None:
    content = json.dumps({"toc": [entry("01", "章.txt", "総則の章")]}, ensure_ascii=False)
    root = write({"00_目次.json": content.encode("cp932"), "章.txt": "対象です。".encode("euc_jp")})
    (source,) = TocText().sources(root)
    document = TocText().load(root, source)
    assert (document.text, document.sections[0].title) == ("対象です。", "総則の章")


def test_a_chapter_that_is_a_table_of_contents_is_navigation(write: Write) -> None:
    root = write({"00_目次.json": toc(entry("00", "00_目次.txt")), "00_目次.txt": "第1章"})
    (source,) = TocText().sources(root)
    assert TocText().load(root, source).navigation


def test_many_chapters_load_in_linear_time(write: Write) -> None:
    names = [f"{number:04}.txt" for number in range(1500)]
    root = write(
        {
            "00_目次.json": toc(*(entry(name, name, f"第{name}章") for name in names)),
            **dict.fromkeys(names, ""),
        }
    )
    began = time.perf_counter()
    stage = TocText()
    documents = [stage.load(root, source) for source in stage.sources(root)]
    assert len(documents) == len(names)
    assert time.perf_counter() - began < 5


def test_the_sample_manuals_load() -> None:
    root = Root(Path(__file__).parents[2] / "manuals")
    for stage in (Markdown(), Json(), TocText()):
        for source in stage.sources(root):
            document = stage.load(root, source)
            assert document.sections[-1].end == len(document.text)


def test_a_toc_is_repaired_singly_and_says_so(write: Write) -> None:
    entries = (
        '{"id": 7, "title": "七", "file": "a.txt", "children": [NaN, {"x": [1e999, "\\ud800"]}]}',
        '{"id": "7", "file": "b.md", "children": "none"}',
        '{"id": true, "title": "x", "file": "c.txt"}',
        '{"id": "up", "title": "x", "file": "../c.txt"}',
        "[]",
    )
    root = write({"00_目次.json": f'{{"manual": "別", "toc": [{", ".join(entries)}]}}'})
    contents = TocText().contents(root, "00_目次.json")
    assert contents.chapters == (
        Chapter("7", "七", "a.txt", [None, {"x": [None, "\ufffd"]}], "a.txt"),
        Chapter("7", "7", "b.md", None, "b.md"),
        Chapter("up", "x", "../c.txt", None, None),
    )
    told = "\n".join(contents.warnings)
    for part in (
        "toc[0].id is a number",
        "toc[0] holds lone surrogates",
        "toc[1].title",
        "toc[1].children",
        "toc[1].file 'b.md' does not end in .txt",
        "toc[1] has the id '7' once more",
        "toc[2] has no id",
        "toc[3].file '../c.txt' is refused",
        "toc[4] is no object",
        "'manual' is not the name of the folder",
    ):
        assert told.count(part) == 1, part


def test_children_nested_over_a_hundred_levels_are_left_out(write: Write) -> None:
    for levels, kept in ((100, True), (101, False), (900, False)):
        deep = "[" * levels + "]" * levels
        toc = f'{{"toc": [{{"id": "1", "file": "a", "children": {deep}}}]}}'
        contents = TocText().contents(write({"00_目次.json": toc}), "00_目次.json")
        (chapter,) = contents.chapters
        assert chapter.children == (json.loads(deep) if kept else None)
        warned = "over 100 levels" in "\n".join(contents.warnings)
        assert warned is not kept


def test_a_chapter_is_read_whatever_its_bytes(write: Write) -> None:
    root = write({"a.txt": "対象とする\r\n".encode() + b"\xff"})
    document = TocText().chapter(root, "a.txt")
    assert (document.text, document.encoding, document.damaged) == (
        "対象とする\n\ufffd",
        "utf-8",
        True,
    )
    with pytest.raises(Unreadable):
        TocText(max_chapter_bytes=3).chapter(root, "a.txt")
