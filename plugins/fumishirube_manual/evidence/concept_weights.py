"""The weights of a query's concepts in a manual, and their occurrence in a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from fumishirube import Corpus
from fumishirube.text import concepts, fold, is_worded, occurs, rarity, term_forms

_LONG = 0.25
_LONGEST = 2.0
_WHOLE = 1.15
_WHOLE_MARK = 1
_WORD = re.compile(r"[0-9a-z]+")
_CODE = re.compile(r"(?<![0-9a-z])[0-9a-z]+(?:[-/._][0-9a-z]+)+")
_TERMS = 96
_VERB_ENDING = re.compile(r"(?<=[a-z]{2})(?:ing|ed)$")
_DOUBLED = re.compile(r"([bdfglmnprstz])\1$")
_VOWEL = re.compile(r"[aeiouy]")
_SHORTEST = 3
_NO_VERB = re.compile(r"[^aeiou]ee")
"""A short word with which -d makes another one, as in seed."""
_DOUBLING = re.compile(r"[^aeiou][aeiou][^aeiouwxy]")
"""A short verb whose last letter is doubled before an ending: noted is of note, and not of not."""


@lru_cache(maxsize=16_384)  # a find compares the words of whole sections
def _forms(word: str) -> frozenset[str]:
    """Return a folded word, its other number, and the verbs of which it may be a form."""
    return frozenset((*term_forms(word), *_verbs(word)))


def _verbs(word: str) -> Iterable[str]:
    """Return the English verbs of which a word with -ed or -ing may be a form."""
    begin = _VERB_ENDING.sub("", word)
    if begin == word or not _VOWEL.search(begin):
        return ()
    verbs = {begin, f"{begin}e", _DOUBLED.sub(r"\1", begin), re.sub("i$", "y", begin)}
    if _DOUBLING.fullmatch(begin):
        verbs.remove(begin)
    return [verb for verb in verbs if len(verb) >= _SHORTEST and not _NO_VERB.fullmatch(verb)]


class ConceptWeight(NamedTuple):
    """A folded concept, its weight, and the share of each of its terms.

    The terms are those of the index; a word is in a line in any form.
    """

    text: str
    weight: float
    shares: Mapping[str, float]


def concept_weights(texts: Iterable[str], corpus: Corpus) -> tuple[ConceptWeight, ...]:
    """Return the concepts of some texts that occur in a corpus, weighted by rarity.

    The weight is the mean inverse document frequency of its terms, increased with its length. A
    code with digits, such as ``S-27``, is one more concept: of the weight of its parts together, or
    of the heaviest concept, for a code may be rare whose parts are in every section.
    """
    texts = [*texts]
    folded = list(dict.fromkeys(c.text for text in texts for c in concepts(text)))
    # A term with other characters than letters and digits occurs in no text.
    terms = {
        concept: tuple(dict.fromkeys(filter(is_worded, corpus.terms(concept))))
        for concept in folded
    }
    distinct = list(dict.fromkeys(term for many in terms.values() for term in many))[:_TERMS]
    counts = _counts(distinct, corpus)
    size = corpus.size
    idf = {term: rarity(size, counts[term]) for term in distinct if counts.get(term)}
    weighted = []
    for concept, many in terms.items():
        rarities = {term: idf[term] for term in many if term in idf}
        if not rarities:
            continue
        total = sum(rarities.values()) or 1.0
        length = min(_LONGEST, 1 + _LONG * (len(rarities) - 1))
        shares = {term: value / total for term, value in rarities.items()}
        weighted.append(ConceptWeight(concept, length * total / len(rarities), shares))
    weights = {concept.text: concept.weight for concept in weighted}
    for code in _codes(texts):
        parts = [concept.text for concept in concepts(code)]
        if len(parts) > 1 and weights.keys() >= {*parts}:
            together = sum(weights[part] for part in parts)
            weighted.append(ConceptWeight(code, max(together, *weights.values()), {}))
    return tuple(weighted)


def _counts(terms: Sequence[str], corpus: Corpus) -> Mapping[str, int]:
    """Return the number of sections with each term; of a word that none has, with other forms."""
    counts = corpus.frequencies(terms)
    others = {term: term_forms(term)[1:] for term in terms if not counts.get(term)}
    if not others:
        return counts
    of_others = corpus.frequencies([form for forms in others.values() for form in forms])
    of_forms = {
        term: sum(of_others.get(form, 0) for form in forms) for term, forms in others.items()
    }
    return {**counts, **of_forms}


def _codes(texts: Iterable[str]) -> Iterable[str]:
    codes = (code for text in texts for code in _CODE.findall(fold(text)))
    return dict.fromkeys(code for code in codes if any(map(str.isdigit, code)))


class LineText:
    """A folded line; its words are found when a term of English words is compared."""

    __slots__ = ("_words", "folded")

    def __init__(self, folded: str) -> None:
        self.folded = folded
        self._words: Collection[str] | None = None

    @property
    def words(self) -> Collection[str]:
        """The words of the line, and their other forms."""
        if self._words is None:
            self._words = {*chain.from_iterable(map(_forms, {*_WORD.findall(self.folded)}))}
        return self._words

    @classmethod
    def of(cls, line: str) -> LineText:
        """Return the line prepared for matching."""
        return cls(fold(line))


def marks(
    lines: Sequence[LineText | None], weights: Iterable[ConceptWeight]
) -> Sequence[Sequence[int]]:
    """Return, for each concept, which of its terms each line contains.

    A mark is 1 for the whole concept, otherwise a sum of 2 for its first term, 4 for the second,
    and so on. The mark of several lines together is the bitwise or of theirs.
    """
    columns: list[list[int]] = []
    # A find compares tens of thousands of pairs, so there is no call for each.
    for text, _, parts in weights:
        terms = [
            (term, _forms(term) if term.isascii() else None, 2 << place)
            for place, term in enumerate(parts)
        ]
        column: list[int] = []
        for line in lines:
            mark = 0
            if line is not None:
                folded = line.folded
                if text in folded and occurs(folded, text):
                    mark = _WHOLE_MARK
                else:
                    for term, forms, bit in terms:
                        if term in folded if forms is None else not forms.isdisjoint(line.words):
                            mark |= bit
            column.append(mark)
        columns.append(column)
    return columns


def marked_shares(concept: ConceptWeight, column: Sequence[int]) -> Sequence[float]:
    """Return the share of a concept for each mark: 0 to 1, a little more if it occurs whole."""
    known = {mark: _marked_share(concept, mark) for mark in {*column}}
    return [known[mark] for mark in column]


def _marked_share(concept: ConceptWeight, mark: int) -> float:
    if mark & _WHOLE_MARK:
        return _WHOLE
    share = 0.0
    for place, part in enumerate(concept.shares.values()):
        if mark & (2 << place):
            share += part
    return share


def shares(line: LineText, weights: Sequence[ConceptWeight]) -> tuple[float, ...]:
    """Return the share of each concept in a line, by :func:`marked_shares`."""
    columns = zip(weights, marks([line], weights), strict=True)
    return tuple([_marked_share(concept, mark) for concept, [mark] in columns])
