"""Reciprocal rank fusion."""

from collections.abc import Sequence

from fumishirube import Corpus, Outcome, Query, Ranking, Run, Stage, fused_ranking, merge_rankings
from fumishirube.agreed_names import RRF_K
from fumishirube_stages.fused_scores import RrfK


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
