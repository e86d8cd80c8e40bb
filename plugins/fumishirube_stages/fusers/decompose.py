"""Comparisons: a run for each side, so that neither side is missing from the result."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from fumishirube import (
    Corpus,
    Env,
    Hit,
    Holds,
    Outcome,
    Query,
    Ranking,
    Run,
    Stage,
    fused_ranking,
    merge_rankings,
)
from fumishirube.agreed_names import PINNED_TOP, RRF_K, SIDE
from fumishirube.text import fold, is_hiragana
from fumishirube_stages.fused_scores import RrfK, normal

BASE = "base"

_JAPANESE = re.compile(
    r"^(?P<both>.+?)(?:(?<!こ)と)?(?:の(?:違い|ちがい|相違|差|比較|どちら|どっち)|を比較|を比べ|で比べ"
    r"|はどう(?:違|ちが)|はどちら|で?[はの]何が(?:違|ちが)|は(?:違い|違う|ちがい|ちがう))"
)
_IN_SIDE = r"(?:[^?.!,;]|[.,](?=\w))"
"""A character of a side: a decimal point, as in 3.11, and the point of a file's name end none."""
_ENGLISH = (
    re.compile(rf"\bdifferences? between (?P<a>.+?) and (?P<b>{_IN_SIDE}+)"),
    re.compile(rf"\bcompar(?:e|ing|ison of) (?P<a>.+?) (?:with|and|to) (?P<b>{_IN_SIDE}+)"),
    re.compile(rf"(?:^|\b)(?P<a>{_IN_SIDE}+?) (?:vs\.?|versus) (?P<b>{_IN_SIDE}+)"),
)
_LONGEST = 1_000
"""The most characters of a comparison; matching takes quadratic time."""
_CLAUSE_END = re.compile(r"[。、!?]|,(?!\d)")


class Decompose(Stage):
    """Splits a comparison into the question and its two sides, and merges their rankings.

    The sections are ordered by ``base_weight`` times their share of the question's highest score,
    plus the rest of the weight times their share of the highest sum of reciprocal ranks. The first
    then has the highest score of the question's own ranking, the second its second, and so on: a
    section far ahead of all others stays so. The best section of each side is moved among the first
    five. Any other query is a single run. ``max_sub_queries`` counts the question too: with 2, the
    second side has no run.
    """

    enabled: Annotated[bool, Env("MANUAL_FIND_QUERY_DECOMP_ENABLED")] = True
    max_sub_queries: Annotated[
        int, Field(ge=1, le=8), Env("MANUAL_FIND_QUERY_DECOMP_MAX_SUB_QUERIES")
    ] = 3
    rrf_k: Annotated[RrfK, Env("MANUAL_FIND_QUERY_DECOMP_RRF_K")] = RRF_K
    base_weight: Annotated[
        float, Field(ge=0, le=1), Env("MANUAL_FIND_QUERY_DECOMP_BASE_WEIGHT")
    ] = 0.3

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query, and then the sides of a comparison."""
        base = Run(BASE, query)
        if not self.enabled:
            return (base,)
        split = query.state.shared(dict[str, tuple[str, ...]], "decompose")
        if query.text not in split:
            split[query.text] = sides(query.text, corpus)
        subs = [Run(f"{SIDE}{side}", replace(query, text=side)) for side in split[query.text]]
        return (base, *subs)[: self.max_sub_queries]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Blend the ranking of the question with the ranks of its sides; keep its scores."""
        if not any(outcome.ranking.hits for outcome in outcomes[1:]):
            return outcomes[0].ranking
        merged = merge_rankings(outcomes, self.rrf_k)
        base = {hit.passage.key: hit.score for hit in outcomes[0].ranking.hits}
        top_base = max(base.values(), default=0.0)
        top_rank = merged[0].score
        pinned = {o.ranking.hits[0].passage.key for o in outcomes[1:] if o.ranking.hits}
        hits = []
        for fused in merged:
            key = fused.hit.passage.key
            rank = normal(fused.score, top_rank)
            score = self.base_weight * normal(base.get(key, 0.0), top_base)
            score += (1 - self.base_weight) * rank
            labels = ("query_decomp_rrf", PINNED_TOP) if key in pinned else ("query_decomp_rrf",)
            hits.append(fused.hit.scored(score, *labels))
        hits.sort(key=Hit.sort_key)
        levels = sorted(base.values(), reverse=True) or [max(fused.best for fused in merged)]
        return fused_ranking([*_at_levels(hits, levels)], outcomes)


def _at_levels(hits: Sequence[Hit], levels: Sequence[float]) -> Iterator[Hit]:
    """Yield hits with the scores of other ones, rank by rank.

    Hits after them have the last of these scores, in proportion to their own ones.
    """
    last = hits[: len(levels)][-1].score
    for place, hit in enumerate(hits):
        beyond = levels[-1] * normal(hit.score, last)
        yield hit.scored(levels[place] if place < len(levels) else beyond)


def sides(text: str, corpus: Corpus) -> tuple[str, ...]:
    """Return the two folded sides of a comparison; empty for any other text."""
    folded = fold(text)
    if len(folded) > _LONGEST:
        return ()
    for pattern in _ENGLISH:
        match = pattern.search(folded)
        if match:
            return _sound(match["a"], match["b"])
    japanese = _JAPANESE.match(folded)
    return _split_at_to(japanese["both"], corpus) if japanese else ()


def _split_at_to(both: str, corpus: Corpus) -> tuple[str, ...]:
    """Split at と between two sides; within hiragana only if both sides occur in the corpus."""
    both = _CLAUSE_END.split(both)[-1]
    for place in (place for place, character in enumerate(both) if character == "と"):
        pair = _sound(both[:place], both[place + 1 :])
        around = (both[place - 1 : place], both[place + 1 : place + 2])
        inside = all(map(is_hiragana, around))
        if pair and (not inside or all(corpus.count(Holds(side), 1).number for side in pair)):
            return pair
    return ()


def _sound(left: str, right: str) -> tuple[str, ...]:
    """Return the sides if they differ and each has two characters, or one that is not hiragana."""
    pair = tuple(side.strip(" 「」『』()\"'") for side in (left, right))
    enough = all(len(side) > 1 or (side and not is_hiragana(side)) for side in pair)
    return pair if enough and pair[0] != pair[1] else ()
