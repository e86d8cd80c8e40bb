"""What a search left out is one account: the coverage, the unscanned rows and the gaps agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from manuals import ask, opened, write

from fumishirube.host.application import Application

LONG = "The policy describes many other things at length. " * 150
FILES: dict[str, str | bytes] = {
    **{f"m/faq{n:02}.md": f"# Question {n}\n" + "refund fee " * (n % 7 + 1) for n in range(40)},
    **{f"m/policy{n}.md": f"# Chapter {n}\n{LONG}refund {LONG}\n" for n in range(12)},
    "m/many.md": "".join(f"# Part {n}\nThe fee of part {n}.\n" for n in range(90)),
    "m/toc.md": "# Contents\nrefund\n",
    "m/broken.md": b"\x81\xff\xfe\x80 \xff\xff",
    **{f"ja/{n:02}.md": f"# 届出{n}\n" + "届出の期限。" * n + "様式。" * 300 for n in range(1, 40)},
}
QUESTIONS = [
    ("m", "refund", ["refund"], {}),
    ("m", "refund", ["refund"], {"max_candidates": 3}),
    ("m", "refund fee part", ["fee"], {}),
    ("m", "What is the refund of a chapter and its policy?", ["chapter", "zebra"], {}),
    ("m", "zebra", ["zebra"], {}),
    ("ja", "届出の期限はいつか", ["期限"], {}),
    ("ja", "届出の様式", ["様式"], {"max_candidates": 1}),
]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    application = opened(
        write(tmp_path_factory.mktemp("account"), FILES), FUMISHIRUBE_SURFACE_EXTRAS="coverage"
    )
    yield application
    application.close()


def rows(application: Application, trace_id: str, kind: str) -> list[Any]:
    items: list[Any] = []
    while True:
        page = {"trace_id": trace_id, "kind": kind, "offset": len(items), "limit": 1000}
        answer = ask(application, "manual_hits", **page)
        items += answer["items"]
        if len(items) == answer["total"]:
            return items


@pytest.mark.many_cases
@pytest.mark.parametrize(("manual", "query", "terms", "budget"), QUESTIONS)
def test_coverage_and_rows_count_the_same_by_reason(
    application: Application, manual: str, query: str, terms: list[str], budget: dict[str, int]
) -> None:
    asked = {"manual_id": manual, "query": query, "required_terms": terms, "budget": budget}
    answer = ask(application, "manual_find", **asked)
    coverage = answer["coverage"]
    unread = rows(application, answer["trace_id"], "unscanned")
    named = Counter((row["reason"], "section" if row["start_line"] else "file") for row in unread)
    counted = {(row["reason"], row["unit"]): row["count"] for row in coverage["skipped"]}
    only_counted = {("unranked", "section"), ("partial", "section")}
    apart = {("heading_only", "section"), ("ignored", "file"), *only_counted}
    assert {key: number for key, number in counted.items() if key not in apart} == named
    left = [
        number
        for (reason, unit), number in counted.items()
        if unit == "section" and reason != "heading_only"
    ]
    assert coverage["matched"] == coverage["returned"] + sum(left)
    for gap in rows(application, answer["trace_id"], "gaps"):
        if "not returned: " in gap["gap_hint"]:
            for (reason, unit), number in counted.items():
                if unit == "section" and reason in ("unranked", "dynamic_cutoff"):
                    assert f"{number} {reason.replace('_', ' ')}" in gap["gap_hint"]


def test_what_the_cut_off_left_out_is_called_so(application: Application) -> None:
    asked = {"query": "refund fee part", "required_terms": ["fee"]}
    answer = ask(application, "manual_find", manual_id="m", **asked)
    reasons = {row["reason"] for row in rows(application, answer["trace_id"], "unscanned")}
    assert "dynamic_cutoff" in reasons
