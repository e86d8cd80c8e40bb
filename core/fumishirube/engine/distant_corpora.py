"""Corpora on other machines: fewer round trips, and parts that do not answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from fumishirube.corpus import Corpus


@runtime_checkable
class DistantCorpus(Protocol):
    """A corpus in which every request costs a round trip, unless several are sent together."""

    def rehearse(self, search: Callable[[Corpus], object]) -> None:
        """Run a search a few times to record its requests, and fetch their answers together.

        Each time the search gets a corpus that returns the answers fetched so far, and for other
        requests no hits, zero or an empty page. The result of the search is dropped.
        """
        ...

    def unsearched(self, since: float) -> str | None:
        """Return which part did not answer since a time of :func:`time.monotonic`, if any."""
        ...


def rehearse(corpus: object, search: Callable[[Corpus], object]) -> None:
    """Fetch the answers that a search will request of a corpus, if that saves round trips."""
    if isinstance(corpus, DistantCorpus):
        corpus.rehearse(search)


def unsearched(corpus: object, since: float) -> str | None:
    """Return which part of a corpus did not answer, as a sentence for the caller, if any."""
    return corpus.unsearched(since) if isinstance(corpus, DistantCorpus) else None
