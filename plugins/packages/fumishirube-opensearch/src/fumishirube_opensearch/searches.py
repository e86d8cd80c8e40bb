"""Sends searches together, and caches the last few answers."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

from fumishirube import FumishirubeError, Passage
from fumishirube_opensearch.clauses import Body
from fumishirube_opensearch.cluster import Cluster, VectorSearch, search_error
from fumishirube_opensearch.sections import section_of
from fumishirube_opensearch.vector_documents import FoundPiece, similar_piece

Search: TypeAlias = Body | VectorSearch
_ANSWERS = 4096
_SHORT = 2.0
"""Seconds for which an answer of only some shards is cached."""
_UNKNOWN: Mapping[str, int] = {"total": 0, "successful": 0}
_SENT, _SENT_CHARACTERS = 500, 20_000_000
"""How many searches one request holds at most, and of about how many characters in all.

The engine takes 100 MB; after many files were replaced, each search lists them.
"""


class SearchKey(NamedTuple):
    """What equal searches share, and how long they are."""

    digest: str
    characters: int


class FoundSection(NamedTuple):
    """A matching section: the engine's id, its score, and its sort key."""

    id: str
    score: float
    sort: tuple[Any, ...]
    passage: Passage


class ClusterAnswer(NamedTuple):
    """The answer of one search: hits, at least how many there are, and shards not searched.

    That of a search of vectors has pieces instead of hits, or an error.
    """

    hits: tuple[FoundSection, ...]
    total: int
    partial: bool
    shards: Mapping[str, int]
    pieces: tuple[FoundPiece, ...] = ()
    error: FumishirubeError | None = None


class Searches:
    """Searches one index of the cluster, with several searches in one round trip."""

    def __init__(self, cluster: Cluster, index: str | None, *, whole: bool) -> None:
        self._cluster = cluster
        self._index = index
        self._whole = whole
        self._answers: dict[SearchKey, tuple[ClusterAnswer, float]] = {}
        self._partial: deque[tuple[Mapping[str, int], float]] = deque(maxlen=_ANSWERS)
        self._lock = Lock()

    @property
    def multiplies(self) -> bool:
        """Whether the engine's BM25 has the factor ``k1 + 1``."""
        return self._cluster.multiplies

    def known(self, body: Search) -> ClusterAnswer | None:
        """Return the cached answer of a search, if any."""
        with self._lock:
            return self._cached(key_of(body))

    def unsearched(self, since: float) -> str | None:
        """Return how many shards the worst answer lacks of those returned since a moment."""
        with self._lock:
            shards = [row for row, when in self._partial if when >= since]
        if not shards:
            return None
        worst = max(shards, key=lambda row: row["total"] - row["successful"])
        number, total = worst["total"] - worst["successful"], worst["total"]
        if not number:
            return "a search of the index took too long, and was not finished"
        return f"{number} of {total} shards not searched; see the health of the cluster"

    def answers(self, bodies: Sequence[Search]) -> Sequence[ClusterAnswer]:
        """Return the answers of some searches, in order."""
        keys = [key_of(body) for body in bodies]
        with self._lock:
            cached = {key: self._cached(key) for key in keys}
        answers = {key: answer for key, answer in cached.items() if answer is not None}
        rows = [(k, b) for k, b in dict(zip(keys, bodies, strict=True)).items() if k not in answers]
        longest = max((key.characters for key, _ in rows), default=1)
        number = max(1, min(_SENT, _SENT_CHARACTERS // longest))
        for at in range(0, len(rows), number):
            part = rows[at : at + number]
            replies = self._cluster.searches(
                str(self._index), [body for _, body in part], whole=self._whole
            )
            fresh = {
                key: _pieces(reply) if isinstance(body, VectorSearch) else _answer(reply)
                for (key, body), reply in zip(part, replies, strict=True)
            }
            answers |= fresh
            self._cache(fresh)
        with self._lock:
            rows_of = (answer.shards for answer in answers.values() if answer.partial)
            self._partial.extend((row, time.monotonic()) for row in rows_of)
        return [answers[key] for key in keys]

    def _cached(self, key: SearchKey) -> ClusterAnswer | None:
        """Return a cached answer; one of only some shards serves only the search that sent it."""
        answer, when = self._answers.get(key, (None, 0.0))
        old = answer is not None and answer.partial and time.monotonic() > when + _SHORT
        return None if old else answer

    def _cache(self, fresh: Mapping[SearchKey, ClusterAnswer]) -> None:
        with self._lock:
            for key in [*self._answers][: max(0, len(self._answers) + len(fresh) - _ANSWERS)]:
                del self._answers[key]
            now = time.monotonic()
            self._answers.update((key, (answer, now)) for key, answer in fresh.items())


def key_of(body: Search) -> SearchKey:
    """Return a key that equal searches share."""
    text = json.dumps(body, sort_keys=True)
    return SearchKey(sha256(text.encode()).hexdigest(), len(text))


def _answer(reply: Mapping[str, Any]) -> ClusterAnswer:
    shards, hits = reply["_shards"], reply["hits"]
    rows = tuple(
        FoundSection(
            hit["_id"],
            hit["_score"] or 0.0,
            tuple(hit["sort"]),
            section_of(hit["sort"][-2], hit["_source"]["data"]),
        )
        for hit in hits["hits"]
    )
    total = hits.get("total", {}).get("value", 0)
    return ClusterAnswer(rows, total, bool(shards["failed"] or reply.get("timed_out")), shards)


def _pieces(reply: Mapping[str, Any]) -> ClusterAnswer:
    if "error" in reply:
        return ClusterAnswer((), 0, partial=True, shards=_UNKNOWN, error=search_error(reply))
    pieces = tuple(similar_piece(hit) for hit in reply["hits"]["hits"])
    shards = reply["_shards"]
    return ClusterAnswer((), 0, bool(shards["failed"]), shards, pieces)
