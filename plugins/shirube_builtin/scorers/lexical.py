"""BM25 over weighted fields, the share of concepts that are there, and a penalty for length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from shirube import (
    Bool,
    Clause,
    Concept,
    Corpus,
    Env,
    Floor,
    Hit,
    Holds,
    Part,
    Passage,
    Query,
    Ranking,
    Stage,
    Term,
    chunks,
    concepts,
    fold,
    is_function,
    occurrences,
    occurs,
    rarity,
)

_MAX_TERMS = 256
_LATE = 10
_FEW = 100
_LENGTH_FREE = 3000
_LENGTH_WORST = 3.0
_REQUIRED_ONLY = 1.05
_FIELDS = ("title", "headings", "path", "body")
_ANCHOR = frozenset({"anchor"})
_UNMARKED: frozenset[str] = frozenset()


class Lexical(Stage):
    """Nominates sections by the index, and scores the nominated by what stands in them.

    What nominates are the ``nominating`` rarest terms of the query, and of the others those that
    stand in no more than ``common_share`` of the sections, nor in over ``common_sections``: longer
    lists of places would cost time and tell nothing. All terms score.

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
    nominating: Annotated[int, Field(ge=1)] = 8
    common_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    common_sections: Annotated[int, Field(ge=0)] = 5000
    pool: Annotated[int, Field(ge=1)] = 80
    sure: Annotated[int, Field(ge=0)] = 20
    promising: Annotated[float, Field(ge=0, le=1)] = 0.35
    scan_hard_cap: Annotated[int, Field(ge=1), Env("MANUAL_FIND_SCAN_HARD_CAP")] = 5000
    count_cap: Annotated[int, Field(ge=1)] = 10_000
    prescan: Annotated[bool, Env("MANUAL_FIND_FILE_PRESCAN_ENABLED")] = True

    def score(
        self, query: Query, corpus: Corpus, found: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit] | Ranking:
        """Nominate the best sections for the query, and score them."""
        asked = self._asked(query, corpus)
        if not asked.terms:
            return ()
        held = tuple(Holds(term) for term in query.must)
        clause = Bool(must=(asked.clause, *held)) if held else asked.clause
        limit = min(self.pool, self.scan_hard_cap) if self.prescan else self.scan_hard_cap
        if query.budget.spent:
            limit = min(limit, _LATE)
        floor = Floor(self.sure, self.promising)
        nominated = corpus.search(clause, limit + len(query.exclude), floor)
        hits = query.shared(("lexical", self.fingerprint, asked.key), dict[tuple[str, int], Hit]())
        scored = []
        for one in nominated:
            key = one.passage.key
            if key not in hits:
                hits[key] = self._score(one.passage, asked)
            # What holds no part of any concept was nominated by what stands between two of them.
            if query.must or hits[key].coverage or not asked.groups:
                scored.append(hits[key])
        if query.must:
            return scored
        matched, at_least = corpus.count(asked.anywhere, self.count_cap, searched=True)
        capped = limit == self.scan_hard_cap < matched
        notes = {"matched": matched, "matched_at_least": at_least, "scan_capped": capped}
        return Ranking(tuple(scored), notes=notes)

    def _asked(self, query: Query, corpus: Corpus) -> _Asked:
        """Analyse the query once a search; the terms of a filter only count where it filters."""
        extra = tuple(term for term in query.must if not occurs(fold(query.text), fold(term)))
        memo = query.shared(("asked", self.fingerprint), dict[tuple[str, ...], _Asked]())
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
        extras = {term for required in extra for term in corpus.terms(required)}
        for term in sorted(extras):
            weights.setdefault(term, _REQUIRED_ONLY)
        chosen = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:_MAX_TERMS])
        # Only these say that a section matches: what spans two words of a query is in any text.
        told = [term for term in chosen if term in content or term in singles or term in extras]
        counts = dict(corpus.frequencies(chosen))
        counts |= {single: corpus.count(Part(single)).number for single in singles}
        size = corpus.size
        idf = {term: rarity(size, count) for term, count in counts.items()}
        groups = tuple(_group(concept, corpus, idf) for concept in wanted)
        shares = _shares(groups)
        terms = tuple(
            _Weighed(
                term,
                weight * idf[term],
                shares.get(term, 0.0),
                occurrences if term.isascii() else str.count,
            )
            for term, weight in chosen.items()
        )
        return _Asked(
            key=(text, *extra),
            clause=self._clause(chosen, idf, least=rarity(size, self._common(size))),
            anywhere=Bool(should=tuple(map(_anywhere, told or self._content(chosen)))),
            groups=groups,
            terms=terms,
            coverage_bonus=self._coverage_bonus(groups),
            average=corpus.average_length("body") or 1.0,
        )

    def _content(self, weights: Mapping[str, float]) -> Sequence[str]:
        """Return the terms that are more than function words; all, when there are no others."""
        content = [term for term, weight in weights.items() if weight > self.function_weight]
        return content or [*weights]

    def _common(self, size: int) -> int:
        """Return in how many sections a term stands, at the most, that is not common."""
        return min(self.common_sections, max(_FEW, int(self.common_share * size)))

    def _clause(
        self, weights: Mapping[str, float], idf: Mapping[str, float], least: float
    ) -> Clause:
        """Return what nominates: the rarest terms, and those that are rare enough."""
        value = {term: weights[term] * idf[term] for term in self._content(weights)}
        ordered = sorted(value, key=value.__getitem__, reverse=True)
        should: list[Clause] = []
        for place, term in enumerate(ordered):
            if place >= self.nominating and idf[term] < least:
                continue
            weight = weights[term]
            if _is_single(term):
                should.append(Part(term, None, value[term]))
                continue
            should.append(Term(term, "body", weight))
            should.append(Term(term, "title", weight * self.title_boost))
            should.append(Term(term, "headings", weight * self.headings_boost))
            should.append(Term(term, "path", weight * self.path_boost))
        return Bool(should=tuple(should))

    def _score(self, passage: Passage, asked: _Asked) -> Hit:
        fields = passage.fields
        title, headings, path, body = (fields[name] for name in _FIELDS)
        names = f"{title}\n{headings}\n{path}"
        norm = self.k1 * (1 - self.b + self.b * len(body) / asked.average)
        score = covered = 0.0
        for term, value, share, count in asked.terms:
            frequency: float = count(body, term)
            if term in names:
                frequency += self.title_boost * count(title, term)
                frequency += self.headings_boost * count(headings, term)
                frequency += self.path_boost * count(path, term)
            if frequency:
                covered += share
                score += value * frequency * (self.k1 + 1) / (frequency + norm)
        if not score:
            return Hit(passage, 0.0)
        coverage = min(1.0, covered) if asked.groups else 1.0
        score += coverage * asked.coverage_bonus - self._penalty(len(body))
        matched = asked.matched(f"{names}\n{body}") if covered else ()
        named = any(group.text in names for group in asked.groups)
        return Hit(passage, score, _ANCHOR if named else _UNMARKED, coverage, matched)

    def _coverage_bonus(self, groups: Sequence[_Group]) -> float:
        """Return what covering the whole query is worth, by the mean rarity of its concepts."""
        if not groups:
            return 0.0
        mean = sum(group.weight for group in groups) / len(groups)
        sparse = self.sparse_coverage_weight * min(1.0, 2 / len(groups))
        return mean * (self.coverage_weight + sparse)

    def _penalty(self, length: int) -> float:
        over = max(0.0, (length - _LENGTH_FREE) / _LENGTH_FREE)
        return self.length_penalty_weight * min(_LENGTH_WORST, over)


