"""The best matches of a clause, and those in other files when few files fill the pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from fumishirube import Bool, Clause, Corpus, IndexMatch, Pages, ScoreCutoff

_Key: TypeAlias = tuple[str, int]


def best_matches(
    corpus: Corpus, clause: Clause, limit: int, cutoff: ScoreCutoff, exclude: frozenset[_Key]
) -> Sequence[IndexMatch]:
    """Return the best matches; the cut-off uses the best match that is not excluded."""
    if not exclude:
        return corpus.search(clause, limit, cutoff)
    best = corpus.search(clause, limit + len(exclude))
    return cutoff.apply([match for match in best if match.passage.key not in exclude][:limit])


def matches_elsewhere(
    corpus: Corpus,
    clause: Clause,
    matches: Sequence[IndexMatch],
    exclude: frozenset[_Key],
    *,
    crowding: int,
    limit: int,
    share: float,
) -> Sequence[IndexMatch]:
    """Return the best matches outside of files with more than ``crowding`` matches already.

    There are at most ``limit``, with estimates of at least ``share`` of the best match's.
    """
    places = Counter(match.passage.path for match in matches)
    crowded = tuple(path for path, number in places.items() if number > crowding)
    if not crowded or not limit:
        return ()
    others = Bool(must=(clause,), must_not=(Pages(crowded),))
    least = share * matches[0].estimate
    excluded = {match.passage.key for match in matches} | exclude
    further = corpus.search(others, limit + len(excluded))
    return [
        match for match in further if match.estimate >= least and match.passage.key not in excluded
    ][:limit]
