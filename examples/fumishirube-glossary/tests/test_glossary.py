from __future__ import annotations

from typing import Any

import pytest
from fumishirube_glossary import Glossary
from fumishirube_glossary.definitions import definitions

from fumishirube import (
    Call,
    Document,
    Heading,
    NotFound,
    SurfaceContext,
    ToolError,
    divide_at_headings,
)
from fumishirube.testing import MemoryContext, SurfaceContract

RULES = """# 用語
- **有給休暇**: 賃金が支払われる休暇
- 代休(だいきゅう) … 休日に働いた代わりの休み
| 用語 | 意味 |
| --- | --- |
| 欠勤 | 届け出て休むこと |

# 有給休暇
入社から六か月で十日になる。
取り消しはできる。

有給休暇は前日までに届け出る。
"""
GUIDE = """# Basics
A token is a piece of text. Every token costs time.
The index (a set of files) refers to sections.
"""


def document(path: str, text: str) -> Document:
    lines = text.split("\n")
    headings = [
        Heading(line[2:], 1, number, number + 1)
        for number, line in enumerate(lines, start=1)
        if line.startswith("# ")
    ]
    return Document(path, "md", text, tuple(divide_at_headings(text, headings, "x")))


@pytest.fixture
def context() -> SurfaceContext:
    return MemoryContext(
        {"rules": [document("rules.md", RULES)], "guide": [document("guide.md", GUIDE)]}
    )


def look_up(context: SurfaceContext, **arguments: Any) -> list[tuple[str, int, str]]:
    (tool,) = Glossary().tools(context)
    answer = tool.run(tool.params.model_validate(arguments), Call())
    return [
        (definition.form, definition.start_line, definition.text)
        for definition in answer.definitions
    ]


class TestGlossary(SurfaceContract):
    stage = Glossary()


def test_an_entry_goes_before_a_section_of_that_name(context: SurfaceContext) -> None:
    assert look_up(context, term="有給休暇") == [
        ("entry", 2, "- **有給休暇**: 賃金が支払われる休暇"),
        ("heading", 9, "入社から六か月で十日になる。\n取り消しはできる。"),
    ]


def test_tables_and_other_marks_are_entries_too(context: SurfaceContext) -> None:
    assert look_up(context, term="欠勤") == [("entry", 6, "| 欠勤 | 届け出て休むこと |")]
    assert look_up(context, term="代休") == [
        ("entry", 3, "- 代休(だいきゅう) … 休日に働いた代わりの休み")
    ]


def test_a_sentence_may_define_a_term(context: SurfaceContext) -> None:
    line = "A token is a piece of text. Every token costs time."
    assert look_up(context, term="Token", manual_id="guide") == [("sentence", 2, line)]
    (definition,) = look_up(context, term="index")
    assert definition[:2] == ("sentence", 3)


def test_a_citation_names_the_lines(context: SurfaceContext) -> None:
    (tool,) = Glossary().tools(context)
    (definition,) = tool.run(tool.params(term="欠勤"), Call()).definitions
    assert definition.cite == "manual://rules/rules.md#L6-L6"
    assert definition.section == "用語"


def test_the_limit_applies(context: SurfaceContext) -> None:
    assert len(look_up(context, term="有給休暇", limit=1)) == 1


def test_an_undefined_term_has_no_definitions(context: SurfaceContext) -> None:
    assert look_up(context, term="取り消し") == []
    assert look_up(context, term="absent") == []


def test_what_cannot_be_looked_up_is_refused(context: SurfaceContext) -> None:
    with pytest.raises(ToolError, match="term is blank"):
        look_up(context, term="　")
    with pytest.raises(NotFound):
        look_up(context, term="token", manual_id="absent")


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("有給休暇とは、賃金が支払われる休暇をいう。", "sentence"),
        ("「有給休暇」とは賃金が支払われる休暇。", "sentence"),
        ("この規則で有給休暇は、賃金が支払われる休暇をいう。", "sentence"),
        ("有給休暇(年休)というのは休みのこと。", "sentence"),
        ("1. 有給休暇:賃金が支払われる休暇", "entry"),
        ("有給休暇とはいえ、前日までに届け出る。", None),
        ("特別有給休暇: 別のもの", None),
        ("有給休暇を取る。", None),
    ],
)
def test_mere_mentions_are_no_definitions(line: str, form: str | None) -> None:
    forms = [definition.form for definition in definitions(["# x", line], "x", "有給休暇")]
    assert forms == ([form] if form else [])


@pytest.mark.parametrize(
    "title", ["有給休暇", "2.1 有給休暇とは", "第3条 有給休暇", "有給休暇とは?"]
)
def test_a_section_that_is_headed_by_the_term_defines_it(title: str) -> None:
    results = [
        *definitions([f"# {title}", "", "賃金が支払われる。", "二行目。", ""], title, "有給休暇")
    ]
    assert [
        (definition.first, definition.last)
        for definition in results
        if definition.form == "heading"
    ] == [(2, 3)]


def test_a_term_of_marks_is_no_pattern(context: SurfaceContext) -> None:
    assert look_up(context, term="(.*)+[") == []
