"""BM25 over weighted fields, the share of concepts that are there, and a penalty for length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from shirube import (
    Bool,
    Clause,
    Corpus,
    Env,
    Hit,
    Holds,
    Part,
    Passage,
    Query,
    Ranking,
    Stage,
    Term,
    fold,
    occurs,
)
from shirube_builtin.scorers.concepts import Concept, chunks, concepts, is_function, rarity, shared

_MAX_TERMS = 256
_LENGTH_FREE = 3000
_LENGTH_WORST = 3.0
_REQUIRED_ONLY = 1.05
_FIELDS_OF_THE_NAME = ("title", "headings", "path")


class Lexical(Stage):
    """Nominates sections by the index, and scores the nominated by what stands in them.

    The score is Robertson and Zaragoza's BM25F (2009) with field boosts on term frequency, plus a
    bonus for covering the query's concepts, minus a penalty for very long sections.
    """

    nominates: ClassVar[bool] = True

    coverage_weight: Annotated[float, Field(ge=0), Env("LEXICAL_COVERAGE_WEIGHT")] = 0.5
    sparse_coverage_weight: Annotated[float, Field(ge=0), Env("SPARSE_QUERY_COVERAGE_WEIGHT")] = (
        0.35
    )
    length_penalty_weight: Annotated[float, Field(ge=0), Env("LEXICAL_LENGTH_PENALTY_WEIGHT")] = 0.2
    title_boost: Annotated[float, Field(ge=0)] = 3.0
    path_boost: Annotated[float, Field(ge=0)] = 2.0
    headings_boost: Annotated[float, Field(ge=0)] = 1.5
    function_weight: Annotated[float, Field(ge=0, le=1)] = 0.2
    k1: Annotated[float, Field(ge=0)] = 1.2
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    pool: Annotated[int, Field(ge=1)] = 120
    scan_hard_cap: Annotated[int, Field(ge=1), Env("MANUAL_FIND_SCAN_HARD_CAP")] = 5000
    prescan: Annotated[bool, Env("MANUAL_FIND_FILE_PRESCAN_ENABLED")] = True

    def score(
        self, query: Query, corpus: Corpus, found: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit] | Ranking:
        """Nominate the best sections for the query, and score them."""
        asked = self._asked(query, corpus)
        if not asked.weights:
            return ()
        clause = self._clause(asked, query.must)
        limit = min(self.pool, self.scan_hard_cap) if self.prescan else self.scan_hard_cap
        nominated = corpus.search(clause, limit + len(query.exclude))
        hits = shared(query, ("lexical", self.fingerprint, asked.key), dict[tuple[str, int], Hit]())
        scored = []
        for one in nominated:
            key = one.passage.key
            if key not in hits:
                hits[key] = self._score(one.passage, asked)
            scored.append(hits[key])
        return Ranking(tuple(scored), notes={"matched": self._matched(asked, query, corpus)})

    def _matched(self, asked: _Asked, query: Query, corpus: Corpus) -> int:
        known = shared(query, ("matched", asked.key, query.must), dict[str, int]())
        if not known:
            known["number"] = corpus.count(self._clause(asked, query.must)).number
        return known["number"]

    def _asked(self, query: Query, corpus: Corpus) -> _Asked:
        """Analyse the query once a search; the terms of a filter only count where it filters."""
        extra = tuple(term for term in query.must if not occurs(fold(query.text), fold(term)))
        memo = shared(query, ("asked", self.fingerprint), dict[tuple[str, ...], _Asked]())
        if (query.text, *extra) not in memo:
            memo[query.text, *extra] = self._analyse(query.text, extra, corpus)
        return memo[query.text, *extra]

    def _analyse(self, text: str, extra: tuple[str, ...], corpus: Corpus) -> _Asked:
        wanted = concepts(text)
        singles = [concept.text for concept in wanted if concept.single]
        weights: dict[str, float] = {}
        content = {term for concept in wanted for term in corpus.terms(concept.text)}
        for chunk in chunks(text):
            for term in corpus.terms(chunk.text):
                weight = 1.0 if term in content or not is_function(term) else self.function_weight
                weights[term] = max(weight, weights.get(term, 0.0))
        for single in singles:
            weights[single] = 1.0
        for term in (term for required in extra for term in corpus.terms(required)):
            weights.setdefault(term, _REQUIRED_ONLY)
        chosen = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:_MAX_TERMS])
        counts = dict(corpus.frequencies(chosen))
        counts |= {single: corpus.count(Part(single)).number for single in singles}
        size = corpus.size
        idf = {term: rarity(size, count) for term, count in counts.items()}
        groups = tuple(_group(concept, corpus, idf) for concept in wanted)
        average = corpus.average_length("body") or 1.0
        return _Asked((text, *extra), chosen, idf, groups, frozenset(singles), average)

    def _clause(self, asked: _Asked, must: tuple[str, ...]) -> Clause:
        content = {t: w for t, w in asked.weights.items() if w > self.function_weight}
        should: list[Clause] = []
        for term, weight in (content or asked.weights).items():
            if term in asked.singles:
                should.append(Part(term, None, weight * asked.idf[term]))
                continue
            should.append(Term(term, "body", weight))
            should.append(Term(term, "title", weight * self.title_boost))
            should.append(Term(term, "headings", weight * self.headings_boost))
            should.append(Term(term, "path", weight * self.path_boost))
        return Bool(must=(Bool(should=tuple(should)), *(Holds(term) for term in must)))

    def _score(self, passage: Passage, asked: _Asked) -> Hit:
        fields = passage.fields
        title, headings, path, body = (fields[n] for n in (*_FIELDS_OF_THE_NAME, "body"))
        names = f"{title}\n{headings}\n{path}"
        norm = self.k1 * (1 - self.b + self.b * len(body) / asked.average)
        score, present = 0.0, set()
        for term, weight in asked.weights.items():
            frequency = float(_occurrences(body, term))
            if term in names:
                frequency += self.title_boost * _occurrences(title, term)
                frequency += self.headings_boost * _occurrences(headings, term)
                frequency += self.path_boost * _occurrences(path, term)
            if frequency:
                present.add(term)
                share = frequency * (self.k1 + 1) / (frequency + norm)
                score += weight * asked.idf[term] * share
        if not score:
            return Hit(passage, 0.0)
        coverage = asked.coverage(present)
        score += self._coverage_bonus(coverage, asked) - self._penalty(len(body))
        marks = {"anchor"} if any(group.text in names for group in asked.groups) else set()
        matched = tuple(_spans(asked.groups, present, f"{names}\n{body}"))
        return Hit(passage, score, frozenset(marks), coverage, matched)

    def _coverage_bonus(self, coverage: float, asked: _Asked) -> float:
        groups = len(asked.groups)
        if not groups:
            return 0.0
        mean = sum(group.weight for group in asked.groups) / groups
        sparse = self.sparse_coverage_weight * min(1.0, 2 / groups)
        return mean * coverage * (self.coverage_weight + sparse)

    def _penalty(self, length: int) -> float:
        over = max(0.0, (length - _LENGTH_FREE) / _LENGTH_FREE)
        return self.length_penalty_weight * min(_LENGTH_WORST, over)


class _Group(NamedTuple):
    """A concept with its terms, and its weight: the mean idf of the terms."""

    text: str
    terms: tuple[str, ...]
    shares: tuple[float, ...]
    weight: float


class _Asked(NamedTuple):
    """A query as this corpus understands it."""

    key: tuple[str, ...]
    weights: dict[str, float]
    idf: Mapping[str, float]
    groups: tuple[_Group, ...]
    singles: frozenset[str]
    average: float

    def coverage(self, present: set[str]) -> float:
        """Return the share of the concepts that is there, weighted by rarity; 0 to 1."""
        total = sum(group.weight for group in self.groups)
        if not total:
            return 1.0
        covered = sum(
            group.weight
            * sum(s for t, s in zip(group.terms, group.shares, strict=True) if t in present)
            for group in self.groups
        )
        return min(1.0, covered / total)


def _group(concept: Concept, corpus: Corpus, idf: Mapping[str, float]) -> _Group:
    terms = tuple(dict.fromkeys(corpus.terms(concept.text))) or (concept.text,)
    weights = [idf.get(term, 0.0) for term in terms]
    total = sum(weights) or 1.0
    return _Group(concept.text, terms, tuple(w / total for w in weights), total / len(terms))


def _occurrences(text: str, term: str) -> int:
    number = text.count(term)
    return len(_word(term).findall(text)) if number and term.isascii() else number


@lru_cache(maxsize=4096)
def _word(term: str) -> re.Pattern[str]:
    return re.compile(f"(?<![a-z0-9]){re.escape(term)}(?![a-z0-9])")


def _spans(groups: Iterable[_Group], present: set[str], text: str) -> Iterable[str]:
    """Yield the concepts that are there, or the longest part of them that is."""
    for group in groups:
        if not any(term in present for term in group.terms):
            continue
        if occurs(text, group.text):
            yield group.text
        else:
            yield from _longest_part(group.text, text)


def _longest_part(wanted: str, text: str) -> Iterable[str]:
    for length in range(len(wanted) - 1, 1, -1):
        for start in range(len(wanted) - length + 1):
            part = wanted[start : start + length]
            if occurs(text, part):
                yield part
                return
