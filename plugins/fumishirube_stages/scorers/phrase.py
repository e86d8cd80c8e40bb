"""Phrases of the query that occur in the section verbatim."""

import re
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Env, Hit, Passage, Query, Stage
from fumishirube.text import (
    chunks,
    concepts,
    fold,
    is_cjk,
    is_function,
    is_hiragana,
    occurs,
    query_terms,
    rarity,
)
from fumishirube_stages.long_questions import share_of_words
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.scorers.lexical_search.candidates import quotations

_FOREIGN = re.compile("[!-~]+(?: [!-~]+)+")
"""Words beside each other in a Japanese query that are none of its own."""
_CJK_CHARACTERS = 4
_WORDS = 2
_LONGEST = 64
_MOST = 2048


class PhraseScorer(Stage):
    """Adds the rarity of the terms in every phrase of the query that occurs verbatim.

    A phrase has at least four Japanese characters or two words. Only the first ``depth`` candidates
    are scored, and the few sections in which ``lexical`` finds the whole query. In a query of more
    than ``enough_words`` English words the score is multiplied by ``enough_words``, and divided by
    the number of words. The terms of a concept's end and a particle, such as を指 in を指定, count
    ``particle_weight``: they occur wherever the concept does.
    """

    generates: ClassVar[bool] = False

    weight: Annotated[float, Field(ge=0), Env("LEXICAL_PHRASE_WEIGHT")] = 0.5
    depth: Annotated[int, Field(ge=1)] = 20
    enough_words: Annotated[int, Field(ge=1)] = 6
    particle_weight: Annotated[float, Field(ge=0, le=1)] = 0.3

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score the candidates that contain a phrase of the query."""
        phrases = _query_phrases(query.text)
        weight = self.weight * share_of_words(query.text, self.enough_words)
        scored = query.state.shared(
            dict[tuple[str, int], Hit], "phrase", self.fingerprint, query.text
        )
        known = query.state.shared(dict[str, _SpanRarity], "phrase", self.fingerprint)
        if query.text not in known:
            known[query.text] = _SpanRarity(query.text, corpus, self.particle_weight)
        rarities = known[query.text]
        quoted = [key for key in quotations(query) if key in candidates]
        for key in dict.fromkeys((*[*candidates][: self.depth], *quoted)):
            if key not in scored:
                scored[key] = self._score(candidates[key], phrases, rarities, weight)
            if scored[key].labels:
                yield scored[key]

    def _score(
        self, passage: Passage, phrases: "_QueryPhrases", rarities: "_SpanRarity", weight: float
    ) -> Hit:
        text = f"{passage.fields['title']}\n{passage.fields['body']}"
        find_spans = _verbatim if phrases.japanese else _verbatim_words
        # In the order of the query: sums of a set's order would differ from process to process.
        spans = dict.fromkeys(find_spans(phrases, text))
        score = weight * sum(rarities.of(span) for span in spans)
        labels = {"phrase"} if spans else set()
        if any(occurs(text, whole) for whole in phrases.wholes):
            labels.add("exact")
        return Hit(passage, score, frozenset(labels))


class _QueryPhrases(NamedTuple):
    """A query's phrases with their parts, those that must match whole, and whether it is Japanese.

    Parts are four characters of Japanese, otherwise two words.
    """

    stretches: tuple[tuple[str, tuple[str, ...]], ...]
    wholes: tuple[str, ...]
    japanese: bool
    number: int


@lru_cache(maxsize=32)
def _query_phrases(text: str) -> _QueryPhrases:
    texts = tuple(dict.fromkeys(chunk.text for chunk in chunks(text)))
    joined = fold(text)
    japanese = any(map(is_cjk, joined))
    divided = _parts if japanese else _pairs
    phrases = (*texts, *_FOREIGN.findall(joined)) if japanese else (joined,)
    stretches = tuple((part[:_MOST], divided(part[:_MOST])) for part in phrases)
    wholes = (joined, *texts) if len(texts) > 1 else (joined,)
    return _QueryPhrases(stretches, wholes, japanese, sum(len(parts) for _, parts in stretches))


class _SpanRarity:
    """The weighted sum of the inverse document frequencies of a span's terms.

    Terms of function words count nothing, those with a particle ``particle_weight``.
    """

    def __init__(self, text: str, corpus: Corpus, particle_weight: float) -> None:
        self._corpus = corpus
        self._particle_weight = particle_weight
        self._text = text
        self._known: dict[str, float] = {}

    def of(self, span: str) -> float:
        if span not in self._known:
            terms = [term for term in query_terms(self._corpus, span) if not is_function(term)]
            size = self._corpus.size
            counts = self._corpus.frequencies(terms)
            self._known[span] = sum(
                self._weight(term) * rarity(size, number) for term, number in counts.items()
            )
        return self._known[span]

    def _weight(self, term: str) -> float:
        with_particle = any(map(is_hiragana, term)) and term not in self._of_concepts
        return self._particle_weight if with_particle else 1.0

    @cached_property
    def _of_concepts(self) -> Collection[str]:
        """The terms of the query's concepts; only a Japanese phrase needs them."""
        words = (concept.text for concept in concepts(self._text))
        return {term for word in words for term in query_terms(self._corpus, word)}


def _verbatim(phrases: _QueryPhrases, text: str) -> Iterable[str]:
    """Yield the longest parts of each phrase that occur in the text, left to right."""
    # One search is faster than a set of a text's parts; thousands of them are slower.
    known = text if phrases.number < len(text) else frozenset(_parts(text))
    for stretch, parts in phrases.stretches:
        end = 0
        for start, part in enumerate(parts):
            if start < end or part not in known:
                continue
            end = start + _CJK_CHARACTERS
            while end < min(len(stretch), start + _LONGEST) and stretch[start : end + 1] in text:
                end += 1
            span = _whole_words(stretch, start, end)
            if _counts(span):
                yield span


def _verbatim_words(phrases: _QueryPhrases, text: str) -> Iterable[str]:
    """Yield the longest sequences of words of each phrase that occur in the text, in order."""
    for stretch, pairs in phrases.stretches:
        words = stretch.split(" ")
        end = 0
        for start, pair in enumerate(pairs):
            if start < end or pair not in text:
                continue
            end = start + _WORDS
            while end < len(words) and " ".join(words[start : end + 1]) in text:
                end += 1
            span = " ".join(words[start:end])
            if occurs(text, span):
                yield span


def _pairs(stretch: str) -> tuple[str, ...]:
    return tuple(f"{left} {right}" for left, right in pairwise(stretch.split(" ")))


def _parts(text: str) -> tuple[str, ...]:
    last = len(text) - _CJK_CHARACTERS
    return tuple([text[start : start + _CJK_CHARACTERS] for start in range(last + 1)])


@lru_cache(maxsize=1024)
def _whole_words(stretch: str, start: int, end: int) -> str:
    """Cut incomplete words at both ends."""
    while start < end and start and inside_word(stretch[start - 1], stretch[start]):
        start += 1
    while end > start and end < len(stretch) and inside_word(stretch[end - 1], stretch[end]):
        end -= 1
    return stretch[start:end].strip()


def inside_word(left: str, right: str) -> bool:
    """Tell whether two neighbours belong to one word that is written between spaces."""
    return left.isalnum() and right.isalnum() and not is_cjk(left) and not is_cjk(right)


@lru_cache(maxsize=1024)
def _counts(span: str) -> bool:
    japanese = sum(map(is_cjk, span))
    return japanese >= _CJK_CHARACTERS or len(span.split()) >= _WORDS
