"""Raises a section when other sections of its file match too."""

from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage
from fumishirube.text import concepts


class Siblings(Stage):
    """Adds to each hit a share of the scores of the other hits of its file.

    A file's score is the sum of its hits' scores, best first, each multiplied by ``decay`` once
    more than the one before. A page that answers a question usually mentions it in several places.

    The share is ``weight`` for a query of up to ``few_concepts`` concepts, ``long_weight`` for one
    of ``many_concepts`` or more, and in proportion between them: a section may well contain three
    words, and the words of a sentence are in several sections of the page about it. Where
    ``many_concepts`` is not above ``few_concepts``, any query of more concepts is a long one.
    """

    weight: Annotated[float, Field(ge=0, le=1)] = 0.25
    decay: Annotated[float, Field(ge=0, lt=1)] = 0.5
    long_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    few_concepts: Annotated[int, Field(ge=0)] = 4
    many_concepts: Annotated[int, Field(ge=1)] = 8

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores."""
        evidence: dict[str, float] = {}
        share: dict[str, float] = {}
        for hit in ranking.hits:
            path = hit.passage.path
            evidence[path] = evidence.get(path, 0.0) + share.get(path, 1.0) * hit.score
            share[path] = share.get(path, 1.0) * self.decay
        weight = self._weight(len(concepts(query.text)))
        raised = [
            hit.scored(hit.score + weight * max(0.0, evidence[hit.passage.path] - hit.score))
            for hit in ranking.hits
        ]
        return ranking._replace(hits=tuple(sorted(raised, key=Hit.sort_key)))

    def _weight(self, number: int) -> float:
        """Return the share for a query of so many concepts."""
        if number <= self.few_concepts:
            return self.weight
        between = max(1, self.many_concepts - self.few_concepts)
        way = min(1.0, (number - self.few_concepts) / between)
        return self.weight + way * (self.long_weight - self.weight)
