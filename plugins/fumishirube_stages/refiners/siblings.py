"""Raises a section when other sections of its file match too."""

from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage


class Siblings(Stage):
    """Adds to each hit a share of the scores of the other hits of its file.

    A file's score is the sum of its hits' scores, best first, each multiplied by ``decay`` once
    more than the one before. A page that answers a question usually mentions it in several places.
    """

    weight: Annotated[float, Field(ge=0, le=1)] = 0.25
    decay: Annotated[float, Field(ge=0, lt=1)] = 0.5

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores."""
        evidence: dict[str, float] = {}
        share: dict[str, float] = {}
        for hit in ranking.hits:
            path = hit.passage.path
            evidence[path] = evidence.get(path, 0.0) + share.get(path, 1.0) * hit.score
            share[path] = share.get(path, 1.0) * self.decay
        raised = [
            hit.scored(hit.score + self.weight * max(0.0, evidence[hit.passage.path] - hit.score))
            for hit in ranking.hits
        ]
        return ranking._replace(hits=tuple(sorted(raised, key=Hit.sort_key)))
