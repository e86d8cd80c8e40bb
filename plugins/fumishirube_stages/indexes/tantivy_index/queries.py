"""Queries of tantivy: made of clauses, and run by a searcher that notices damaged files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import tantivy
from pydantic_core import from_json
from tantivy import Occur, Query, Schema

from fumishirube import Bool, Clause, Everything, Holds, Pages, Part, Phrase, Term
from fumishirube.text import fold, is_cjk
from fumishirube_stages.indexes.tantivy_index.files import CommittedFiles

T = TypeVar("T")

_SECTIONS = 20_000
"""The most sections of an index whose terms are listed: 10,000 of documentation have 0.4 million
characters of terms, which are listed in 30 ms."""
_MOST = 512
"""The most terms that are worth a list: an automaton is faster than a longer one."""


class CheckedSearcher:
    """A searcher that raises :class:`IndexDamaged` when damaged files cause an error."""

    def __init__(self, searcher: tantivy.Searcher, files: CommittedFiles) -> None:
        self._searcher = searcher
        self._files = files
        self._listed: dict[str, str] = {}
        self.num_docs: int = searcher.num_docs

    def search(self, query: tantivy.Query, limit: int, *, count: bool) -> tantivy.SearchResult:
        """Return the best documents that match a query; all if the limit exceeds their number."""
        limit = max(1, min(limit, self.num_docs))  # tantivy allocates memory for all of the limit
        return self._checked(lambda: self._searcher.search(query, limit, count=count))

    def doc_freq(self, field: str, term: str) -> int:
        """Return the number of documents with a term; deleted ones may still count."""
        return self._checked(lambda: self._searcher.doc_freq(field, term))

    def terms_containing(self, text: str, field: str) -> Sequence[str] | None:
        """Return the terms of a field that contain a text, or ``None`` if they are not listed.

        The terms of a field are listed at its first search; those of deleted documents may still be
        among them. A pattern takes ten times as long: tantivy first compiles it, then compares it
        with each term.
        """
        if not text or "\n" in text or self.num_docs > _SECTIONS:
            return None
        if field not in self._listed:
            terms = self._checked(lambda: self._searcher.terms_with_prefix(field, ""))
            self._listed[field] = "\n".join(term for term, _ in terms)
        listed, matching = self._listed[field], list[str]()
        at = listed.find(text)
        while at >= 0:
            if len(matching) == _MOST:
                return None
            start, end = listed.rfind("\n", 0, at) + 1, listed.find("\n", at)
            end = end if end >= 0 else len(listed)
            matching.append(listed[start:end])
            at = listed.find(text, end)
        return matching

    def numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> list[Any]:
        """Return the numbers of some documents in a field, without reading their stored data."""
        return self._checked(lambda: self._searcher.fast_field_values(field, addresses))

    def data(self, address: tantivy.DocAddress) -> Any:
        """Return the data stored with a document."""
        return self._checked(lambda: from_json(self._searcher.doc(address)["data"][0]))

    def all_data(self, addresses: Sequence[tantivy.DocAddress]) -> list[Any]:
        """Return the data stored with each of many documents."""
        doc = self._searcher.doc
        stored = self._checked(lambda: [doc(address)["data"][0] for address in addresses])
        return self._checked(lambda: from_json(b"[%s]" % b",".join(stored)))

    def _checked(self, verb: Callable[[], T]) -> T:
        try:
            return verb()
        except BaseException as error:
            self._files.judge(error)
            raise


CHARACTERS = "characters"
"""The field with each non-ASCII character of a section's terms."""

BESIDE = "beside"
"""The field with the terms of a section that are not in its last field, which is the longest.

The sections with a term are those with it in the last field, and those with it in this one. A field
of all terms would be as long as the last field itself.
"""

PARTS = "parts"
"""The field with the ASCII terms of a section that occur in it only as parts of words.

Any other ASCII term of letters and digits is a word of the section.
"""

_CACHED_CLAUSES = 32
"""A search has about ten, and the next one has others. Each holds 10 KB outside of Python."""
_CACHED_TERMS = 4096
_COUNTED = "freq"
"""Reads how often a term occurs, but not its positions, which tantivy reads by default."""
_LONGEST_PART = 128
"""The most characters of a pattern: tantivy accepts a thousand states, up to four a character."""
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
"""Characters with a meaning in tantivy's patterns; it rejects escapes of any others."""

_TEXTS = frozenset({Term, Phrase, Part, Holds})
"""The clauses that match by the text of a section."""

K = TypeVar("K")
V = TypeVar("V")


