"""Meaning: adds similar sections where the words of a question do not stand together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import Corpus, Hit, Outcome, Query, Ranking, Run, Stage, VectorCorpus

_RUN = "words"
_LABEL = "meaning"


class Meaning(Stage):
    """Adds a share for similarity to the scores, the greater the less the best hits cover.

    The weight of the share falls from ``weight``, when no hit covers any concept of the query, to 0
    when one of the ``examined`` best covers ``enough`` of them. The ``limit`` most similar
    sections get shares between 1 and 0, in proportion to their cosines; those without a score
    become hits. A query with alternatives has better words, and stays as it is.
    """

    needs: ClassVar[tuple[str, ...]] = ("fusers", "vectors")

    weight: Annotated[float, Field(gt=0, le=10)] = 1.0
    enough: Annotated[float, Field(gt=0, le=1)] = 0.7
    examined: Annotated[int, Field(ge=1)] = 10
    limit: Annotated[int, Field(ge=2, le=1000)] = 100

    def applies(self, query: Query) -> bool:
        """Tell whether the query has no other wordings."""
        return not query.alternatives

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query as the only run."""
        return (Run(_RUN, query),)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Return the ranking, with the shares of similar sections."""
        ranking = outcomes[0].ranking
        covered = max((hit.coverage for hit in ranking.hits[: self.examined]), default=0.0)
        weight = self.weight * (1 - covered / self.enough)
        if weight <= 0 or not isinstance(corpus, VectorCorpus) or not corpus.vectors:
            return ranking
        similar = corpus.nearest(query.text, self.limit, query.within)
        if not similar:
            return ranking
        highest, lowest = similar[0].estimate, similar[-1].estimate
        top = ranking.hits[0].score if ranking.hits else 1.0
        before = {hit.passage.key: hit for hit in ranking.hits}
        hits = dict(before)
        for passage, cosine in similar:
            share = (cosine - lowest) / (highest - lowest) if highest > lowest else 1.0
            hit = hits.get(passage.key, Hit(passage, 0.0))
            added = hit.scored(hit.score + weight * share * top, _LABEL)
            hits[passage.key] = added._replace(signals={**hit.signals, _LABEL: cosine})
        allowed = (
            hit
            for key, hit in hits.items()
            if (hit.score > 0 or key in before) and key not in query.exclude
        )
        return ranking._replace(hits=tuple(sorted(allowed, key=Hit.sort_key)))
