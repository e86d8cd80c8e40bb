"""Code of pages, as programs that highlight it write it."""

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
    "code",
    [
        # Expressive Code
        (
            '<pre><code><div class="ec-line"><div class="code"><span>int</span> a;</div></div>'
            '<div class="ec-line"><div class="code">  return a;</div></div></code></pre>'
        ),
        # google-prettify
        (
            '<pre class="prettyprint"><ol class="linenums"><li class="L0"><span>int</span> a;</li>'
            '<li class="L1">  return a;</li></ol></pre>'
        ),
        # highlightjs-line-numbers
        (
            '<pre><code><table><tbody><tr><td class="hljs-ln-line hljs-ln-numbers"><p>1</p></td>'
            '<td class="hljs-ln-line">int a;</td></tr><tr><td class="hljs-ln-numbers">2</td>'
            "<td>  return a;</td></tr></tbody></table></code></pre>"
        ),
        "<pre><p>int a;</p><p>  return a;</p></pre>",
        "<pre><div>int a;\n</div><div>  return a;\n</div></pre>",
        "<pre>int a;<br>  return a;<button>Copy</button></pre>",
        # Sphinx
        (
            '<pre><span></span><span class="linenos">1</span><span>int</span> a;\n'
            '<span class="linenos">2</span>  return a;\n</pre>'
        ),
        # Hugo
        (
            '<pre><code><span class="line"><span class="ln">1</span><span>int a;\n</span>'
            '</span><span class="line"><span class="ln">2</span>  return a;</span></code></pre>'
        ),
        (
            '<table><tr><td class="lntd"><pre><code><span class="lnt">1\n</span>'
            '<span class="lnt">2\n</span></code></pre></td>'
            "<td><pre><code>int a;\n  return a;</code></pre></td></table>"
        ),
        # MkDocs, Rouge
        (
            '<table><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>'
            '<td class="code"><div><pre>int a;\n  return a;</pre></div></td></tr></table>'
        ),
        (
            '<table><tr><td class="gutter gl"><pre>1\n2\n</pre></td>'
            '<td class="code"><pre>int a;\n  return a;\n</pre></td></tr></table>'
        ),
    ],
)
def test_each_line_of_code_is_a_line_without_its_number(tmp_path: Path, code: str) -> None:
    assert text(tmp_path, code) == "```\nint a;\n  return a;\n```\n"


def test_empty_lines_of_code_stay(tmp_path: Path) -> None:
    page = "<pre><div>a\n</div><div>\n</div><div>b</div></pre>"
    assert text(tmp_path, page) == "```\na\n\nb\n```\n"


def test_a_gutter_around_text_is_read(tmp_path: Path) -> None:
    assert text(tmp_path, '<div class="gutter"><p class="ln">a</p></div>') == "a\n"


@pytest.mark.parametrize("tag", ["span", "small", "a"])
def test_other_text_than_numbers_is_read_from_an_element_for_them(tmp_path: Path, tag: str) -> None:
    page = f'<p><{tag} class="ln">Smith &amp; 2 sons</{tag}> are <{tag} class="ln">3</{tag}>here.'
    assert text(tmp_path, page) == "Smith & 2 sons are here.\n"


def test_cells_of_a_class_for_numbers_stay_in_their_column(tmp_path: Path) -> None:
    rows = '<tr><th>姓<th>名<tr><td class="ln">山田<td>太郎<tr><td class="ln">1<td>花子'
    assert (
        text(tmp_path, f"<table>{rows}</table>")
        == "| 姓 | 名 |\n| --- | --- |\n| 山田 | 太郎 |\n|  | 花子 |\n"
    )


def test_long_code_beside_its_numbers_is_a_block(tmp_path: Path) -> None:
    code, numbers = "a();\n" * 20, "\n".join(map(str, range(1, 21)))
    cells = f'<td class="gutter gl"><pre>{numbers}</pre></td><td><pre>{code}</pre></td>'
    assert text(tmp_path, f"<table><tr>{cells}</tr></table>") == f"```\n{code}```\n"


def test_the_language_is_that_of_the_code(tmp_path: Path) -> None:
    page = (
        '<pre class="shiki"><div class="language-id">ts</div><code><div>const a = 1</div></code>'
        '</pre><pre><code class="language-c">int a;</code></pre>'
    )
    assert text(tmp_path, page) == "```\nts\nconst a = 1\n```\n\n```c\nint a;\n```\n"


@given(
    st.lists(st.text("ab ;", min_size=1).filter(str.strip), min_size=1),
    st.sampled_from(["div", "li", "p"]),
)
def test_lines_are_the_same_whether_elements_or_line_ends_divide_them(
    lines: list[str], tag: str
) -> None:
    elements = "".join(f"<{tag}>{line}</{tag}>" for line in lines)
    ends = "\n".join(lines)
    divided, ended = (
        read(f"<pre><code>{code}</code></pre>", (), anchors=False) for code in (elements, ends)
    )
    assert divided.text == ended.text
