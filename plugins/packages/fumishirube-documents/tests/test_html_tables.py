"""Tables of pages, as programs write them."""

from __future__ import annotations

from pathlib import Path

from fumishirube_documents import Html
from opened_loaders import load


def text(folder: Path, page: str) -> str:
    return load(folder, "page.html", page.encode(), Html()).text


def test_the_foot_of_a_table_is_last_wherever_it_is(tmp_path: Path) -> None:
    head, foot = "<thead><tr><th>A</thead>", "<tfoot><tr><td>Total 9</tfoot>"
    body = "<tbody><tr><td>4</td></tr><tr><td>5</td></tr></tbody>"
    rows = "| A |\n| --- |\n| 4 |\n| 5 |\n| Total 9 |\n"
    assert text(tmp_path, f"<table>{head}{foot}{body}</table>") == rows
    assert text(tmp_path, f"<table>{head}{body}{foot}</table>") == rows


def test_a_signature_by_doxygen_is_a_line(tmp_path: Path) -> None:
    page = (
        '<table class="memname"><tr><td class="memname">int foo </td><td>(</td>'
        "<td>int&#160;</td><td><em>a</em>, </td></tr><tr><td></td><td></td>"
        "<td>char&#160;</td><td><em>b</em>&#160;</td></tr>"
        "<tr><td></td><td>)</td><td> const</td><td></td></tr></table>"
    )
    assert text(tmp_path, page) == "int foo(int a, char b) const\n"
