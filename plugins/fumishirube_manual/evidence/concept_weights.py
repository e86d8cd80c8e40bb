"""The weights of a query's concepts in a manual, and their occurrence in a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from fumishirube import Corpus
from fumishirube.text import concepts, fold, is_worded, occurs, rarity

_LONG = 0.25
_LONGEST = 2.0
_WHOLE = 1.15
_WORD = re.compile(r"[0-9a-z]+")
_TERMS = 96
_SHORTEST = 4


class ConceptWeight(NamedTuple):
    """A folded concept, its weight, and the share of each of its terms.

    The term of a word is its stem; Japanese is divided as in the index.
    """

    text: str
    weight: float
    shares: Mapping[str, float]


def concept_weights(texts: Iterable[str], corpus: Corpus) -> tuple[ConceptWeight, ...]:
    """Return the concepts of some texts that occur in a corpus, weighted by rarity.

    The weight is the mean inverse document frequency of its terms, increased with its length.
    """
    folded = list(dict.fromkeys(c.text for text in texts for c in concepts(text)))
    # A term with other characters than letters and digits occurs in no text.
    terms = {
        concept: tuple(dict.fromkeys(filter(is_worded, corpus.terms(concept))))
        for concept in folded
    }
    distinct = list(dict.fromkeys(term for many in terms.values() for term in many))[:_TERMS]
    counts = corpus.frequencies(distinct)
    size = corpus.size
    idf = {term: rarity(size, counts[term]) for term in distinct if counts.get(term)}
    weighted = []
    for concept, many in terms.items():
        rarities = {_stemmed(term): idf[term] for term in many if term in idf}
        if not rarities:
            continue
        total = sum(rarities.values()) or 1.0
        length = min(_LONGEST, 1 + _LONG * (len(rarities) - 1))
        shares = {term: value / total for term, value in rarities.items()}
        weighted.append(ConceptWeight(concept, length * total / len(rarities), shares))
    return tuple(weighted)


class LineText(NamedTuple):
    """A folded line, with the stems of its words."""

    folded: str
    stems: frozenset[str]

    @classmethod
    def of(cls, line: str) -> LineText:
        """Return the line prepared for matching."""
        folded = fold(line)
        return cls(folded, frozenset(map(stem, _WORD.findall(folded))))

    @classmethod
    def joined(cls, lines: Iterable[LineText]) -> LineText:
        """Return several lines as one."""
        every = [*lines]
        stems = frozenset[str]().union(*(line.stems for line in every))
        return cls("\n".join(line.folded for line in every), stems)


def shares(line: LineText, weights: Sequence[ConceptWeight]) -> tuple[float, ...]:
    """Return the share of each concept in a line: 0 to 1, a little more if it occurs whole."""
    folded, stems = line
    present: list[float] = []
    # A find compares tens of thousands of pairs, so there is no call for each.
    for text, _, parts in weights:
        if text in folded and occurs(folded, text):
            present.append(_WHOLE)
            continue
        share: float = 0
        for term, part in parts.items():
            if term in stems if term.isascii() else term in folded:
                share += part
        present.append(share)
    return tuple(present)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return an English word without its plural ending (Harman's S stemmer, 1991)."""
    if len(word) < _SHORTEST or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


def _stemmed(term: str) -> str:
    return stem(term) if term.isascii() else term
