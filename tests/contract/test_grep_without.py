"""Lines and matches that a further pattern leaves out of ``manual_grep``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manuals import Application, ask, opened, write
from stdio import Fumishirube

NAMES = """# Names

Set LC_ALL and FEAT_ONE first.
FEAT_TWO needs FEAT_ONE.
RUST_LOG prints more, feat_three less.
Nothing here.
A long name that is RUST_
LOG is no name.
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    with Fumishirube(write(tmp_path_factory.mktemp("without"), {"guide/names.md": NAMES})) as one:
        one.ok("manual_ls")
        yield one


def grep(server: Fumishirube, **arguments: Any) -> dict[str, Any]:
    return server.ok("manual_grep", manual_id="guide", **arguments)


def lines(answer: dict[str, Any]) -> list[int]:
    return [number for group in answer.get("groups", ()) for number, _ in group["lines"]]


@pytest.mark.parametrize("words", [{"any": ["FEAT_ONE", "LC_ALL", "RUST_LOG"]}, {"regex": "_"}])
def test_lines_that_the_pattern_matches_are_left_out_and_counted(
    server: Fumishirube, words: dict[str, Any]
) -> None:
    every = lines(grep(server, **words))
    answer = grep(server, **words, without="needs|less")
    out = [n for n in every if re.search("needs|less", NAMES.split("\n")[n - 1])]
    assert out
    assert lines(answer) == [number for number in every if number not in out]
    assert (answer["total"], answer["left_out"]) == (len(every) - len(out), len(out))
    counted = grep(server, **words, without="needs|less", count_only=True)
    assert (counted["total"], counted["left_out"]) == (answer["total"], answer["left_out"])


def test_of_matches_only_those_that_the_pattern_matches_are_left_out(server: Fumishirube) -> None:
    answer = grep(server, regex="[A-Z]+_[A-Z]+", matches_only=True, without="^FEAT_")
    (file,) = answer["matches"]
    assert [text for _, _, text, *_ in file["texts"]] == ["LC_ALL", "RUST_LOG"]
    assert (answer["total"], answer["left_out"]) == (2, 1)


@pytest.mark.parametrize(
    ("regex", "without", "expected"),
    [
        ("_[A-Z]+", "FEAT_", ["_ALL", "_LOG"]),
        ("_[A-Z]+", "FEAT_(?:ONE|TWO) ?", ["_ALL", "_LOG"]),
        ("[A-Z]+_[A-Z]", "_(?:ONE|TWO)", ["LC_A", "RUST_L"]),
    ],
)
def test_a_match_is_left_out_if_the_pattern_overlaps_it_in_its_line(
    server: Fumishirube, regex: str, without: str, expected: list[str]
) -> None:
    answer = grep(server, regex=regex, matches_only=True, without=without)
    (file,) = answer["matches"]
    assert [text for _, _, text, *_ in file["texts"]] == expected
    assert (answer["total"], answer["left_out"]) == (2, 1)


def test_a_match_remains_if_the_pattern_matches_elsewhere_in_its_line(
    server: Fumishirube,
) -> None:
    answer = grep(server, regex="[A-Z]+_[A-Z]+", matches_only=True, without="FEAT_TWO needs")
    (file,) = answer["matches"]
    assert [text for _, _, text, *_ in file["texts"]] == ["LC_ALL", "FEAT_ONE", "RUST_LOG"]


def test_case_counts_if_it_is_requested_or_for_capitals(server: Fumishirube) -> None:
    names = ["FEAT_ONE", "RUST_LOG"]
    assert lines(grep(server, any=names, without="feat_three")) == [3, 4]
    assert lines(grep(server, any=names, without="(?i)Feat_Three")) == [3, 4]
    assert lines(grep(server, any=names, without="Feat_Three")) == [3, 4, 5]
    assert lines(grep(server, any=names, without="FEAT_THREE", exact=False)) == [3, 4]
    assert lines(grep(server, any=names, without="FEAT_THREE")) == [3, 4, 5]
    assert lines(grep(server, any=["RUST_LOG"], without="FEAT_THREE", exact=True)) == [5]


def test_nothing_is_counted_as_left_out_without_such_a_pattern(server: Fumishirube) -> None:
    assert "left_out" not in grep(server, any=["FEAT_ONE"])
    assert grep(server, any=["FEAT_ONE"], without="no such word")["left_out"] == 0


def test_the_text_part_says_how_many_lines_are_left_out(server: Fumishirube) -> None:
    arguments = {"manual_id": "guide", "any": ["FEAT_ONE"], "without": "needs"}
    (block,) = server.invoke("call_tool", "manual_grep", arguments).content
    assert (
        block.text.split("\n")[0]
        == "1 lines in 1 files, all below; searched 1 files; 1 lines left out"
    )


def test_a_cursor_belongs_to_its_pattern(server: Fumishirube) -> None:
    first = grep(server, regex="_", max_chars=256, without="needs")
    cursor = first.get("next_cursor", "1.00000000")
    answer = server.call(
        "manual_grep", {"manual_id": "guide", "regex": "_", "without": "less", "cursor": cursor}
    )
    assert answer.is_error
    assert answer.payload["details"]["parameter"] == "cursor"


@pytest.mark.parametrize("pattern", ["(", "a\\nb"])
def test_a_wrong_pattern_is_named(server: Fumishirube, pattern: str) -> None:
    answer = server.call(
        "manual_grep", {"manual_id": "guide", "any": ["FEAT_ONE"], "without": pattern}
    )
    assert answer.is_error
    assert answer.payload["details"]["parameter"] == "without"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(write(tmp_path_factory.mktemp("lines"), {"m/a.md": "a"}))
    yield application
    application.close()


@settings(deadline=None)
@given(
    st.text("abc ", max_size=30), st.sampled_from(["a", "ab?", "b+", "[a-c]+", "a b"]), st.data()
)
def test_the_matches_that_remain_share_no_character_with_one_of_the_pattern(
    application: Application, words: str, regex: str, data: st.DataObject
) -> None:
    without = data.draw(st.sampled_from(["c ?", "bc|aa", "b a|c+", "zb|b"]))
    line = f"x{words}x"
    write(application.contexts["manual"].root.path.parent, {"m/a.md": f"{line}\n"})
    out = [match.span() for match in re.finditer(without, line)]
    expected = Counter(
        match[0]
        for match in re.finditer(regex, line)
        if not any(start < match.end() and match.start() < end for start, end in out)
    )
    answer = ask(
        application, "manual_grep", manual_id="m", regex=regex, without=without, matches_only=True
    )
    texts = [row for file in answer.get("matches", ()) for row in file["texts"]]
    assert {text: number for _, number, text, *_ in texts} == expected
