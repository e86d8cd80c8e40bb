"""What a model reads of an answer: places and lines as text, nothing of what is amiss left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import fumishirube, write
from stdio import Fumishirube

MANUALS = {
    "guide/fees.md": "# Fees\n\nThe parking fee is 1,200 yen a day.\n\n## Lockers\n\n100 yen.\n",
    "guide/copy.md": "# Fees\n\nThe parking fee is 1,200 yen a day.\n",
    "rules/late.md": "# 延滞\n\n返却が遅れた日数に応じて延滞料を支払う。\n",
}
FIND = {"query": "parking fee", "manual_id": "guide", "required_terms": ["parking fee"]}
TOOLS = ("manual_find", "manual_hits", "manual_grep", "manual_read")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("plain"), MANUALS)


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace) as connected:
        connected.ok("manual_ls")
        yield connected


def both(server: Fumishirube, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    result = server.invoke("call_tool", tool, arguments)
    (block,) = result.content
    return block.text, result.structured_content


def test_a_hit_is_its_place_its_headings_and_its_lines(server: Fumishirube) -> None:
    text, answer = both(server, "manual_find", **FIND)
    item = answer["inline_hits"]["items"][0]
    first, *_ = [line for line in text.split("\n") if line.startswith("1. ")]
    place = f"{item['ref']['path']}#L{item['ref']['start_line']}-L{item['end_line']}{item['cite']}"
    assert item["whole"] is True
    assert first == f"1. {place} (whole) Fees"
    assert "3 The parking fee is 1,200 yen a day." in text.split("\n")
    assert answer["trace_id"] in text
    assert f"same lines: {item['also'][0]}" in text


def test_what_is_amiss_is_never_left_out(server: Fumishirube) -> None:
    asked = {**FIND, "query": "zeppelin fee", "required_terms": ["zeppelin"]}
    text, answer = both(server, "manual_find", **asked)
    assert answer["status"] != "required_effective"
    assert answer["status"] in text
    assert answer["failure_reason"] in text
    assert answer["missing"] == answer["nowhere"] == ["zeppelin"]
    assert "nowhere: zeppelin" in text


def test_unread_files_are_counted_and_headings_in_a_row_named_once(tmp_path: Path) -> None:
    beside = dict.fromkeys(("m/a.dat", "m/b.dat", "m/n.page", "m/c.", "m/d.xz"), "zeppelin")
    long = "Options\n=======\n\n" + "All zeppelins need a mooring mast.\n\n" * 20 + "Fee: 3.\n"
    with Fumishirube(write(tmp_path, {**beside, "m/a.rst": long})) as served:
        served.ok("manual_ls")
        asked = {"query": "fee", "manual_id": "m", "required_terms": ["fee"]}
        text, answer = both(served, "manual_find", **asked)
    (hit,) = answer["inline_hits"]["items"]
    assert (hit["headings"], hit["title"]) == ("Options", "Options")
    lines = text.split("\n")
    assert "5 files not read: 2 .dat, 1 without a suffix, 1 .page, …" in lines
    assert next(line for line in lines if line.startswith("1. ")).endswith(" Options")
    assert "Options > Options" not in text


def test_the_lines_that_a_copy_lacks_are_ranges(tmp_path: Path) -> None:
    text = "# Sprocket\n\n" + "".join(f"The sprocket limit of {n} is 40.\n" for n in "abcdef")
    more = "A manager may double the sprocket limit.\nTwo managers may lift the sprocket limit.\n"
    files = {"guide/a.md": f"{text}{more}", "guide/b.md": text}
    with Fumishirube(write(tmp_path, files)) as server:
        server.ok("manual_ls")
        asked = {"query": "sprocket limit double managers lift", "required_terms": ["sprocket"]}
        text, _ = both(server, "manual_find", manual_id="guide", **asked)
    assert "also b.md#L1, without L9-L10" in text.split("\n")


def test_missing_words_of_other_sections_are_told_from_those_of_none(server: Fumishirube) -> None:
    asked = {"query": "parking zeppelin 延滞料", "manual_id": "*", "required_terms": ["parking"]}
    text, answer = both(server, "manual_find", **asked, inline_hits={"limit": 1})
    assert answer["missing"] == ["parking", "zeppelin"]
    assert answer["nowhere"] == ["zeppelin"]
    assert "in none of the best sections: parking; nowhere: zeppelin" in text


def test_words_that_never_stand_with_the_required_terms_are_named(server: Fumishirube) -> None:
    asked = {"query": "parking fee of a locker zeppelin", "manual_id": "guide"}
    asked |= {"required_terms": ["parking fee"], "inline_hits": {"limit": 1}}
    text, answer = both(server, "manual_find", **asked)
    assert (answer["apart"], answer["nowhere"]) == (["locker"], ["zeppelin"])
    assert "in no section with parking fee: locker; nowhere: zeppelin" in text


def test_a_word_beside_one_of_two_required_terms_never_stands_with_both(
    server: Fumishirube,
) -> None:
    asked = {"query": "parking fee day lockers", "manual_id": "guide", "inline_hits": {"limit": 1}}
    _, answer = both(server, "manual_find", **asked, required_terms=["parking fee", "100"])
    assert "day" in answer["missing"]
    assert answer["apart"] == ["day"]


def test_exceptions_in_the_next_section_are_announced(tmp_path: Path) -> None:
    rule = "# Grounding\n\nThe resistance of rods must be below 10 Ω.\n\n"
    write(tmp_path, {"m/a.md": f"{rule}## Exceptions for rock\n\nA strip of 40 Ω.\n"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        asked = {"query": "resistance of rods", "manual_id": "m", "required_terms": ["rods"]}
        text, answer = both(server, "manual_find", **asked, inline_hits={"limit": 1})
        assert answer["inline_hits"]["items"][0]["exceptions"] == [5, "Exceptions for rock"]
        assert "next: L5 Exceptions for rock" in text.split("\n")
        shown = both(server, "manual_find", **asked | {"query": "resistance of rods, rock"})[1]
        assert [item["ref"]["start_line"] for item in shown["inline_hits"]["items"]] == [1, 5]
        assert not any("exceptions" in item for item in shown["inline_hits"]["items"])


def test_a_list_of_all_places_says_that_it_is_complete(server: Fumishirube) -> None:
    text, answer = both(server, "manual_grep", any=["yen"], manual_id="guide")
    assert answer["complete"] is True
    assert text.startswith("3 lines in 2 files (2 different lines), all below; searched 2 files")


def test_a_page_of_places_is_not_called_complete_and_fills_its_room(tmp_path: Path) -> None:
    lines = "".join(f"The fee of day {number} is 7 yen.\n\n" for number in range(100))
    with Fumishirube(write(tmp_path, {"m/a.md": f"# A\n\n{lines}"})) as server:
        asked = {"any": ["fee"], "manual_id": "*", "max_chars": 2_000}
        text, answer = both(server, "manual_grep", **asked)
        assert "complete" not in answer
        assert "all below" not in text
        # A fifth is kept for the list of the files that are left, which is short here.
        assert 1_500 < len(text) < 2_000
        last = both(server, "manual_grep", **asked, cursor=answer["next_cursor"])[1]
        assert "complete" not in last


def test_places_of_equal_lines_name_their_file_once(tmp_path: Path) -> None:
    same = "The fee is 7 yen.\n\n"
    write(tmp_path, {"m/a.md": f"# A\n\n{same}{same}", "m/b.md": f"# B\n\n{same * 3}Text.\n"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        text, answer = both(server, "manual_grep", any=["fee"], manual_id="m")
        assert answer["groups"][0]["also"] == {"3": ["L5", "b.md#L3 B", "b.md#L5", "b.md#L7"]}
        assert "3 The fee is 7 yen.  (also L5, b.md#L3 B, 5, 7)" in text.split("\n")


def test_a_match_is_followed_by_its_number_if_there_are_several(server: Fumishirube) -> None:
    text, _ = both(server, "manual_grep", regex="[0-9,]+ yen", manual_id="guide", matches_only=True)
    assert any(line.startswith("3 1,200 yen (2x, also fees.md#L3) |") for line in text.split("\n"))
    assert any(line.startswith("7 100 yen |") for line in text.split("\n"))


def test_wordings_that_are_not_met_are_named_once(server: Fumishirube) -> None:
    text, answer = both(server, "manual_find", **FIND, alternatives=["turnstile biometrics"])
    assert answer["unmet"] == [1]
    assert "no section shown holds most of alternative 1" in text
    assert "unmet" not in text


def test_every_place_of_several_manuals_is_a_citation(server: Fumishirube) -> None:
    text, _ = both(server, "manual_grep", any=["yen", "延滞料"], manual_id="*")
    lines = text.split("\n")
    assert "manual://guide/fees.md" in lines
    assert "manual://rules/late.md" in lines
    assert any(line.startswith("3 The parking fee") and "(also " in line for line in lines)
    assert any(line.startswith("7 100 yen.") for line in lines)


def test_ranges_are_numbered_and_a_section_is_its_text(server: Fumishirube) -> None:
    text, _ = both(server, "manual_read", refs=["manual://guide/fees.md#L5-L7"])
    assert "7 100 yen." in text.split("\n")
    whole, answer = both(server, "manual_read", ref={"manual_id": "guide", "path": "copy.md"})
    assert whole.endswith(answer["text"])


def test_a_page_of_hits_says_how_many_there_are(server: Fumishirube) -> None:
    trace_id = both(server, "manual_find", **FIND)[1]["trace_id"]
    text, answer = both(server, "manual_hits", trace_id=trace_id, kind="integrated_top")
    assert text.startswith(f"integrated_top: {len(answer['items'])} of {answer['total']}")
    gaps, _ = both(server, "manual_hits", trace_id=trace_id, kind="gate_runs")
    assert all(json.loads(line) for line in gaps.split("\n")[1:])


@pytest.mark.parametrize("extras", ["none", "lines,grep,refs"])
def test_without_the_extra_the_text_is_the_object(workspace: Path, extras: str) -> None:
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=extras) as server:
        server.ok("manual_ls")
        text, answer = both(server, "manual_find", **FIND)
        assert json.loads(text) == answer


def test_the_command_line_shows_the_same_and_the_object_on_request(workspace: Path) -> None:
    shown = fumishirube("call", "manual_find", json.dumps(FIND), cwd=workspace)
    assert "1. " in shown.out
    assert "3 The parking fee is 1,200 yen a day." in shown.out.split("\n")
    whole = fumishirube("call", "--json", "manual_find", json.dumps(FIND), cwd=workspace)
    assert whole.json["inline_hits"]["items"][0]["title"] == "Fees"


def test_a_citation_may_name_its_last_line_without_the_letter(server: Fumishirube) -> None:
    text, _ = both(server, "manual_read", refs=["manual://guide/fees.md#L5-7@abcdef"])
    assert "7 100 yen." in text.split("\n")


@pytest.mark.parametrize(
    ("one", "other"), [("10⁵ Pa", "105 Pa"), ("mode FOO", "mode foo"), ("ｶﾊﾞｰ", "カバー")]
)
def test_copies_that_differ_in_a_letter_are_not_said_to_have_the_same_lines(
    tmp_path: Path, one: str, other: str
) -> None:
    pages = {
        f"m/{name}.md": f"# Vessel\n\nThe sigma vessel is tested at {value}.\n"
        for name, value in (("a", one), ("b", other))
    }
    with Fumishirube(write(tmp_path, pages)) as server:
        server.ok("manual_ls")
        asked = {"query": "sigma vessel", "required_terms": ["sigma"], "manual_id": "m"}
        text, _ = both(server, "manual_find", **asked)
    assert "same lines" not in text
    assert one in text
    assert other in text


@pytest.mark.parametrize("name", ["a.txt", "a.rst", "a.adoc", "README"])
def test_a_text_that_is_no_markdown_is_shown_as_it_is_written(tmp_path: Path, name: str) -> None:
    lines = ["The turbocopy needs:", "[admin]: admin@example.com", "Usage: turbocopy <a> <b> {#if}"]
    with Fumishirube(write(tmp_path, {f"m/{name}": "\n".join([*lines, ""])})) as server:
        server.ok("manual_ls")
        asked = {"query": "turbocopy usage", "required_terms": ["turbocopy"], "manual_id": "m"}
        found = both(server, "manual_find", **asked)[0].split("\n")
        shown = both(server, "manual_grep", any=["turbocopy"], manual_id="m")[0].split("\n")
    assert [f"{number} {line}" for number, line in enumerate(lines, 1)] == found[-3:]
    assert f"3 {lines[2]}" in shown


def test_only_headings_have_anchors_at_their_end(tmp_path: Path) -> None:
    text = "# Blocks {#blocks}\n\nA conditional block starts with {#if} or {/if/}\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        server.ok("manual_ls")
        asked = {"query": "conditional block", "required_terms": ["block"], "manual_id": "m"}
        found = both(server, "manual_find", **asked)[0].split("\n")
    assert "3 A conditional block starts with {#if} or {/if/}" in found
    assert not any("{#blocks}" in line for line in found)


def test_a_range_shows_rows_in_code_as_they_are(tmp_path: Path) -> None:
    row = "| <b>bold</b> name  |   x |"
    text = f"# A\n\n{row}\n\n```html\n{row}\n```\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text, "m/b.txt": f"{row}\n"})) as server:
        server.ok("manual_ls")
        refs = ["m/a.md#L1-L7", "m/b.txt#L1-L1"]
        shown = both(server, "manual_read", refs=refs)[0].split("\n")
    assert "3 | bold name | x |" in shown
    assert f"6 {row}" in shown
    assert f"1 {row}" in shown


def test_a_range_shows_the_targets_of_rows(tmp_path: Path) -> None:
    row = "| a [link](https://example.org/a/long/path/of/the/web) | an [!INCLUDE[x](../inc/x.md)] |"
    with Fumishirube(write(tmp_path, {"m/a.md": f"# A\n\n{row}\n"})) as server:
        server.ok("manual_ls")
        shown = both(server, "manual_read", refs=["m/a.md#L3-L3"])[0].split("\n")
    assert f"3 {row}" in shown


def test_the_place_of_a_hit_can_be_read_as_it_is_given(tmp_path: Path) -> None:
    with Fumishirube(write(tmp_path, {"m/c#n.md": "# Pump\n\nIt needs oil.\n"})) as server:
        server.ok("manual_ls")
        asked = {"query": "pump oil", "required_terms": ["oil"], "manual_id": "m"}
        text, _ = both(server, "manual_find", **asked)
        (place,) = [line.split()[1] for line in text.split("\n") if line.startswith("1. ")]
        shown, _ = both(server, "manual_read", refs=[f"m/{place}"])
    assert "3 It needs oil." in shown
