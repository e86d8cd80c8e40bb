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

from fumishirube_graph.folded_texts import FoldedTexts
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
    def everything(self) -> _AllTexts:
        """The texts of all sections."""
        total = sum(doc.searched.characters for doc in self._docs)
        return _AllTexts.of(self._docs, total / self.size if self.size else 0.0)

    @property
    def size(self) -> int:
        """The number of sections."""
        return len(self._places)

    @cached_property
    def with_text(self) -> int:
        """The number of sections that have more than a heading."""
        return sum(length > 0 for doc in self._docs for length in doc.searched.lengths)

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
        numbers, weights, by_title = self.everything.weights(unit)
        count = len(numbers)
        # No frequency exceeds the number of sections; the 1 inside keeps the logarithm positive.
        rarity = math.log(1 + (self.size - count + 0.5) / (count + 0.5)) * (_K1 + 1)
        norms = map(self.everything.norms.__getitem__, numbers)
        scores = [
            rarity * weight / (weight + norm) for weight, norm in zip(weights, norms, strict=True)
        ]
        return _UnitMatches(array("L", numbers), array("d", scores), frozenset(by_title))


class _AllTexts(NamedTuple):
    """The folded texts of documents, with the number of their first section; BM25 norms."""

    texts: Sequence[tuple[FoldedTexts, int]]
    norms: Sequence[float]

    @classmethod
    def of(cls, docs: Iterable[Doc], mean: float) -> _AllTexts:
        """Return the texts of documents; ``mean`` is the length of a section with its headings."""
        lengths: list[int] = []
        texts: list[tuple[FoldedTexts, int]] = []
        for doc in docs:
            texts.append((doc.searched, len(lengths)))
            lengths += doc.searched.lengths
        each = _K1 * _B / mean if mean else 0.0
        return cls(texts, [_K1 * (1 - _B) + each * length for length in lengths])

    def weights(self, unit: str) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Return the sections that contain a unit, its weighted count in each, and those by title.

        The last ones have it in the title of their document alone.
        """
        near = self.texts
        # A character is looked for among those of a document in a hundredth of the time.
        for character in {*unit}:
            if not character.isascii():
                near = [row for row in near if character in row[0].letters]
        written = encoded(unit)
        numbers: list[int] = []
        weights: list[int] = []
        by_title: list[int] = []
        for texts, first in near:
            if written not in texts.text:
                continue
            in_title, in_headings, in_contents = texts.counts(written)
            each = [
                _HEADING * head + body for head, body in zip(in_headings, in_contents, strict=True)
            ]
            places = range(first, first + len(each))
            if in_title:
                by_title += [place for place, own in zip(places, each, strict=True) if not own]
                numbers += places
                weights += [own + _TITLE * in_title for own in each]
            else:
                numbers += compress(places, each)
                weights += filter(None, each)
        return numbers, weights, by_title


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


class SectionMatches(NamedTuple):
    """The matching sections, in the order of paths and lines."""

    places: Sequence[SectionPlace]
    numbers: Sequence[int]
    scores: Sequence[float]

    @property
    def total(self) -> int:
        """The number of matching sections."""
        return len(self.numbers)

    def best(self, limit: int | None) -> list[ScoredSection]:
        """Return the best sections, best first; ties by path and line."""
        each = range(self.total)
        chosen = nlargest(len(each) if limit is None else limit, each, key=self.scores.__getitem__)
        return [ScoredSection(self.places[self.numbers[at]], self.scores[at]) for at in chosen]
