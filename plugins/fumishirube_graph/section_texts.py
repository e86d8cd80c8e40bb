"""Full text over one generation: any substring is found, and what it is worth is exact."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import compress
from threading import Lock
from typing import NamedTuple, TypeAlias

from fumishirube_graph.narrowing import Narrowing
from fumishirube_graph.records import Doc
from fumishirube_graph.texts import encoded

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
        return _Side.of(((doc, self._numbers[doc.path]) for doc in self._docs), self._mean)

    @cached_property
    def _mean(self) -> float:
        """How many characters there are a section, titles and headings included."""
        if self._narrowing is not None:
            total = self._narrowing.characters
        else:
            total = sum(doc.searched.characters for doc in self._docs)
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
            return Matches(self._places, (), ())
        found = _all_of(each) if share >= 1 else _share_of(each, share)
        by_title = frozenset.intersection(*(one.by_title for one in each))
        if by_title:
            found = _kept(found, lambda n: n not in by_title or self._places[n].number == 0)
        if within is not None:
            found = _kept(found, lambda n: self._places[n].doc.path in within)
        return Matches(self._places, *found)

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
            ranges = [self._numbers[path] for path in paths]
            docs = ((self._places[one[0]].doc, one) for one in ranges)
            side = _Side.of(docs, self._mean)
        weights, by_title = side.weights(encoded(unit))
        standing = len(weights) - weights.count(0)
        # More sections than hold it cannot be; one more inside keeps the logarithm positive.
        rarity = math.log(1 + (self.size - standing + 0.5) / (standing + 0.5)) * (_K1 + 1)
        norms = zip(weights, side.norms, strict=True)
        return _Worth(
            array("L", compress(side.numbers, weights)),
            array("d", [rarity * weight / (weight + norm) for weight, norm in norms if weight]),
            frozenset(side.numbers[place] for place in by_title),
        )


class _Side(NamedTuple):
    """The folded texts of some sections side by side, their numbers, and BM25's norms of them."""

    numbers: list[int]
    norms: list[float]
    contents: list[bytes]
    headings: list[bytes]
    all_headings: bytes
    titles: list[tuple[bytes, range]]
    all_titles: bytes

    @classmethod
    def of(cls, docs: Iterable[tuple[Doc, range]], mean: float) -> _Side:
        numbers: list[int] = []
        lengths: list[int] = []
        contents: list[bytes] = []
        headings: list[bytes] = []
        titles: list[tuple[bytes, range]] = []
        for doc, those in docs:
            texts = doc.searched
            titles.append((texts.title, range(len(numbers), len(numbers) + len(those))))
            numbers += those
            lengths += texts.lengths
            headings += texts.headings
            contents += texts.contents
        each = _K1 * _B / mean if mean else 0.0
        norms = [_K1 * (1 - _B) + each * length for length in lengths]
        all_titles = b"\n".join(title for title, _ in titles)
        return cls(numbers, norms, contents, headings, b"\n".join(headings), titles, all_titles)

    def weights(self, unit: bytes) -> tuple[list[int], list[int]]:
        """Return how much of a unit stands in each section, and where only the title has it."""
        weights = [text.count(unit) for text in self.contents]
        if unit in self.all_headings:
            named = [place for place, heading in enumerate(self.headings) if unit in heading]
            for place in named:
                weights[place] += _HEADING * self.headings[place].count(unit)
        by_title: list[int] = []
        if unit in self.all_titles:
            for title, places in self.titles:
                if unit in title:
                    by_title += [place for place in places if not weights[place]]
                    above = _TITLE * title.count(unit)
                    for place in places:
                        weights[place] += above
        return weights, by_title


class _Worth(NamedTuple):
    """Where a unit stands, in order, its worth in each section, and where only the title has it."""

    numbers: array[int]
    values: array[float]
    by_title: frozenset[int]


_Found: TypeAlias = tuple[Sequence[int], Sequence[float]]
"""The numbers of sections, in order, and what each is worth."""


def _all_of(each: Sequence[_Worth]) -> _Found:
    """Return the sections in which all units stand."""
    first, *rest = sorted(each, key=lambda one: len(one.numbers))
    numbers: Sequence[int] = first.numbers
    values: Sequence[float] = first.values
    for one in rest:
        known = dict(zip(one.numbers, one.values, strict=True))
        more = [*map(known.get, numbers)]  # no worth is zero
        numbers = [*compress(numbers, more)]
        values = [value + other for value, other in zip(values, more, strict=True) if other]
    return numbers, values


def _share_of(each: Sequence[_Worth], share: float) -> _Found:
    """Return the sections in which so many units stand; they are worth the less the more miss."""
    present: Counter[int] = Counter()
    scores: dict[int, float] = {}
    for one in each:
        present.update(one.numbers)
        for number, value in zip(one.numbers, one.values, strict=True):
            scores[number] = scores.get(number, 0.0) + value
    # A whole number of texts is meant, whatever fractions make of it.
    needed = max(1, math.ceil(share * len(each) - 1e-9))
    numbers = sorted(number for number, count in present.items() if count >= needed)
    return numbers, [scores[n] * present[n] / len(each) for n in numbers]


def _kept(found: _Found, wanted: Callable[[int], bool]) -> _Found:
    numbers, values = found
    chosen = [wanted(number) for number in numbers]
    return [*compress(numbers, chosen)], [*compress(values, chosen)]


class Matches:
    """The sections that match, in the order of paths and lines."""

    def __init__(
        self, places: Sequence[Place], numbers: Sequence[int], scores: Sequence[float]
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
        each = range(len(self._numbers))
        chosen = nlargest(len(each) if limit is None else limit, each, key=self._scores.__getitem__)
        return [Scored(self._places[self._numbers[at]], self._scores[at]) for at in chosen]
