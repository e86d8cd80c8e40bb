"""Vectors in rows, multiplied by numpy where it is installed, and the best of their sections."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from operator import mul
from typing import Any, NamedTuple

from fumishirube.corpus_kinds import SimilarSection


class RowGroups(NamedTuple):
    """Sections with vectors, by path and number: where the rows of each begin, and the rows."""

    places: Sequence[tuple[str, int]]
    starts: Sequence[int]
    rows: Sequence[int]

    @classmethod
    def of(cls, sections: Iterable[tuple[tuple[str, int], Sequence[int]]]) -> RowGroups:
        """Join the rows of sections, of which each has at least one."""
        places, starts, flat = list[tuple[str, int]](), list[int](), list[int]()
        for place, rows in sections:
            places.append(place)
            starts.append(len(flat))
            flat.extend(rows)
        return cls(places, starts, flat)


class VectorRows:
    """Vectors of one number of dimensions, in the order in which they were added."""

    def __init__(self) -> None:
        self._flat = array("f")
        self.dimensions = 0

    def __len__(self) -> int:
        return len(self._flat) // self.dimensions if self.dimensions else 0

    def add(self, data: bytes) -> None:
        """Append a vector; raise if it has other dimensions than those before, or is not finite."""
        vector = array("f")
        vector.frombytes(data)
        if self.dimensions not in (0, len(vector)) or not math.isfinite(sum(vector)):
            raise ValueError("a vector has other dimensions, or is not finite")
        self.dimensions = len(vector)
        self._flat.extend(vector)

    def row(self, number: int) -> Sequence[float]:
        """Return a vector."""
        return self._flat[number * self.dimensions : (number + 1) * self.dimensions]

    def best(
        self, vector: Sequence[float], sections: RowGroups
    ) -> tuple[Sequence[int], Sequence[float]]:
        """Return the numbers of the sections, most similar first, and each section's similarity.

        That is the highest product of a vector with one of its rows. Equal ones stay in order.
        """
        _, groups, rows = sections
        numpy = _numpy()
        if numpy is None:
            values = [sum(map(mul, vector, self.row(row))) for row in rows]
            ends = [*groups[1:], len(rows)]
            tops = [max(values[start:end]) for start, end in zip(groups, ends, strict=True)]
            return sorted(range(len(tops)), key=lambda place: -tops[place]), tops
        matrix = numpy.frombuffer(self._flat, "f4").reshape(-1, self.dimensions)
        products = matrix @ numpy.asarray(vector, "f4")
        highest = numpy.maximum.reduceat(products[numpy.asarray(rows)], numpy.asarray(groups))
        order: Sequence[int] = numpy.argsort(-highest, kind="stable").tolist()
        return order, highest.tolist()


def first_sections(
    ranked: Iterable[SimilarSection],
    limit: int,
    within: frozenset[str] | None,
    per_file: int | None,
) -> Sequence[SimilarSection]:
    """Return the first of some ranked sections: of wanted files, and at most so many of each."""
    counts: Counter[str] = Counter()
    chosen: list[SimilarSection] = []
    for section in ranked:
        if len(chosen) == limit:
            break
        counts[section.path] += 1
        wanted = within is None or section.path in within
        if wanted and counts[section.path] <= (per_file or counts[section.path]):
            chosen.append(section)
    return chosen


@cache
def _numpy() -> Any:
    """Return numpy, which takes a tenth of a second to import, or ``None`` without it."""
    try:
        return import_module("numpy")
    except ImportError:
        return None
