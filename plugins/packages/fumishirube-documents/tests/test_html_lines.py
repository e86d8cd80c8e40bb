"""White space and words of pages, and pages without any."""

from __future__ import annotations

from pathlib import Path

import pytest
from fumishirube_documents import Html
from fumishirube_documents.html.page import read
from opened_loaders import load

from fumishirube import Unreadable


def text(folder: Path, page: str) -> str:
    return load(folder, "page.html", page.encode(), Html(anchors=False)).text


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("このドキュ\nメントは日本\n  語です。", "このドキュメントは日本語です。"),
        ("ドキュ\n<b>メント</b>と<b>ドキュ</b>\nメント", "ドキュメントとドキュメント"),
        ("英語の ABC\nDEF と英\nword", "英語の ABC DEF と英 word"),
        ("氏名 住所", "氏名 住所"),
        ("한국어\n문서", "한국어 문서"),
        ("1&nbsp;&nbsp; Intro", "1 Intro"),
        ("He said <q>no</q>.", 'He said "no".'),
        ("1010<sub>2</sub> = 10, CO<sub>2</sub>", "1010_2 = 10, CO2"),
        ("<label>macOS</label><label>Windows</label>", "macOS Windows"),
        ("<button>Copy</button><select><option>a</select>", "Copy\n\na"),
    ],
)
def test_white_space_is_as_a_browser_shows_it(tmp_path: Path, source: str, line: str) -> None:
    assert text(tmp_path, f"<p>{source}") == f"{line}\n"


def test_cells_and_titles_are_joined_as_lines_are(tmp_path: Path) -> None:
    page = "<h1>取扱\n説明&nbsp;書</h1><table><tr><td>電\n圧<td>a\nb</table>"
    assert text(tmp_path, page) == "# 取扱説明 書\n\n| 電圧 | a b |\n"


@pytest.mark.timeout(30)
def test_many_gaps_cost_no_more_than_their_length() -> None:
    page = read("<p>a" + "<label> </label>\n" * 100_000 + "b", (), anchors=False)
    assert page.text == "a b\n"


@pytest.mark.parametrize(
    "page",
    [
        '<title>App</title><div id="root"></div><script>x</script>',
        "<html><head><title>D</title></head><frameset><frame src=a.html><noframes>Go</noframes>",
    ],
)
def test_a_page_that_shows_no_text_is_skipped_as_empty(tmp_path: Path, page: str) -> None:
    with pytest.raises(Unreadable, match="no text") as caught:
        text(tmp_path, page)
    assert caught.value.reason == "empty"
