"""Reciprocal rank fusion as a fuser of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from fumishirube import (
    Corpus,
    Outcome,
    Query,
    Ranking,
    Run,
    Stage,
    fused_ranking,
    merge_rankings,
)


class Rrf(Stage):
    """Merges the rankings of its runs by rank; by itself it runs the query once.

    Cormack, Clarke and Buettcher (2009): every ranking adds ``weight / (k + rank)``.
    """

    k: Annotated[int, Field(ge=1)] = 60

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query as the only run."""
        return (Run("query", query),)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge by rank; a single ranking stays as it is."""
        if len(outcomes) == 1:
            return outcomes[0].ranking
        merged = merge_rankings(outcomes, self.k)
        return fused_ranking([m.hit.scored(m.score) for m in merged], outcomes)


def normal(value: float, top: float) -> float:
    """Return a value as a share of the top one; 0 when there is no top."""
    return value / top if top > 0 else 0.0
