"""The scores of whole documents during one search, which scorers and their fuser share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fumishirube import Query

Weigh = Callable[[bool], tuple[float, float, float]]
"""The weights of vectors, links and full text, by whether full text matched anything."""


@dataclass
class DocumentScores:
    """What the scorers of documents and their fuser hand on to each other during one search.

    ``by_scorer`` has each scorer's scores of documents, by path. ``weigh`` is how the fuser weighs
    them, if it is one that does.
    """

    by_scorer: dict[str, Mapping[str, float]] = field(default_factory=dict)
    weigh: Weigh | None = None


def document_scores(query: Query) -> DocumentScores:
    """Return what was handed on in the search of a query so far."""
    return query.state.shared(DocumentScores)


def unscored(stages: Mapping[str, Sequence[object]], parts: Sequence[str]) -> list[str]:
    """Return the parts of a document's score that no configured scorer computes."""
    scored = {getattr(scorer, "document_score", None) for scorer in stages["scorers"]}
    return [part for part in parts if part not in scored]
