"""The metrics of a ranking, one small function each, and their means over a set of cases.

``hit_rate``, ``recall``, ``mrr`` and ``precision`` are the textbook measures of information
retrieval; ``ndcg`` is the normalised discounted cumulative gain of Järvelin and Kekäläinen (2002)
with gains of 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias, TypeVar

from fumishirube_eval.cases import Case, SectionKey
from fumishirube_eval.paired import Metric

T = TypeVar("T")

_Ranked: TypeAlias = tuple[Sequence[Any], Collection[Any]]
"""What a ranking has, and what is right of it: paths, or sections."""
_Judge: TypeAlias = Callable[[Sequence[Any], Collection[Any], int], float]
_Ceiling: TypeAlias = Callable[[Collection[str], int], float]

AMOUNTS = ("tokens", "p50", "p95", "latency", "sem_cache_saved")
"""How the names of metrics begin that are amounts; the others are shares, from 0 to 1."""

BYPASS = "bypass"
CACHE_MODES = (BYPASS, "miss", "exact", "semantic", "guard_revalidate")
"""The cache modes of a search."""


@dataclass(frozen=True)
class CaseResult:
    """A case and the result of its search.

    ``returned`` is the number of rows. ``ranking`` has all rows, best first, without ignored paths.
    ``tokens`` is an estimate for the reply's text; ``error`` is the code of a failure, ``message``
    what it says. ``unscored`` is whether the search left sections unread.
    """

    case: Case
    ranking: tuple[SectionKey, ...] = ()
    returned: int = 0
    latency_ms: float = 0.0
    tokens: int = 0
    gaps: int = 0
    conflicts: int = 0
    unscored: bool = False
    status: str | None = None
    error: str | None = None
    message: str | None = None
    cache: str | None = None
    saved_ms: float = 0.0

    @property
    def paths(self) -> list[str]:
        """The path of each row of the ranking."""
        return [path for path, _ in self.ranking]

    @property
    def pages(self) -> list[str]:
        """The distinct paths, in order of their first row."""
        return list(dict.fromkeys(self.paths))


# --- one ranking ----------------------------------------------------------------------------


def hit_rate(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return 1 when one of the first ``k`` rows is right, else 0."""
    return float(any(row in right for row in ranking[:k]))


