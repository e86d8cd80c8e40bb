"""Full text over one generation: any substring is found, and what it is worth is exact."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from threading import Lock
from typing import NamedTuple

from shirube_builtin.surfaces.graph.narrowing import Narrowing, passage_of
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

    Where the index can say which documents may hold a text, only those are looked at. What stands
    almost everywhere is counted in all texts, which takes some ten milliseconds.
    """

    def __init__(self, docs: Sequence[Doc], narrowing: Narrowing | None = None) -> None:
        self._docs = docs
        self._narrowing = narrowing
        self._places: list[Place] = []
        self._numbers: dict[str, range] = {}
        for doc in docs:
            start = len(self._places)
            self._places += [Place(doc, number) for number in range(len(doc.record.parts) or 1)]
            self._numbers[doc.path] = range(start, len(self._places))
        self._known: dict[str, _Worth] = {}
        self._lock = Lock()

    @cached_property
    def everything(self) -> _Side:
        """The texts of all sections."""
        return _Side.of((doc, self._numbers[doc.path]) for doc in self._docs)

    @cached_property
    def _mean(self) -> float:
        """How many characters there are a section, titles and headings included."""
        if self._narrowing is not None:
            total = self._narrowing.characters
        else:
            total = sum(len(passage_of(doc).fields["body"]) for doc in self._docs)
        return total / self.size if self.size else 0.0

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
        paths = self._narrowing.holding(unit) if self._narrowing else None
        if paths is None:
            side = self.everything
        else:
            numbers = [self._numbers[path] for path in paths]
            side = _Side.of((self._places[one[0]].doc, one) for one in numbers)
        weights, by_title = side.weights(unit)
        # More sections than hold it cannot be; one more inside keeps the logarithm positive.
        rarity = math.log(1 + (self.size - len(weights) + 0.5) / (len(weights) + 0.5))
        rarity *= _K1 + 1
        order, lengths, least = sorted(weights), side.lengths, _K1 * (1 - _B)
        each = _K1 * _B / self._mean if order else 0.0
        values = [rarity * (w := weights[n]) / (w + least + each * lengths[n]) for n in order]
        return _Worth(array("L", order), array("d", values), frozenset(by_title))


class _Side(NamedTuple):
    """The folded texts of some sections side by side, under their numbers."""

    lengths: dict[int, int]
    contents: list[str]
    headings: list[str]
    all_headings: str
    titles: list[tuple[str, range]]

    @classmethod
    def of(cls, docs: Iterable[tuple[Doc, range]]) -> _Side:
        lengths: dict[int, int] = {}
        contents: list[str] = []
        headings: list[str] = []
        titles: list[tuple[str, range]] = []
        for doc, numbers in docs:
            title, sections = doc.folded
            titles.append((title, numbers))
            for number, (heading, content) in zip(numbers, sections, strict=True):
                lengths[number] = len(content)
                headings.append(heading)
                contents.append(content)
        return cls(lengths, contents, headings, "\n".join(headings), titles)

    def weights(self, unit: str) -> tuple[dict[int, int], set[int]]:
        """Return how often a unit stands in each section, and where only the title has it."""
        counts = [text.count(unit) for text in self.contents]
        weights = {n: count for n, count in zip(self.lengths, counts, strict=True) if count}
        if unit in self.all_headings:
            for number, heading in zip(self.lengths, self.headings, strict=True):
                if unit in heading:
                    weights[number] = weights.get(number, 0) + _HEADING * heading.count(unit)
        by_title: set[int] = set()
        for title, numbers in self.titles:
            if unit in title:
                above = _TITLE * title.count(unit)
                by_title.update(n for n in numbers if n not in weights)
                weights.update((n, weights.get(n, 0) + above) for n in numbers)
        return weights, by_title


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
