"""A fuser for Fumishirube that merges the runs of a query by Borda count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from fumishirube import (
    Corpus,
    Fuser,
    Hit,
    LeftOut,
    Outcome,
    Query,
    Ranking,
    Register,
    Run,
    Stage,
    hook,
)

Key = tuple[str, int]


class Borda(Stage):
    """Runs the query, and each required term alone; then adds up points for ranks.

    Among ``n`` passages in all rankings, a run gives ``n`` points to its first, ``n - 1``
    to its second and so on, times its weight; passages missing from its ranking get none.
    """

    query_weight: float = Field(default=1.0, gt=0)
    term_weight: float = Field(default=0.5, ge=0)

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return a run of the whole query, and one for each required term."""
        runs = [Run("query", query, self.query_weight)]
        for term in dict.fromkeys(query.required):
            alone = replace(query, text=term, required=(term,))
            runs.append(Run(f"term {term}", alone, self.term_weight))
        return runs

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Add up the points, best first."""
        best: dict[Key, Hit] = {}
        for outcome in outcomes:
            for hit in outcome.ranking.hits:
                best.setdefault(hit.passage.key, hit)
        points = dict.fromkeys(best, 0.0)
        for run, ranking in outcomes:
            for place, hit in enumerate(ranking.hits):
                points[hit.passage.key] += run.weight * (len(best) - place)
        hits = [hit._replace(score=points[key]) for key, hit in best.items()]
        return Ranking(tuple(sorted(hits, key=Hit.sort_key)), _left_out(outcomes, best))


def _left_out(outcomes: Sequence[Outcome], returned: dict[Key, Hit]) -> tuple[LeftOut, ...]:
    named = dict.fromkeys(left for outcome in outcomes for left in outcome.ranking.left_out)
    return tuple(left for left in named if (left.path, left.start_line) not in returned)


@hook
def register_fusers(register: Register[Fuser]) -> None:
    register("borda", Borda)
