"""Corpora on other machines: fewer round trips, and parts that do not answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from fumishirube.corpus import Corpus


@runtime_checkable
class DistantCorpus(Protocol):
    """A corpus of which every question costs a round trip, unless several are sent together."""

    def rehearse(self, search: Callable[[Corpus], object]) -> None:
        """Run a search a few times to learn what it will ask, and fetch these answers together.

        Each time the search gets a corpus that answers what is known, and otherwise nothing, zero
        or an empty page; its result is dropped.
        """
        ...

    def unsearched(self, since: float) -> str | None:
        """Return which part of the corpus did not answer since a :func:`time.monotonic`."""
        ...


def rehearse(corpus: object, search: Callable[[Corpus], object]) -> None:
    """Fetch in advance what a search will ask of a corpus, if that saves round trips."""
    if isinstance(corpus, DistantCorpus):
        corpus.rehearse(search)


def unsearched(corpus: object, since: float) -> str | None:
    """Return which part of a corpus did not answer, as a sentence for the caller."""
    return corpus.unsearched(since) if isinstance(corpus, DistantCorpus) else None
