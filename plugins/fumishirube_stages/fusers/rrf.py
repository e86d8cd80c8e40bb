"""Reciprocal rank fusion: the one place where rankings are merged by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Hit, LeftOut, Outcome, Query, Ranking, Run, Stage


class Rrf(Stage):
    """Merges the rankings of its runs by rank; by itself it runs the query once.

    Cormack, Clarke and Buettcher (2009): every ranking adds ``weight / (k + rank)``.
    """

    k: Annotated[int, Field(ge=1)] = 60

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query as the only run."""
        return (Run("query", query),)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge by rank; a single ranking stays as it is."""
        if len(outcomes) == 1:
            return outcomes[0].ranking
        return ranked([m.hit.scored(m.score) for m in merge(outcomes, self.k)], outcomes)


class FusedHit(NamedTuple):
    """A hit with its fused score, and the best score that a single run gave it."""

    hit: Hit
    score: float
    best: float


def merge(outcomes: Sequence[Outcome], k: int) -> list[FusedHit]:
    """Return every hit once, best fused score first; marks and matches are united."""
    merged: dict[tuple[str, int], FusedHit] = {}
    for run, ranking in outcomes:
        for rank, hit in enumerate(ranking.hits, start=1):
            key = hit.passage.key
            added = run.weight / (k + rank)
            before = merged.get(key)
            if before is None:
                merged[key] = FusedHit(hit, added, hit.score)
                continue
            merged[key] = FusedHit(
                united_hit(before.hit, hit), before.score + added, max(before.best, hit.score)
            )
    return sorted(merged.values(), key=lambda m: (-m.score, *m.hit.sort_key()))


def united_hit(first: Hit, second: Hit) -> Hit:
    """Return the better scored of two hits of one passage, with the marks and matches of both."""
    if first is second:
        return first
    better, worse = (first, second) if first.score >= second.score else (second, first)
    same = better.labels == worse.labels and better.matched == worse.matched
    if same and better.coverage >= worse.coverage:
        return better
    return better._replace(
        labels=better.labels | worse.labels,
        matched=better.matched + tuple(m for m in worse.matched if m not in better.matched),
        coverage=max(better.coverage, worse.coverage),
    )


def ranked(hits: Sequence[Hit], outcomes: Sequence[Outcome]) -> Ranking:
    """Return a ranking of these hits, in order, with what the runs left out and noted."""
    left: dict[LeftOut, None] = {}
    returned = {hit.passage.key for hit in hits}
    notes: dict[str, object] = {}
    for outcome in outcomes:
        for row in outcome.ranking.left_out:
            if (row.path, row.start_line) not in returned:
                left[row] = None
        notes = {**outcome.ranking.notes, **notes}
    return Ranking(tuple(sorted(hits, key=Hit.sort_key)), tuple(left), notes)  # type: ignore[arg-type]


def normal(value: float, top: float) -> float:
    """Return a value as a share of the top one; 0 when there is no top."""
    return value / top if top > 0 else 0.0