class LookupCache(dict[K, V]):
    """A cache of limited size, which is emptied when it is full.

    An ``lru_cache`` of a method would keep its object in memory until a full garbage collection.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def of(self, key: K, look_up: Callable[[K], V]) -> V:
        """Return the value of a key; look it up the first time."""
        value = self.get(key)
        if value is None:
            if len(self) >= self._most:
                self.clear()
            value = self[key] = look_up(key)
        return value


class Translator(ABC):
    """Translates clauses; a subclass looks up texts in the sections."""

    def __init__(self, schema: Schema, names: Sequence[str], searcher: CheckedSearcher) -> None:
        self._schema = schema
        self._names = names
        self._searcher = searcher
        self._anywhere = (f"in_{names[-1]}", BESIDE)
        self._in_fields = LookupCache[tuple[str, str], bool](_CACHED_TERMS)
        self._translated = LookupCache[int, tuple[Clause, Query]](_CACHED_CLAUSES)

    def _query(self, clause: Clause) -> Query:
        """Translate a clause; cache a ``Bool`` by identity, as the runs of a search share most."""
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
        """Return tantivy's name of a field; empty if sections have no such field."""
        return [f"in_{field}"] if field in self._names else []

    def _part(self, text: str, field: str | None) -> Query:
        """Look up a single Japanese character; search all terms for any other text."""
        if field is None and len(text) == 1 and is_cjk(text):
            return Query.term_query(self._schema, CHARACTERS, text)
        names = self._named(field) if field else self._anywhere
        return either([self._parts(text, name) for name in names])

    def _parts(self, text: str, name: str) -> Query:
        """Search the terms of a field for a text; divide a long one, and search each piece."""
        listed = self._searcher.terms_containing(text, name) if len(text) <= _LONGEST_PART else None
        if listed is not None:
            return Query.term_set_query(self._schema, name, [*listed])
        starts = range(0, len(text) or 1, _LONGEST_PART)
        patterns = [f".*{_escaped(text[start : start + _LONGEST_PART])}.*" for start in starts]
        pieces = [Query.regex_query(self._schema, name, pattern) for pattern in patterns]
        return _joined(pieces, Occur.Must)

    def _has_term(self, place: tuple[str, str]) -> bool:
        """Tell whether any section has a term in a field; deleted sections may still count."""
        field, term = place
        return self._searcher.doc_freq(f"in_{field}", term) > 0

    @abstractmethod
    def _holding(self, text: str) -> Query:
        """Return a query for the sections that contain a folded text."""

    def _bool(
        self, should: Sequence[Clause], must: Sequence[Clause], must_not: Sequence[Clause]
    ) -> Query:
        # A search has about a hundred clauses. Most are terms, and most of these are in one field.
        parts = [
            (Occur.Should, self._term(clause) if type(clause) is Term else self._query(clause))
            for clause in should
            if type(clause) is not Term
            or clause.field is None
            or clause.field not in self._names
            or self._in_fields.of((clause.field, clause.term), self._has_term)
        ]
        parts += [(Occur.Must, self._query(clause)) for clause in must]
        if must_not and not should and not must:
            parts.append((Occur.Must, Query.all_query()))
        parts += [(Occur.MustNot, self._query(clause)) for clause in must_not]
        return Query.boolean_query(parts) if parts else Query.empty_query()


def both(query: Query, filtering: Query) -> Query:
    """Return a query for the matches of a query that pass a filter, with their scores."""
    silent = Query.const_score_query(filtering, 0.0)
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, silent)])


def without(query: Query, excluded: Query) -> Query:
    """Return a query for the matches of a query that another one does not match."""
    return Query.boolean_query([(Occur.Must, query), (Occur.MustNot, excluded)])


def of_texts(clause: Clause) -> bool:
    """Tell whether a clause matches by the text of sections, and so matches only sections."""
    match clause:
        case Bool((), (), _) | Pages() | Everything():
            return False
        case Bool(should, (), _):
            return _TEXTS.issuperset(map(type, should)) or all(map(of_texts, should))
        case Bool(_, must, _):
            return any(map(of_texts, must))
    return True


def terms_of_all(clause: Clause) -> Iterator[str]:
    """Yield terms that every match of a clause has, in any field."""
    match clause:
        case Term(term, None):
            yield term
        case Phrase(terms, None):
            yield from terms
        case Bool(_, must, _):
            for each in must:
                yield from terms_of_all(each)


def _weighed(query: Query, boost: float) -> Query:
    return query if boost == 1.0 else Query.boost_query(query, boost)


def either(queries: Sequence[Query]) -> Query:
    """Return a query for the matches of any of some queries."""
    return _joined(queries, Occur.Should)


def _joined(queries: Sequence[Query], occur: Occur) -> Query:
    if len(queries) == 1:
        return queries[0]
    if not queries:
        return Query.empty_query()
    return Query.boolean_query([(occur, query) for query in queries])


def _escaped(text: str) -> str:
    return _META.sub(r"\\\g<0>", text)