def recall(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return the share of right results among the first ``k`` rows."""
    return len(_right_rows(ranking[:k], right)) / len(set(right))


def mrr(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return 1 / rank of the first right row among the first ``k``; else 0."""
    ranks = (rank for rank, row in enumerate(ranking[:k], start=1) if row in right)
    return next((1 / rank for rank in ranks), 0.0)


def ndcg(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return the discounted gain of the first ``k`` rows, divided by the greatest possible gain.

    Each right result gains once, at its first row.
    """
    seen: set[T] = set()
    gain = 0.0
    for rank, row in enumerate(ranking[:k], start=1):
        if row in right and row not in seen:
            seen.add(row)
            gain += _discount(rank)
    return gain / sum(_discount(rank) for rank in range(1, min(len(set(right)), k) + 1))


def precision(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return the number of right results among the first ``k`` rows, divided by ``k``."""
    return len(_right_rows(ranking[:k], right)) / k


def precision_ceiling(right: Collection[T], k: int) -> float:
    """Return the highest possible precision at ``k``."""
    return min(len(set(right)), k) / k


def recall_ceiling(right: Collection[T], k: int) -> float:
    """Return the highest possible recall at ``k``."""
    return min(len(set(right)), k) / len(set(right))


def precision_retrieved(ranking: Sequence[T], right: Collection[T]) -> float:
    """Return the share of right results among the distinct rows; 0 without rows."""
    return len(_right_rows(ranking, right)) / len(set(ranking)) if ranking else 0.0


def percentile(values: Sequence[float], percent: int) -> float:
    """Return value number ⌈percent · n / 100⌉ in ascending order; 0 without values."""
    place = -(-percent * len(values) // 100)
    return sorted(values)[max(place, 1) - 1] if values else 0.0


def _right_rows(rows: Sequence[T], right: Collection[T]) -> set[T]:
    return set(right).intersection(rows)


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


# --- one case -------------------------------------------------------------------------------


def case_metrics(k: int) -> tuple[Metric[CaseResult], ...]:
    """Return the metrics of a case, in the order of the report; ``page_…`` ranks files."""
    return (
        *(
            Metric(name if "@" in name else f"{name}@{k}", _judged(judge, ranked, k))
            for name, judge, ranked in _JUDGES
        ),
        *(Metric(name, _share(holds), more_is_better=False) for name, holds in _SHARES.items()),
        Metric("tokens_per_query", lambda result: float(result.tokens), more_is_better=False),
        Metric("latency_ms", lambda result: result.latency_ms, more_is_better=False),
    )


def _rows(result: CaseResult) -> _Ranked:
    return result.paths, result.case.expected_paths


def _pages(result: CaseResult) -> _Ranked:
    return result.pages, result.case.expected_paths


def _sections(result: CaseResult) -> _Ranked:
    return result.ranking, result.case.expected_lines


_JUDGES: tuple[tuple[str, _Judge, Callable[[CaseResult], _Ranked]], ...] = (
    ("hit_rate", hit_rate, _rows),
    ("recall", recall, _rows),
    ("mrr", mrr, _rows),
    ("ndcg", ndcg, _rows),
    ("precision", precision, _rows),
    ("precision@retrieved", lambda rows, right, _: precision_retrieved(rows, right), _rows),
    ("page_hit", hit_rate, _pages),
    ("page_mrr", mrr, _pages),
    ("sec_hit", hit_rate, _sections),
    ("sec_mrr", mrr, _sections),
)
_SHARES: dict[str, Callable[[CaseResult], bool]] = {
    "gap_rate": lambda result: result.gaps > 0,
    "conflict_rate": lambda result: result.conflicts > 0,
    "needs_followup_rate": lambda result: integration_status(result) == "needs_followup",
    "blocked_rate": lambda result: integration_status(result) == "blocked",
    "error_rate": lambda result: result.error is not None,
    "forbidden_hit_rate": lambda result: (
        not set(result.case.forbidden_paths).isdisjoint(result.paths)
    ),
}


def _judged(
    judge: _Judge, ranked: Callable[[CaseResult], _Ranked], k: int
) -> Callable[[CaseResult], float | None]:
    def judged(result: CaseResult) -> float | None:
        rows, right = ranked(result)
        return judge(rows, right, k) if right else None

    return judged


def _share(holds: Callable[[CaseResult], bool]) -> Callable[[CaseResult], float]:
    return lambda result: float(holds(result))


def integration_status(result: CaseResult) -> str | None:
    """Return whether the result is usable as it is; ``None`` for a failed search."""
    if result.error is not None:
        return None
    if not result.returned:
        return "blocked"
    return "needs_followup" if result.gaps or result.conflicts or result.unscored else "ready"


# --- a set of cases -------------------------------------------------------------------------


def summary(measured: Sequence[CaseResult], k: int) -> dict[str, float]:
    """Return the mean of each metric over a set of cases, by name.

    A metric without values, such as one over sections without known sections, is omitted.
    """
    figures: dict[str, float] = {}
    for metric in case_metrics(k):
        values = [value for result in measured if (value := metric.of(result)) is not None]
        if values and metric.name != "latency_ms":
            figures[metric.name] = fmean(values)
        if metric.name == f"precision@{k}":
            ceiling = mean_ceiling([result.case for result in measured], k, precision_ceiling)
            figures[f"precision_norm@{k}"] = figures[metric.name] / ceiling
    latencies = [result.latency_ms for result in measured]
    figures["p50_latency_ms"] = percentile(latencies, 50)
    figures["p95_latency_ms"] = percentile(latencies, 95)
    return figures | cache_figures(measured)


def mean_ceiling(cases: Sequence[Case], k: int, ceiling: _Ceiling) -> float:
    """Return the mean over these cases of the highest possible value of a metric at ``k``."""
    return fmean(ceiling(case.expected_paths, k) for case in cases)


def cache_figures(measured: Sequence[CaseResult]) -> dict[str, float]:
    """Return the share of each cache mode, and the time saved; empty if none used the cache."""
    if all(result.cache in (None, BYPASS) for result in measured):
        return {}
    shares = {
        f"sem_cache_{mode}_rate": fmean(result.cache == mode for result in measured)
        for mode in CACHE_MODES
    }
    saved = sum(result.saved_ms for result in measured)
    return shares | {
        "sem_cache_saved_ms": saved,
        "sem_cache_saved_ms_per_query": saved / len(measured),
    }


def facets(measured: Sequence[CaseResult], k: int) -> dict[str, dict[str, float]]:
    """Return the summary of each facet in the cases."""
    names = sorted({result.case.facet for result in measured if result.case.facet})
    return {name: summary([m for m in measured if m.case.facet == name], k) for name in names}
