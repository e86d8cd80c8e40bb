"""Translates clauses into queries of the cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from fumishirube import Bool, Clause, Everything, Holds, Pages, Part, Phrase, Term
from fumishirube.text import fold, is_cjk
from fumishirube_opensearch.sections import BESIDE, CHARACTERS, EMPTY, fits, weights

Body: TypeAlias = dict[str, Any]

NOTHING: Body = {"match_none": {}}
_MOST_CLAUSES = 960
"""The engine takes 1024 in one query; the lightest of a longer list are left out."""
_MOST_TERMS = 60_000
"""The engine takes 65,536 in one list."""
_LONGEST_PART = 128
_META = re.compile(r"[\\*?]")


class ClauseTranslator:
    """Translates clauses over some fields; the caller says how a text is matched."""

    def __init__(self, names: Sequence[str], *, multiplies: bool) -> None:
        self._names = names
        self._anywhere = (f"in_{names[-1]}", BESIDE)
        made = weights(names)
        self._factors = {name: each.boost(multiplies=multiplies) for name, each in made.items()}

    def query(self, clause: Clause, holding: Callable[[str], Body]) -> Body:
        """Return a clause as a query; ``holding`` returns the query for a folded text."""
        match clause:
            case Term():
                return self._term(clause)
            case Phrase((), _) | Bool((), (), ()):
                return NOTHING
            case Phrase((term,), field, boost):
                return self._term(Term(term, field, boost))
            case Phrase():
                return self._phrase(clause)
            case Part():
                return self._part(clause)
            case Holds(text):
                return silent(holding(fold(text)))
            case Bool(should, must, must_not):
                return self._bool(should, must, must_not, holding)
            case Pages(paths):
                return silent(either(among("of", paths)))
            case Everything():
                return {"match_all": {}}

    def _named(self, field: str | None, anywhere: Sequence[str]) -> Sequence[str]:
        """Return the engine's names of a field, or of all; none if sections lack the field."""
        if field is None:
            return anywhere
        return [f"in_{field}"] if field in self._names else []

    def _term(self, clause: Term) -> Body:
        names = self._named(clause.field, self._anywhere) if clause.term else ()
        return either([_exact(name, clause.term, self._boost(clause, name)) for name in names])

    def _boost(self, clause: Term | Phrase | Part, name: str) -> float:
        return clause.boost * self._factors.get(name, 1.0)

    def _phrase(self, clause: Phrase) -> Body:
        if not all(term and fits(term) for term in clause.terms):
            return NOTHING
        names = self._named(clause.field, [f"in_{name}" for name in self._names])
        text = " ".join(clause.terms)
        boosts = {name: self._boost(clause, name) for name in names}
        return either(
            [{"match_phrase": {n: {"query": text, "boost": b}}} for n, b in boosts.items()]
        )

    def _part(self, clause: Part) -> Body:
        """Look up a single Japanese character; search the dictionary of terms for anything else."""
        text, field, boost = clause.text, clause.field, clause.boost
        if field is None and len(text) == 1 and is_cjk(text):
            return _exact(CHARACTERS, text, self._boost(clause, CHARACTERS))
        if not text:
            return either([self._any_term(name) for name in self._named(field, self._anywhere)])
        starts = range(0, len(text), _LONGEST_PART)
        pieces = [_META.sub(r"\\\g<0>", text[s : s + _LONGEST_PART]) for s in starts]
        return either(
            [
                both([{"wildcard": {name: {"value": f"*{p}*", "boost": boost}}} for p in pieces])
                for name in self._named(field, self._anywhere)
            ]
        )

    def _any_term(self, name: str) -> Body:
        filled: Body = {"exists": {"field": name}}
        return {"bool": {"must": [filled], "must_not": [{"term": {name: EMPTY}}]}}

    def _bool(
        self,
        should: Sequence[Clause],
        must: Sequence[Clause],
        must_not: Sequence[Clause],
        holding: Callable[[str], Body],
    ) -> Body:
        made: Body = {}
        if should:
            made["should"] = _heaviest([(part, self.query(part, holding)) for part in should])
            made["minimum_should_match"] = 0 if must else 1
        if must or not should:
            made["must"] = [self.query(part, holding) for part in must] or [{"match_all": {}}]
        if must_not:
            made["must_not"] = [self.query(part, holding) for part in must_not]
        return {"bool": made}


def texts_in(clause: Clause) -> Iterator[str]:
    """Yield the folded texts that a clause, or any below it, requires."""
    match clause:
        case Holds(text):
            yield fold(text)
        case Bool(should, must, must_not):
            for part in (*should, *must, *must_not):
                yield from texts_in(part)


def either(queries: Sequence[Body]) -> Body:
    """Return a query that matches where any of some queries does; the scores add up."""
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": [*queries], "minimum_should_match": 1}} if queries else NOTHING


def both(queries: Sequence[Body]) -> Body:
    """Return a query that matches where all of some queries do."""
    return queries[0] if len(queries) == 1 else {"bool": {"must": [*queries]}}


def silent(query: Body) -> Body:
    """Return a query that matches the same sections with a score of 0."""
    return {"constant_score": {"filter": query, "boost": 0.0}}


def _heaviest(parts: Sequence[tuple[Clause, Body]]) -> list[Body]:
    """Return the queries of some clauses, without the lightest that the engine does not take."""
    if sum(_clauses(query) for _, query in parts) <= _MOST_CLAUSES:
        return [query for _, query in parts]
    taken, room = list[Body](), _MOST_CLAUSES
    for _, query in sorted(parts, key=lambda part: -getattr(part[0], "boost", 1.0)):
        room -= _clauses(query)
        if taken and room < 0:
            break
        taken.append(query)
    return taken


def _clauses(query: Body) -> int:
    """Return how many clauses the engine counts in a query: those without others in them."""
    ((kind, content),) = query.items()
    if kind == "constant_score":
        return _clauses(content["filter"])
    if kind != "bool":
        return 1
    lists = (part for part in content.values() if isinstance(part, list))
    return sum(_clauses(part) for parts in lists for part in parts)


def _exact(name: str, term: str, boost: float) -> Body:
    return {"term": {name: {"value": term, "boost": boost}}}


def among(field: str, terms: Sequence[str]) -> list[Body]:
    """Return queries of which one matches wherever a field has one of the terms."""
    starts = range(0, len(terms), _MOST_TERMS)
    return [{"terms": {field: [*terms[at : at + _MOST_TERMS]]}} for at in starts]
