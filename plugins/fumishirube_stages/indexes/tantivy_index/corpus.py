"""The corpus of one commit of a tantivy index, which evaluates the clauses of stages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import tantivy
from tantivy import Query

from fumishirube import Clause, Count, Fields, Holds, IndexMatch, Pages, Passage, ScoreCutoff
from fumishirube.text import FormFinder, fold, form_finder, query_terms
from fumishirube_stages.indexes.tantivy_index.documents import ORDER
from fumishirube_stages.indexes.tantivy_index.lookups import (
    SectionLookups,
    ShortTextCache,
    match_count,
)
from fumishirube_stages.indexes.tantivy_index.queries import (
    CheckedSearcher,
    both,
    of_texts,
    without,
)

_FEW_TIED = 32
"""The most ties that are all returned."""
_LIKELY_TIED, _MORE_TIED = 64, 8
"""The hits requested in addition, because several may tie at the end, and the factor by which a
request grows while all of these tie. Copies of pages tie in nearly every search; a second search
takes as long as the first, these hits a twentieth of it."""


class TantivyCorpus(SectionLookups):
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
        super().__init__(schema, fields, searcher, verified)
        self.manual_id = manual_id
        self._lengths = lengths
        self._terms = ShortTextCache[Sequence[str]]()
        self._query_terms = ShortTextCache[Sequence[str]]()

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
        return Count.capped(match_count(self._searcher, query), cap)

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
