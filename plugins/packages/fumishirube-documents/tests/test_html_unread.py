"""Which parts of a page are read: the main part, and what a reader can see of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Html
from opened_loaders import load


def text(folder: Path, page: str, stage: Html | None = None) -> str:
    return load(folder, "page.html", page.encode(), stage or Html()).text


@pytest.mark.parametrize("hidden", ['hidden=""', 'style="display: none"', 'hidden="hidden"'])
def test_all_tabs_are_read(tmp_path: Path, hidden: str) -> None:
    page = (
        '<ul role="tablist"><li role="tab">macOS<li role="tab">Windows</ul>'
        '<div role="tabpanel"><p>brew install foo</div>'
        f'<div role="tabpanel" {hidden}><p>winget install foo</div>'
    )
    assert text(tmp_path, page) == (
        "- macOS\n- Windows\n\nbrew install foo\n\nwinget install foo\n"
    )


def test_what_is_hidden_until_it_is_searched_is_read(tmp_path: Path) -> None:
    assert text(tmp_path, '<p>a<div hidden="until-found">b</div>') == "a\n\nb\n"


@pytest.mark.parametrize(
    "unseen",
    [
        '<span style="color:red;DISPLAY:none !important">no</span>',
        '<p style="display:none">no</p>',
        "<video controls>no</video>",
        "<audio controls>no</audio>",
        "<datalist><option>no</option></datalist>",
        "<dialog><p>no</p></dialog>",
        '<span class="mw-editsection">[<a href="x">no</a>]</span>',
        '<div role="navigation">no</div>',
    ],
)
def test_what_no_reader_sees_is_left_out(tmp_path: Path, unseen: str) -> None:
    assert text(tmp_path, f"<p>a{unseen}<p>b") == "a\n\nb\n"


@pytest.mark.parametrize(
    "seen",
    [
        "<dialog open>yes</dialog>",
        '<div style="display:none">yes</div>',  # a click may open it
        '<p style="display:block">yes</p>',
        '<p style="x-display:none">yes</p>',
        '<div role="contentinfo">yes</div>',
    ],
)
def test_what_a_reader_may_see_is_read(tmp_path: Path, seen: str) -> None:
    assert text(tmp_path, f"<p>a{seen}<p>b") == "a\n\nyes\n\nb\n"


def test_elements_in_a_role_are_ignored_by_its_name(tmp_path: Path) -> None:
    page = '<div role="contentinfo">c</div><p>p<div role="navigation">n</div>'
    assert text(tmp_path, page, Html(ignored=("footer",))) == "p\n\nn\n"


def test_an_equation_by_mathjax_is_read_once(tmp_path: Path) -> None:
    page = (
        '<p>Let <span class="MathJax"><nobr aria-hidden="true"><span>x</span>2</nobr><span>'
        "<math><msup><mi>x</mi><mn>2</mn></msup></math></span></span> be."
    )
    assert text(tmp_path, page) == "Let x^2 be.\n"


@pytest.mark.parametrize(
    "page",
    [
        '<div>Skip</div><div class="x" role="main"><div>A</div>b<div>c</div></div><div>f</div>',
        '<p>Skip<section role=main title="a b"><p>A<p>b<p>c</section><section>f</section>',
        '<div role="main">Skip<main>A<p>b<p>c</main></div><p>f',
    ],
)
def test_the_part_in_the_main_role_is_read_alone(tmp_path: Path, page: str) -> None:
    assert text(tmp_path, page) == "A\n\nb\n\nc\n"


def test_of_several_main_roles_none_is_the_main_part(tmp_path: Path) -> None:
    page = '<p>a<div role="main">b</div><div role="main">c</div>'
    assert text(tmp_path, page) == "a\n\nb\n\nc\n"
