"""Feedback: raises hits that resemble the first ones."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from math import log, sqrt
from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage
from fumishirube.text import is_function, query_terms, rarity
from fumishirube_stages.long_questions import english_words

_WORD = re.compile("[0-9a-z]{2,}")
_SINGLE = 0.75
"""The rarity of a word that one hit alone has, as part of that of a word of one section."""


class Feedback(Stage):
    """Adds to the first hits what they have in common with the very first ones.

    This is pseudo-relevance feedback by Rocchio's vectors (1971), without a second search. The
    vector of a hit has for each of its words, in any form, (1 + ln of their number) times the
    word's rarity, and is then divided by its length; words in more than ``common_share`` of the
    sections are left out. To save time, a word that no other hit has is not looked up: it counts in
    the length alone, with three quarters of the rarity of a word of one section. A hit gains
    ``weight`` times the highest score times its mean product with the vectors of the other ones
    among the first ``hits`` hits, each weighted by its score to the power of ``power``. The first
    ``depth`` hits are compared; those that gain something get the label ``prf``.

    It serves questions of ``least_words`` English words or more, and no Japanese. Nothing is added
    where the bodies of the first hits have more than ``longest`` characters on average: sections of
    several subjects lead away from the question.
    """

    hits: Annotated[int, Field(ge=1)] = 5
    weight: Annotated[float, Field(ge=0)] = 2.0
    power: Annotated[float, Field(ge=0, le=50)] = 3.0
    common_share: Annotated[float, Field(ge=0, le=1)] = 0.2
    least_words: Annotated[int, Field(ge=1)] = 5
    longest: Annotated[int, Field(ge=0)] = 2000
    depth: Annotated[int, Field(ge=1)] = 20

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores."""
        first = ranking.hits[: self.hits]
        if not first:
            return ranking
        length = sum(len(hit.passage.fields["body"]) for hit in first)
        if length > self.longest * len(first):
            return ranking
        if english_words(query.text, alone=True) < self.least_words:
            return ranking
        compared = ranking.hits[: self.depth]
        factor = self.weight * first[0].score
        gains = [factor * likeness for likeness in self._likenesses(compared, corpus)]
        raised = [
            hit.scored(hit.score + gain, "prf") if gain else hit
            for hit, gain in zip(compared, gains, strict=True)
        ]
        hits = (*raised, *ranking.hits[self.depth :])
        return ranking._replace(hits=tuple(sorted(hits, key=Hit.sort_key)))

    def _likenesses(self, compared: Sequence[Hit], corpus: Corpus) -> Sequence[float]:
        """Return the weighted mean product of each hit's vector with those of the first ones."""
        vectors = self._vectors(compared, corpus)
        weights = [max(0.0, hit.score) ** self.power for hit in compared[: self.hits]]
        total = sum(weights)
        centre: defaultdict[str, float] = defaultdict(float)
        for weight, vector in zip(weights, vectors, strict=False):
            for term, value in vector.items():
                centre[term] += weight * value
        likenesses = []
        for place, vector in enumerate(vectors):
            own = weights[place] if place < len(weights) else 0.0
            product = sum(
                value * (centre[term] - own * value)
                for term, value in vector.items()
                if term in centre
            )
            likenesses.append(product / (total - own) if total > own else 0.0)
        return likenesses

    def _vectors(self, compared: Sequence[Hit], corpus: Corpus) -> Sequence[Mapping[str, float]]:
        """Return the vectors of hits, by the terms by which the corpus scores words, as stems."""
        names = ("title", "headings", "body")
        texts = (" ".join([hit.passage.fields[name] for name in names]) for hit in compared)
        written = [Counter[str](_WORD.findall(text)) for text in texts]
        # Most words are in one hit: to look up their stems would take half of the time.
        numbers = Counter(chain.from_iterable(written))
        terms = {
            word: query_terms(corpus, word)
            for word, number in numbers.items()
            if number > 1 and not is_function(word)
        }
        size = corpus.size
        counts = corpus.frequencies({term for every in terms.values() for term in every})
        most = self.common_share * size
        rarities = {t: rarity(size, count) for t, count in counts.items() if count <= most}
        single = (_SINGLE * rarity(size, 1)) ** 2
        once = {word for word, number in numbers.items() if number == 1}
        return [
            _vector(words, terms, rarities, single * len(once.intersection(words)))
            for words in written
        ]


def _vector(
    words: Mapping[str, int],
    terms: Mapping[str, Sequence[str]],
    rarities: Mapping[str, float],
    square: float,
) -> Mapping[str, float]:
    """Return the vector of a text with these words, and with others whose ``square`` is added."""
    numbers: defaultdict[str, int] = defaultdict(int)
    # In the order of the text: sums of a set's order would differ from process to process.
    for word, number in words.items():
        for term in terms.get(word, ()):
            numbers[term] += number
    vector = {
        term: (1 + log(number)) * rarities[term]
        for term, number in numbers.items()
        if term in rarities
    }
    length = sqrt(square + sum(value * value for value in vector.values()))
    return {term: value / length for term, value in vector.items()}
