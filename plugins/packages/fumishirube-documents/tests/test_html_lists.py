"""Lists of pages: the marks of their items are those that a browser shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Html
from fumishirube_documents.html.page import read
from hypothesis import given
from hypothesis import strategies as st
from opened_loaders import load


def text(folder: Path, page: str) -> str:
    return load(folder, "page.html", page.encode(), Html()).text


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<ol type="a"><li>x<li>y</ol>', "a. x\nb. y\n"),
        ('<ol class="upperalpha simple" start=26><li><p>x<li><p>y</ol>', "Z. x\nAA. y\n"),
        ('<ol type="I"><li value=4>x<li>y<li value=1994>z</ol>', "IV. x\nV. y\nMCMXCIV. z\n"),
        ('<ol class="lowerroman"><li>x<li type=A>y</ol>', "i. x\nB. y\n"),
        ('<ol type="a"><li value=0>x<li value=-1>y</ol>', "0. x\n-1. y\n"),
        ('<ol type="i"><li value=4000>x</ol><ol type="?"><li>x</ol>', "4000. x\n1. x\n"),
        ('<ol type="1"><li>x<ol type="a"><li>y</ol><li>z</ol>', "1. x\n  a. y\n2. z\n"),
        ('<ul type="a"><li>x</ul>', "- x\n"),
    ],
)
def test_items_have_the_letters_of_their_list(tmp_path: Path, page: str, said: str) -> None:
    assert text(tmp_path, page) == said


@given(st.integers(1, 3_999), st.sampled_from("aAiI1"))
def test_no_two_items_have_the_same_mark(start: int, kind: str) -> None:
    page = read(f"<ol type={kind} start={start}><li>x<li>x<li>x</ol>", (), anchors=False)
    assert len(set(page.text.splitlines())) == 3


def test_a_number_before_code_or_a_table_is_that_of_its_item(tmp_path: Path) -> None:
    page = (
        "<ol><li><pre>one</pre></li><li><p>then</p><pre>two</pre><p>after</p></li>"
        "<li><table><tr><td>a<td>b</table></li></ol><p>end</p>"
    )
    assert text(tmp_path, page) == (
        "1.\n\n```\none\n```\n2. then\n\n```\ntwo\n```\n\n   after\n3.\n\n| a | b |\n\nend\n"
    )


def test_a_sign_of_an_item_that_begins_with_code_is_not_before_the_next_text(
    tmp_path: Path,
) -> None:
    page = "<ul><li><pre>int a;</pre><p>Does it.</ul>"
    assert text(tmp_path, page) == "```\nint a;\n```\n\n  Does it.\n"