class _Group(NamedTuple):
    """A concept, the share of it that each of its terms stands for, and its rarity."""

    text: str
    shares: Mapping[str, float]
    weight: float


class _Weighed(NamedTuple):
    """A term, its weight times its rarity, its share of the coverage, and how it is counted."""

    term: str
    value: float
    share: float
    counted: Callable[[str, str], int]


class _Asked(NamedTuple):
    """A query as this corpus understands it."""

    key: tuple[str, ...]
    clause: Clause
    anywhere: Clause
    groups: tuple[_Group, ...]
    terms: tuple[_Weighed, ...]
    coverage_bonus: float
    average: float

    def matched(self, text: str) -> tuple[str, ...]:
        """Return the concepts that stand in a text, or else the longest parts of them."""
        whole = tuple(group.text for group in self.groups if occurs(text, group.text))
        return whole or tuple(_parts(self.groups, text))


def _is_single(term: str) -> bool:
    """Tell whether a term is one Japanese character, which other terms hold as a part."""
    return len(term) == 1 and not term.isascii()


def _anywhere(term: str) -> Clause:
    return Part(term) if _is_single(term) else Term(term)


def _group(concept: Concept, corpus: Corpus, idf: Mapping[str, float]) -> _Group:
    terms = tuple(dict.fromkeys(corpus.terms(concept.text))) or (concept.text,)
    total = sum(idf.get(term, 0.0) for term in terms)
    shares = {term: idf.get(term, 0.0) / (total or 1.0) for term in terms}
    return _Group(concept.text, shares, total / len(terms))


def _shares(groups: Iterable[_Group]) -> Mapping[str, float]:
    """Return each term's share of the coverage: of its concepts, weighted by their rarity."""
    groups = tuple(groups)
    total = sum(group.weight for group in groups) or 1.0
    shares: dict[str, float] = {}
    for group in groups:
        for term, share in group.shares.items():
            shares[term] = shares.get(term, 0.0) + group.weight * share / total
    return shares


def _parts(groups: Iterable[_Group], text: str) -> Iterable[str]:
    """Yield the longest part of each concept that stands in a text, from two characters on."""
    for group in groups:
        wanted = group.text
        parts = (
            wanted[start : start + length]
            for length in range(len(wanted) - 1, 1, -1)
            for start in range(len(wanted) - length + 1)
        )
        found = next((part for part in parts if occurs(text, part)), None)
        if found:
            yield found
