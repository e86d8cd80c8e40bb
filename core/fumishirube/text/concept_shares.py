"""The share of a query's concepts that each term is, and that a text has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, Protocol

from fumishirube.text.folding import is_cjk, occurs
from fumishirube.text.query_concepts import Concept, chunks
from fumishirube.text.word_forms import FormFinder, TermSource, query_terms

_PARTED = 64
"""The characters of a concept whose parts, a quadratic number, count."""
_BETWEEN = "\u3005"
"""A character that may precede or follow a word in Japanese text."""
_DECIMALS = 9
"""The digits of a coverage that count: the shares of all concepts sum to 1 but for rounding."""


class CountedTerms(TermSource, Protocol):
    """What has terms and their numbers of sections, such as a corpus."""

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return how many sections have each term."""
        ...


class WeightedConcept(NamedTuple):
    """A concept, the share of each of its terms, and its rarity."""

    text: str
    shares: Mapping[str, float]
    weight: float


class ConceptShares(NamedTuple):
    """The concepts of a query in a corpus, and the share of all that each of their terms is.

    ``finders`` has those terms that do not occur in texts themselves.
    """

    groups: tuple[WeightedConcept, ...]
    shares: Mapping[str, float] = MappingProxyType({})
    finders: Mapping[str, FormFinder] = MappingProxyType({})

    @classmethod
    def weighted(
        cls,
        query_concepts: Iterable[Concept],
        corpus: TermSource,
        idf: Mapping[str, float],
        joined: Mapping[str, Sequence[str]],
        finders: Mapping[str, FormFinder],
    ) -> ConceptShares:
        """Return concepts by the rarity of their terms; ``joined`` terms share as their words do.

        Terms without a rarity have no share.
        """
        groups = tuple(weighted_concept(each, corpus, idf) for each in query_concepts)
        return cls(groups, coverage_shares(groups, joined), finders)

    def coverage(self, text: str) -> float:
        """Return the share of the concepts that occur in a folded text, 0 to 1."""
        if not self.groups:
            return 1.0
        present = (share for term, share in self.shares.items() if self._occurs(term, text))
        return min(1.0, round(sum(present), _DECIMALS))

    def matched(self, text: str) -> tuple[str, ...]:
        """Return the concepts in their form in a text, or their longest parts that occur in it."""
        whole: dict[str, None] = {}
        for group in self.groups:
            if occurs(text, group.text):
                whole[group.text] = None
            elif len(group.shares) == 1 and (find := self.finders.get(*group.shares)):
                whole |= dict.fromkeys(find(text)[:1])
        return tuple(whole) or tuple(_parts(self.groups, text))

    def _occurs(self, term: str, text: str) -> bool:
        if finder := self.finders.get(term):
            return bool(finder(text))
        return occurs(text, term) if term.isascii() else term in text


def weighted_concept(
    concept: Concept, corpus: TermSource, idf: Mapping[str, float]
) -> WeightedConcept:
    """Return a concept with its terms, weighted by rarity.

    A term that is the whole concept, as of E104, has all of it: the others are parts of it.
    """
    terms = tuple(dict.fromkeys(query_terms(corpus, concept.text))) or (concept.text,)
    total = sum(idf.get(term, 0.0) for term in terms)
    shares = {term: idf.get(term, 0.0) / (total or 1.0) for term in terms}
    if concept.text in shares:
        shares[concept.text] = 1.0
    return WeightedConcept(concept.text, shares, total / len(terms))


def coverage_shares(
    groups: Iterable[WeightedConcept], joined: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Mapping[str, float]:
    """Return each term's share of the coverage: of its concepts, weighted by their rarity.

    A joined term has the shares of its words.
    """
    groups = tuple(groups)
    total = sum(group.weight for group in groups) or 1.0
    shares: dict[str, float] = {}
    for group in groups:
        for term, share in group.shares.items():
            shares[term] = shares.get(term, 0.0) + group.weight * share / total
    for term, parts in joined.items():
        shares[term] = shares.get(term, 0.0) + sum(shares.get(part, 0.0) for part in parts)
    return shares


def is_part_of_terms(text: str, corpus: TermSource) -> bool:
    """Return whether an index may contain a text only as a part of longer terms.

    This is so for a single Japanese character, and for anything shorter than the tokenizer's terms.
    """
    if len(text) == 1 or text.isascii() or not all(map(is_cjk, text)):
        return len(text) == 1 and not text.isascii()
    embedded = corpus.terms(f"{_BETWEEN}{text}{_BETWEEN}")
    return text not in embedded and [*corpus.terms(text)] == [text]


def joined_terms(
    text: str, corpus: CountedTerms, holds: Callable[[str], bool]
) -> Mapping[str, Sequence[str]]:
    """Return the terms of neighbouring English words that the corpus has only as one word.

    Each has the terms of both words: ``abort signal`` may be written ``AbortSignal``. ``holds``
    tells whether the corpus has two words beside each other.
    """
    pairs = [
        (query_terms(corpus, first.text + second.text), first.text, second.text)
        for first, second in pairwise(chunks(text))
        if _is_word(*first) and _is_word(*second)
    ]
    single = {terms[0]: pair for terms, *pair in pairs if len(terms) == 1}
    counts = corpus.frequencies(single) if single else {}
    return {
        term: [part for word in single[term] for part in query_terms(corpus, word)]
        for term, count in counts.items()
        if count and not holds(" ".join(single[term]))
    }


def _is_word(text: str, its_concepts: Sequence[Concept]) -> bool:
    """Tell whether a part of a query is one English word other than a function word."""
    return text.isascii() and text.isalpha() and bool(its_concepts)


def _parts(groups: Iterable[WeightedConcept], text: str) -> Iterable[str]:
    """Yield the longest part of each concept that occurs in a text, from two characters."""
    for group in groups:
        searched = group.text[:_PARTED]
        parts = (
            searched[start : start + length]
            for length in range(len(searched) - 1, 1, -1)
            for start in range(len(searched) - length + 1)
        )
        longest = next((part for part in parts if occurs(text, part)), None)
        if longest:
            yield longest
