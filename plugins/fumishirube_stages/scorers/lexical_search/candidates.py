"""Candidates: clauses, the best matches, those in other files, and what a query quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Holds,
    IndexMatch,
    Pages,
    Part,
    Passage,
    Query,
    ScoreCutoff,
    Term,
)
from fumishirube.text import fold, query_terms

_Key: TypeAlias = tuple[str, int]
SearchedTerm: TypeAlias = tuple[str, float, float]
"""A term, its weight, and its weight times its rarity."""

_LEAST_TERMS = 6
"""The fewest terms of a quotation: a shorter text is a name, which many sections mention."""
_MOST_CONCEPTS = 8
"""The most concepts that are looked for together: hardly a section has all of more."""
_LONGEST = 200
_MOST = 5
_MOST_SHARE = 0.01
_MARKS = " 。、.,:;?!\"'「」“”"


class NameBoosts(NamedTuple):
    """How much more a term counts in a title, in headings and in a path than in a body."""

    title: float
    headings: float
    path: float

    def times(self, factor: float) -> NameBoosts:
        """Return the boosts multiplied by a factor."""
        return NameBoosts(*(factor * boost for boost in self))

    def clauses(self, terms: Iterable[SearchedTerm], parts: Container[str]) -> Sequence[Clause]:
        """Return clauses for terms in each field; for parts of terms, in any field."""
        clauses: list[Clause] = []
        for term, weight, value in terms:
            if term in parts:
                clauses.append(Part(term, None, value))
                continue
            clauses += (Term(term, "body", weight), *self._names(term, weight))
        return clauses

    def name_clauses(
        self, weights: Mapping[str, float], searched: Iterable[SearchedTerm], parts: Container[str]
    ) -> Sequence[Clause]:
        """Return clauses for terms with weights in names: all names for those that are searched.

        The others count in titles only.
        """
        values = {term: value for term, _, value in searched}
        clauses: list[Clause] = []
        for term, weight in weights.items():
            if term in parts:
                clauses += [Part(term, None, values[term])] if term in values else []
            elif term in values:
                clauses += self._names(term, weight)
            else:
                clauses.append(Term(term, "title", weight * self.title))
        return clauses

    def _names(self, term: str, weight: float) -> tuple[Term, Term, Term]:
        return (
            Term(term, "title", weight * self.title),
            Term(term, "headings", weight * self.headings),
            Term(term, "path", weight * self.path),
        )


def searched_terms(
    weights: Mapping[str, float], idf: Mapping[str, float], rarest: int, rare_enough: float
) -> Sequence[SearchedTerm]:
    """Return the terms for candidates: the ``rarest`` ones, and those that are rare enough."""
    values = {term: weight * idf[term] for term, weight in weights.items()}
    ordered = sorted(values, key=values.__getitem__, reverse=True)
    return [
        (term, weights[term], values[term])
        for place, term in enumerate(ordered)
        if place < rarest or idf[term] >= rare_enough
    ]


def best_matches(
    corpus: Corpus, clause: Clause, limit: int, cutoff: ScoreCutoff, exclude: frozenset[_Key]
) -> Sequence[IndexMatch]:
    """Return the best matches; the cut-off uses the best match that is not excluded."""
    if not exclude:
        return corpus.search(clause, limit, cutoff)
    best = corpus.search(clause, limit + len(exclude))
    return cutoff.apply([match for match in best if match.passage.key not in exclude][:limit])


def complete_clause(
    clause: Clause,
    concepts: Sequence[Collection[str]],
    parts: Container[str],
    counts: Mapping[str, int],
) -> Clause | None:
    """Return a clause with the matches of another that have all terms of every concept.

    ``counts`` are the numbers of sections with a term. It is ``None`` for a query of one concept or
    of very many, and where a term is in no section.
    """
    terms = dict.fromkeys(term for concept in concepts for term in concept)
    if not 1 < len(concepts) <= _MOST_CONCEPTS or not all(map(counts.get, terms)):
        return None
    every = (Part(term) if term in parts else Term(term) for term in terms)
    return Bool(must=(clause, *every))


def rare_clause(
    values: Mapping[str, float],
    parts: Container[str],
    counts: Mapping[str, int],
    size: int,
    most: int,
) -> Clause | None:
    """Return a clause for the ASCII terms in at most ``most`` sections, and a hundredth of all.

    A pair of Japanese characters that is rare is seldom a word.
    """
    few = min(most, int(_MOST_SHARE * size))
    rare = [t for t in values if 0 < counts[t] <= few and t.isascii() and t not in parts]
    return Bool(should=tuple(Term(term, "body", values[term]) for term in rare)) if rare else None


def pooled_matches(
    corpus: Corpus, query: Query, pools: Iterable[tuple[Clause | None, int]], room: int
) -> Sequence[IndexMatch]:
    """Return the best matches of each clause, as many as it may have, and ``room`` in all."""
    matches: list[IndexMatch] = []
    for clause, most in pools:
        number = min(most, room - len(matches))
        if clause is not None and number > 0:
            inside = query.inside(clause)
            matches += best_matches(corpus, inside, number, ScoreCutoff(), query.exclude)
    return matches


def matches_elsewhere(
    corpus: Corpus,
    clause: Clause,
    matches: Sequence[IndexMatch],
    exclude: frozenset[_Key],
    *,
    crowding: int,
    limit: int,
    share: float,
) -> Sequence[IndexMatch]:
    """Return the best matches outside of files with more than ``crowding`` matches already.

    There are at most ``limit``, with estimates of at least ``share`` of the best match's.
    """
    places = Counter(match.passage.path for match in matches)
    crowded = tuple(path for path, number in places.items() if number > crowding)
    if not crowded or not limit:
        return ()
    others = Bool(must=(clause,), must_not=(Pages(crowded),))
    least = share * matches[0].estimate
    excluded = {match.passage.key for match in matches} | exclude
    further = corpus.search(others, limit + len(excluded))
    return [
        match for match in further if match.estimate >= least and match.passage.key not in excluded
    ][:limit]


def quoted_sections(text: str, corpus: Corpus) -> Sequence[Passage]:
    """Return the sections that contain a text of a query, if they are few in the corpus.

    Marks at both ends of the text are ignored. There are at most five sections, and at most a
    hundredth of all; where more contain the text, it distinguishes none.
    """
    quotation = fold(text).strip(_MARKS)
    most = min(_MOST, int(_MOST_SHARE * corpus.size))
    if not most or len(quotation) > _LONGEST:
        return ()
    if len(query_terms(corpus, quotation)) < _LEAST_TERMS:
        return ()
    matches = corpus.search(Holds(quotation), most + 1)
    return [match.passage for match in matches] if len(matches) <= most else ()


def quotations(query: Query) -> list[_Key]:
    """Return the keys of the sections that contain the text of a query, for other scorers.

    Each scorer ``lexical`` looks them up, and adds them.
    """
    return query.state.shared(list[_Key], "quotations", query.text)
