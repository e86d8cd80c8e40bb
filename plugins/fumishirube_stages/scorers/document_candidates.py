"""The sections by which scorers judge whole documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from fumishirube import IndexMatch

MAX_CANDIDATES = 200
PER_DOCUMENT = 10


def candidate_sections(matches: Iterable[IndexMatch]) -> list[IndexMatch]:
    """Return the best sections, limited in number, in total and for each document."""
    counts: defaultdict[str, int] = defaultdict(int)
    chosen: list[IndexMatch] = []
    for match in matches:
        counts[match.passage.path] += 1
        if counts[match.passage.path] <= PER_DOCUMENT:
            chosen.append(match)
        if len(chosen) == MAX_CANDIDATES:
            break
    return chosen


def by_document(matches: Iterable[IndexMatch]) -> dict[str, Sequence[float]]:
    """Return the estimates of each document's sections, best first."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for match in matches:
        values[match.passage.path].append(match.estimate)
    return {path: sorted(estimates, reverse=True) for path, estimates in values.items()}
