"""Ranges of lines are read by their numbers: ``manual_read`` with ``refs``."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from evidence_manuals import line
from manuals import write
from stdio import Fumishirube, Wire

pytest_plugins = ["evidence_servers"]


@pytest.fixture(scope="module")
def server(evidence_server: Fumishirube) -> Fumishirube:
    return evidence_server


def test_ranges_are_read_by_their_numbers(server: Fumishirube) -> None:
    refs = [
        {"manual_id": "guide", "path": "short.md", "start_line": 3, "end_line": 3},
        "manual://rules/late.md#L3-L3",
        {"manual_id": "guide", "path": "none.md"},
        {"manual_id": "guide", "path": "v1.md"},
    ]
    first, second, missing, whole = server.ok("manual_read", refs=refs)["items"]
    assert first["lines"] == [[3, "A locker costs 100 yen."]]
    assert first["before"] == [1, "Lockers"]
    assert second["lines"] == [[3, "返却が遅れた日数に応じて延滞料を支払う。"]]
    assert missing["error"]["code"] == "not_found"
    assert [number for number, _ in whole["lines"]] == [1, 3, 4, 5]


def test_a_long_line_goes_on_at_a_cursor(tmp_path: Path) -> None:
    line = "文章です。" * 12_000
    with Fumishirube(write(tmp_path, {"guide/long.md": f"# Long\n{line}\nthe end\n"})) as server:
        server.ok("manual_ls")
        ref = {"manual_id": "guide", "path": "long.md", "start_line": 2, "end_line": 3}
        (item,) = server.ok("manual_read", refs=[ref])["items"]
        [[number, read]] = item["lines"]
        assert (number, item["left"]) == (2, [2, 3])
        text, cursor = read.removesuffix("…"), item["next_cursor"]
        place = {"manual_id": "guide", "path": "long.md"}
        while cursor:
            page = server.ok("manual_scan", **place, cursor=cursor)
            text += page["text"]
            cursor = None if page["eof"] else page["next_cursor"]
        assert text == f"{line}\nthe end\n"


def test_the_place_of_a_hit_is_read_as_a_search_of_one_manual_prints_it(tmp_path: Path) -> None:
    files = {"a/one.md": "# One\nfirst\n", "a/same.md": "# A\n", "b/same.md": "# B\n"}
    with Wire(write(tmp_path, files)) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        find = {"query": "first", "manual_id": "a", "required_terms": ["first"]}
        found = wire.request("tools/call", {"name": "manual_find", "arguments": find})
        (place,) = re.findall(r"(?m)^1\. (\S+)", found["result"]["content"][0]["text"])
        assert place.startswith("one.md#L1-L2@")

        def read(*refs: str) -> dict[str, Any]:
            arguments = {"name": "manual_read", "arguments": {"refs": refs}}
            result: dict[str, Any] = wire.request("tools/call", arguments)["result"]
            return result

        (item,) = read(place)["structuredContent"]["items"]
        assert (item["manual_id"], item["lines"][1]) == ("a", [2, "first"])
        several, none = read("same.md#L1", "none.md")["structuredContent"]["items"]
        assert several["error"]["details"]["candidate_ids"] == ["a", "b"]
        assert "manual://a/same.md" in several["error"]["message"]
        assert none["error"]["code"] == "not_found"
        (_, late) = read("a/same.md#L1", "a/same.md#L90-L99")["structuredContent"]["items"]
        assert late["error"]["code"] == "invalid_parameter"
        assert (late["manual_id"], late["path"]) == ("a", "same.md")


def test_a_range_that_is_cut_says_what_is_left(server: Fumishirube) -> None:
    refs = [{"manual_id": "guide", "path": "parking.md", "start_line": 1, "end_line": 60}]
    (cut,) = server.ok("manual_read", refs=refs, max_chars=256)["items"]
    first, last = cut["left"]
    assert last == 60
    again = [{"manual_id": "guide", "path": "parking.md", "start_line": first, "end_line": last}]
    (rest,) = server.ok("manual_read", refs=again)["items"]
    read = [number for part in (cut, rest) for number, _ in part["lines"]]
    filled = [n for n in range(1, 61) if line("guide/parking.md", n).strip()]
    assert read == filled


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ref": {"manual_id": "guide", "path": "v1.md"}, "refs": ["manual://guide/v1.md"]},
        {"refs": []},
        {"refs": ["manual://guide/v1.md"] * 9},
        {"refs": ["manual://nonsense"]},
        {"refs": [{"manual_id": "guide", "path": "v1.md", "start_line": 9}]},
        {"refs": [{"manual_id": "guide", "path": "v1.md", "start_line": 4, "end_line": 3}]},
    ],
)
def test_ranges_that_cannot_be_are_refused(server: Fumishirube, arguments: dict[str, Any]) -> None:
    assert server.refused("manual_read", **arguments)["code"] == "invalid_parameter"


@pytest.mark.parametrize(
    "wrong",
    [
        "manual://nonsense",
        "manual://guide/v1.md#L9",
        "none.md",
        {"manual_id": "guide", "path": "none.md"},
        {"manual_id": "none", "path": "v1.md"},
        {"manual_id": "guide", "path": "../v1.md"},
        {"manual_id": "guide", "path": "v1.md", "start_line": 9},
        {"manual_id": "guide", "path": "v1.md", "start_line": 4, "end_line": 3},
        7,
    ],
)
def test_the_error_of_a_range_says_which_one(server: Fumishirube, wrong: Any) -> None:
    refs = ["manual://guide/v1.md", wrong]
    answer = server.call("manual_read", {"refs": refs}).payload
    error = answer["items"][1]["error"] if "items" in answer else answer
    assert error["details"]["parameter"] == "refs[1]"


def test_a_ref_of_any_hit_is_taken_in_both_arguments(tmp_path: Path) -> None:
    with Fumishirube(write(tmp_path, {"m/a.md": "# A\n\nText is allowed.\n"})) as server:
        server.ok("manual_ls")
        asked = {"query": "text", "manual_id": "m", "required_terms": ["text"]}
        trace = server.ok("manual_find", **asked, include_claim_graph=True)["trace_id"]
        (evidence,) = server.ok("manual_hits", trace_id=trace, kind="evidences")["items"]
        assert "target" in evidence["ref"]
        assert server.ok("manual_read", ref=evidence["ref"])["text"]
        (item,) = server.ok("manual_read", refs=[evidence["ref"]])["items"]
        assert item["lines"][1] == [3, "Text is allowed."]


@pytest.mark.parametrize("name", ["digest", "place"])
@pytest.mark.parametrize("value", ["zzz", "p3", None, {"kind": "page", "first": 1}])
def test_only_a_citation_has_a_hash_or_a_place(server: Fumishirube, name: str, value: Any) -> None:
    plain = {"manual_id": "guide", "path": "short.md", "start_line": 3, "end_line": 3}
    assert server.ok("manual_read", refs=[plain | {name: value}]) == server.ok(
        "manual_read", refs=[plain]
    )


def test_no_refs_are_as_if_they_were_not_given(server: Fumishirube) -> None:
    ref = {"manual_id": "guide", "path": "short.md"}
    assert server.ok("manual_read", ref=ref, refs=[])["text"]
    assert server.refused("manual_read", refs=[])["message"] == "give either ref or refs"


def test_code_is_left_out_of_ranges_alone(server: Fumishirube) -> None:
    ref = {"manual_id": "guide", "path": "short.md"}
    assert server.refused("manual_read", ref=ref, code=False)["details"]["parameter"] == "code"
    assert server.ok("manual_read", ref=ref, code=True)["text"]
    assert server.ok("manual_read", refs=[ref], code=False)["items"]


@pytest.mark.parametrize("name", ["start_line", "end_line"])
def test_a_line_before_the_first_is_refused_with_the_bound(server: Fumishirube, name: str) -> None:
    refused = server.refused("manual_read", refs=[{"manual_id": "guide", "path": "v1.md", name: 0}])
    assert refused["message"] == f"refs[0].{name} must be at least 1"
    assert refused["details"] == {"parameter": f"refs[0].{name}", "min": 1}


def test_a_link_is_forbidden_however_it_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": "# A\n", "m/sub/b.md": "# B\n"})
    for link, target in (("link.md", "a.md"), ("dlink", "sub"), ("dangling.md", "none.md")):
        (tmp_path / "manuals/m" / link).symlink_to(target)
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        for path in ("link.md", "dlink/b.md", "dangling.md"):
            for ref in (f"m/{path}", f"manual://m/{path}", {"manual_id": "m", "path": path}):
                assert server.refused("manual_read", refs=[ref])["code"] == "forbidden"
            assert server.refused("manual_toc", manual_id="m", path_prefix=path)["code"] == (
                "forbidden"
            )
        assert server.refused("manual_toc", manual_id="m", path_prefix="dlink")["code"] == (
            "forbidden"
        )
        for empty in ("none", "su", ".hidden"):
            listed = server.ok("manual_toc", manual_id="m", path_prefix=empty)
            assert listed["total_files"] == 0


def test_a_citation_as_ref_is_refused_with_the_argument_that_takes_it(server: Fumishirube) -> None:
    refused = server.refused("manual_read", ref="manual://guide/v1.md#L1-L4")
    assert refused["message"] == (
        'ref must be an object; pass a citation in refs: ["manual://ID/PATH#L1-L9"]'
    )


def test_ranges_may_be_written_with_the_manual_before_the_path(tmp_path: Path) -> None:
    write(tmp_path, {"m/sub/a.md": "# A\n\nText.\n", "n/b.md": "# B\n"})
    with Fumishirube(tmp_path) as server:
        server.ok("manual_ls")
        (item,) = server.ok("manual_read", refs=["m/sub/a.md#L3-L3"])["items"]
        assert (item["manual_id"], item["path"], item["lines"]) == ("m", "sub/a.md", [[3, "Text."]])
        error = server.refused("manual_read", refs=["n/sub/a.md#L3-L3"])
        assert error["code"] == "not_found"


def test_the_place_of_a_copy_in_another_manual_names_that_manual(tmp_path: Path) -> None:
    same = "# Refunds\n\nA refund is paid within 14 days.\n"
    files = {"a/old.md": same, "a/sub/old.md": same, "b/new.md": same}
    with Fumishirube(write(tmp_path, files | {"c/b/new.md": "# Gates\n"})) as server:
        find = {"query": "refund paid", "required_terms": ["refund"], "manual_id": "*"}
        (item,) = server.ok("manual_find", **find)["inline_hits"]["items"]
        assert item["also"] == ["sub/old.md#L1", "manual://b/new.md#L1"]
        read = server.ok("manual_read", refs=item["also"])["items"]
        assert [(row["manual_id"], row["path"]) for row in read] == [
            ("a", "sub/old.md"),
            ("b", "new.md"),
        ]
        # Of the manual b, or of the manual c in its folder b.
        refused = server.refused("manual_read", refs=["b/new.md#L1"])
        assert refused["details"]["candidate_ids"] == ["c", "b"]


@pytest.mark.parametrize(
    ("place", "after", "goes_on"),
    [("L3-L5", [7, "Hours"], True), ("L5", [7, "Hours"], True), ("L7-L9", [11, "Keys"], None)],
)
def test_a_section_that_goes_on_below_the_same_heading_says_so(
    tmp_path: Path, place: str, after: list[Any], goes_on: bool | None
) -> None:
    text = "# Gates\n\n## Hours\n\nFrom six.\n\n## Hours\n\nUntil nine.\n\n## Keys\n\nNone.\n"
    with Wire(write(tmp_path, {"m/gates.md": text})) as wire:
        wire.request("tools/call", {"name": "manual_ls", "arguments": {}})
        call = {"name": "manual_read", "arguments": {"refs": [f"m/gates.md#{place}"]}}
        result = wire.request("tools/call", call)["result"]
        (item,) = result["structuredContent"]["items"]
        assert (item["after"], item.get("goes_on")) == (after, goes_on)
        word = "goes on" if goes_on else "after"
        assert result["content"][0]["text"].endswith(f"{word}: L{after[0]} {after[1]}")


@pytest.mark.parametrize("name", ["gates.md", "100%25 new.md", "c#1.md"])
def test_a_citation_reads_its_text_back_and_says_if_that_has_changed(
    tmp_path: Path, name: str
) -> None:
    workspace = write(tmp_path, {f"m/{name}": "# Gates\n\nOpen at six.\n", "m/100% new.md": "No"})
    with Wire(workspace) as wire:
        find = {"manual_id": "*", "query": "gates open", "required_terms": ["gates"]}
        asked = {"name": "manual_find", "arguments": find}
        text = wire.request("tools/call", asked)["result"]["content"][0]["text"]
        (place,) = re.findall(r"(?m)^1\. (\S+)", text)
        (item,) = wire.ok("manual_read", refs=[place])["items"]
        assert (item["path"], item["lines"][1]) == (name, [3, "Open at six."])
        assert "changed" not in item
        first = hashlib.sha256(b"# Gates\n").hexdigest()
        (item,) = wire.ok("manual_read", refs=[f"{place.split('#L')[0]}#L1@{first}"])["items"]
        assert (len(item["lines"]), "changed" in item) == (2, False)
        (item,) = wire.ok("manual_read", refs=[f"{place.split('-L')[0]}-L99@{first}"])["items"]
        assert item["changed"], "the hash is that of the first line"
        write(tmp_path, {f"m/{name}": "# Gates\n\nOpen at ten.\n"})
        (item,) = wire.ok("manual_read", refs=[place])["items"]
        assert (item["changed"], item["lines"][1]) == (True, [3, "Open at ten."])
