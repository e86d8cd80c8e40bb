"""What a ranking is worth: one small function a metric, and what a whole set of cases comes to.

``hit_rate``, ``recall``, ``mrr`` and ``precision`` are the measures of any textbook of retrieval;
``ndcg`` is the normalised discounted cumulative gain of Järvelin and Kekäläinen (2002) with gains
of 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias, TypeVar

from fumishirube_eval.cases import Case, SectionKey

T = TypeVar("T")

_Judge: TypeAlias = Callable[[Sequence[str], Collection[str], int], float]
_SectionJudge: TypeAlias = Callable[[Sequence[SectionKey], Collection[SectionKey], int], float]

BYPASS = "bypass"
CACHE_MODES = (BYPASS, "miss", "exact", "semantic", "guard_revalidate")
"""What a search may say of the cache."""


@dataclass(frozen=True)
class CaseResult:
    """A case, and what came of it.

    ``returned`` counts the rows; ``ranking`` is all of them, best first, without those of ignored
    paths. ``tokens`` is the estimate for the public reply; ``error`` is the code of a failure.
    ``unscored`` tells whether sections were left that the search did not get to.
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
    cache: str | None = None
    saved_ms: float = 0.0

    @property
    def paths(self) -> list[str]:
        """The paths of the ranking, row by row."""
        return [path for path, _ in self.ranking]

    @property
    def pages(self) -> list[str]:
        """The same paths, each at its first row only."""
        return list(dict.fromkeys(self.paths))


@dataclass(frozen=True)
class Metric:
    """A number that each case has, or some of them; the mean is what a set comes to."""

    name: str
    of: Callable[[CaseResult], float | None]
    more_is_better: bool = True


# --- one ranking ----------------------------------------------------------------------------


