"""Whole documents judged by their best sections, and the scores that scorers and a fuser share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fumishirube import IndexMatch, Query

MAX_CANDIDATES = 200
PER_DOCUMENT = 10

Weigh = Callable[[bool], tuple[float, float, float]]
"""The weights of vectors, links and full text, by whether full text matched anything."""


@dataclass
class DocumentScores:
    """What the scorers of documents and their fuser hand on to each other in one run.

    ``by_scorer`` has each scorer's scores of documents, by path, and ``sections`` those of
    sections, by path and line; both by the scorers' ``document_score``, however a configuration
    names them.
    """

    by_scorer: dict[str, Mapping[str, float]] = field(default_factory=dict)
    sections: dict[str, Mapping[tuple[str, int], float]] = field(default_factory=dict)


@dataclass
class DocumentWeights:
    """How the fuser of a search weighs the scores of documents, if it is one that does."""

    weigh: Weigh | None = None


def document_scores(query: Query) -> DocumentScores:
    """Return what was handed on so far in the run of a query; other runs have their own."""
    return query.state.shared(DocumentScores, query.text, query.must, query.required)


def document_weights(query: Query) -> DocumentWeights:
    """Return the weights in the search of a query, for all of its runs."""
    return query.state.shared(DocumentWeights)


def unscored(stages: Mapping[str, Sequence[object]], parts: Sequence[str]) -> list[str]:
    """Return the parts of a document's score that no configured scorer computes."""
    scored = {getattr(scorer, "document_score", None) for scorer in stages["scorers"]}
    return [part for part in parts if part not in scored]


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
