"""Analyses a query against a corpus: its terms with weights, balanced, and its concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube import Bool, Clause, Corpus, Holds, Passage
from fumishirube.text import (
    Concept,
    ConceptShares,
    FormFinder,
    WeightedConcept,
    chunks,
    concepts,
    form_finder,
    is_cjk,
    is_function,
    is_hiragana,
    is_part_of_terms,
    joined_terms,
    occurrences,
    query_terms,
    rarity,
)

_MOST_TERMS = 256
"""The most terms of a query."""


class WeightedTerm(NamedTuple):
    """A term, its weight times its rarity, its share of the coverage, and how it is counted.

    A term with ``forms`` is a stem, which need not occur in a text itself.
    """

    term: str
    value: float
    share: float
    counted: Callable[[str, str], int]
    forms: bool = False


class QueryAnalysis(NamedTuple):
    """A query analysed against a corpus.

    ``named_clause`` is the clause of names, with their whole boosts, ``complete_clause`` that of
    sections with every concept, ``rare_clause`` that of words in very few. ``run_together`` are
    neighbouring words written as one, as in the names of files. ``quoted`` are the few sections
    that contain the whole text of the query.
    """

    clause: Clause
    anywhere: Clause
    concepts: ConceptShares
    terms: tuple[WeightedTerm, ...]
    coverage_bonus: float
    average: float
    named_clause: Clause = Bool()
    complete_clause: Clause | None = None
    rare_clause: Clause | None = None
    run_together: tuple[WeightedTerm, ...] = ()
    quoted: Sequence[Passage] = ()


class TermWeights(NamedTuple):
    """The terms of a query with their weights, before the rarity of each counts.

    ``named`` are concepts that are searched as parts of words, ``joined`` two neighbouring words
    as one, each with the terms of both, and ``content`` all terms of the concepts.
    """

    concepts: Sequence[Concept]
    named: Sequence[str]
    joined: Mapping[str, Sequence[str]]
    content: Container[str]
    weights: Mapping[str, float]


def term_weights(
    text: str, corpus: Corpus, function_weight: float, repeated_power: float
) -> TermWeights:
    """Return the weights of at most 256 terms: 1, or ``function_weight`` of function words.

    For a word that the query has n times it is multiplied by n to the power of ``repeated_power``.
    """
    query_concepts = concepts(text)
    named = [concept.text for concept in query_concepts if is_part_of_terms(concept.text, corpus)]
    content = {term for concept in query_concepts for term in query_terms(corpus, concept.text)}
    weights: dict[str, float] = {}
    for chunk in chunks(text):
        for term in query_terms(corpus, chunk.text):
            weight = 1.0 if term in content or not is_function(term) else function_weight
            weights[term] = max(weight, weights.get(term, 0.0))
    joined = joined_terms(text, corpus, lambda words: corpus.count(Holds(words), 1).number > 0)
    weights |= dict.fromkeys((*named, *joined), 1.0)
    for term, number in repetitions(text, corpus).items():
        weights[term] = weights.get(term, 1.0) * number**repeated_power
    heaviest = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:_MOST_TERMS])
    return TermWeights(query_concepts, named, joined, content | joined.keys(), heaviest)


def weighted_terms(
    text: str, words: TermWeights, idf: Mapping[str, float], shares: ConceptShares
) -> Iterable[WeightedTerm]:
    """Yield the terms of a query with their values and shares."""
    spans = border_spans((term for term in words.weights if term not in words.content), text)
    for term, weight in words.weights.items():
        yield weighted_term(
            spans.get(term, term),
            weight * idf[term],
            shares.shares.get(term, 0.0),
            shares.finders.get(term),
        )


def form_finders(corpus: Corpus, terms: Iterable[str]) -> Mapping[str, FormFinder]:
    """Return finders for the words of terms that do not occur in texts themselves."""
    finders = ((term, form_finder(corpus, term)) for term in terms)
    return {term: finder for term, finder in finders if finder}


def weighted_term(
    term: str, value: float, share: float, finder: FormFinder | None = None
) -> WeightedTerm:
    """Return a term with its counter: whole words, or Japanese anywhere."""
    if finder is not None:
        return WeightedTerm(term, value, share, lambda text, _: len(finder(text)), forms=True)
    return WeightedTerm(term, value, share, occurrences if term.isascii() else str.count)


def repetitions(text: str, corpus: Corpus) -> Mapping[str, int]:
    """Return the numbers of the English words, in any form, that a query has more than once.

    Japanese is left out: する and 実行 are repeated in a sentence whatever it is about.
    """
    words = (concept.text for chunk in chunks(text) for concept in chunk.concepts)
    terms = (query_terms(corpus, word) for word in words if word.isascii())
    numbers = Counter(each[0] for each in terms if len(each) == 1)
    return {term: number for term, number in numbers.items() if number > 1}


def run_together(
    words: Iterable[str], corpus: Corpus, known: Container[str]
) -> tuple[WeightedTerm, ...]:
    """Return two and three neighbouring English words as one, where the corpus has them so.

    Names of files lack spaces, as in ``GENERALMILLS_2020.pdf``. Terms in ``known`` are left out.
    """
    english = [word if word.isascii() and word.isalpha() else "" for word in words]
    groups = [*pairwise(english), *zip(english, english[1:], english[2:], strict=False)]
    every_name = (query_terms(corpus, "".join(group)) for group in groups if all(group))
    terms = {terms[0]: None for terms in every_name if len(terms) == 1 and terms[0] not in known}
    counts = corpus.frequencies(terms) if terms else {}
    present = {term: count for term, count in counts.items() if count}
    size, finders = corpus.size, form_finders(corpus, present)
    return tuple(
        weighted_term(term, rarity(size, count), 0.0, finders.get(term))
        for term, count in present.items()
    )


def coverage_bonus(groups: Sequence[WeightedConcept], weight: float, sparse: float) -> float:
    """Return the bonus for covering the whole query, by the mean rarity of its concepts."""
    if not groups:
        return 0.0
    mean = sum(group.weight for group in groups) / len(groups)
    return mean * (weight + sparse * min(1.0, 2 / len(groups)))


def border_spans(terms: Iterable[str], text: str) -> Mapping[str, str]:
    """Return, for pairs at an end of hiragana in a query, the pair with a character beside it.

    義に occurs in many texts; 主義に, with the character before it in the query, in fewer.
    """
    spans: dict[str, str] = {}
    for pair in (term for term in terms if sorted(map(is_hiragana, term)) == [False, True]):
        for chunk in chunks(text):
            place = chunk.text.find(pair)
            if place >= 0:
                before = int(is_hiragana(pair[1]) and place > 0)
                after = int(not is_hiragana(pair[1]))
                spans[pair] = chunk.text[place - before : place + len(pair) + after]
                break
    return spans


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
