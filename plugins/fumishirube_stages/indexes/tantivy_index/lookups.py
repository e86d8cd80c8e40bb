"""Looks up the texts of clauses in one commit of a tantivy index: which sections have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

import tantivy
from tantivy import Query

from fumishirube import Bool, Clause, Fields, Holds, Passage, Term
from fumishirube.text import fold, mentions, term_forms
from fumishirube_stages.indexes.tantivy_index.documents import RECORDS
from fumishirube_stages.indexes.tantivy_index.queries import (
    PARTS,
    CheckedSearcher,
    LookupCache,
    Translator,
    both,
    either,
    of_texts,
    terms_of_all,
    without,
)

_CACHED_PASSAGES = 1024
_CACHED_FREQUENCIES = 4096
_CACHED_TEXTS = 256
_SHORT, _CACHED_SHORT_TEXTS = 32, 4096
"""Texts up to so many characters, such as concepts and terms, are cached apart: a search with
other wordings has hundreds of them."""

_FEW = 5
"""The terms of a text up to which a search for it is faster than one for a list of sections."""
_RAREST = 3
"""The rarest terms of a long text, which are searched together first."""

V = TypeVar("V")


class SectionLookups(Translator):
    """Translates clauses; counts and reads the sections of one commit that have a text."""

    def __init__(
        self, schema: tantivy.Schema, fields: Fields, searcher: CheckedSearcher, verified: int
    ) -> None:
        super().__init__(schema, fields.names, searcher)
        self._fields = fields
        self._verified = verified
        self._searched = Query.term_query(schema, "kind", "section")
        self._any_section = Query.term_set_query(schema, "kind", ["section", "blank"])
        self._blank = match_count(searcher, Query.term_query(schema, "kind", "blank"))
        records = match_count(searcher, Query.term_set_query(schema, "kind", RECORDS))
        self.size = searcher.num_docs - records - self._blank  # faster than to count the most
        self._dirty = self._has_deletions()
        self._passages = LookupCache[tuple[int, int], Passage](_CACHED_PASSAGES)
        self._frequencies = LookupCache[str, int](_CACHED_FREQUENCIES)
        self._text_queries = LookupCache[str, Query](_CACHED_TEXTS)
        self._holder_counts = LookupCache[str, int](_CACHED_FREQUENCIES)

    def _has_deletions(self) -> bool:
        """Tell whether tantivy's document frequencies still count deleted sections."""
        written = sum(self._searcher.doc_freq("kind", kind) for kind in ("section", "blank"))
        return written != self.size + self._blank

    def _exceeds(self, clause: Clause, most: int) -> bool:
        """Tell whether a clause surely matches more sections: of a ``Bool``, its likeliest part.

        All texts of a query together take several times as long to count as one of them.
        """
        match clause:
            case Term(term, None):
                return self._frequency(term) > most
            case Holds(text):
                return self._highest(clause) > most and self._holders(fold(text)) > most
            case Bool(should, (), ()) if should and self.size + self._blank > most:
                return self._exceeds(max(should, key=self._highest), most)
        return False

    def _highest(self, clause: Clause) -> int:
        """Return an upper bound of the matches of a term or a text; 0 for other clauses."""
        match clause:
            case Term(term, None):
                return self._frequency(term)
            case Holds(text) if fold(text):
                narrow = self._fields.tokenizer.narrow
                clauses = [narrow(form)[0] for form in term_forms(fold(text))]
                terms = [map(self._frequency, terms_of_all(each)) for each in clauses]
                return sum(min(frequencies, default=0) for frequencies in terms)
        return 0

    def _holders(self, text: str) -> int:
        """Return the number of sections that contain a folded text."""
        return self._holder_counts.of(text, self._count_holders)

    def _count_holders(self, text: str) -> int:
        return match_count(self._searcher, Query.const_score_query(self._holding(text), 0.0))

    def _never(self, clause: Clause) -> bool:
        """Tell whether a clause surely has no match, because no section has all of its terms.

        Only its rarest terms are searched together, without their places: a phrase in each field
        takes twice as long, and most long texts of queries are nowhere.
        """
        terms = sorted({*terms_of_all(clause)}, key=self._frequency)
        if not terms or not self._frequency(terms[0]):
            return bool(terms)
        if len(terms) <= _RAREST:
            return False
        rarest = Bool(must=tuple(map(Term, terms[:_RAREST])))
        return not match_count(self._searcher, self._translate(rarest))

    def _frequency(self, term: str) -> int:
        return self._frequencies.of(term, self._count_term)

    def _count_term(self, term: str) -> int:
        if self._dirty:
            return match_count(self._searcher, self._query(Term(term)))
        return sum(self._searcher.doc_freq(field, term) for field in self._anywhere)

    def _all(self, query: Query) -> list[Passage]:
        return self._passages_of(
            self._searcher.search(query, self._searcher.num_docs, count=False).hits
        )

    def _passages_of(self, hits: Sequence[tuple[float, tantivy.DocAddress]]) -> list[Passage]:
        return [self._passage(at.segment_ord, at.doc) for _, at in hits]

    def _passage(self, segment: int, number: int) -> Passage:
        return self._passages.of((segment, number), self._read)

    def _read(self, place: tuple[int, int]) -> Passage:
        path, start, end, title, ancestors, level, digest, fields = self._searcher.data(
            tantivy.DocAddress(*place)
        )
        known = MappingProxyType(fields)  # later searches use it too
        return Passage(path, start, end, title, tuple(ancestors), level, digest, known)

    def _holding(self, text: str) -> Query:
        return self._text_queries.of(text, self._look_up)

    def _look_up(self, text: str) -> Query:
        """Return a query for the sections that contain a folded text; read them if necessary."""
        if not text:
            return Query.empty_query()
        narrowed = [self._narrow(form) for form in term_forms(text)]
        query = either([query for query, _ in narrowed])
        if all(exact for _, exact in narrowed):
            return query
        result = self._searcher.search(query, self._verified, count=True)
        if result.count > self._verified:  # type: ignore[attr-defined]  # no stub has it
            return query
        passages = self._passages_of(result.hits)
        keys = [f"{p.path}\n{p.start_line}" for p in passages if holds(p, text)]
        if keys and len(keys) == len(passages) and len(self._fields.tokenizer.terms(text)) <= _FEW:
            return query  # faster than a list of keys; a phrase of many terms is not
        return Query.term_set_query(self._schema, "key", keys) if keys else Query.empty_query()

    def _narrow(self, form: str) -> tuple[Query, bool]:
        """Return a query for all sections with a form of a text, and whether it finds only those.

        If the form is one ASCII term, the field of parts excludes sections in which it is only a
        part of a word; so the query is exact.
        """
        clause, exact = self._fields.tokenizer.narrow(form)
        if self._never(clause):
            return Query.empty_query(), True
        query = self._query(clause)
        if not of_texts(clause):
            query = both(query, self._any_section)
        if not exact and clause == Term(form) and form.isascii() and form.isalnum():
            exact = True
            if self._searcher.doc_freq(PARTS, form):
                query = without(query, Query.term_query(self._schema, PARTS, form))
        return query, exact


class ShortTextCache(Generic[V]):
    """A cache for short texts, and a smaller one for long texts."""

    def __init__(self) -> None:
        self._short = LookupCache[str, V](_CACHED_SHORT_TEXTS)
        self._long = LookupCache[str, V](_CACHED_TEXTS)

    def of(self, text: str, look_up: Callable[[str], V]) -> V:
        """Return the value of a text; look it up the first time."""
        return (self._short if len(text) <= _SHORT else self._long).of(text, look_up)


def match_count(searcher: CheckedSearcher, query: Query) -> int:
    """Return how many documents match a query."""
    counted: int = searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]  # no stub has it
    return counted


def holds(passage: Passage, text: str) -> bool:
    """Tell whether a field of a passage contains a folded text, or its plural or singular."""
    return any(mentions(field, text) for field in passage.fields.values())
