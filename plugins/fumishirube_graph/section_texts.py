"""Full-text search over one generation: finds any substring, with an exact BM25."""

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

from fumishirube_graph.records import Doc
from fumishirube_graph.texts import encoded

_K1, _B = 1.2, 0.75
_TITLE, _HEADING = 3, 2
_CACHED_UNITS = 64


class SectionPlace(NamedTuple):
    """A section: its document, and its number in it."""

    doc: Doc
    number: int


class ScoredSection(NamedTuple):
    """A section and its BM25 score."""

    place: SectionPlace
    score: float


class SectionTexts:
    """The folded texts of all sections, ordered by path and line.

    Each new text is counted in all of them, which takes some ten milliseconds.
    """

    def __init__(self, docs: Sequence[Doc]) -> None:
        self._docs = docs
        self._places = [
            SectionPlace(doc, number)
            for doc in docs
            for number in range(len(doc.record.parts) or 1)
        ]
        self._unit_cache: dict[str, _UnitMatches] = {}
        self._lock = Lock()

    @cached_property
    def everything(self) -> _SectionColumns:
        """The texts of all sections."""
        total = sum(doc.searched.characters for doc in self._docs)
        return _SectionColumns.of(self._docs, total / self.size if self.size else 0.0)

    @property
    def size(self) -> int:
        """The number of sections."""
        return len(self._places)

    def search_texts(
        self, units: Sequence[str], within: frozenset[str] | None, share: float
    ) -> SectionMatches:
        """Return the sections that contain the units.

        A section must contain all units, or the given share of them, in any field. At least one
        must be in its content or heading, unless it is the first section of its document.
        """
        each = [self._unit_matches(unit) for unit in dict.fromkeys(units)]
        if not each:
            return SectionMatches(self._places, (), ())
        scored = _all_of(each) if share >= 1 else _share_of(each, share)
        by_title = frozenset.intersection(*(matches.by_title for matches in each))
        if by_title:
            scored = _filtered(scored, lambda n: n not in by_title or self._places[n].number == 0)
        if within is not None:
            scored = _filtered(scored, lambda n: self._places[n].doc.path in within)
        return SectionMatches(self._places, *scored)

    def _unit_matches(self, unit: str) -> _UnitMatches:
        """Return the matches of a unit, from memory or by a search."""
        matches = self._unit_cache.get(unit)
        if matches is None:
            matches = self._look(unit)
            with self._lock:
                self._unit_cache[unit] = matches
                if len(self._unit_cache) > _CACHED_UNITS:
                    del self._unit_cache[next(iter(self._unit_cache))]
        return matches

    def _look(self, unit: str) -> _UnitMatches:
        """Search a unit in the texts, and score its matches."""
        weights, by_title = self.everything.weights(encoded(unit))
        count = len(weights) - weights.count(0)
        # No frequency exceeds the number of sections; the 1 inside keeps the logarithm positive.
        rarity = math.log(1 + (self.size - count + 0.5) / (count + 0.5)) * (_K1 + 1)
        norms = zip(weights, self.everything.norms, strict=True)
        return _UnitMatches(
            array("L", compress(range(self.size), weights)),
            array("d", [rarity * weight / (weight + norm) for weight, norm in norms if weight]),
            frozenset(by_title),
        )


class _SectionColumns(NamedTuple):
    """The folded texts of sections in columns, and their BM25 norms."""

    norms: list[float]
    contents: list[bytes]
    headings: list[bytes]
    all_headings: bytes
    titles: list[tuple[bytes, range]]
    all_titles: bytes

    @classmethod
    def of(cls, docs: Iterable[Doc], mean: float) -> _SectionColumns:
        """Return the sections of documents, of a ``mean`` length with titles and headings."""
        lengths: list[int] = []
        contents: list[bytes] = []
        headings: list[bytes] = []
        titles: list[tuple[bytes, range]] = []
        for doc in docs:
            texts = doc.searched
            titles.append((texts.title, range(len(lengths), len(lengths) + len(texts.lengths))))
            lengths += texts.lengths
            headings += texts.headings
            contents += texts.contents
        each = _K1 * _B / mean if mean else 0.0
        norms = [_K1 * (1 - _B) + each * length for length in lengths]
        all_titles = b"\n".join(title for title, _ in titles)
        return cls(norms, contents, headings, b"\n".join(headings), titles, all_titles)

    def weights(self, unit: bytes) -> tuple[list[int], list[int]]:
        """Return the weighted count of a unit by section, and the sections with title matches."""
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


class _UnitMatches(NamedTuple):
    """The sections that match a unit, in order, their scores, and those with title matches only."""

    numbers: array[int]
    values: array[float]
    by_title: frozenset[int]


_ScoredSections: TypeAlias = tuple[Sequence[int], Sequence[float]]
"""The numbers of sections, in order, and the score of each."""


def _all_of(each: Sequence[_UnitMatches]) -> _ScoredSections:
    """Return the sections that contain all units."""
    first, *rest = sorted(each, key=lambda matches: len(matches.numbers))
    numbers: Sequence[int] = first.numbers
    values: Sequence[float] = first.values
    for matches in rest:
        by_number = dict(zip(matches.numbers, matches.values, strict=True))
        more = [*map(by_number.get, numbers)]  # a score is never zero
        numbers = [*compress(numbers, more)]
        values = [value + other for value, other in zip(values, more, strict=True) if other]
    return numbers, values


def _share_of(each: Sequence[_UnitMatches], share: float) -> _ScoredSections:
    """Return the sections that contain a share of the units, with lower scores for fewer units."""
    present: Counter[int] = Counter()
    scores: dict[int, float] = {}
    for matches in each:
        present.update(matches.numbers)
        for number, value in zip(matches.numbers, matches.values, strict=True):
            scores[number] = scores.get(number, 0.0) + value
    # Rounded to a whole number of units, to undo floating-point noise.
    needed = max(1, math.ceil(share * len(each) - 1e-9))
    numbers = sorted(number for number, count in present.items() if count >= needed)
    return numbers, [scores[n] * present[n] / len(each) for n in numbers]


def _filtered(scored: _ScoredSections, included: Callable[[int], bool]) -> _ScoredSections:
    numbers, values = scored
    chosen = [included(number) for number in numbers]
    return [*compress(numbers, chosen)], [*compress(values, chosen)]


class SectionMatches:
    """The matching sections, in the order of paths and lines."""

    def __init__(
        self, places: Sequence[SectionPlace], numbers: Sequence[int], scores: Sequence[float]
    ) -> None:
        self._places = places
        self._numbers = numbers
        self._scores = scores

    @property
    def total(self) -> int:
        """The number of matching sections."""
        return len(self._numbers)

    def best(self, limit: int | None) -> list[ScoredSection]:
        """Return the best sections, best first; ties by path and line."""
        each = range(len(self._numbers))
        chosen = nlargest(len(each) if limit is None else limit, each, key=self._scores.__getitem__)
        return [ScoredSection(self._places[self._numbers[at]], self._scores[at]) for at in chosen]
