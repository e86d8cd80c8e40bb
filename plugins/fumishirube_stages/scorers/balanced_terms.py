"""Balances a query's terms, words of one and Japanese ones of many; the power of its coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fumishirube import Corpus
from fumishirube.text import WeightedConcept, is_cjk, is_hiragana
from fumishirube_stages.scorers.query_analysis import WeightedTerm


def with_whole_words(
    terms: Iterable[WeightedTerm],
    concepts: Iterable[WeightedConcept],
    corpus: Corpus,
    weight: float,
) -> Sequence[WeightedTerm]:
    """Return terms of which words of other scripts count ``weight`` times beside Japanese.

    So they do if Japanese is divided into pairs or the like, not into words. Terms of no concept,
    such as function words, remain.
    """
    if not any(_overlap(concept.text, corpus) for concept in concepts):
        return [*terms]
    return [
        term._replace(value=weight * term.value)
        if term.share and not _is_japanese(term.term)
        else term
        for term in terms
    ]


def evened(
    terms: Sequence[WeightedTerm], concepts: Iterable[WeightedConcept], power: float
) -> Sequence[WeightedTerm]:
    """Return terms of which those of a Japanese concept of n terms count n to ``-power`` times.

    The values of the terms of all Japanese concepts are then raised to the sum that they had.
    """
    factors: dict[str, float] = {}
    for concept in concepts:
        if _is_japanese(concept.text):
            factor = len(concept.shares) ** -power
            factors |= {term: max(factor, factors.get(term, 0.0)) for term in concept.shares}
    before = sum(term.value for term in terms if term.term in factors)
    after = sum(term.value * factors[term.term] for term in terms if term.term in factors)
    if not after:
        return terms
    scale = before / after
    return [
        term._replace(value=term.value * factors[term.term] * scale)
        if term.term in factors
        else term
        for term in terms
    ]


def coverage_power(
    concepts: Sequence[WeightedConcept], usual: float, few_power: float, few: int
) -> float:
    """Return the power of the coverage: ``few_power`` for up to ``few`` Japanese nouns.

    Otherwise it is the ``usual`` one, and less for more concepts. Where a name of another script is
    among few, a section about it may well lack the others, as it may lack the 書 of 書いてあるか.
    """
    if len(concepts) > few:
        return usual * few / len(concepts)
    return few_power if all(_is_noun(concept.text) for concept in concepts) else usual


def _is_noun(text: str) -> bool:
    """Return whether a text is probably a Japanese noun: two kanji or katakana, or more."""
    return len(text) > 1 and _is_japanese(text) and not any(map(is_hiragana, text))


def _is_japanese(text: str) -> bool:
    """Return whether a text is Japanese or the like, which has a term for each pair."""
    return any(map(is_cjk, text))


def _overlap(text: str, corpus: Corpus) -> bool:
    """Return whether a text has Japanese, of which the terms overlap, as pairs do."""
    # A word of one pair has no other: there are more where the word is repeated.
    japanese = "".join(filter(is_cjk, text)) * 3
    return sum(map(len, corpus.terms(japanese))) > len(japanese)
