"""A query as a corpus understands it: its terms by their worth, and the concepts they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fumishirube import Clause, Corpus
from fumishirube.text import Concept, is_cjk, occurrences, occurs

_BETWEEN = "\u3005"
"""A character that Japanese text may go on with, on either side of a word."""


class WeightedConcept(NamedTuple):
    """A concept, the share of it that each of its terms stands for, and its rarity."""

    text: str
    shares: Mapping[str, float]
    weight: float


class WeightedTerm(NamedTuple):
    """A term, its weight times its rarity, its share of the coverage, and how it is counted."""

    term: str
    value: float
    share: float
    counted: Callable[[str, str], int]


class QueryAnalysis(NamedTuple):
    """A query as this corpus understands it."""

    clause: Clause
    anywhere: Clause
    groups: tuple[WeightedConcept, ...]
    terms: tuple[WeightedTerm, ...]
    coverage_bonus: float
    average: float

    def matched(self, text: str) -> tuple[str, ...]:
        """Return the concepts that stand in a text, or else the longest parts of them."""
        whole = tuple(group.text for group in self.groups if occurs(text, group.text))
        return whole or tuple(_parts(self.groups, text))


def weighted_term(term: str, value: float, share: float) -> WeightedTerm:
    """Return a term with the way in which it is counted: words as a whole, Japanese anywhere."""
    return WeightedTerm(term, value, share, occurrences if term.isascii() else str.count)


def weighted_concept(concept: Concept, corpus: Corpus, idf: Mapping[str, float]) -> WeightedConcept:
    """Return a concept with its terms, by their rarity."""
    terms = tuple(dict.fromkeys(corpus.terms(concept.text))) or (concept.text,)
    total = sum(idf.get(term, 0.0) for term in terms)
    shares = {term: idf.get(term, 0.0) / (total or 1.0) for term in terms}
    return WeightedConcept(concept.text, shares, total / len(terms))


def is_part(text: str, corpus: Corpus) -> bool:
    """Tell whether an index may hold a text as a part of longer terms alone.

    A single Japanese character is one, and whatever is shorter than the terms of the tokenizer.
    """
    if len(text) == 1 or text.isascii() or not all(map(is_cjk, text)):
        return len(text) == 1 and not text.isascii()
    embedded = corpus.terms(f"{_BETWEEN}{text}{_BETWEEN}")
    return text not in embedded and [*corpus.terms(text)] == [text]


def coverage_shares(groups: Iterable[WeightedConcept]) -> Mapping[str, float]:
    """Return each term's share of the coverage: of its concepts, weighted by their rarity."""
    groups = tuple(groups)
    total = sum(group.weight for group in groups) or 1.0
    shares: dict[str, float] = {}
    for group in groups:
        for term, share in group.shares.items():
            shares[term] = shares.get(term, 0.0) + group.weight * share / total
    return shares


def _parts(groups: Iterable[WeightedConcept], text: str) -> Iterable[str]:
    """Yield the longest part of each concept that stands in a text, from two characters on."""
    for group in groups:
        wanted = group.text
        parts = (
            wanted[start : start + length]
            for length in range(len(wanted) - 1, 1, -1)
            for start in range(len(wanted) - length + 1)
        )
        longest = next((part for part in parts if occurs(text, part)), None)
        if longest:
            yield longest
