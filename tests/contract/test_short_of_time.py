"""A search that had no time says what it did not do, and nothing about what it did not search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, full, opened, write
from stdio import Fumishirube

from fumishirube import Budget, Query
from fumishirube.host.application import Application

FILES = {
    **{f"jp/f{n:03}.md": f"# 章{n}\n本文 {n} です。\n" for n in range(300)},
    "jp/f299.md": "# 最終章\nこの給付は対象外とする。\n",
    "jp/pump.md": "# pump\nThe pump needs oil.\n",
}
SEARCHES = [
    ("pump vs 給付", ["pump"]),
    ("pump oil", ["pump"]),
    ("pump 対象外", ["pump", "対象外"]),
    ("本文 です", ["本文"]),
    ("給付 対象外 pump 本文", ["本文", "章3"]),
    ("zebra", ["pump"]),
]
NO_TIME = {"budget": {"time_ms": 1}, "use_cache": False}


def arguments(query: str, terms: list[str]) -> dict[str, Any]:
    return {"query": query, "manual_id": "jp", "required_terms": terms, "use_cache": False}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("short"), FILES)


@pytest.fixture(scope="module", params=["none", ""])
def server(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Fumishirube]:
    with Fumishirube(workspace, FUMISHIRUBE_SURFACE_EXTRAS=request.param) as connected:
        connected.ok("manual_ls")
        connected.ok("manual_find", **arguments("warm", ["pump"]))
        yield connected


@pytest.fixture(scope="module")
def application(workspace: Path) -> Iterator[Application]:
    made = opened(workspace)
    ask(made, "manual_find", **arguments("warm", ["pump"]))
    yield made
    made.close()


@pytest.mark.many_cases
@pytest.mark.parametrize(("query", "terms"), SEARCHES)
def test_what_matches_is_returned_however_short_the_time(
    server: Fumishirube, query: str, terms: list[str]
) -> None:
    whole = server.ok("manual_find", **arguments(query, terms))
    assert whole["candidates"]
    for _ in range(3):
        found = server.ok("manual_find", **arguments(query, terms) | NO_TIME)
        assert found["candidates"]
        assert found["status"] != "required_none_matched"
        assert "not_found" not in (found["failure_reason"] or "")


@pytest.mark.parametrize(("query", "terms"), SEARCHES)
def test_runs_that_were_not_made_are_not_empty(
    application: Application, query: str, terms: list[str]
) -> None:
    """The time is over before the search begins: what must be done is done all the same."""
    context = application.contexts["manual"]
    trace = context.find("jp", Query(query, tuple(terms), budget=Budget.of(0))).trace
    assert trace.search.rows
    assert "weak_match" not in trace.report.left_out
    if not trace.report.gated:
        assert trace.report.out_of_time


def test_the_full_answer_does_not_call_terms_relaxed_that_were_not_tried(
    application: Application,
) -> None:
    found = full(application, **arguments("pump vs 給付", ["pump"]) | NO_TIME)
    applied = found["applied"]
    assert applied["required_terms_relaxed"] is False
    assert applied["required_terms_relax_reason"] is None
    assert applied["gate_selection_reason"] in ("time_budget", "rrf_fusion_with_required_gate")
    assert found["summary"]["integration_status"] == "needs_followup"


def test_the_next_search_does_not_propose_a_word_that_is_in_no_section(
    application: Application,
) -> None:
    found = full(application, **arguments("pump zebra", ["pomp"]))
    proposed = [act["params"] for act in found["next_actions"] if act["type"] == "manual_find"]
    assert [params["required_terms"] for params in proposed] == [["pump"]]


@pytest.mark.many_cases
@pytest.mark.parametrize("extras", ["none", ""])
@pytest.mark.parametrize("terms", [["pump", "対象外"], ["対象外"], ["zebra"]])
def test_an_unfinished_index_proves_nothing(tmp_path: Path, extras: str, terms: list[str]) -> None:
    with Fumishirube(write(tmp_path, FILES), FUMISHIRUBE_SURFACE_EXTRAS=extras) as server:
        server.ok("manual_ls")
        found = server.ok("manual_find", **arguments("pump 対象外", terms) | NO_TIME)
        gaps = server.ok("manual_hits", trace_id=found["trace_id"], kind="gaps")["items"]
        said = [gap["gap_hint"] for gap in gaps if gap["gap"] != "thin_results"]
        unread = [
            row
            for row in server.ok("manual_hits", trace_id=found["trace_id"], kind="unscanned")[
                "items"
            ]
            if row["start_line"] is None
        ]
        if unread:
            assert found["status"] == "required_fallback"
            assert found["failure_reason"].startswith("index_unfinished:")
            assert said
            assert all("not searched yet; ask again" in hint for hint in said)
            assert not any("not in this manual" in hint for hint in said)
