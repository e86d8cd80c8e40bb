"""Full text over one generation: every section is looked at, so that any substring is found."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from threading import Lock
from typing import NamedTuple

from shirube_builtin.surfaces.graph.records import Doc

_K1, _B = 1.2, 0.75
_TITLE, _HEADING = 3, 2
_KEPT = 64


class Place(NamedTuple):
    """A section: its document, and its number there."""

    doc: Doc
    number: int


class Scored(NamedTuple):
    """A section and its BM25."""

    place: Place
    score: float


class Texts:
    """The folded texts of all sections, in the order of paths and lines.

    Counting in 35,000 sections takes some ten milliseconds, and is exact; a table of all pairs of
    characters would take longer to make than everything else together.
    """

    def __init__(self, docs: Sequence[Doc]) -> None:
        self._places: list[Place] = []
        self._contents: list[str] = []
        self._headings: list[str] = []
        self._titles: list[str] = []
        self._numbers: list[range] = []
        for doc in docs:
            title, sections = doc.folded
            self._titles.append(title)
            start = len(self._places)
            self._numbers.append(range(start, start + len(sections)))
            for number, (heading, content) in enumerate(sections):
                self._places.append(Place(doc, number))
                self._headings.append(heading)
                self._contents.append(content)
        self._known: dict[str, _Worth] = {}
        self._lock = Lock()
        self._all_headings = "\n".join(self._headings)
        self._all_titles = "\n".join(self._titles)
        lengths = [len(content) for content in self._contents]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        self._norms = [_K1 * (1 - _B + _B * n / mean if mean else 1.0) for n in lengths]

    @property
    def size(self) -> int:
        """How many sections there are."""
        return len(self._places)

    def standing(
        self, wanted: Sequence[str], within: frozenset[str] | None, share: float
    ) -> Matches:
        """Return the sections in which the units stand.

        All of them, in whatever field, one of them in content or heading unless the section is its
        document's first; with a share below 1 that share of them is enough.
        """
        each = [self._worth(unit) for unit in dict.fromkeys(wanted)]
        if not each:
            return Matches(self._places, (), {})
        scores = _all_of(each) if share >= 1 else _share_of(each, share)
        by_title = frozenset.intersection(*(one.by_title for one in each))
        numbers: Iterable[int] = scores if share >= 1 else sorted(scores)
        if by_title:
            numbers = (n for n in numbers if n not in by_title or self._places[n].number == 0)
        if within is not None:
            numbers = (n for n in numbers if self._places[n].doc.path in within)
        return Matches(self._places, tuple(numbers), scores)

    def _worth(self, unit: str) -> _Worth:
        """Return what is known of a unit, or look."""
        worth = self._known.get(unit)
        if worth is None:
            worth = self._look(unit)
            with self._lock:
                self._known[unit] = worth
                if len(self._known) > _KEPT:
                    del self._known[next(iter(self._known))]
        return worth

    def _look(self, unit: str) -> _Worth:
        """Return where a unit stands, and what that is worth."""
        weights: dict[int, int] = {
            number: count
            for number, count in enumerate([text.count(unit) for text in self._contents])
            if count
        }
        if unit in self._all_headings:
            for number, heading in enumerate(self._headings):
                if unit in heading:
                    weights[number] = weights.get(number, 0) + _HEADING * heading.count(unit)
        by_title: set[int] = set()
        if unit in self._all_titles:
            for title, places in zip(self._titles, self._numbers, strict=True):
                if unit in title:
                    above = _TITLE * title.count(unit)
                    by_title.update(n for n in places if n not in weights)
                    weights.update((n, weights.get(n, 0) + above) for n in places)
        # More sections than hold it cannot be; one more inside keeps the logarithm positive.
        rarity = math.log(1 + (self.size - len(weights) + 0.5) / (len(weights) + 0.5))
        rarity *= _K1 + 1
        norms = self._norms
        order = sorted(weights) if by_title or unit in self._all_headings else weights
        numbers = array("L", order)
        values = array("d", [rarity * (w := weights[n]) / (w + norms[n]) for n in numbers])
        return _Worth(numbers, values, frozenset(by_title))


class _Worth(NamedTuple):
    """Where a unit stands, its worth in each section, and where only the title has it."""

    numbers: array[int]
    values: array[float]
    by_title: frozenset[int]


def _all_of(each: Sequence[_Worth]) -> dict[int, float]:
    """Return the worth of the sections in which all units stand, in order."""
    first, *rest = sorted(each, key=lambda one: len(one.numbers))
    scores = dict(zip(first.numbers, first.values, strict=True))
    for one in rest:
        known = dict(zip(one.numbers, one.values, strict=True))
        scores = {n: score + known[n] for n, score in scores.items() if n in known}
    return scores


def _share_of(each: Sequence[_Worth], share: float) -> dict[int, float]:
    """Return the worth of the sections in which so many units stand, the less the more miss."""
    present: Counter[int] = Counter()
    scores: dict[int, float] = {}
    for one in each:
        present.update(one.numbers)
        for number, value in zip(one.numbers, one.values, strict=True):
            scores[number] = scores.get(number, 0.0) + value
    # A whole number of texts is meant, whatever fractions make of it.
    needed = max(1, math.ceil(share * len(each) - 1e-9))
    return {n: s * present[n] / len(each) for n, s in scores.items() if present[n] >= needed}


class Matches:
    """The sections that match, in the order of paths and lines."""

    def __init__(
        self, places: Sequence[Place], numbers: Sequence[int], scores: Mapping[int, float]
    ) -> None:
        self._places = places
        self._numbers = numbers
        self._scores = scores

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._numbers)

    def best(self, limit: int | None) -> list[Scored]:
        """Return the best sections, best first, ties by path and line."""
        limit = len(self._numbers) if limit is None else limit
        chosen = nlargest(limit, self._numbers, key=self._scores.__getitem__)
        return [Scored(self._places[number], self._scores[number]) for number in chosen]
