"""Headings and terms of pages, as programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Html
from opened_loaders import load

from fumishirube import Document


def page_of(folder: Path, page: str) -> Document:
    return load(folder, "page.html", page.encode(), Html(anchors=False, main_text=False))


def titles(folder: Path, page: str) -> list[str]:
    return [section.title for section in page_of(folder, page).sections]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        # ReadMe
        (
            '<h2><div class="anchor" id="x"></div><div>Install</div><a href="#x"></a></h2>',
            "Install",
        ),
        ("<h1><center>Install</center></h1>", "Install"),
        ("<h1><div>Part 1</div><div>Install</div></h1>", "Part 1 Install"),
        ("<h2>Install <div class=badge>new</div></h2>", "Install new"),
        ('<dl><dt id="x"><p>--all</p></dt><dd>all</dl>', "--all"),
        ('<dl><dt id="x"><div>--all</div></dt><dd>all</dl>', "--all"),
        ('<div role="heading" aria-level="3">Install</div>', "Install"),
        ('<div role="heading"><p>Install <b>it</b></div>', "Install it"),
        ("<p class=MsoTitle>Install</p>", "Install"),
    ],
)
def test_a_heading_with_blocks_is_one(tmp_path: Path, heading: str, title: str) -> None:
    document = page_of(tmp_path, f"<title>T</title><p>before{heading}<p>after")
    assert [section.title for section in document.sections] == ["T", title]
    assert document.text.endswith("after\n")


def test_a_heading_by_its_role_has_the_level_that_it_says(tmp_path: Path) -> None:
    page = "<div role=heading aria-level=3>A</div><p>a<div role=heading aria-level=99>B</div>"
    assert page_of(tmp_path, page).text == "### A\n\na\n\n###### B\n"


def test_a_heading_that_nothing_closes_is_not_the_whole_page(tmp_path: Path) -> None:
    document = page_of(tmp_path, "<h1>A" + "<div>text</div>" * 1_000)
    assert document.text.count("\n\ntext") > 900


def test_blocks_that_are_none_of_a_heading_end_it(tmp_path: Path) -> None:
    assert page_of(tmp_path, "<h1>A<ul><li>b</ul><pre>c</pre>").text.startswith("# A\n- b\n")


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ('1.1 Use<a class="copiable-link" href="#Use"> &para;</a>', "1.1 Use"),
        ('<a class="doc-anchor" href="#x">§</a>Use', "Use"),
        ('Use<span><a class="mark" href="#use" id="use">#</a></span>', "Use"),
        ('<span class="permalink"><a href="#a1">&#9670;&#160;</a></span>foo()', "foo()"),
        ('Use<a href="#x"><img src="link.svg" alt="Link icon"></a>', "Use"),
        ('<a href="#x">Use</a>', "Use"),
        ('<a href="#x">使い方</a> ★', "使い方 ★"),
        ('<a href="list.html">***</a> Use', "*** Use"),
    ],
)
def test_a_sign_that_links_to_a_heading_is_not_in_its_title(
    tmp_path: Path, heading: str, title: str
) -> None:
    assert titles(tmp_path, f"<h2>{heading}</h2><p>x") == [title]
    assert titles(tmp_path, f'<dl><dt id="x">{heading}</dt><dd>x</dl>') == [title]


def test_a_sign_in_running_text_stays(tmp_path: Path) -> None:
    assert page_of(tmp_path, '<p>See <a href="#x">§</a>.').text == "See §.\n"