def hit_rate(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return 1 when something right stands among the first ``k`` rows, else 0."""
    return float(any(row in right for row in ranking[:k]))


def recall(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return the share of what is right that stands among the first ``k`` rows."""
    return len(_right_rows(ranking[:k], right)) / len(set(right))


def mrr(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return 1 / rank of the first right row among the first ``k``, else 0."""
    ranks = (rank for rank, row in enumerate(ranking[:k], start=1) if row in right)
    return next((1 / rank for rank in ranks), 0.0)


def ndcg(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return the discounted gain of the first ``k`` rows, as a share of the best possible.

    What is right gains once, at the first row that holds it.
    """
    seen: set[T] = set()
    gain = 0.0
    for rank, row in enumerate(ranking[:k], start=1):
        if row in right and row not in seen:
            seen.add(row)
            gain += _discount(rank)
    return gain / sum(_discount(rank) for rank in range(1, min(len(set(right)), k) + 1))


def precision(ranking: Sequence[T], right: Collection[T], k: int) -> float:
    """Return how much of what is right stands among the first ``k`` rows, divided by ``k``."""
    return len(_right_rows(ranking[:k], right)) / k


def precision_ceiling(right: Collection[T], k: int) -> float:
    """Return the most that the precision at ``k`` can be."""
    return min(len(set(right)), k) / k


def precision_retrieved(ranking: Sequence[T], right: Collection[T]) -> float:
    """Return the share of the distinct rows that is right; 0 without rows."""
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


def case_metrics(k: int) -> tuple[Metric, ...]:
    """Return the metrics of a case, in the order in which they are told."""
    return (*_page_metrics(k), *_section_metrics(k), *_share_metrics(), *_cost_metrics())


def _page_metrics(k: int) -> Iterator[Metric]:
    """Judge rows by their files; ``page_…`` counts ranks in files instead of rows."""
    by_row: dict[str, _Judge] = {
        "hit_rate": hit_rate,
        "recall": recall,
        "mrr": mrr,
        "ndcg": ndcg,
        "precision": precision,
    }
    for name, of in by_row.items():
        yield Metric(f"{name}@{k}", _on_paths(of, k))
    yield Metric(
        "precision@retrieved",
        lambda result: precision_retrieved(result.paths, result.case.expected_paths),
    )
    yield Metric(
        f"page_hit@{k}", lambda result: hit_rate(result.pages, result.case.expected_paths, k)
    )
    yield Metric(f"page_mrr@{k}", lambda result: mrr(result.pages, result.case.expected_paths, k))


def _section_metrics(k: int) -> Iterator[Metric]:
    by_row: dict[str, _SectionJudge] = {"sec_hit": hit_rate, "sec_mrr": mrr}
    for name, of in by_row.items():
        yield Metric(f"{name}@{k}", _on_sections(of, k))


def _share_metrics() -> Iterator[Metric]:
    shares: dict[str, Callable[[CaseResult], bool]] = {
        "gap_rate": lambda result: result.gaps > 0,
        "conflict_rate": lambda result: result.conflicts > 0,
        "needs_followup_rate": lambda result: integration_status(result) == "needs_followup",
        "blocked_rate": lambda result: integration_status(result) == "blocked",
        "error_rate": lambda result: result.error is not None,
        "forbidden_hit_rate": lambda result: (
            not set(result.case.forbidden_paths).isdisjoint(result.paths)
        ),
    }
    for name, of in shares.items():
        yield Metric(name, _share(of), more_is_better=False)


def _cost_metrics() -> Iterator[Metric]:
    yield Metric("tokens_per_query", lambda result: float(result.tokens), more_is_better=False)
    yield Metric("latency_ms", lambda result: result.latency_ms, more_is_better=False)


def integration_status(result: CaseResult) -> str | None:
    """Say whether the result can be used as it stands; ``None`` for a failed search."""
    if result.error is not None:
        return None
    if not result.returned:
        return "blocked"
    return "needs_followup" if result.gaps or result.conflicts or result.unscored else "ready"


def _on_paths(of: _Judge, k: int) -> Callable[[CaseResult], float]:
    return lambda result: of(result.paths, result.case.expected_paths, k)


def _on_sections(of: _SectionJudge, k: int) -> Callable[[CaseResult], float | None]:
    def judged(result: CaseResult) -> float | None:
        right = result.case.expected_lines
        return of(result.ranking, right, k) if right else None

    return judged


def _share(of: Callable[[CaseResult], bool]) -> Callable[[CaseResult], float]:
    return lambda result: float(of(result))


# --- a set of cases -------------------------------------------------------------------------


def summary(measured: Sequence[CaseResult], k: int) -> dict[str, float]:
    """Return what a set of cases comes to, by the name of the metric.

    A metric that no case has, such as a section's where no section is known, is left out.
    """
    figures: dict[str, float] = {}
    for metric in case_metrics(k):
        values = [value for result in measured if (value := metric.of(result)) is not None]
        if values and metric.name != "latency_ms":
            figures[metric.name] = fmean(values)
        if metric.name == f"precision@{k}":
            ceiling = mean_ceiling([result.case for result in measured], k)
            figures[f"precision_norm@{k}"] = figures[metric.name] / ceiling
    latencies = [result.latency_ms for result in measured]
    figures["p50_latency_ms"] = percentile(latencies, 50)
    figures["p95_latency_ms"] = percentile(latencies, 95)
    return figures | cache_figures(measured)


def mean_ceiling(cases: Sequence[Case], k: int) -> float:
    """Return the most that the mean precision at ``k`` can be over these cases."""
    return fmean(precision_ceiling(case.expected_paths, k) for case in cases)


def cache_figures(measured: Sequence[CaseResult]) -> dict[str, float]:
    """Return the share of each cache mode, and the time saved; nothing if no search asked it."""
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
    """Return the same by facet, for each facet that the cases name."""
    names = sorted({result.case.facet for result in measured if result.case.facet})
    return {name: summary([m for m in measured if m.case.facet == name], k) for name in names}
