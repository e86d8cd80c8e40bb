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


spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@given(spans, st.integers(0, 80), st.integers(1, 20))
def test_a_delivery_holds_exactly_the_characters_that_were_given(
    given_spans: list[tuple[int, int]], start: int, length: int
) -> None:
    delivery = DeliveredRanges(0)
    characters: set[int] = set()
    for begin, size in given_spans:
        delivery.add(begin, begin + size)
        characters |= set(range(begin, begin + size))
    wanted = set(range(start, start + length))
    assert delivery.holds(start, start + length) == (wanted <= characters)
