"""Clauses in the engine's own words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from tantivy import Occur, Query, Schema

from fumishirube import (
    Bool,
    Clause,
    Everything,
    Holds,
    Pages,
    Part,
    Phrase,
    Term,
)
from fumishirube.text import fold, is_cjk

CHARACTERS = "characters"
"""The field of the single characters of a section's terms, Japanese ones at least."""

BESIDE = "beside"
"""The field of the terms of a section that do not stand in its last field, the longest.

A term stands in as many sections as hold it there, and as hold it here: no list of all terms of a
section is needed, which would be as long as the last field itself.
"""

PARTS = "parts"
"""The field of a section's ASCII terms that do not occur in it, but are parts of words there.

What does not stand here is a word of the section, if it is a term of it.
"""

_CACHED_CLAUSES = 256
_COUNTED = "freq"
"""How often a term stands is read, and not where, which the engine's own default is."""
_LONGEST_PART = 128
"""Characters of a pattern: the engine takes a thousand states, up to four a character."""
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
"""What means something to the engine's expressions; it refuses to have anything else escaped."""

_TEXTS = frozenset({Term, Phrase, Part, Holds})
"""What matches by what stands in a section."""

K = TypeVar("K")
V = TypeVar("V")


class LookupCache(dict[K, V]):
    """What was looked up, up to a number; then it begins anew.

    No ``lru_cache``: around a method it would hold its generation until all garbage is collected.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def of(self, key: K, look_up: Callable[[K], V]) -> V:
        """Return what is kept under a key, looked up the first time."""
        value = self.get(key)
        if value is None:
            if len(self) >= self._most:
                self.clear()
            value = self[key] = look_up(key)
        return value


class Translator(ABC):
    """Translates clauses; who knows the sections says which of them hold a text."""

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        self._schema = schema
        self._names = names
        self._anywhere = (f"in_{names[-1]}", BESIDE)
        self._translated = LookupCache[int, tuple[Clause, Query]](_CACHED_CLAUSES)

    def _query(self, clause: Clause) -> Query:
        """Translate a clause; the runs of one search share most of theirs, as the same objects."""
        if not isinstance(clause, Bool):
            return self._translate(clause)
        return self._translated.of(id(clause), lambda _: (clause, self._translate(clause)))[1]

    def _translate(self, clause: Clause) -> Query:
        match clause:
            case Term():
                return self._term(clause)
            case Phrase(terms, field, boost) if len(terms) < 2:  # noqa: PLR2004 - no phrase at all
                return self._query(Bool(should=tuple(Term(t, field, boost) for t in terms)))
            case Phrase(terms, field, boost):
                names = self._named(field) if field else [f"in_{name}" for name in self._names]
                phrases = [Query.phrase_query(self._schema, name, [*terms]) for name in names]
                return _weighed(either(phrases), boost)
            case Part(text, field, boost):
                return _weighed(self._part(text, field), boost)
            case Holds(text):
                return Query.const_score_query(self._holding(fold(text)), 0.0)
            case Bool(should, must, must_not):
                return self._bool(should, must, must_not)
            case Pages(paths):
                files = Query.term_set_query(self._schema, "of", [*paths])
                return Query.const_score_query(files, 0.0)
            case Everything():
                return Query.all_query()

    def _term(self, clause: Term) -> Query:
        names = self._named(clause.field) if clause.field else self._anywhere
        named = [Query.term_query(self._schema, name, clause.term, _COUNTED) for name in names]
        return _weighed(either(named), clause.boost)

    def _named(self, field: str) -> Sequence[str]:
        """Return the engine's name of a field; none when sections have no such field."""
        return [f"in_{field}"] if field in self._names else []

    def _part(self, text: str, field: str | None) -> Query:
        """Look a single Japanese character up; search the dictionary of terms for all else."""
        if field is None and len(text) == 1 and is_cjk(text):
            return Query.term_query(self._schema, CHARACTERS, text)
        names = self._named(field) if field else self._anywhere
        return either([self._parts(text, name) for name in names])

    def _parts(self, text: str, name: str) -> Query:
        """Look for a text in the terms of a field; for a long one by its pieces, each in any."""
        starts = range(0, len(text) or 1, _LONGEST_PART)
        patterns = [f".*{_escaped(text[start : start + _LONGEST_PART])}.*" for start in starts]
        pieces = [Query.regex_query(self._schema, name, pattern) for pattern in patterns]
        return _joined(pieces, Occur.Must)

    @abstractmethod
    def _has_term(self, field: str, term: str) -> bool:
        """Tell whether a field of any section has a term, or may have had it."""

    @abstractmethod
    def _holding(self, text: str) -> Query:
        """Return what matches the sections that hold a folded text."""

    def _bool(
        self, should: Sequence[Clause], must: Sequence[Clause], must_not: Sequence[Clause]
    ) -> Query:
        # Most clauses are terms, a hundred in every search, and most stand in one field only.
        parts = [
            (
                Occur.Should,
                self._term(clause) if type(clause) is Term else self._query(clause),
            )
            for clause in should
            if type(clause) is not Term
            or clause.field is None
            or clause.field not in self._names
            or self._has_term(clause.field, clause.term)
        ]
        parts += [(Occur.Must, self._query(clause)) for clause in must]
        if must_not and not should and not must:
            parts.append((Occur.Must, Query.all_query()))
        parts += [(Occur.MustNot, self._query(clause)) for clause in must_not]
        return Query.boolean_query(parts) if parts else Query.empty_query()


def both(query: Query, filtering: Query) -> Query:
    """Return what matches a query, at its worth, and a filter."""
    silent = Query.const_score_query(filtering, 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, silent)])


def of_texts(clause: Clause) -> bool:
    """Tell whether a clause matches by what stands in a section, and so matches nothing else."""
    match clause:
        case Bool((), (), _) | Pages() | Everything():
            return False
        case Bool(should, (), _):
            return _TEXTS.issuperset(map(type, should)) or all(map(of_texts, should))
        case Bool(_, must, _):
            return any(map(of_texts, must))
    return True


def _weighed(query: Query, boost: float) -> Query:
    return query if boost == 1.0 else Query.boost_query(query, boost)


def either(queries: Sequence[Query]) -> Query:
    """Return what matches any of some queries."""
    return _joined(queries, Occur.Should)


def _joined(queries: Sequence[Query], occur: Occur) -> Query:
    if len(queries) == 1:
        return queries[0]
    if not queries:
        return Query.empty_query()
    return Query.boolean_query([(occur, query) for query in queries])


def _escaped(text: str) -> str:
    return _META.sub(r"\\\g<0>", text)
