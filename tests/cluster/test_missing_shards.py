"""Answers of only some shards: which search is told of them, and for how long they are kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch import searches
from fumishirube_opensearch.corpus import SharedCorpus
from fumishirube_opensearch.generations import IndexRecord
from fumishirube_opensearch.searches import Searches

from fumishirube import Bool, Everything, Fields, Holds
from fumishirube.testing import PlainTokenizer

ALL = {"total": 3, "successful": 3, "failed": 0}
TWO = {"total": 3, "successful": 2, "failed": 1}


class Replies:
    """Finds nothing, in as many shards as it is told; it counts the searches."""

    multiplies = True

    def __init__(self, shards: Mapping[str, int]) -> None:
        self.shards = shards
        self.asked = 0

    def searches(self, index: str, bodies: Sequence[Any], *, whole: bool) -> list[Any]:
        self.asked += len(bodies)
        hits = {"hits": [], "total": {"value": 0}}
        return [{"_shards": self.shards, "hits": hits} for _ in bodies]


def test_a_search_is_told_of_what_its_own_answers_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster: Any = Replies(TWO)
    made = Searches(cluster, "i", whole=False)
    first = time.monotonic()
    made.answers([{"query": 1}])
    assert made.unsearched(first) == "1 of 3 shards not searched; see the health of the cluster"

    second = time.monotonic()
    made.answers([{"query": 1}])
    assert cluster.asked == 1, "for a moment such an answer is cached"
    assert made.unsearched(second) == made.unsearched(first)

    monkeypatch.setattr(searches, "_SHORT", 0.05)
    cluster.shards, third = ALL, time.monotonic()
    time.sleep(0.1)
    made.answers([{"query": 1}])
    assert made.unsearched(third) is None
    assert made.unsearched(first) is not None, "what an earlier search lacked is not forgotten"


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "_ANSWERS", 10)
    cluster: Any = Replies(TWO)
    made = Searches(cluster, "i", whole=False)
    for number in range(100):
        made.answers([{"query": number}, {"query": -number}])
    sizes = [len(value) for value in vars(made).values() if hasattr(value, "__len__")]
    assert sizes
    assert max(sizes) <= 10


def test_what_only_some_shards_say_of_a_text_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searches, "_SHORT", 0.0)
    cluster: Any = Replies(TWO)
    record = IndexRecord(index="i", ranges=((1, 1),), searched=1)
    made = Searches(cluster, "i", whole=False)
    corpus = SharedCorpus("m", record, Fields(("title", "body"), PlainTokenizer()), made, 500)
    clause = Bool(must=(Holds("a text"), Everything()))
    asked = []
    for shards in (TWO, ALL, ALL):
        cluster.shards, before = shards, cluster.asked
        corpus.count(clause)
        asked.append(cluster.asked - before)
    assert asked == [2, 2, 0]
