"""The weights of the scorers of documents, shared by fusers and scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Weigh = Callable[[bool], tuple[float, float, float]]


def unscored(stages: Mapping[str, Sequence[object]], parts: Sequence[str]) -> list[str]:
    """Return the parts of a document's score that no configured scorer computes."""
    scored = {getattr(scorer, "document_score", None) for scorer in stages["scorers"]}
    return [part for part in parts if part not in scored]
