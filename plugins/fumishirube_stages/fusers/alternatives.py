"""Alternatives: other wordings of a question, each searched in a run of its own."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import (
    Corpus,
    Hit,
    Outcome,
    Query,
    Ranking,
    Run,
    Stage,
    fused_ranking,
    merge_rankings,
)
from fumishirube.agreed_names import ALTERNATIVE, PINNED_TOP, RRF_K, SECOND
from fumishirube_stages.fused_scores import RrfK, normal, top_score

TOGETHER, QUERY = "together", "query"
_OF_EACH = 2


class Alternatives(Stage):
    """Runs a query and all its alternatives as one text, and each wording alone.

    The combined run has weight 1. Each other run has ``each_weight``, and ``each_pool`` candidates:
    only its best sections count. A section's share in a run is the weight times its score divided
    by the top score, and falls with its rank by ``k``. Its fused score is its best share plus
    ``agreement`` times its other shares, scaled to the highest score. The two best sections of each
    run are pinned; of those with the same headings in one file, versions of a section, the first
    whose score is at least ``near`` times their best. A label of a hit names the alternative
    that ranks it best, if there is one. Runs with required terms do not use the alternatives.
    """

    needs: ClassVar[tuple[str, ...]] = ("fusers", "alternatives")

    each_weight: Annotated[float, Field(gt=0, le=1)] = 0.3
    each_pool: Annotated[int, Field(ge=1)] = 10
    agreement: Annotated[float, Field(ge=0, le=1)] = 0.5
    near: Annotated[float, Field(gt=0, le=1)] = 0.9
    k: RrfK = RRF_K

    def applies(self, query: Query) -> bool:
        """Tell whether the query has alternatives, and is not a run with required terms."""
        return bool(query.alternatives) and not query.must

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the run of all wordings as one text, and one run for each wording."""
        plain = replace(query, alternatives=(), required=())
        together = replace(plain, text=" ".join((query.text, *query.alternatives)))
        each = replace(plain, pool=self.each_pool)
        others = (
            Run(f"{ALTERNATIVE}{number}", replace(each, text=text), self.each_weight)
            for number, text in enumerate(query.alternatives, start=1)
        )
        return (Run(TOGETHER, together), Run(QUERY, each, self.each_weight), *others)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge the runs, and label each hit with the wording that ranks it best."""
        shares: defaultdict[tuple[str, int], list[tuple[float, str]]] = defaultdict(list)
        for run, ranking in outcomes:
            top = top_score(ranking)
            for rank, hit in enumerate(ranking.hits):
                share = run.weight * normal(hit.score, top) * self.k / (self.k + rank)
                shares[hit.passage.key].append((share, run.name))
        pinned = _best_of_each(outcomes, self.near)
        scale = top_score(*(outcome.ranking for outcome in outcomes))
        hits = []
        for fused in merge_rankings(outcomes, self.k):
            best, *others = sorted(shares[fused.hit.passage.key], reverse=True)
            more = self.agreement * sum(share for share, _ in others)
            labels = [name for _, name in (best, *others) if name.startswith(ALTERNATIVE)][:1]
            labels += pinned.get(fused.hit.passage.key, ())
            hits.append(fused.hit.scored(scale * (best[0] + more) / (1 + self.agreement), *labels))
        return fused_ranking(hits, outcomes)


def _best_of_each(
    outcomes: Sequence[Outcome], near: float
) -> dict[tuple[str, int], tuple[str, ...]]:
    """Label the two best hits of each run; versions of a section are one."""
    labels: dict[tuple[str, int], tuple[str, ...]] = {}
    for _, ranking in outcomes:
        for place, hits in enumerate(islice(_versions(ranking.hits), _OF_EACH)):
            least = near * hits[0].score
            key = min(hit.passage.key for hit in hits if hit.score >= least)
            if not place:
                labels[key] = (PINNED_TOP,)
            else:
                labels.setdefault(key, (PINNED_TOP, SECOND))
    return labels


def _versions(hits: Sequence[Hit]) -> Iterable[Sequence[Hit]]:
    """Return the hits with equal path and headings together, in order of the best.

    A section that begins where another with its headings ends is no version of it: it goes on.
    """
    ends = {(*_headings(hit), hit.passage.end_line + 1) for hit in hits}
    alike: dict[tuple[str | int, ...], list[Hit]] = {}
    for hit in hits:
        key: tuple[str | int, ...] = _headings(hit)
        begun = (*key, hit.passage.start_line)
        alike.setdefault(begun if begun in ends else key, []).append(hit)
    return alike.values()


def _headings(hit: Hit) -> tuple[str, ...]:
    return (hit.passage.path, *hit.passage.ancestors, hit.passage.title)
