"""What a search is meant to cost. The only place where a goal stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Goal(NamedTuple):
    """The goals of one size of manual, in milliseconds and megabytes; ``None`` where there is none.

    ``first_ms`` is on top of the import of the MCP SDK, measured in the same run.
    """

    p50_ms: float | None
    p95_ms: float | None
    first_ms: float
    changed_ms: float | None
    memory_mb: float


GOALS: Mapping[int, Goal] = {
    600: Goal(6, 15, 150, 30, 120),
    10_000: Goal(10, 25, 200, 30, 150),
    100_000: Goal(None, 60, 300, 60, 250),
    500_000: Goal(None, None, 500, None, 400),
}

LARGE = 100_000
"""From this size on a find is also held against the engines beside it."""
TIMES_TANTIVY = 10
"""So many times the p50 of raw tantivy it may take."""
PART_OF_FTS5 = 1 / 10
"""That part of the p50 of FTS5 it may take."""
GROWTH = 2
"""So many times its own p50 at 100,000 sections it may take at 500,000."""
BUILD = 8_000
"""Sections a second that are indexed."""
PING_MS = 20
"""Within which each ping is answered while ten finds run."""
COMMAND_MS = 250
"""For a whole ``fumishirube find`` on the sample manuals."""


class Verdict(NamedTuple):
    """One goal, the figure that is held against it, and whether that is good enough."""

    name: str
    figure: float
    goal: float
    unit: str
    met: bool


def verdicts(row: Mapping[str, float], smaller: Mapping[str, float] | None) -> Iterator[Verdict]:
    """Yield what is to be said of one row; ``smaller`` is the row of 100,000 sections, if any."""
    goal = GOALS.get(int(row["sections"]))
    if goal is None:
        return
    limits = [
        ("p50", row["p50_ms"], goal.p50_ms, "ms"),
        ("p95", row["p95_ms"], goal.p95_ms, "ms"),
        ("first answer", row["first_ms"], row["sdk_ms"] + goal.first_ms, "ms"),
        ("one changed file", row["changed_ms"], goal.changed_ms, "ms"),
        ("memory", row["memory_mb"], goal.memory_mb, "MB"),
    ]
    if row["sections"] == LARGE and "tantivy p50_ms" in row:
        limits.append(("p50", row["p50_ms"], row["tantivy p50_ms"] * TIMES_TANTIVY, "ms"))
    if row["sections"] == LARGE and "fts5 p50_ms" in row:
        limits.append(("p50", row["p50_ms"], row["fts5 p50_ms"] * PART_OF_FTS5, "ms"))
    if row["sections"] > LARGE and smaller is not None:
        limits.append(("p50", row["p50_ms"], smaller["p50_ms"] * GROWTH, "ms"))
    if "ping_max_ms" in row:
        limits.append(("ping, slowest", row["ping_max_ms"], PING_MS, "ms"))
    for name, figure, limit, unit in limits:
        if limit is not None:
            yield Verdict(name, figure, limit, unit, figure <= limit)
    if "build_per_s" in row:
        rate = row["build_per_s"]
        yield Verdict("index build, at least", rate, BUILD, "sections/s", rate >= BUILD)
