"""A follow-up search leaves out what the session has been given already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdio import Wire

from fumishirube_manual.deliveries import DeliveredRanges

SECTIONS = 6


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    folder = tmp_path / "manuals" / "m"
    folder.mkdir(parents=True)
    parts = [f"## 第{n}節 給付\n給付の要件その{n}。\n" for n in range(1, SECTIONS + 1)]
    (folder / "a.md").write_text("".join(parts), encoding="utf-8")
    with Wire(tmp_path) as served:
        served.ok("manual_ls")
        yield served


def find(wire: Wire, after: str | None = None) -> tuple[str, list[int]]:
    asked = {"query": "給付の要件", "manual_id": "m", "required_terms": ["給付"]}
    follow = {"only_unscanned_from_trace_id": after} if after else {}
    limited = {"budget": {"max_candidates": 2}}
    found = wire.ok("manual_find", **asked, **limited, **follow)
    lines = [item["ref"]["start_line"] for item in found["inline_hits"]["items"]]
    return found["trace_id"], lines


def test_follow_ups_reach_every_section_once(wire: Wire) -> None:
    trace, lines = find(wire)
    seen = list(lines)
    while lines:
        trace, lines = find(wire, trace)
        seen += lines
    assert sorted(seen) == [1 + 2 * n for n in range(SECTIONS)]


def test_what_was_read_or_scanned_whole_is_left_out(wire: Wire) -> None:
    trace, first = find(wire)
    rest = sorted({1 + 2 * n for n in range(SECTIONS)} - set(first))
    wire.ok("manual_read", ref={"manual_id": "m", "path": "a.md", "start_line": rest[0]})
    _, second = find(wire, trace)
    assert rest[0] not in second
    wire.ok("manual_scan", manual_id="m", path="a.md")
    _, third = find(wire, trace)
    assert third == []


def test_code_that_was_left_out_was_not_read(wire: Wire) -> None:
    file = wire.workspace / "manuals" / "m" / "b.md"
    file.write_text("## 給付の額\n次のとおり。\n\n```\n給付の要件\n```\n", encoding="utf-8")
    whole = {"manual_id": "m", "path": "b.md", "start_line": 1, "end_line": 6}
    asked = {"query": "給付の要件", "manual_id": "m", "required_terms": ["給付"]}
    trace = wire.ok("manual_find", query="無い", manual_id="m", required_terms=["無い"])["trace_id"]

    def found() -> set[str]:
        hits = wire.ok("manual_find", **asked, only_unscanned_from_trace_id=trace)["inline_hits"]
        return {item["ref"]["path"] for item in hits["items"]}

    (shown,) = wire.ok("manual_read", refs=[whole], code=False)["items"]
    assert shown["code_left_out"] == 3
    assert "b.md" in found()
    wire.ok("manual_read", refs=[whole])
    assert "b.md" not in found()


def test_a_section_that_changed_since_is_not_left_out(wire: Wire) -> None:
    trace, first = find(wire)
    wire.ok("manual_scan", manual_id="m", path="a.md")
    file = wire.workspace / "manuals" / "m" / "a.md"
    file.write_text(
        file.read_text(encoding="utf-8") + "\n## 附則 給付\n給付の要件の改正。\n", "utf-8"
    )
    _, second = find(wire, trace)
    assert second
    assert not set(second) & set(first)


@pytest.mark.parametrize("tool", ["manual_read", "manual_scan", "refs"])
def test_what_was_read_before_the_search_is_not_left_out(wire: Wire, tool: str) -> None:
    """A model that read a section before it searched may need it again: it was a hit, unseen."""

    def read(line: int) -> None:
        ref = {"manual_id": "m", "path": "a.md", "start_line": line}
        if tool == "manual_scan":
            wire.ok("manual_scan", manual_id="m", path="a.md")
        else:
            wire.ok("manual_read", **({"refs": [ref]} if tool == "refs" else {"ref": ref}))

    _, first = find(wire)
    rest = sorted({1 + 2 * n for n in range(SECTIONS)} - set(first))
    read(rest[0])
    trace, _ = find(wire)
    asked = {"query": "給付の要件", "manual_id": "m", "required_terms": ["給付"]}
    follow = wire.ok("manual_find", **asked, only_unscanned_from_trace_id=trace)
    lines = {item["ref"]["start_line"] for item in follow["inline_hits"]["items"]}
    assert lines == set(rest)
    wire.ok("manual_scan", manual_id="m", path="a.md", start_line=rest[0])
    follow = wire.ok("manual_find", **asked, only_unscanned_from_trace_id=trace)
    lines = {item["ref"]["start_line"] for item in follow["inline_hits"]["items"]}
    assert rest[0] not in lines


def test_a_follow_up_with_nothing_left_says_what_it_left_out(wire: Wire) -> None:
    trace, first = find(wire)
    wire.ok("manual_scan", manual_id="m", path="a.md")
    asked = {"query": "給付の要件", "manual_id": "m", "required_terms": ["給付"]}
    asked["only_unscanned_from_trace_id"] = trace
    found = wire.ok("manual_find", **asked)
    assert found["candidates"] == 0
    assert found["status"] == "required_fallback"
    assert found["failure_reason"] == f"nothing_left:{SECTIONS}_sections_excluded"
    assert not found.keys() & {"answerable", "missing"}
    counts = {row["reason"]: row["count"] for row in found["coverage"]["skipped"]}
    assert counts == {
        "excluded_by_trace": len(first),
        "excluded_by_read": SECTIONS - len(first),
    }
    call = {"name": "manual_find", "arguments": asked}
    text = wire.request("tools/call", call)["result"]["content"][0]["text"]
    assert "excluded_by_trace" in text
    assert "excluded_by_read" in text
    assert "answerable" not in text
    # A term that the manual lacks is lacking, whatever is left out.
    found = wire.ok("manual_find", **asked | {"required_terms": ["絶無"]})
    assert found["status"] == "required_none_matched"


spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@given(spans, st.integers(0, 80), st.integers(1, 20), st.integers(0, 12))
def test_a_delivery_holds_exactly_the_characters_that_were_given(
    given_spans: list[tuple[int, int]], start: int, length: int, since: int
) -> None:
    delivery = DeliveredRanges(0)
    characters: dict[int, int] = {}
    for at, (begin, size) in enumerate(given_spans):
        delivery.add(begin, begin + size, at)
        characters |= dict.fromkeys(range(begin, begin + size), at)
    wanted = range(start, start + length)
    received = all(characters.get(place, -1) >= since for place in wanted)
    assert delivery.holds(start, start + length, since) == received
    kept = [place for a, b, _ in delivery.ranges for place in range(a, b)]
    assert kept == sorted(characters)


def test_wrong_shapes_come_before_the_path_of_a_range(wire: Wire) -> None:
    outside: dict[str, object] = {"manual_id": "m", "path": "../x"}
    other = {"manual_id": "m", "path": "a.md", "start_line": 0}
    for arguments, parameter in (
        ({"refs": [outside], "max_chars": "a"}, "max_chars"),
        ({"refs": [outside, other]}, "refs[1].start_line"),
    ):
        error = wire.refused("manual_read", **arguments)
        assert (error["code"], error["details"]["parameter"]) == ("invalid_parameter", parameter)
    assert wire.refused("manual_read", refs=[outside])["code"] == "invalid_path"
