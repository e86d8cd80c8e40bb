"""What is left out beside the main text of pages that do not mark it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Html
from fumishirube_documents.html.main_text import main_text
from fumishirube_documents.html.page import read
from hypothesis import given, settings
from hypothesis import strategies as st
from opened_loaders import load

from fumishirube import Document

PROSE = "".join(
    f"<p>In year {n} the boiler is opened, cleaned with vinegar and closed again by two people.</p>"
    for n in range(6)
)
LINKS = "<ul>" + "".join(f"<li><a href='{n}.html'>Entry {n}</a>" for n in range(5)) + "</ul>"
MENU = f"<h3>Menu</h3>{LINKS}"


def page_of(folder: Path, page: str) -> Document:
    return load(folder, "page.html", page.encode(), Html(anchors=False))


@pytest.mark.parametrize(
    "short",
    [
        "<p>Unplug.</p>",
        "<ul><li>Unplug.</ul>",
        "<pre>x\n\ny</pre>",
        "<table><tr><th>0<td>OK<tr><th>2<td>bad</table>",
        "<p><a href='#x'>Parts</a> <a href='a.html#y'>of it</a> <a href='#z'>all</a></p>",
        "<p><a href='a.html'>One</a> <a href='b.html'>two</a></p>",
    ],
)
def test_short_sections_beside_the_main_text_are_read(tmp_path: Path, short: str) -> None:
    alone = page_of(tmp_path, short).text
    sections = f"<h1>Guide</h1><h2>First</h2>{short}<h2>Use</h2>{PROSE}<h2>Last</h2>{short}"
    document = page_of(tmp_path, f"{MENU}{sections}{MENU}")
    assert [section.title for section in document.sections] == ["Guide", "First", "Use", "Last"]
    assert document.text.startswith("# Guide\n\n## First\n")
    assert document.text.count(alone) == 2
    assert document.text.endswith(alone)
    assert "Menu" not in document.text
    assert "Entry" not in document.text


@pytest.mark.parametrize(
    "footer",
    [
        "<footer><h4>Us</h4><p>Imprint</footer>",
        '<div role="contentinfo"><p>Imprint</div>',
        f"<h2>Related</h2>{LINKS}<p>Imprint",
        "<hr><p><a href=a>A</a> | <a href=b>B</a> | <a href=c>C</a><p>Imprint",
    ],
)
def test_footers_and_blocks_of_links_are_left_out(tmp_path: Path, footer: str) -> None:
    said = page_of(tmp_path, f"<h1>A</h1>{PROSE}<p>End.</p>{footer}").text
    assert said.removesuffix("\n---\n").rstrip().endswith("End.")


def test_lines_before_the_first_heading_beside_the_main_text_are_left_out(tmp_path: Path) -> None:
    said = page_of(tmp_path, f"<p>Site</p><h1>A</h1><p>b</p>{PROSE}").text
    assert said.startswith("# A\n\nb\n")


def test_a_remark_says_how_much_is_left_out(tmp_path: Path) -> None:
    remarks = page_of(tmp_path, f"{MENU}<h1>A</h1>{PROSE}{LINKS}<p>Imprint").remarks
    assert [remark.message for remark in remarks] == [
        "lines left out beside the main text: 6 before it, 6 after it"
    ]
    assert page_of(tmp_path, f"<h1>A</h1>{PROSE}").remarks == ()


PARTS = ["<h2>T</h2>", "<p>s", "<pre>x\n\ny</pre>", "<table><tr><td>1<tr><td>2</table>", LINKS]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PARTS)), st.lists(st.sampled_from(PARTS)))
def test_no_block_is_cut_in_two(before: list[str], after: list[str]) -> None:
    markup = f"{''.join(before)}<h2>Main</h2>{PROSE}{''.join(after)}"
    whole = read(markup, (), anchors=False)
    part = main_text(whole, markup)
    assert part.text.rstrip() in whole.text
    assert part.text.count("```") % 2 == 0
    assert part.text.count("| 1 |") == part.text.count("| 2 |")
    assert sum(part.left_out) == sum(map(bool, whole.text.split("\n"))) - sum(
        map(bool, part.text.split("\n"))
    )
    lines = part.text.split("\n")
    assert all(lines[heading.line - 1].endswith(heading.title) for heading in part.headings)
