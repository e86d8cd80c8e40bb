"""What each concept of a question is worth in a manual, and where it stands in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from fumishirube import Corpus
from fumishirube.text import concepts, fold, occurs, rarity

_LONG = 0.25
_LONGEST = 2.0
_WHOLE = 1.15
_WORD = re.compile(r"[0-9a-z]+")
_TERMS = 96
_SHORTEST = 4


class ConceptWeight(NamedTuple):
    """A concept, folded; what it is worth; and the share of it that each of its terms stands for.

    A word's term is its stem; Japanese is divided as the index divides it.
    """

    text: str
    weight: float
    shares: Mapping[str, float]


def concept_weights(texts: Iterable[str], corpus: Corpus) -> tuple[ConceptWeight, ...]:
    """Return the concepts of some texts that a corpus knows, weighted by their rarity there.

    A concept is worth the mean inverse document frequency of its terms, and more the longer it is.
    """
    wanted = list(dict.fromkeys(c.text for text in texts for c in concepts(text)))
    # What is made of more than letters and digits stands in no text.
    terms = {
        concept: tuple(dict.fromkeys(filter(str.isalnum, corpus.terms(concept))))
        for concept in wanted
    }
    distinct = list(dict.fromkeys(term for many in terms.values() for term in many))[:_TERMS]
    counts = corpus.frequencies(distinct)
    size = corpus.size
    idf = {term: rarity(size, counts[term]) for term in distinct if counts.get(term)}
    weighted = []
    for concept, many in terms.items():
        known = {_stemmed(term): idf[term] for term in many if term in idf}
        if not known:
            continue
        total = sum(known.values()) or 1.0
        length = min(_LONGEST, 1 + _LONG * (len(known) - 1))
        shares = {term: value / total for term, value in known.items()}
        weighted.append(ConceptWeight(concept, length * total / len(known), shares))
    return tuple(weighted)


class LineText(NamedTuple):
    """A line, folded, with the stems of its words."""

    folded: str
    stems: frozenset[str]

    @classmethod
    def of(cls, line: str) -> LineText:
        """Return the line as concepts are looked for in it."""
        folded = fold(line)
        return cls(folded, frozenset(map(stem, _WORD.findall(folded))))

    def share(self, concept: ConceptWeight) -> float:
        """Return how much of a concept stands in the line: 0 to 1, and a little more if whole."""
        if occurs(self.folded, concept.text):
            return _WHOLE
        return sum(
            share
            for term, share in concept.shares.items()
            if (term in self.stems if term.isascii() else term in self.folded)
        )


def shares(line: LineText, weights: Sequence[ConceptWeight]) -> tuple[float, ...]:
    """Return how much of each concept stands in a line."""
    return tuple(line.share(concept) for concept in weights)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return an English word without the ending of its plural (Harman's S stemmer, 1991)."""
    if len(word) < _SHORTEST or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


def _stemmed(term: str) -> str:
    return stem(term) if term.isascii() else term
