"""What is known of whole documents while one search goes on, by the scorer that found it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from fumishirube import Found, Query

NOMINATED = 200
PER_DOCUMENT = 10


def known(query: Query, scorer: str) -> dict[str, float] | None:
    """Return what a scorer found out about documents, by path; ``None`` if it had nothing to say.

    The fuser ``weighted-sum`` reads the same.
    """
    return query.shared("documents", dict[str, dict[str, float]]()).get(scorer)


def tell(query: Query, scorer: str, values: dict[str, float]) -> None:
    """Keep what a scorer found out about documents."""
    query.shared("documents", dict[str, dict[str, float]]())[scorer] = values


def nominated(found: Iterable[Found]) -> list[Found]:
    """Return the best sections, best first, so many of them and not too many of one document."""
    counts: defaultdict[str, int] = defaultdict(int)
    kept: list[Found] = []
    for one in found:
        counts[one.passage.path] += 1
        if counts[one.passage.path] <= PER_DOCUMENT:
            kept.append(one)
        if len(kept) == NOMINATED:
            break
    return kept


def by_document(found: Iterable[Found]) -> dict[str, Sequence[float]]:
    """Return the estimates of each document's sections, best first."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for one in found:
        values[one.passage.path].append(one.estimate)
    return {path: sorted(estimates, reverse=True) for path, estimates in values.items()}
