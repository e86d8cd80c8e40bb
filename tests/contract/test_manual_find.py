"""What ``manual_find`` answers, in which shape, and what its options change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manual_tools import CITE, EXTRAS, HEX, ROW_EXTRAS, found
from stdio import Fumishirube

pytest_plugins = ["manual_servers"]


@pytest.fixture(scope="module")
def server(contract_server: Fumishirube) -> Fumishirube:
    return contract_server


def test_a_search_answers_in_the_compact_form(server: Fumishirube) -> None:
    answer = server.ok(
        "manual_find",
        query="対象外になる場合は？",
        manual_id="m1",
        required_terms=["対象外"],
        inline_hits={"limit": 1},
    )
    assert HEX.fullmatch(answer["trace_id"])
    inline = answer["inline_hits"]
    (item,) = inline["items"]
    assert CITE.fullmatch(item["cite"])
    assert item["score"] > 0
    assert round(item["score"], 4) == item["score"]
    shape = {name: value for name, value in answer.items() if name not in EXTRAS}
    row = {name: value for name, value in item.items() if name not in ROW_EXTRAS}
    assert shape == {
        "trace_id": answer["trace_id"],
        "candidates": 2,
        "status": "required_effective",
        "failure_reason": None,
        "next_actions": [],
        "inline_hits": {
            "trace_id": answer["trace_id"],
            "kind": "integrated_top",
            "offset": 0,
            "limit": 1,
            "total": 2,
            "items": [item],
        },
    }
    assert row == {
        "ref": {"manual_id": "m1", "path": "rules.md", "start_line": 3},
        "title": "例外",
        "score": item["score"],
        "matched_tokens": ["対象外", "場合"],
    }


def test_the_account_is_there_unless_it_is_turned_off(server: Fumishirube) -> None:
    coverage = found(server, query="対象外になる場合は？")["coverage"]
    assert coverage == {
        "scope": {"files": 1, "sections": 3},
        "scanned": {"files": 1, "sections": 3},
        "matched": 2,
        "returned": 2,
        "cutoff_reason": "stage_cap",
        "skipped": [],
        "terms": [{"term": "対象外", "sections": 1}],
    }
    odd = found(server, manual_id="odd", required_terms=["対象外", "対照外"])["coverage"]
    assert {(row["reason"], row["unit"]) for row in odd["skipped"]} == {
        ("undecodable", "file"),
        ("too_large", "file"),
        ("symlink", "file"),
        ("ignored", "file"),
        ("heading_only", "section"),
        ("dynamic_cutoff", "section"),
    }
    absent = odd["terms"][1]
    assert (absent["term"], absent["sections"]) == ("対照外", 0)
    assert "対象外" in absent["near"]


def test_without_extras_the_shape_is_the_contracts_alone(contract_workspace: Path) -> None:
    with Fumishirube(contract_workspace, FUMISHIRUBE_SURFACE_EXTRAS="none") as server:
        server.ok("manual_ls")
        answer = found(server)
        assert answer.keys() == {
            "trace_id",
            "candidates",
            "status",
            "failure_reason",
            "next_actions",
            "inline_hits",
        }
        row = answer["inline_hits"]["items"][0]
        assert row.keys() == {"ref", "title", "score", "matched_tokens"}
        (row, *_) = server.ok("manual_hits", trace_id=answer["trace_id"])["items"]
        assert row.keys() == {"ref", "score", "matched_tokens"}


@pytest.mark.parametrize(
    ("asked", "limit"),
    [
        (None, 5),
        ({}, 5),
        ({"limit": None}, 5),
        *(({"limit": number}, number) for number in range(1, 6)),
        ({"limit": 6}, 5),
        ({"limit": 10**30}, 5),
        ('{"limit": 2}', 2),
    ],
)
def test_inline_hits_are_one_to_five(server: Fumishirube, asked: Any, limit: int) -> None:
    answer = found(server, manual_id="wide", query="対象", inline_hits=asked)
    assert answer["inline_hits"]["limit"] == limit
    assert len(answer["inline_hits"]["items"]) == limit
    assert answer["inline_hits"]["total"] == answer["candidates"] == 50


def test_inline_hits_are_the_first_page_of_integrated_top(server: Fumishirube) -> None:
    answer = found(server, manual_id="odd")
    page = server.ok("manual_hits", trace_id=answer["trace_id"], kind="integrated_top", limit=5)
    assert page == answer["inline_hits"]


@pytest.mark.parametrize(
    ("terms", "status", "reason"),
    [
        (["対象外"], "required_effective", None),
        ([" 対象外 ", "対象外", "例外"], "required_effective", None),
        (
            ["海外旅行"],
            "required_none_matched",
            "required_terms_not_found_in_manual_scope:海外旅行",
        ),
        (
            ["対象外", "海外旅行"],
            "term_dropped_or_weakened",
            "some_required_terms_not_found_in_manual_scope:海外旅行",
        ),
    ],
)
def test_the_status_says_what_the_required_terms_did(
    server: Fumishirube, terms: list[str], status: str, reason: str | None
) -> None:
    answer = found(server, required_terms=terms)
    assert (answer["status"], answer["failure_reason"]) == (status, reason)
    assert answer["inline_hits"]["items"][0]["ref"]["start_line"] == 3


def test_a_search_without_a_match_says_so_and_leaves_a_gap(server: Fumishirube) -> None:
    answer = found(server, query="zebra", required_terms=["zebra"])
    assert answer["candidates"] == 0
    assert answer["inline_hits"]["items"] == []
    gaps = server.ok("manual_hits", trace_id=answer["trace_id"], kind="gaps")
    assert gaps["total"] == len(gaps["items"]) >= 1
    assert all(gap["gap_hint"] for gap in gaps["items"])


def test_a_search_stays_in_its_manual(server: Fumishirube) -> None:
    for expand in (None, True, False):
        answer = found(server, query="別の規程", expand_scope=expand)
        page = server.ok("manual_hits", trace_id=answer["trace_id"], kind="integrated_top")
        assert {item["ref"]["manual_id"] for item in page["items"]} <= {"m1"}


def test_options_that_change_nothing_here_change_nothing(server: Fumishirube) -> None:
    plain = found(server)["inline_hits"]["items"]
    for options in (
        {"include_claim_graph": True},
        {"use_cache": False},
        {"use_cache": True},
        {"budget": {"max_candidates": None, "time_ms": None}},
        {"only_unscanned_from_trace_id": None},
    ):
        answer = found(server, **options)
        assert answer["inline_hits"]["items"] == plain
        assert "claim_graph" not in answer
        assert answer["next_actions"] == []


def test_fewer_candidates_are_the_first_of_more(server: Fumishirube) -> None:
    def rows(most: int) -> list[Any]:
        answer = found(server, manual_id="odd", budget={"max_candidates": most})
        hits: dict[str, Any] = server.ok("manual_hits", trace_id=answer["trace_id"])
        assert hits["total"] == answer["candidates"] <= most
        return list(hits["items"])

    everything = rows(200)
    assert len(everything) > 2
    assert rows(2) == everything[:2]
    assert rows(1) == everything[:1]


def test_a_follow_up_leaves_out_what_was_returned(server: Fumishirube) -> None:
    asked: dict[str, Any] = {"query": "対象", "required_terms": ["対象"]}
    first = found(server, **asked, budget={"max_candidates": 1})
    second = found(server, **asked, only_unscanned_from_trace_id=f" {first['trace_id']} ")
    third = found(server, **asked, only_unscanned_from_trace_id=second["trace_id"])
    lines = [
        [item["ref"]["start_line"] for item in answer["inline_hits"]["items"]]
        for answer in (first, second, third)
    ]
    assert lines == [[1], [3], []]
    assert third["candidates"] == 0
