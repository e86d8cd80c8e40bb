"""A tantivy index as it stood at one commit, answering the clauses of stages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import tantivy
from tantivy import Occur, Query

from shirube import (
    Bool,
    Clause,
    Count,
    Everything,
    Fields,
    Floor,
    Found,
    Holds,
    Pages,
    Part,
    Passage,
    Phrase,
    Term,
    fold,
    is_cjk,
    occurs,
)

CHARACTERS = "characters"
"""The field of a section's single characters, Japanese ones at least, whatever the terms are."""

_PASSAGES_KEPT = 4096
_CLAUSES_KEPT = 256


class TantivyCorpus:
    """Searches one generation; what other generations hold is not seen."""

    def __init__(
        self,
        manual_id: str,
        searcher: tantivy.Searcher,
        schema: tantivy.Schema,
        fields: Fields,
        lengths: Mapping[str, int],
        verified: int,
    ) -> None:
        self.manual_id = manual_id
        self._searcher = searcher
        self._schema = schema
        self._fields = fields
        self._lengths = lengths
        self._verified = verified
        self._searched = Query.term_query(schema, "kind", "section")
        self._held = Query.term_set_query(schema, "kind", ["section", "blank"])
        self.size = _number(searcher, self._searched)
        self._blank = _number(searcher, self._held) - self.size
        self._dirty = self._has_deletions()
        self._passages = _Kept[tuple[int, int], Passage](_PASSAGES_KEPT)
        self._frequencies = _Kept[str, int](_PASSAGES_KEPT)
        self._held_texts = _Kept[str, Query](_CLAUSES_KEPT)
        self._translated = _Kept[int, tuple[Clause, Query]](_CLAUSES_KEPT)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they stand in the index."""
        return self._fields.tokenizer.terms(fold(text))

    def search(self, clause: Clause, limit: int, floor: Floor | None = None) -> Sequence[Found]:
        """Return the best matches above the floor, best first, ties by path and line."""
        floor = floor or Floor()
        query, among = self._query(clause), self.size + self._blank
        if not _of_texts(clause):
            query, among = self._both(query, self._searched), self.size
        wanted = max(1, limit * among // max(1, self.size))
        while True:
            hits = self._best(query, wanted)
            found, whole = self._found(hits, floor)
            if whole or len(found) >= limit or len(hits) < wanted:
                found.sort(key=lambda one: (-one.estimate, one.passage.key))
                return floor.hold(found[:limit])
            wanted *= 2

    def _found(
        self, hits: Sequence[tuple[float, tantivy.DocAddress]], floor: Floor
    ) -> tuple[list[Found], bool]:
        """Read the hits that are searched sections; tell whether the floor was reached."""
        found: list[Found] = []
        for score, at in hits:
            last = found[-1].estimate if len(found) >= max(1, floor.sure) else score
            if score < last and score < floor.share * found[0].estimate:
                return found, True
            passage = self._passage(at.segment_ord, at.doc)
            if passage.fields["body"]:
                found.append(Found(passage, score))
        return found, False

    def _best(self, query: Query, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        """Return the best hits, and all those that tie with the last of them.

        The engine orders ties by where it happens to keep them; which of them are within the
        limit must not depend on that.
        """
        wanted = limit + 1
        while True:
            hits = self._searcher.search(query, wanted, count=False).hits
            if len(hits) < wanted or hits[-1][0] < hits[limit - 1][0]:
                return hits
            wanted *= 4

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the matching sections, those without a text of their own included unless told."""
        if cap is not None and self._surely(clause) - self._blank * searched > cap:
            return Count(cap, at_least=True)
        query = self._query(clause)
        if not _of_texts(clause) or (searched and self._blank):
            query = self._both(query, self._searched if searched else self._held)
        number = _number(self._searcher, query)
        return Count(number) if cap is None or number <= cap else Count(cap, at_least=True)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return in how many live sections each term stands."""
        return {term: self._frequency(term) for term in terms}

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        return self._lengths.get(field, 0) / self.size if self.size else 0.0

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        found = self._all(self._both(self._query(Pages((path,))), self._held))
        return sorted(found, key=lambda passage: passage.start_line)

    def _has_deletions(self) -> bool:
        """Tell whether the engine's own numbers still count sections that are gone."""
        written = sum(self._searcher.doc_freq("kind", kind) for kind in ("section", "blank"))
        return written != self.size + self._blank

    def _surely(self, clause: Clause) -> int:
        """Return how many sections match at the least, as far as that is known without looking."""
        match clause:
            case Term(term, None):
                return self._frequency(term)
            case Bool(should, (), ()):
                return max(map(self._surely, should), default=0)
        return 0

    def _frequency(self, term: str) -> int:
        return self._frequencies.of(term, self._count_term)

    def _count_term(self, term: str) -> int:
        if self._dirty:
            return _number(self._searcher, Query.term_query(self._schema, "any", term))
        return self._searcher.doc_freq("any", term)

    def _all(self, query: Query) -> list[Passage]:
        limit = max(1, self._searcher.num_docs)
        hits = self._searcher.search(query, limit, count=False).hits
        return [self._passage(at.segment_ord, at.doc) for _, at in hits]

    def _passage(self, segment: int, number: int) -> Passage:
        return self._passages.of((segment, number), self._read)

    def _read(self, place: tuple[int, int]) -> Passage:
        stored = self._searcher.doc(tantivy.DocAddress(*place))
        path, start, end, title, ancestors, level, digest, fields = json.loads(
            bytes(stored["data"][0])
        )
        return Passage(path, start, end, title, tuple(ancestors), level, digest, fields)

    @staticmethod
    def _both(query: Query, filtering: Query) -> Query:
        silent = Query.const_score_query(filtering, 0.0)
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, silent)])

    def _query(self, clause: Clause) -> Query:
        """Translate a clause; the runs of one search share most of theirs, as the same objects."""
        if not isinstance(clause, Bool):
            return self._translate(clause)
        return self._translated.of(id(clause), lambda _: (clause, self._translate(clause)))[1]

    def _translate(self, clause: Clause) -> Query:
        match clause:
            case Term(term, field, boost):
                return self._weighed(Query.term_query(self._schema, _field(field), term), boost)
            case Phrase(terms, field, boost) if len(terms) < 2:  # noqa: PLR2004 - no phrase at all
                return self._query(Bool(should=tuple(Term(t, field, boost) for t in terms)))
            case Phrase(terms, field, boost):
                fields = [field] if field else self._fields.names
                phrases = [Query.phrase_query(self._schema, _field(f), [*terms]) for f in fields]
                return self._weighed(_either(phrases), boost)
            case Part(text, field, boost):
                return self._weighed(self._part(text, field), boost)
            case Holds(text):
                return Query.const_score_query(self._holding(fold(text)), 0.0)
            case Bool(should, must, must_not):
                return self._bool(should, must, must_not)
            case Pages(paths):
                return Query.term_set_query(self._schema, "of", [*paths])
            case Everything():
                return Query.all_query()

    def _part(self, text: str, field: str | None) -> Query:
        """Look a single Japanese character up; search the dictionary of terms for all else."""
        if field is None and len(text) == 1 and is_cjk(text):
            return Query.term_query(self._schema, CHARACTERS, text)
        return Query.regex_query(self._schema, _field(field), f".*{_escaped(text)}.*")

    def _bool(
        self, should: Sequence[Clause], must: Sequence[Clause], must_not: Sequence[Clause]
    ) -> Query:
        parts = [(Occur.Should, self._query(clause)) for clause in should]
        parts += [(Occur.Must, self._query(clause)) for clause in must]
        if must_not and not should and not must:
            parts.append((Occur.Must, Query.all_query()))
        parts += [(Occur.MustNot, self._query(clause)) for clause in must_not]
        return Query.boolean_query(parts) if parts else Query.empty_query()

    @staticmethod
    def _weighed(query: Query, boost: float) -> Query:
        return query if boost == 1.0 else Query.boost_query(query, boost)

    def _holding(self, text: str) -> Query:
        return self._held_texts.of(text, self._look_up)

    def _look_up(self, text: str) -> Query:
        """Return what matches the sections that hold a folded text, looking at them if need be."""
        if not text:
            return Query.empty_query()
        clause, exact = self._fields.tokenizer.narrow(text)
        query = self._query(clause)
        if exact or self.count(clause, self._verified).at_least:
            return query
        passages = self._all(self._both(query, self._held))
        keys = [f"{p.path}\n{p.start_line}" for p in passages if holds(p, text)]
        return Query.term_set_query(self._schema, "key", keys) if keys else Query.empty_query()


