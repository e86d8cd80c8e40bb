"""The end of the result: a limit, and a score cut-off for weak hits."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, LeftOut, Query, Ranking, Stage
from fumishirube.agreed_names import PINNED, PINNED_TOP, SECOND


class Cutoff(Stage):
    """Cuts the ranking at ``limit``, or after the first ``sure`` hits at the first weak one.

    A hit is weak with a score below ``score_share`` of the top score and a coverage below
    ``coverage``. Pinned hits stay, up to ``limit``, in the place of the last others. The caller's
    own limit is applied afterwards.
    """

    limit: Annotated[int, Field(ge=1)] = 50
    sure: Annotated[int, Field(ge=1)] = 5
    score_share: Annotated[float, Field(ge=0, le=1)] = 0.25
    coverage: Annotated[float, Field(ge=0, le=1)] = 0.5

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the first hits; report the others as left out."""
        hits = self._lifted(ranking.hits)
        end = self._end(hits)
        strong = [*hits[:end], *(hit for hit in hits[end:] if PINNED in hit.labels)]
        remaining = self._within_limit(strong)
        returned = remaining if query.limit is None else remaining[: query.limit]
        entered = {hit.passage.key for hit in returned}
        beyond = [hit for hit in strong if hit.passage.key not in entered]
        weak = [hit for hit in hits[end:] if PINNED not in hit.labels]
        left = [*_left(beyond, "candidate_cap"), *_left(weak, "dynamic_cutoff")]
        return ranking._replace(hits=tuple(returned), left_out=(*ranking.left_out, *left))

    def _end(self, hits: Sequence[Hit]) -> int:
        for place, hit in enumerate(hits):
            weak = hit.score < self.score_share * hits[0].score and hit.coverage < self.coverage
            if place >= self.sure and weak:
                return place
        return len(hits)

    def _within_limit(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return the first hits up to the limit, and pinned ones instead of the last of these."""
        others = [hit.passage.key for hit in hits if PINNED not in hit.labels]
        room = max(0, self.limit - (len(hits) - len(others)))
        last = {*others[room:]}
        return [hit for hit in hits if hit.passage.key not in last][: self.limit]

    def _lifted(self, hits: Sequence[Hit]) -> list[Hit]:
        """Move the best hits of each side or wording among the first hits, the second ones last."""
        pinned = (hit for hit in hits[self.sure :] if PINNED_TOP in hit.labels)
        late = sorted(pinned, key=lambda hit: SECOND in hit.labels)
        if not late:
            return list(hits)
        yielding = [hit for hit in hits[1 : self.sure] if PINNED_TOP not in hit.labels]
        yielding = yielding[-len(late) :]
        first = [*(hit for hit in hits[: self.sure] if hit not in yielding), *late]
        return _non_increasing([*first, *(hit for hit in hits if hit not in first)])


def _non_increasing(hits: Sequence[Hit]) -> list[Hit]:
    """Raise each score to the best one after it, so that scores never increase."""
    best_after = accumulate((hit.score for hit in reversed(hits)), max)
    raised = [
        hit if hit.score == best else hit.scored(best)
        for hit, best in zip(reversed(hits), best_after, strict=True)
    ]
    return raised[::-1]


def _left(hits: Sequence[Hit], reason: str) -> list[LeftOut]:
    return [LeftOut(hit.passage.path, hit.passage.start_line, reason) for hit in hits]
