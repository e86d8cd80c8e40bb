"""Whatever a document holds, reading it takes time by its length; and nobody waits for it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from documents import docs_json, documents
from hypothesis import example, given, settings
from hypothesis import strategies as st
from manuals import fumishirube, write
from stdio import Wire
from torture import TORTURE, examples, times

from fumishirube import Unreadable
from fumishirube.text import Lines
from fumishirube_stages.loaders.markdown_files.heading_scan import pieces
from fumishirube_stages.loaders.markdown_files.headings import Parsed, parsed
from fumishirube_stages.loaders.markdown_files.links import _INLINE, _code_ends, links

MARKS = ["[", "]", "(", ")", "<", ">", "`", "\\", '"', "'", "!", "|", " ", "a", "-->", "<!--", "#"]
units = st.lists(st.sampled_from(MARKS), min_size=1, max_size=4).map("".join)
BLOCKS = [
    "- - -\n",
    "|a|\n|-|\n\n",
    "a|b\n-|-\n",
    "1. a\n",
    "- a\n  - b\n",
    "> a\n",
    "[a]: b\n",
    "- " * 40 + "a\n",
    "|" * 500 + "\n" + "|-" * 499 + "|\n",
]

# As it was, when parts of a text were given back and tried in another way.
SLOW_INLINE = re.compile(
    r"\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))"
    r"(?:\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)"
)


def seconds(text: str) -> float:
    before = time.process_time()
    links(text, 0, Parsed([], [], {"X": {"href": "x.md"}}))
    return time.process_time() - before


@given(units, units, units, st.booleans())
@example("[a](", " ", "", True)
@example("[a](x", " ", '"', True)
@example("[a](x", "\n\t", "", True)
def test_links_are_scanned_in_linear_time(before: str, unit: str, after: str, opened: bool) -> None:
    head = f"[a]({before}" if opened else before
    length = times(8_000, 40_000)
    text = head + unit * (length // len(unit)) + after
    # A square took over a second for the shorter length.
    assert seconds(text) < 0.5
    if TORTURE:
        twice = head + unit * (2 * length // len(unit)) + after
        assert seconds(twice) <= 2.5 * seconds(text) + 0.1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("run", [" ", "\n", " \n"])
def test_blank_text_is_scanned_in_linear_time(run: str) -> None:
    text = f"# [a](b.md)\n{run * 100_000}\n  - [c](d.md)\n"
    assert [each.target for each in links(text, 0, parsed(text, 0, Lines(text))).links] == [
        "b.md",
        "d.md",
    ]
    pieces(f"<b>a</b>{run * 100_000} x\n", 0)


@pytest.mark.parametrize("block", ["a\n```\n```\n", "|\n\n"])
def test_a_text_of_blocks_and_fences_is_divided_in_linear_time(block: str) -> None:
    text = block * 15_000
    before = time.process_time()
    assert pieces(text, 0) == []
    # A square took over a second.
    assert time.process_time() - before < 0.5


@given(st.integers(1, 300))
def test_runs_of_backticks_of_every_length_are_scanned_in_linear_time(most: int) -> None:
    text = "[a](b.md) " + " ".join("`" * length for length in range(1, most))
    assert seconds(text) < 0.5


@given(st.lists(st.sampled_from([*MARKS, "\n"]), max_size=12).map("".join))
def test_the_same_is_a_link_as_before(text: str) -> None:
    text = f"({text}"
    quick, slow = _INLINE.match(text), SLOW_INLINE.match(text)
    assert (quick and (quick.groups(), quick.end())) == (slow and (slow.groups(), slow.end()))


@given(st.lists(st.sampled_from(["`", "a", " "]), max_size=14).map("".join))
def test_a_run_of_backticks_ends_where_the_next_of_its_length_does(text: str) -> None:
    ends = _code_ends(text)
    for run in re.finditer("`+", text):
        closing = re.compile(rf"(?<!`){run[0]}(?!`)").search(text, run.end())
        assert ends.get(run.start()) == (closing.end() if closing else None)


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: repr(block[:8]))
def test_a_document_of_blocks_without_end_is_given_up(block: str) -> None:
    text = block * (1_000_000 // len(block))
    before = time.process_time()
    with pytest.raises(Unreadable, match="divide the file") as refused:
        parsed(text, 0, Lines(text), 50_000)
    assert refused.value.reason == "too_large"
    assert time.process_time() - before < 10


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(st.integers(1, 20), st.sampled_from(BLOCKS))
def test_steps_are_counted_the_same_each_time(number: int, block: str) -> None:
    """So that the same folder gives the same index on any machine."""
    text = block * number

    def enough(steps: int) -> bool:
        try:
            parsed(text, 0, Lines(text), steps)
        except Unreadable:
            return False
        return True

    least, most = 0, 1_000_000
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    assert not enough(least)
    assert enough(most)
    assert most <= 12 * len(text) + 10


@pytest.mark.slow
def test_a_large_ordinary_manual_is_read_whole() -> None:
    rows = "".join(
        f"- the {number}th item of a list, as such files have them\n" for number in range(5000)
    )
    table = "| part | number | price |\n|---|---|---|\n" + "| a part | 12345 | 1,200 |\n" * 5000
    text = f"# List\n\n{rows}\n# Table\n\n{table}\n# End\n"
    assert [heading.title for heading in parsed(text, 0, Lines(text)).headings] == [
        "List",
        "Table",
        "End",
    ]


def test_what_is_given_up_is_named_and_the_rest_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"m/hostile.md": "- - -\n" * 3000 + "---\n", "m/good.md": "# Leave\nleave is granted\n"},
    )
    config = "pipelines: {manual: {loaders: [{use: markdown, with: {parse_steps: 2000}}]}}\n"
    (tmp_path / "fumishirube.yaml").write_text(config)
    answer = fumishirube("find", "leave", "--json", cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert "good.md" in answer.out
    shown = fumishirube("find", "leave", "-v", cwd=tmp_path)
    assert "skipped 1 file, too large: " in shown.out + shown.err
    checked = fumishirube("doctor", cwd=tmp_path)
    assert "parse_steps" in checked.out


@pytest.mark.slow
def test_a_hostile_document_holds_up_no_session(tmp_path: Path) -> None:
    hostile = "[a](" + " " * 40_000 + "\n\n"
    documents(
        tmp_path,
        {"a.md": hostile * 5, "b.md": "[a](x" + "\n" * 2, "c.md": "see [a](b.md)\n"},
    )
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    started = time.monotonic()
    with Wire(tmp_path) as server:
        for _ in range(20):
            server.ping()
            time.sleep(0.05)
        assert time.monotonic() - started < 15
        pages = server.ok("ubp_list_pages")["pages"]
        assert [page["filepath"] for page in pages] == ["a.md", "b.md", "c.md"]
    assert docs_json("list-pages", cwd=tmp_path)["pages"]
