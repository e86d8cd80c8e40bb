"""Prevents a single file from filling the result."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage

_FULL = 1.0
_HALF = 0.5


class Diversity(Stage):
    """Selects hits greedily; each further hit of a file has its score reduced by a step.

    The step is ``step``, or ``share`` of the top score if that is more. A hit that covers the
    whole query never falls below one that covers less than half of it. Where all hits are from one
    file, no score changes.
    """

    step: Annotated[float, Field(ge=0)] = 0.35
    share: Annotated[float, Field(ge=0, le=1)] = 0.05

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits in the new order, with their new scores."""
        if len({hit.passage.path for hit in ranking.hits}) <= 1:
            return ranking
        step = max(self.step, self.share * ranking.hits[0].score)
        weak = [hit.score for hit in ranking.hits if hit.coverage < _HALF]
        lower_bound = max(weak, default=0.0)
        taken: Counter[str] = Counter()
        lowered = []
        for hit in ranking.hits:
            score = hit.score - step * taken[hit.passage.path]
            taken[hit.passage.path] += 1
            if hit.coverage >= _FULL:
                score = max(score, min(lower_bound, hit.score))
            lowered.append(hit.scored(max(score, 0.0)))
        return ranking._replace(hits=tuple(sorted(lowered, key=Hit.sort_key)))
