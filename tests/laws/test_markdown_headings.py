"""Where a Markdown file is divided: at its headings, and before the first of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from loaded_documents import own
from manuals import RULES

from fumishirube import Document, Section
from fumishirube.text import Lines

if TYPE_CHECKING:
    from loader_fixtures import Loaded

pytest_plugins = ["loader_fixtures"]


def outline(document: Document) -> list[tuple[int, int, str]]:
    return [(each.start_line, each.level, each.title) for each in document.sections]


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
    ("inner", "title"),
    [
        ("title: [\n", "rules"),
        ("title: C: guide\n", "C: guide"),
        ("\tx: y\n", "rules"),
        ("a:\n- b: c: d\n", "rules"),
    ],
)
def test_settings_with_a_mistake_are_no_text_and_give_a_title_on_its_line(
    markdown: Loaded, inner: str, title: str
) -> None:
    assert outline(markdown(f"---\n{inner}---\n\n本文\n")) == [(1, 1, title)]
    document = markdown(f"---\n{inner}---\n\n# 総則\n")
    assert [section.title for section in document.sections] == [title, "総則"]
    assert body(document, document.sections[0]).strip() == ""


def test_long_front_matter_is_front_matter(markdown: Loaded) -> None:
    for more in ("summary: " + "言葉" * 20_000, "\n".join(f"k{n}: v" for n in range(20_000))):
        document = markdown(f"---\ntitle: 版\n{more}\n---\n# 総則\n")
        assert [section.title for section in document.sections][-1] == "総則"
        assert document.text[document.content :] == "# 総則\n"
    assert outline(markdown(f"---\ntitle: 版\nx: {'言葉' * 20_000}\n---\n本文\n")) == [(1, 1, "版")]


def test_a_rule_at_the_top_that_nothing_closes_is_a_rule(markdown: Loaded) -> None:
    assert outline(markdown("---\ntitle: a\n# 総則\n")) == [(1, 1, "rules"), (3, 1, "総則")]


def test_front_matter_stands_at_the_very_start(markdown: Loaded) -> None:
    assert outline(markdown("\n---\ntitle: a\n---\n"))[-1] == (3, 2, "title: a")
