"""The scores of documents and sections in one run, which scorers and their fuser share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fumishirube import Query

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
