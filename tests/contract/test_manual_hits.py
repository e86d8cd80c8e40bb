"""The pages of a search's hits, of each kind: ``manual_hits``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from manual_tools import CITE, KINDS, ROW_EXTRAS, found
from stdio import Fumishirube

pytest_plugins = ["manual_servers"]


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Fumishirube:
    return contract_server


def test_candidates_are_the_default_and_name_the_manual_once(server: Fumishirube) -> None:
    trace_id = found(server)["trace_id"]
    answer = server.ok("manual_hits", trace_id=f" {trace_id} ", limit=1)
    (item,) = answer["items"]
    assert CITE.fullmatch(item["cite"])
    assert answer == {
        "trace_id": trace_id,
        "kind": "candidates",
        "offset": 0,
        "limit": 1,
        "total": 2,
        "manual_id": "m1",
        "items": [item],
    }
    assert {name: value for name, value in item.items() if name not in ROW_EXTRAS} == {
        "ref": {"path": "rules.md", "start_line": 3},
        "score": item["score"],
        "matched_tokens": ["対象外"],
    }


def test_an_unknown_trace_is_named(server: Fumishirube) -> None:
    assert server.refused("manual_hits", trace_id="nope") == {
        "code": "not_found",
        "message": "trace is unknown or expired",
        "details": {"trace_id": "nope"},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_paged(server: Fumishirube, kind: str) -> None:
    trace_id = found(server, manual_id="odd", required_terms=["対象外", "zebra"])["trace_id"]
    whole = server.ok("manual_hits", trace_id=trace_id, kind=kind)
    assert (whole["kind"], whole["offset"], whole["limit"]) == (kind, 0, 50)
    assert whole["total"] == len(whole["items"])
    assert ("manual_id" in whole) == (kind == "candidates")
    single: list[Any] = []
    for offset in range(whole["total"]):
        page = server.ok("manual_hits", trace_id=trace_id, kind=kind, offset=offset, limit=1)
        assert (page["offset"], page["limit"], page["total"]) == (offset, 1, whole["total"])
        single += page["items"]
    assert single == whole["items"]
    past = server.ok("manual_hits", trace_id=trace_id, kind=kind, offset=whole["total"] + 7)
    assert (past["items"], past["total"]) == ([], whole["total"])


def test_claims_and_conflicts_are_empty_here(server: Fumishirube) -> None:
    trace_id = found(server)["trace_id"]
    for kind in ("claims", "evidences", "edges", "conflicts"):
        page = server.ok("manual_hits", trace_id=trace_id, kind=kind)
        assert (page["items"], page["total"]) == ([], 0)


def test_files_that_cannot_be_searched_are_told_as_unscanned(server: Fumishirube) -> None:
    trace_id = found(server, manual_id="odd")["trace_id"]
    items = server.ok("manual_hits", trace_id=trace_id, kind="unscanned")["items"]
    whole = {(i["path"], i["reason"]) for i in items if i["start_line"] is None}
    assert whole == {
        ("broken.json", "undecodable"),
        ("broken.md", "undecodable"),
        ("huge.md", "too_large"),
    }
    assert {item["manual_id"] for item in items} == {"odd"}


def test_both_gates_are_told_with_one_selected(server: Fumishirube) -> None:
    items = server.ok("manual_hits", trace_id=found(server)["trace_id"], kind="gate_runs")["items"]
    assert [item["gate"] for item in items] == ["g0", "g_req"]
    assert [item["selected"] for item in items] == [False, True]
    assert [item["required_terms"] for item in items] == [[], ["対象外"]]


@pytest.mark.parametrize(("term", "kept"), [("zebra", ["zebra"]), ("対象", [])])
def test_both_gates_are_told_even_when_one_brought_nothing(
    server: Fumishirube, term: str, kept: list[str]
) -> None:
    manual = "wide" if not kept else "m1"
    trace_id = found(server, manual_id=manual, query="対象", required_terms=[term])["trace_id"]
    free, required = server.ok("manual_hits", trace_id=trace_id, kind="gate_runs")["items"]
    assert (free["gate"], free["selected"]) == ("g0", True)
    assert required == {
        **required,
        "gate": "g_req",
        "required_terms": kept,
        "candidates_count": 0,
        "file_bias_ratio": 0.0,
        "top_score": 0.0,
        "selected": False,
    }


def test_matched_tokens_are_the_longest_and_each_once(server: Fumishirube) -> None:
    asked = {"query": "対象外者と被対象者と対象外の違い", "required_terms": ["対象外"]}
    for item in found(server, **asked)["inline_hits"]["items"]:
        spans = item["matched_tokens"]
        assert spans
        assert len(spans) == len(set(spans))
        assert not any(one in other for one in spans for other in spans if one != other)


def test_a_long_page_of_hits_ends_early_and_says_how_many_it_holds(server: Fumishirube) -> None:
    rows: list[Any] = []
    asked = {"trace_id": found(server, manual_id="wide", query="対象")["trace_id"]}
    while True:
        page = server.ok("manual_hits", **asked, kind="fusion_debug", offset=len(rows), limit=1000)
        assert len(json.dumps(page, ensure_ascii=False)) < 50_000
        rows += page["items"]
        if len(rows) == page["total"]:
            break
        assert page["limit"] == len(page["items"]) < 1000
    assert [row["rank"] for row in rows] == list(range(1, 51))


@pytest.mark.parametrize(("asked", "applied"), [(1000, 1000), (1001, 1000), (10**30, 1000)])
def test_a_limit_is_applied_up_to_a_thousand(server: Fumishirube, asked: int, applied: int) -> None:
    assert server.ok("manual_hits", trace_id=found(server)["trace_id"], limit=asked)["limit"] == (
        applied
    )


def test_an_offset_that_no_number_holds_gives_an_empty_page(server: Fumishirube) -> None:
    page = server.ok("manual_hits", trace_id=found(server)["trace_id"], offset=10**30)
    assert (page["items"], page["total"]) == ([], 2)


def test_traces_are_shared_by_nobody_who_cannot_name_them(server: Fumishirube) -> None:
    assert found(server)["trace_id"] != found(server)["trace_id"]
