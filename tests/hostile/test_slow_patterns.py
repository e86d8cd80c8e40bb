"""The patterns of one call have one time limit; the files that are not searched are counted."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from manuals import Application, ask, opened, write
from stdio import Fumishirube

from fumishirube_manual.grep import excluded_matches, pattern_lines
from fumishirube_manual.tools import batch

SLOW = r"^b?(a|aa)+(?<!b)$"
"""A pattern for which RE2 has no syntax, and other engines no time."""
LINE = "b" + "a" * 60 + "!"
FILES = {f"{m}/{n:02}.md": f"# T\n{LINE}\n{LINE}\nword\n" for m in ("m", "n") for n in range(12)}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


@pytest.fixture
def application(workspace: Path) -> Iterator[Application]:
    application = opened(workspace)
    yield application
    application.close()


def unsearched(answer: dict[str, Any]) -> Counter[str]:
    """Return the number of files that were not searched, by reason."""
    counts: Counter[str] = Counter()
    for row in answer["not_searched"]:
        counts[row["reason"]] += row.get("count", 1)
    return counts


def grep(application: Application, **arguments: Any) -> dict[str, Any]:
    return ask(application, "manual_grep", manual_id="*", **arguments)


@pytest.mark.many_cases
@pytest.mark.parametrize("seconds", ["_SLOW_SECONDS", "_SECONDS"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"regex": SLOW},
        {"regex": SLOW, "count_only": True},
        {"regex": "^b|(a|aa)+(?<!b)$", "matches_only": True},
        {"any": [LINE], "without": SLOW},
    ],
    ids=["lines", "counts", "matches", "without"],
)
def test_when_the_time_of_a_pattern_is_over_no_further_file_is_searched(
    application: Application,
    monkeypatch: pytest.MonkeyPatch,
    arguments: dict[str, Any],
    seconds: str,
) -> None:
    monkeypatch.setattr(pattern_lines, seconds, 0.001)
    answer = grep(application, **arguments)
    assert unsearched(answer) == {"pattern_too_slow": 1, "time_budget": 23}
    assert answer["searched"]["files"] == 1
    assert answer["files"] <= 1


def test_a_pattern_with_time_left_is_searched_everywhere(application: Application) -> None:
    answer = grep(application, regex=r"(?<!b)word$")
    assert (answer["total"], answer.get("not_searched")) == (24, None)


def test_the_calls_of_a_batch_share_their_time(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "TIME_MS", 1)
    find = {"query": "word", "manual_id": "m", "required_terms": ["word"]}
    calls = [
        {"tool": "manual_grep", "arguments": {"regex": SLOW, "manual_id": "*"}},
        {"tool": "manual_find", "arguments": find},
    ]
    searched, found = ask(application, "manual_batch", calls=calls)["items"]
    assert unsearched(searched["answer"]) == {"time_budget": 24}
    assert found["answer"]["candidates"] > 0, "a search always has its best hits"


@pytest.mark.slow
def test_a_slow_call_of_a_batch_leaves_time_for_the_next(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "TIME_MS", 6_000)
    slow = {"regex": SLOW, "manual_id": "*"}
    plain = {"any": ["word"], "manual_id": "*"}
    calls = [{"tool": "manual_grep", "arguments": arguments} for arguments in (slow, plain)]
    searched, found = ask(application, "manual_batch", calls=calls)["items"]
    assert unsearched(searched["answer"]).total() == 24
    assert (found["answer"]["total"], found["answer"].get("not_searched")) == (24, None)


@pytest.mark.slow
def test_a_pattern_that_explodes_in_every_file_is_given_up(workspace: Path) -> None:
    """Each slow line takes a quarter of a second, so that 24 files would take twelve."""
    with Fumishirube(workspace) as server:
        answer = server.ok("manual_grep", regex=SLOW, manual_id="*")
    counts = unsearched(answer)
    assert counts["pattern_too_slow"] >= 1
    assert counts["time_budget"] >= 1
    assert counts.total() == 24
    assert answer["searched"]["files"] == counts["pattern_too_slow"]


def entered(workspace: Path, words: int) -> int:
    """Return how often functions and generators are entered to leave out matches of one line."""
    application = opened(write(workspace, {"m/a.md": "# T\n\n" + "ab " * words + "a\n"}))
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal steps
        steps += event == "call" and frame.f_code.co_filename == excluded_matches.__file__

    sys.setprofile(count)
    try:
        answer = grep(application, regex="a", without="zb|b", matches_only=True)
    finally:
        sys.setprofile(None)
        application.close()
    ((_, number, text, *_),) = answer["matches"][0]["texts"]
    assert (text, number) == ("a", words + 1)
    return steps


def test_leaving_out_matches_of_a_line_takes_steps_by_their_number(tmp_path: Path) -> None:
    few, many = entered(tmp_path / "few", 100), entered(tmp_path / "many", 400)
    assert few > 100
    assert many < 5 * few
