"""Feedback: raises hits that share the words of the first ones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage
from fumishirube.text import (
    FormFinder,
    form_finder,
    is_function,
    occurrences,
    query_terms,
    rarity,
)
from fumishirube_stages.long_questions import english_words

_WORD = re.compile(r"[a-z]{3,}")
_CONSIDERED = 3
"""How many times the number of words are looked up, of which the common ones are left out."""
_K1, _B = 1.2, 0.75


class _WeightedTerm(NamedTuple):
    """A term, its weight times its rarity, and what finds its forms if it is a stem."""

    term: str
    value: float
    finder: FormFinder | None

    def count(self, text: str) -> int:
        return len(self.finder(text)) if self.finder else occurrences(text, self.term)


class Feedback(Stage):
    """Adds to the first hits the scores of words that the very first ones have in common.

    This is the relevance model of Lavrenko and Croft (2001) as pseudo-relevance feedback, without a
    second search. A word's weight is the sum over the first ``hits`` hits of its share of the hit's
    words, times the share of the hit's score in their sum. The ``words`` words with the most weight
    count, in any form, except those in more than ``common_share`` of the sections. Each adds its
    share of their weight times its BM25 score (k1 1.2, b 0.75), times the number of the query's
    words, times ``weight`` / (1 - ``weight``). The first ``depth`` hits are scored.

    It serves questions of ``least_words`` English words or more, and no Japanese. Nothing is added
    where the bodies of the first hits have more than ``longest`` characters on average: sections of
    several subjects lead away from the question.
    """

    hits: Annotated[int, Field(ge=1)] = 5
    words: Annotated[int, Field(ge=1)] = 20
    weight: Annotated[float, Field(ge=0, lt=1)] = 0.15
    common_share: Annotated[float, Field(ge=0, le=1)] = 0.2
    least_words: Annotated[int, Field(ge=1)] = 5
    longest: Annotated[int, Field(ge=0)] = 2000
    depth: Annotated[int, Field(ge=1)] = 20

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores."""
        number = english_words(query.text, alone=True)
        first = ranking.hits[: self.hits]
        length = sum(len(hit.passage.fields["body"]) for hit in first)
        if number < self.least_words or length > self.longest * len(first):
            return ranking
        terms = self._weighted_terms(first, corpus)
        factor = number * self.weight / (1 - self.weight)
        average = corpus.average_length("body") or 1.0
        raised = [
            hit.scored(hit.score + factor * _score(hit, terms, average))
            for hit in ranking.hits[: self.depth]
        ]
        hits = (*raised, *ranking.hits[self.depth :])
        return ranking._replace(hits=tuple(sorted(hits, key=Hit.sort_key)))

    def _weighted_terms(self, first: Sequence[Hit], corpus: Corpus) -> Sequence[_WeightedTerm]:
        """Return the words of the first hits, each with its share of the weight times its rarity.

        A word is the term by which the corpus scores it, such as a stem.
        """
        written = [Counter[str](_WORD.findall(_text(hit))) for hit in first]
        terms = {
            word: () if is_function(word) else query_terms(corpus, word)
            for word in set[str]().union(*written)
        }
        weights: defaultdict[str, float] = defaultdict(float)
        for hit, words in zip(first, written, strict=True):
            total = sum(number * len(terms[word]) for word, number in words.items())
            for word, number in words.items():
                for term in terms[word]:
                    weights[term] += max(0.0, hit.score) * number / total
        ordered = sorted(weights, key=lambda term: (-weights[term], term))
        best = ordered[: _CONSIDERED * self.words]
        counts = corpus.frequencies(best) if best else {}
        most = self.common_share * corpus.size
        chosen = [term for term in best if weights[term] and counts[term] <= most][: self.words]
        chosen_weight = sum(weights[term] for term in chosen)
        return [
            _WeightedTerm(
                term,
                weights[term] / chosen_weight * rarity(corpus.size, counts[term]),
                form_finder(corpus, term),
            )
            for term in chosen
        ]


def _text(hit: Hit) -> str:
    """Return all fields of a hit but its path as one text."""
    fields = hit.passage.fields
    return f"{fields['title']} {fields['headings']} {fields['body']}"


def _score(hit: Hit, terms: Sequence[_WeightedTerm], average: float) -> float:
    """Return the BM25 score of a hit for some terms."""
    text = _text(hit)
    norm = _K1 * (1 - _B + _B * len(hit.passage.fields["body"]) / average)
    score = 0.0
    for weighted in terms:
        number = weighted.count(text)
        score += weighted.value * number * (_K1 + 1) / (number + norm)
    return score
