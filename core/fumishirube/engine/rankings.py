"""Reciprocal rank fusion: how rankings are merged by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube.model import Hit, LeftOut, Ranking
from fumishirube.query import Outcome

RRF_K = 60
"""The constant of the paper, used where a fuser has no other, or fails."""


class FusedHit(NamedTuple):
    """A hit with its fused score, and the best score of a single run."""

    hit: Hit
    score: float
    best: float


def merge_rankings(outcomes: Sequence[Outcome], k: int = RRF_K) -> list[FusedHit]:
    """Return every hit once, best fused score first; labels and matches are united.

    Cormack, Clarke and Buettcher (2009): every ranking adds ``weight / (k + rank)``.
    """
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
    """Return the better scored of two hits of one passage, with the labels and matches of both."""
    if first is second:
        return first
    better, worse = (first, second) if first.score >= second.score else (second, first)
    same = better.labels == worse.labels and better.matched == worse.matched
    if same and better.coverage >= worse.coverage:
        return better
    return Hit(
        better.passage,
        better.score,
        better.labels | worse.labels,
        max(better.coverage, worse.coverage),
        better.matched + tuple(m for m in worse.matched if m not in better.matched),
        better.signals,
        better.places,
    )


def fused_ranking(hits: Sequence[Hit], outcomes: Sequence[Outcome]) -> Ranking:
    """Return a ranking of these hits, with the left-out rows and diagnostics of the runs.

    A section that is among the hits is not left out, even if a run left it out.
    """
    left: dict[LeftOut, None] = {}
    returned = {hit.passage.key for hit in hits}
    diagnostics: dict[str, JsonValue] = {}
    for outcome in outcomes:
        for row in outcome.ranking.left_out:
            if (row.path, row.start_line) not in returned:
                left[row] = None
        diagnostics = {**outcome.ranking.diagnostics, **diagnostics}
    ordered = tuple(sorted(hits, key=Hit.sort_key))
    return Ranking(ordered, tuple(left), diagnostics)


def merge_by_rank(outcomes: Sequence[Outcome]) -> Ranking:
    """Return the runs merged by rank alone; a single ranking is unchanged."""
    if len(outcomes) == 1:
        return outcomes[0].ranking
    return fused_ranking([m.hit.scored(m.score) for m in merge_rankings(outcomes)], outcomes)
