"""Word documents: fields whose instructions hold what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Docx
from fumishirube_documents.docx.fields import shown_by
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import load
from word_files import body, word


def paragraph(folder: Path, *runs: str) -> str:
    data = word(body(f"<w:p>{''.join(runs)}</w:p>"))
    return load(folder, "a.docx", data, Docx()).text.removesuffix("\n")


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def field(*instructions: str, form: str = "", result: str | None = None) -> str:
    """Return the runs of a field."""
    data = f"<w:ffData>{form}</w:ffData>" if form else ""
    first = f"<w:r><w:fldChar w:fldCharType='begin'>{data}</w:fldChar></w:r>"
    texts = "".join(f"<w:r><w:instrText>{each}</w:instrText></w:r>" for each in instructions)
    parted = "<w:r><w:fldChar w:fldCharType='separate'/></w:r>"
    shown = "" if result is None else parted + run(result)
    return f"{first}{texts}{shown}<w:r><w:fldChar w:fldCharType='end'/></w:r>"


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>", "☒"),
        ("<w:checkBox><w:default w:val='1'/></w:checkBox>", "☒"),
        ("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>", "☐"),
        ("<w:checkBox/>", "☐"),
        ("<w:ddList><w:result w:val='1'/>{}</w:ddList>", "blue"),
        ("<w:ddList><w:default w:val='1'/>{}</w:ddList>", "blue"),
        ("<w:ddList>{}</w:ddList>", "red"),
        ("<w:ddList><w:result w:val='7'/>{}</w:ddList>", ""),
        ("<w:ddList/>", ""),
    ],
)
def test_what_is_chosen_in_a_form_is_read(tmp_path: Path, form: str, shown: str) -> None:
    entries = "<w:listEntry w:val='red'/><w:listEntry w:val='blue'/>"
    chosen = field("FORM", form=form.format(entries))
    assert paragraph(tmp_path, run("It is "), chosen, run(".")) == f"It is {shown}."


@pytest.mark.parametrize(
    ("instructions", "shown"),
    [
        ([r"eq \o\ac(○,21)"], "㉑"),
        ([r" eq \o\ac(", "○,", "50", ")"], "㊿"),
        ([r"eq \o\ac(○,印)"], "(印)"),
        ([r"eq \o\ac(□,51)"], "(51)"),
        (
            [r"EQ \* jc2 \* &quot;Font:MS Mincho&quot; \* hps10 \o\ad(\s\up 9(とうきょう),東京)"],
            "東京",
        ),
        ([r"EQ \f(1,2)"], "1/2"),
        ([r"EQ \f(a+b;2)"], "(a+b)/2"),
        ([r"EQ \r(3,\f(x,y))"], "³√(x/y)"),
        ([r"EQ \r(x)"], "√x"),
        ([r"EQ 10\s\up5(6)"], "10⁶"),
        ([r"EQ \x(boxed)"], "boxed"),
        (["PAGE"], ""),
        (["EQUIP"], ""),
        ([], ""),
    ],
)
def test_a_field_eq_is_read(tmp_path: Path, instructions: list[str], shown: str) -> None:
    assert paragraph(tmp_path, run("No."), field(*instructions), run("の項")) == f"No.{shown}の項"


def test_a_field_with_a_result_is_its_result(tmp_path: Path) -> None:
    inner = field("PAGE", result="7")
    assert paragraph(tmp_path, run("p. "), inner, field(r"EQ \f(1,2)")) == "p. 71/2"
    assert paragraph(tmp_path, field("REF a", result="see 2")) == "see 2"


def test_a_field_that_ends_in_another_paragraph_is_passed_over(tmp_path: Path) -> None:
    half = "<w:r><w:fldChar w:fldCharType='end'/></w:r>"
    assert paragraph(tmp_path, half, run("text"), half) == "text"


@pytest.mark.property
@given(st.text(alphabet="\\(),;ofrsx○1 ", max_size=60))
def test_whatever_an_instruction_holds_something_is_shown_of_it(text: str) -> None:
    assert len(shown_by(f"EQ {text}")) <= len(text) * 2 + 2
