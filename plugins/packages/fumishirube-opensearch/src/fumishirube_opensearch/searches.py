"""Searches sent together, and their answers, of which the last few are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from fumishirube import Passage
from fumishirube_opensearch.clauses import Body
from fumishirube_opensearch.cluster import Cluster
from fumishirube_opensearch.sections import section_of

_ANSWERS = 1024
_SENT = 500
"""How many searches one request holds at most."""


class FoundSection(NamedTuple):
    """A section that was found: the engine's id of it, its worth, and its place in the order."""

    id: str
    score: float
    sort: tuple[Any, ...]
    passage: Passage


class Answer(NamedTuple):
    """What one search found: hits, how many there are, at least, and shards not searched."""

    hits: tuple[FoundSection, ...]
    total: int
    partial: bool
    shards: Mapping[str, int]


class Searches:
    """Asks one index of the cluster, several searches in one round trip."""

    def __init__(self, cluster: Cluster, index: str | None, *, whole: bool) -> None:
        self._cluster = cluster
        self._index = index
        self._whole = whole
        self._answers: dict[str, Answer] = {}
        self._lock = Lock()
        self.round_trips = 0

    @property
    def multiplies(self) -> bool:
        """Whether the engine's BM25 has the factor ``k1 + 1``."""
        return self._cluster.multiplies

    def known(self, body: Body) -> Answer | None:
        """Return the answer of a search, if it is kept."""
        return self._answers.get(_key(body))

    def ask(self, bodies: Sequence[Body]) -> Sequence[Answer]:
        """Return the answers of some searches, in order."""
        keys = [_key(body) for body in bodies]
        with self._lock:
            answers = {key: self._answers[key] for key in keys if key in self._answers}
        rows = [(k, b) for k, b in dict(zip(keys, bodies, strict=True)).items() if k not in answers]
        for at in range(0, len(rows), _SENT):
            part = rows[at : at + _SENT]
            self.round_trips += 1
            replies = self._cluster.searches(
                str(self._index), [body for _, body in part], whole=self._whole
            )
            fresh = {key: _answer(reply) for (key, _), reply in zip(part, replies, strict=True)}
            answers |= fresh
            self._keep(fresh)
        return [answers[key] for key in keys]

    def _keep(self, fresh: Mapping[str, Answer]) -> None:
        with self._lock:
            if len(self._answers) + len(fresh) > _ANSWERS:
                self._answers.clear()
            # What only some shards have answered is asked again the next time.
            self._answers.update((k, answer) for k, answer in fresh.items() if not answer.partial)


def _key(body: Body) -> str:
    return json.dumps(body, sort_keys=True)


def _answer(reply: Mapping[str, Any]) -> Answer:
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
    return Answer(rows, total, bool(shards["failed"] or reply.get("timed_out")), shards)
