"""Reciprocal rank fusion; its constant and scores below the highest one, which fusers share."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Outcome, Query, Ranking, Run, Stage, fused_ranking, merge_rankings

RRF_K = 60
"""The constant ``k`` of the paper."""
RrfK = Annotated[int, Field(ge=1, le=1_000_000)]
"""A setting for another constant."""


def normal(value: float, top: float) -> float:
    """Return a value divided by the top value; 0 when that is 0."""
    return value / top if top > 0 else 0.0


def top_score(*rankings: Ranking) -> float:
    """Return the highest score of the best hits of some rankings; 0 when there are none."""
    return max((ranking.hits[0].score for ranking in rankings if ranking.hits), default=0.0)


class Rrf(Stage):
    """Merges the rankings of its runs by rank; as the only fuser, it runs the query once.

    The formula is that of ``fumishirube.merge_rankings``, in ``engine/rankings.py``.
    """

    k: RrfK = RRF_K

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query as the only run."""
        return (Run("query", query),)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge by rank; return a single ranking unchanged."""
        if len(outcomes) == 1:
            return outcomes[0].ranking
        merged = merge_rankings(outcomes, self.k)
        return fused_ranking([m.hit.scored(m.score) for m in merged], outcomes)
