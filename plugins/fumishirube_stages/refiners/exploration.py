"""Fills the result with the best hits of each file, and with some lower-ranked ones."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Env, Hit, LeftOut, Query, Ranking, Stage
from fumishirube.agreed_names import PINNED, PINNED_TOP

_PINNED = frozenset({PINNED, PINNED_TOP})


class Exploration(Stage):
    """Fills a pool file by file, then adds some lower-ranked hits with reduced scores.

    Pinned hits enter first, then the best ``per_file`` hits of each file, and the others while the
    pool has places.
    The number of explored hits is ``least`` or ``ratio`` of the pool, whichever is more. When there
    are more hits than ``places``, the pool is made smaller so that pool and explored hits fit in
    ``places``; ``null`` removes this limit.
    """

    enabled: Annotated[bool, Env("MANUAL_FIND_EXPLORATION_ENABLED")] = True
    ratio: Annotated[float, Field(ge=0, le=1), Env("MANUAL_FIND_EXPLORATION_RATIO")] = 0.2
    least: Annotated[int, Field(ge=0), Env("MANUAL_FIND_EXPLORATION_MIN_CANDIDATES")] = 2
    score_scale: Annotated[float, Field(ge=0, le=1), Env("MANUAL_FIND_EXPLORATION_SCORE_SCALE")] = (
        0.35
    )
    per_file: Annotated[int, Field(ge=1), Env("MANUAL_FIND_PER_FILE_CANDIDATE_CAP")] = 8
    pool: Annotated[int, Field(ge=1)] = 50
    places: Annotated[int, Field(ge=1)] | None = 50

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the pool and the explored hits; report the others as left out."""
        pinned = [hit for hit in ranking.hits if hit.labels & _PINNED]
        others, deferred = self._by_file(ranking.hits)
        pool, quota = self._sizes(len(ranking.hits))
        ordered = [*pinned, *others, *deferred]
        pooled, outside = ordered[:pool], sorted(ordered[pool:], key=Hit.sort_key)
        scale = self.score_scale
        explored = [hit.scored(hit.score * scale, "exploration") for hit in outside[:quota]]
        capped = {hit.passage.key for hit in deferred}
        left = [
            LeftOut(*hit.passage.key, "per_file_cap" if hit.passage.key in capped else "pool_full")
            for hit in outside[quota:]
        ]
        hits = tuple(sorted([*pooled, *explored], key=Hit.sort_key))
        return ranking._replace(hits=hits, left_out=(*ranking.left_out, *left))

    def _sizes(self, hits: int) -> tuple[int, int]:
        """Return the size of the pool, and how many hits are explored."""
        quota = max(self.least, math.ceil(self.pool * self.ratio)) if self.enabled else 0
        if self.places is None or hits <= self.places:
            return self.pool, quota
        quota = min(quota, self.places - 1)
        return min(self.pool, self.places - quota), quota

    def _by_file(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
        """Return the hits that are not pinned: the first ones of each file, and the others."""
        taken: Counter[str] = Counter()
        first: list[Hit] = []
        deferred: list[Hit] = []
        for hit in hits:
            taken[hit.passage.path] += 1
            if not hit.labels & _PINNED:
                (first if taken[hit.passage.path] <= self.per_file else deferred).append(hit)
        return first, deferred
