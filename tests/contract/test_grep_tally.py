"""Each different match of a pattern is counted once, with its place, and no page leaves one out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from evidence_manuals import MANUALS
from manuals import write
from stdio import Fumishirube

pytest_plugins = ["evidence_servers"]


@pytest.fixture(scope="module")
def server(evidence_server: Fumishirube) -> Fumishirube:
    return evidence_server


def _matched(answer: dict[str, Any]) -> list[list[Any]]:
    return [text for file in answer["matches"] for text in file["texts"]]


def test_each_different_match_is_counted_wherever_it_stands_in_a_line(
    server: Fumishirube,
) -> None:
    answer = server.ok("manual_grep", regex="[0-9,]+ yen", manual_id="guide", matches_only=True)
    counted = {text: number for _, number, text, *_ in _matched(answer)}
    assert counted == {"300 yen": 1, "1,200 yen": 2, "100 yen": 1}
    twice = server.ok("manual_grep", regex="[a-z]e", manual_id="rules", matches_only=True)
    assert twice["total"] == 0
    assert twice["matches"] == []
    words = server.ok("manual_grep", regex=r"\b[A-Za-z]{3}\b", manual_id="guide", matches_only=True)
    whole = " ".join(MANUALS[path].casefold() for path in MANUALS if path.startswith("guide/"))
    counts = {text.casefold(): number for _, number, text, *_ in _matched(words)}
    assert counts["the"] == whole.split().count("the")


def test_few_different_matches_come_with_their_headings_and_lines_many_without(
    server: Fumishirube,
) -> None:
    few = {"regex": "[0-9,]+ yen", "manual_id": "guide", "matches_only": True}
    for line, number, text, within, *also in _matched(server.ok("manual_grep", **few)):
        # The two places of a text are in two files.
        assert len(also) == (number == 2)
        for path, other in (place.split("#L") for places in also for place in places):
            assert text in MANUALS[f"guide/{path}"].split("\n")[int(other) - 1]
        above, _, stretch = within.partition(": ")
        files = [
            file for file in MANUALS.values() if text in "".join(file.split("\n")[line - 1 : line])
        ]
        assert any(above.split(" > ")[-1] in file for file in files)
        assert text in stretch
    assert {len(row) for row in _matched(server.ok("manual_grep", **few, context=0))} == {3}
    many = {"regex": r"\b[a-z]+\b", "manual_id": "guide", "matches_only": True}
    assert {len(row) for row in _matched(server.ok("manual_grep", **many))} == {3}


def test_matched_texts_are_paged_without_gaps_and_name_the_line_they_stand_in(
    server: Fumishirube,
) -> None:
    asked = {"regex": r"\b[a-z]{3}\b", "manual_id": "guide", "matches_only": True}
    whole = _matched(server.ok("manual_grep", **asked, context=1))
    for line, _, text, within, *_ in whole:
        assert text in within
        assert any(text in "".join(MANUALS[path].split("\n")[line - 1 : line]) for path in MANUALS)
    paged: list[list[Any]] = []
    page: dict[str, Any] = {"next_cursor": None}
    while "next_cursor" in page:
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = server.ok("manual_grep", **asked, **cursor, max_chars=256, context=0)
        paged += _matched(page)
        assert page.get("more_matches", 0) == len(whole) - len(paged)
    assert paged == [row[:3] for row in whole]


def test_a_line_that_is_the_match_itself_is_not_shown_beside_it(tmp_path: Path) -> None:
    code = "```\ntool install one\n```\n"
    files = {"m/a.md": f"# A\n\n{code}", "m/b.md": f"# B\n\nRun tool install two.\n\n{code}"}
    with Fumishirube(write(tmp_path, files)) as server:
        arguments = {"regex": "tool install [a-z]+", "manual_id": "*", "matches_only": True}
        one, two = _matched(server.ok("manual_grep", **arguments))
        assert one == [4, 2, "tool install one", "A", ["b.md#L6"]]
        assert two == [3, 1, "tool install two", "B: Run tool install two."]


def test_the_text_part_says_how_many_lines_with_each_text_are_not_yet_shown(tmp_path: Path) -> None:
    lines = "".join(f"A red line {number}.\n" for number in range(40))
    with Fumishirube(
        write(tmp_path, {"m/a.md": f"# A\n\nA blue line.\n{lines}One more blue.\n"})
    ) as server:
        arguments = {"manual_id": "*", "any": ["blue", "red"], "max_chars": 600}
        answer = server.ok("manual_grep", **arguments)
        shown = sum("red" in line for group in answer["groups"] for _, line in group["lines"])
        left = [row.get("left") for row in answer["texts"]]
        assert left == [1, 40 - shown]
        (block,) = server.invoke("call_tool", "manual_grep", arguments).content
        assert f'; "blue" 2 (1 not yet shown); "red" 40 ({40 - shown} not yet shown)' in block.text


def test_the_places_of_equal_lines_name_their_folder_once(tmp_path: Path) -> None:
    files = {f"m/set/{name}.md": f"# {name}\n\n- default\n" for name in ["a", "b", "c", "d", "e"]}
    files |= {"m/other.md": "- default\n\nText.\n\n- default\n"}
    with Fumishirube(write(tmp_path, files)) as server:
        arguments = {"manual_id": "*", "any": ["default"]}
        (block,) = server.invoke("call_tool", "manual_grep", arguments).content
        assert "(also L5, set/{a.md#L3, b.md#L3, c.md#L3, d.md#L3, e.md#L3})" in block.text
        (group,) = server.ok("manual_grep", **arguments)["groups"]
        assert group["also"] == {"1": ["L5", *(f"set/{name}.md#L3" for name in "abcde")]}


def test_an_empty_pattern_beside_texts_is_none(server: Fumishirube) -> None:
    arguments = {"manual_id": "*", "any": ["yen"]}
    answer = server.ok("manual_grep", **arguments)
    assert server.ok("manual_grep", **arguments, regex="", cursor="") == answer


def test_all_places_of_an_equal_line_are_listed_while_there_is_room(tmp_path: Path) -> None:
    files = {f"m/{number}.md": "- default\n" for number in range(100, 227)}
    with Fumishirube(write(tmp_path, files)) as server:

        def places(**more: object) -> list[str]:
            asked = {"manual_id": "*", "any": ["default"], **more}
            (group,) = server.ok("manual_grep", **asked)["groups"]
            return [*group["also"]["1"]]

        *with_room, others = places()
        assert (len(with_room), others) == (100, "+26")
        *full, others = places(max_chars=300)
        assert (len(full), others) == (25, "+101")
        assert with_room[:25] == full


def test_long_paths_take_no_more_room_than_an_answer_may_have(tmp_path: Path) -> None:
    text = "# Pump\n\nA pump is on.\n"
    files = {f"m/{'of-a-long-name-' * 5}{number}/a.md": text for number in range(30)}
    with Fumishirube(write(tmp_path, files)) as server:
        asked = {"manual_id": "*", "any": ["is on"], "max_chars": 300}
        (group,) = server.ok("manual_grep", **asked)["groups"]
        *listed, others = group["also"]["3"]
        assert sum(map(len, listed)) < 400
        assert len(listed) + int(others) == 29
        counted = server.ok("manual_grep", **asked, count_only=True)
        *first, rest = counted["counts"]
        assert 0 < sum(len(row["path"]) for row in first) < 300
        assert rest == {"path": "/", "count": 30 - len(first)}
        assert counted["total"] == 30


def test_the_text_part_says_that_case_counts_because_of_capitals(server: Fumishirube) -> None:
    def head(**arguments: object) -> str:
        (block,) = server.invoke(
            "call_tool", "manual_grep", {"manual_id": "*", **arguments}
        ).content
        return block.text.split("\n")[0]

    assert head(regex="YEN").startswith("0 lines in 0 files; searched ")
    assert head(regex="YEN").endswith("; case counts")
    assert "case counts" not in head(regex="YEN", exact=False)
    assert "case counts" not in head(regex="yen")
    assert "case counts" not in head(regex="Yen", exact=True)
