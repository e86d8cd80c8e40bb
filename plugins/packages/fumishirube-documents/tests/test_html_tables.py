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


HEADER = "<tr><th>Option<th>Default<th>Example</tr>"


def test_code_in_a_cell_is_part_of_its_row(tmp_path: Path) -> None:
    page = (
        f"<table>{HEADER}<tr><td>port<td>80<td><p>as</p><pre>port:\n  80</pre></tr>"
        "<tr><td>host<td><td><pre>a | `b`</pre> or so</tr><tr><td>user<td>root<td>none</tr></table>"
    )
    assert text(tmp_path, page) == (
        "| Option | Default | Example |\n| --- | --- | --- |\n| port | 80 | as `port: 80` |\n"
        "| host |  | a \\| `b` or so |\n| user | root | none |\n"
    )


def test_a_table_in_a_cell_is_part_of_its_row(tmp_path: Path) -> None:
    inner = "<table><tr><th>k<td>v</tr><tr><td><p>k2</p><td>v2</tr></table>"
    page = f"<table>{HEADER}<tr><td>port<td><td>see {inner} above<tr><td>a<td>b<td>c</table><p>x"
    assert text(tmp_path, page) == (
        "| Option | Default | Example |\n| --- | --- | --- |\n"
        "| port |  | see k: v; k2: v2 above |\n| a | b | c |\n\nx\n"
    )


def test_a_row_with_a_head_keeps_its_code(tmp_path: Path) -> None:
    page = "<table><tr><th>Key<td>v</tr><tr><th>Run<td><pre>foo</pre></tr></table>"
    assert text(tmp_path, page) == "| Key | v |\n| --- | --- |\n| Run | `foo` |\n"


def test_headings_below_a_header_are_words(tmp_path: Path) -> None:
    page = f"<table>{HEADER}<tr><td><h4>port</h4><td>80<td>x</tr></table>"
    assert text(tmp_path, page).endswith("| port | 80 | x |\n")


def test_long_code_in_a_cell_keeps_its_lines(tmp_path: Path) -> None:
    code = "\n".join(f"line {number}" for number in range(6))
    inner = f"<table><tr><td>k<td><pre>{code}</pre>z</table>"
    for cell in (f"<pre>{code}</pre>", inner):
        said = text(tmp_path, f"<table>{HEADER}<tr><td>port<td>80<td>{cell}</table><p>after")
        assert f"\n```\n{code}\n```\n" in said
        assert said.endswith("after\n")


def test_boxes_and_tables_that_arrange_text_are_no_tables(tmp_path: Path) -> None:
    box = "<table><tr><td><img src=x><th>Note</tr><tr><td><p>Care.<pre>code</pre></tr></table>"
    assert text(tmp_path, box) == "Note\n\nCare.\n\n```\ncode\n```\n"
    page = "<table role=presentation><tr><th>a<th>b<tr><td>c<td><pre>d</pre></table>"
    assert "|" not in text(tmp_path, page)
