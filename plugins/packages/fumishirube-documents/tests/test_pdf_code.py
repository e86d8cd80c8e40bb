"""Code of PDF pages: its indents, its spaces, and that it is no table."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn_pages import SENTENCE, drawn, parsed
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfbase import pdfmetrics

PROSE = " ".join(SENTENCE)


def listing(*lines: str, whole: bool = True) -> bytes:
    """Return a page of prose above lines of code, which are drawn whole, or word by word."""
    page = [(PROSE, "Helvetica", 10, 72, 760 - 13 * n) for n in range(4)]
    wide = pdfmetrics.stringWidth(" ", "Courier", 9)
    for number, line in enumerate(lines):
        height = 690 - 11 * number
        begin = 0
        for word in [line] if whole else line.split(" "):
            if word:
                page.append((word, "Courier", 9, 90 + wide * begin, height))
            begin += len(word) + 1
    return drawn(page)


@pytest.mark.parametrize("whole", [True, False])
def test_code_keeps_its_indents_and_spaces(tmp_path: Path, *, whole: bool) -> None:
    lines = [
        "server:",
        "    hosts:",
        "        - alpha",
        "    tls:",
        "        port: 8443",
        "$ foo --port     8080   # the port",
        "$ foo --host     alpha  # the host",
        "$ ls -l | grep x",
        "",
        "a && b || c",
        "}",
    ]
    text = parsed(tmp_path, listing(*lines, whole=whole)).text
    assert text.endswith("\n\n" + "\n".join(lines) + "\n\n")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.lists(st.text("abW.{|-", min_size=1), min_size=1)),
        min_size=1,
        max_size=6,
    )
)
def test_lines_of_code_begin_in_the_column_where_they_are_printed(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[tuple[int, list[str]]]
) -> None:
    lines = ["-", *(" " * indent + " ".join(words)[:60] for indent, words in drafts)]
    text = parsed(tmp_path_factory.mktemp("a"), listing(*lines)).text
    assert text.endswith("\n".join(line.rstrip() for line in lines) + "\n\n")


def test_a_word_that_code_ends_with_is_not_joined_with_the_next(tmp_path: Path) -> None:
    assert "rm well-\nknown" in parsed(tmp_path, listing("rm well-", "known -f")).text


def test_a_typewritten_page_keeps_its_tables(tmp_path: Path) -> None:
    page = [
        (cell, "Courier", 10, 72 + 150 * column, 700 - 14 * row)
        for row, cells in enumerate([("Item", "Price"), ("Bolt", "1.20"), ("Nut", "0.10")])
        for column, cell in enumerate(cells)
    ]
    text = parsed(tmp_path, drawn(page)).text
    assert text == "| Item | Price |\n| Bolt | 1.20 |\n| Nut | 0.10 |\n\n"
