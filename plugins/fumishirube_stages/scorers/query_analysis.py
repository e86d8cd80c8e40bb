"""Analyses a query against a corpus: its terms with weights, and its concepts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from fumishirube import Bool, Clause, Corpus, Holds, Passage
from fumishirube.text import (
    Concept,
    FormFinder,
    chunks,
    concepts,
    form_finder,
    is_cjk,
    is_function,
    occurrences,
    occurs,
    query_terms,
    rarity,
)

_BORDER = re.compile("[\u3041-\u309f][^\u3041-\u309f]|[^\u3041-\u309f][\u3041-\u309f]")

_MOST_TERMS, _PARTED = 256, 64
"""The most terms of a query, and characters of a concept whose parts, a quadratic number, count."""
_BETWEEN = "\u3005"
"""A character that may precede or follow a word in Japanese text."""


class WeightedConcept(NamedTuple):
    """A concept, the share of each of its terms, and its rarity."""

    text: str
    shares: Mapping[str, float]
    weight: float


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
    groups: tuple[WeightedConcept, ...]
    terms: tuple[WeightedTerm, ...]
    coverage_bonus: float
    average: float
    finders: Mapping[str, FormFinder] = MappingProxyType({})
    named_clause: Clause = Bool()
    complete_clause: Clause | None = None
    rare_clause: Clause | None = None
    run_together: tuple[WeightedTerm, ...] = ()
    quoted: Sequence[Passage] = ()

    def matched(self, text: str) -> tuple[str, ...]:
        """Return the concepts in their form in a text, or their longest parts that occur in it."""
        whole: dict[str, None] = {}
        for group in self.groups:
            if occurs(text, group.text):
                whole[group.text] = None
            elif self.finders and len(group.shares) == 1:
                (term,) = group.shares
                forms = self.finders[term](text) if term in self.finders else ()
                whole |= dict.fromkeys(forms[:1])
        return tuple(whole) or tuple(_parts(self.groups, text))


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
    named = [concept.text for concept in query_concepts if is_part(concept.text, corpus)]
    content = {term for concept in query_concepts for term in query_terms(corpus, concept.text)}
    weights: dict[str, float] = {}
    for chunk in chunks(text):
        for term in query_terms(corpus, chunk.text):
            weight = 1.0 if term in content or not is_function(term) else function_weight
            weights[term] = max(weight, weights.get(term, 0.0))
    joined = joined_terms(text, corpus)
    weights |= dict.fromkeys((*named, *joined), 1.0)
    for term, number in repetitions(text, corpus).items():
        weights[term] = weights.get(term, 1.0) * number**repeated_power
    heaviest = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:_MOST_TERMS])
    return TermWeights(query_concepts, named, joined, content | joined.keys(), heaviest)


def weighted_terms(
    text: str,
    words: TermWeights,
    idf: Mapping[str, float],
    groups: Iterable[WeightedConcept],
    finders: Mapping[str, FormFinder],
) -> Iterable[WeightedTerm]:
    """Yield the terms of a query with their values and shares."""
    shares = coverage_shares(groups, words.joined)
    spans = border_spans((term for term in words.weights if term not in words.content), text)
    for term, weight in words.weights.items():
        yield weighted_term(
            spans.get(term, term), weight * idf[term], shares.get(term, 0.0), finders.get(term)
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


def weighted_concept(concept: Concept, corpus: Corpus, idf: Mapping[str, float]) -> WeightedConcept:
    """Return a concept with its terms, weighted by rarity.

    A term that is the whole concept, as of E104, has all of it: the others are parts of it.
    """
    terms = tuple(dict.fromkeys(query_terms(corpus, concept.text))) or (concept.text,)
    total = sum(idf.get(term, 0.0) for term in terms)
    shares = {term: idf.get(term, 0.0) / (total or 1.0) for term in terms}
    if concept.text in shares:
        shares[concept.text] = 1.0
    return WeightedConcept(concept.text, shares, total / len(terms))


def is_part(text: str, corpus: Corpus) -> bool:
    """Return whether an index may contain a text only as a part of longer terms.

    This is so for a single Japanese character, and for anything shorter than the tokenizer's terms.
    """
    if len(text) == 1 or text.isascii() or not all(map(is_cjk, text)):
        return len(text) == 1 and not text.isascii()
    embedded = corpus.terms(f"{_BETWEEN}{text}{_BETWEEN}")
    return text not in embedded and [*corpus.terms(text)] == [text]


def repetitions(text: str, corpus: Corpus) -> Mapping[str, int]:
    """Return the numbers of the English words, in any form, that a query has more than once.

    Japanese is left out: する and 実行 are repeated in a sentence whatever it is about.
    """
    words = (concept.text for chunk in chunks(text) for concept in chunk.concepts)
    terms = (query_terms(corpus, word) for word in words if word.isascii())
    numbers = Counter(each[0] for each in terms if len(each) == 1)
    return {term: number for term, number in numbers.items() if number > 1}


def joined_terms(text: str, corpus: Corpus) -> Mapping[str, Sequence[str]]:
    """Return the terms of neighbouring English words that the corpus has only as one word.

    Each has the terms of both words: ``abort signal`` may be written ``AbortSignal``.
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
        if count and not corpus.count(Holds(" ".join(single[term])), 1).number
    }


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


def _is_word(text: str, concepts: Sequence[Concept]) -> bool:
    """Tell whether a part of a query is one English word other than a function word."""
    return text.isascii() and text.isalpha() and bool(concepts)


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
    for pair in filter(_BORDER.fullmatch, terms):
        for chunk in chunks(text):
            place = chunk.text.find(pair)
            if place >= 0:
                before = int(_is_hiragana(pair[1]) and place > 0)
                after = int(not _is_hiragana(pair[1]))
                spans[pair] = chunk.text[place - before : place + len(pair) + after]
                break
    return spans


def _is_hiragana(character: str) -> bool:
    """Return whether a character is hiragana, the script of endings and particles."""
    return "\u3041" <= character <= "\u309f"


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