K = TypeVar("K")
V = TypeVar("V")


class _Kept(dict[K, V]):
    """What was looked up, up to a number; then it begins anew.

    No ``lru_cache``: around a method it would hold its generation until all garbage is collected.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def of(self, key: K, look_up: Callable[[K], V]) -> V:
        """Return what is kept under a key, looked up the first time."""
        if key not in self:
            if len(self) >= self._most:
                self.clear()
            self[key] = look_up(key)
        return self[key]


def _number(searcher: tantivy.Searcher, query: Query) -> int:
    counted: int = searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]
    return counted  # tantivy's own type stub forgets the attribute


def holds(passage: Passage, text: str) -> bool:
    """Tell whether a folded text occurs in any field of a passage."""
    return any(occurs(field, text) for field in passage.fields.values())


def _of_texts(clause: Clause) -> bool:
    """Tell whether a clause matches by what stands in a section, and so matches nothing else."""
    match clause:
        case Bool((), (), _) | Pages() | Everything():
            return False
        case Bool(should, (), _):
            return all(map(_of_texts, should))
        case Bool(_, must, _):
            return any(map(_of_texts, must))
    return True


def _field(name: str | None) -> str:
    return f"in_{name}" if name else "any"


def _either(queries: Sequence[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _escaped(text: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", text)
