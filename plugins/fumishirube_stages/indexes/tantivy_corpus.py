"""The corpus of one commit of a tantivy index, which evaluates the clauses of stages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

import tantivy
from tantivy import Query

from fumishirube import (
    Bool,
    Clause,
    Count,
    Fields,
    Holds,
    IndexMatch,
    Pages,
    Passage,
    ScoreCutoff,
    Term,
)
from fumishirube.text import FormFinder, fold, form_finder, mentions, query_terms, term_forms
from fumishirube_stages.indexes.tantivy_documents import ORDER, RECORDS
from fumishirube_stages.indexes.tantivy_queries import (
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
_FEW_TIED = 32
"""The most ties that are all returned."""
_LIKELY_TIED, _MORE_TIED = 64, 8
"""The hits requested in addition, because several may tie at the end, and the factor by which a
request grows while all of these tie. Copies of pages tie in nearly every search; a second search
takes as long as the first, these hits a twentieth of it."""

_RAREST = 3
"""The rarest terms of a long text, which are searched together first."""

V = TypeVar("V")


class TantivyCorpus(Translator):
    """Searches one commit of an index; later commits do not change it."""

    def __init__(
        self,
        manual_id: str,
        searcher: CheckedSearcher,
        schema: tantivy.Schema,
        fields: Fields,
        lengths: Mapping[str, int],
        verified: int,
    ) -> None:
        super().__init__(schema, fields.names, searcher)
        self.manual_id = manual_id
        self._fields = fields
        self._lengths = lengths
        self._verified = verified
        self._searched = Query.term_query(schema, "kind", "section")
        self._any_section = Query.term_set_query(schema, "kind", ["section", "blank"])
        self._blank = _number(searcher, Query.term_query(schema, "kind", "blank"))
        records = _number(searcher, Query.term_set_query(schema, "kind", RECORDS))
        self.size = searcher.num_docs - records - self._blank  # faster than to count the most
        self._dirty = self._has_deletions()
        self._passages = LookupCache[tuple[int, int], Passage](_CACHED_PASSAGES)
        self._frequencies = LookupCache[str, int](_CACHED_FREQUENCIES)
        self._terms = ShortTextCache[Sequence[str]]()
        self._query_terms = ShortTextCache[Sequence[str]]()
        self._text_queries = LookupCache[str, Query](_CACHED_TEXTS)
        self._holder_counts = LookupCache[str, int](_CACHED_FREQUENCIES)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they are in the index."""
        return self._terms.of(text, lambda text: self._fields.tokenizer.terms(fold(text)))

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored."""
        tokenizer = self._fields.tokenizer
        return self._query_terms.of(text, lambda text: query_terms(tokenizer, fold(text)))

    def form_finder(self, term: str) -> FormFinder | None:
        """Return a function that finds the words of a term, or ``None`` for literal matches."""
        return form_finder(self._fields.tokenizer, term)

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches above the cut-off, best first, ties by path and line."""
        cutoff = cutoff or ScoreCutoff()
        query, among = self._query(clause), self.size + self._blank
        if not of_texts(clause):
            query, among = both(query, self._searched), self.size
        wanted = max(1, limit * among // max(1, self.size))
        while True:
            hits = self._best(query, wanted, cutoff)
            matches, whole = self._read_hits(hits, cutoff)
            if whole or len(matches) >= limit or len(hits) < wanted:
                matches.sort(key=lambda match: (-match.estimate, match.passage.key))
                return cutoff.apply(matches[:limit])
            wanted *= 2

    def _read_hits(
        self, hits: Sequence[tuple[float, tantivy.DocAddress]], cutoff: ScoreCutoff
    ) -> tuple[list[IndexMatch], bool]:
        """Read the searched sections among the hits; tell whether the cut-off was reached."""
        matches: list[IndexMatch] = []
        for score, at in hits:
            last = matches[-1].estimate if len(matches) >= max(1, cutoff.sure) else score
            if score < last and score < cutoff.share * matches[0].estimate:
                return matches, True
            passage = self._passage(at.segment_ord, at.doc)
            if passage.fields["body"]:
                matches.append(IndexMatch(passage, score))
        return matches, False

    def _best(
        self, query: Query, limit: int, cutoff: ScoreCutoff
    ) -> Sequence[tuple[float, tantivy.DocAddress]]:
        """Return the best hits; of hits that tie at the end, always select the same.

        tantivy orders ties by their place in its segments. This method returns all of up to
        ``_FEW_TIED`` ties. Of more, as for a heading of most files, it returns those with the
        lowest hashes.
        """
        wanted = limit + _LIKELY_TIED
        hits = self._searcher.search(query, wanted, count=False).hits
        if len(hits) <= limit:
            return hits
        last, least = hits[limit - 1][0], cutoff.share * hits[0][0]
        if hits[limit][0] < last or (last < least and limit > cutoff.sure):
            return hits[: limit + 1]
        while len(hits) == wanted and hits[-1][0] == last:
            wanted *= _MORE_TIED
            hits = self._searcher.search(query, wanted, count=False).hits
        above = [hit for hit in hits if hit[0] > last]
        tied = [hit for hit in hits if hit[0] == last]
        if len(tied) > _FEW_TIED:
            places = self._searcher.numbers(ORDER, [at for _, at in tied])
            first = sorted(zip(places, range(len(tied)), strict=True))[: limit - len(above)]
            tied = [tied[number] for _, number in first]
        return above + tied

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the matching sections, up to a cap; with ``searched`` only those with a body."""
        if cap is not None and self._exceeds(clause, cap + self._blank * searched):
            return Count(cap, at_least=True)
        if isinstance(clause, Holds) and not (searched and self._blank):
            return Count.capped(self._holders(fold(clause.text)), cap)
        query = self._query(clause)
        if not of_texts(clause):
            query = both(query, self._searched if searched else self._any_section)
        elif searched and self._blank:  # there are few, so that leaving them out is faster
            query = without(query, Query.term_query(self._schema, "kind", "blank"))
        number = _number(self._searcher, query)
        return Count.capped(number, cap)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return the exact number of live sections with each term, in any field."""
        return {term: self._frequency(term) for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field over the searched sections."""
        return self._lengths.get(field, 0) / self.size if self.size else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        passages = self._all(both(self._query(Pages((path,))), self._any_section))
        return sorted(passages, key=lambda passage: passage.start_line)

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
            case Holds(text):
                narrow = self._fields.tokenizer.narrow
                clauses = [narrow(form)[0] for form in term_forms(fold(text))]
                terms = [map(self._frequency, terms_of_all(each)) for each in clauses]
                return sum(min(frequencies, default=0) for frequencies in terms)
        return 0

    def _holders(self, text: str) -> int:
        """Return the number of sections that contain a folded text."""
        return self._holder_counts.of(text, self._count_holders)

    def _count_holders(self, text: str) -> int:
        return _number(self._searcher, Query.const_score_query(self._holding(text), 0.0))

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
        return not _number(self._searcher, self._translate(rarest))

    def _frequency(self, term: str) -> int:
        return self._frequencies.of(term, self._count_term)

    def _count_term(self, term: str) -> int:
        if self._dirty:
            return _number(self._searcher, self._query(Term(term)))
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
        found = self._searcher.search(query, self._verified, count=True)
        if found.count > self._verified:  # type: ignore[attr-defined]  # no stub has it
            return query
        passages = self._passages_of(found.hits)
        keys = [f"{p.path}\n{p.start_line}" for p in passages if holds(p, text)]
        if keys and len(keys) == len(passages):
            return query  # faster than a list of keys
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


def _number(searcher: CheckedSearcher, query: Query) -> int:
    counted: int = searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]  # no stub has it
    return counted


def holds(passage: Passage, text: str) -> bool:
    """Tell whether a field of a passage contains a folded text, or its plural or singular."""
    return any(mentions(field, text) for field in passage.fields.values())
