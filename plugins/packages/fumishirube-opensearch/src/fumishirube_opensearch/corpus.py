"""The sections of one generation, answering the clauses of stages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from fumishirube import (
    Clause,
    Count,
    Fields,
    IndexMatch,
    Pages,
    Passage,
    ScoreCutoff,
    Term,
)
from fumishirube.text import fold, mentions, term_forms
from fumishirube_opensearch.clauses import Body, Translator, either, texts_in
from fumishirube_opensearch.generations import Record
from fumishirube_opensearch.searches import Answer, FoundSection, Searches
from fumishirube_opensearch.sections import PARTS

T = TypeVar("T")
Asking: TypeAlias = Generator[Sequence[Body], Sequence[Answer], T]
"""A verb on its way: it yields searches, is sent their answers, and returns what comes of them."""

_SECTION = ("section",)
_ANY = ("section", "blank")
_PAGE = 10_000
"""The engine returns no more hits at a time."""
_MOST = 1_000_000
_FEW = 50
"""How many matches are read at once when it takes reading to tell where a text stands."""
_ORDER: list[Any] = [{"_score": "desc"}, {"of": "asc"}, {"line": "asc"}]
_NOTHING = Answer(hits=(), total=0, partial=False, shards={})


class SharedCorpus:
    """Searches one generation; what later ones hold is not seen."""

    def __init__(
        self, manual_id: str, record: Record, fields: Fields, searches: Searches, verified: int
    ) -> None:
        self.manual_id = manual_id
        self.size = record.searched
        self._record = record
        self._fields = fields
        self._searches = searches
        self._verified = verified
        self._translator = Translator(fields.names, multiplies=searches.multiplies)
        self._holding: dict[str, Body] = {}

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they stand in the index."""
        return self._fields.tokenizer.terms(fold(text))

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored."""
        tokenizer = self._fields.tokenizer
        own: Callable[[str], Sequence[str]] = getattr(tokenizer, "query_terms", tokenizer.terms)
        return own(fold(text))

    def form_finder(self, term: str) -> Callable[[str], Sequence[str]] | None:
        """Return what finds the words that stand for a term; ``None`` where it is itself."""
        own = getattr(self._fields.tokenizer, "form_finder", None)
        return own(term) if own else None

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        return self._record.lengths.get(field, 0) / self.size if self.size else 0.0

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches above the floor, best first, ties by path and line."""
        return self._run(self._search(clause, limit, cutoff or ScoreCutoff()))

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the matching sections, those without a text of their own included unless told."""
        return self._run(self._count(clause, cap, searched=searched))

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return in how many live sections each term stands."""
        return self._run(self._frequencies(tuple(terms)))

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        return self._run(self._page(path))

    def _run(self, asking: Asking[T]) -> T:
        """Let a verb ask until it returns."""
        try:
            wanted = next(asking)
            while True:
                wanted = asking.send(self._answers(wanted))
        except StopIteration as done:
            result: T = done.value
            return result

    def _answers(self, wanted: Sequence[Body]) -> Sequence[Answer]:
        if not self._record.ranges:
            return [_NOTHING for _ in wanted]
        return self._searches.ask(wanted)

    def _search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff
    ) -> Asking[Sequence[IndexMatch]]:
        if limit <= 0:
            return ()
        query = self._filtered((yield from self._query(clause)), _SECTION)
        hits = yield from self._best(query, limit, _ORDER)
        return cutoff.apply([IndexMatch(hit.passage, hit.score) for hit in hits])

    def _best(self, query: Body, limit: int, order: Sequence[Any]) -> Asking[list[FoundSection]]:
        """Return the first hits in an order, in as few round trips as the engine allows."""
        hits: list[FoundSection] = []
        while len(hits) < limit:
            size = min(_PAGE, limit - len(hits))
            after = {"search_after": [*hits[-1].sort]} if hits else {}
            wanted = {"query": query, "size": size, "sort": [*order], "track_total_hits": False}
            (answer,) = yield [wanted | after]
            hits += answer.hits
            if len(answer.hits) < size:
                break
        return hits

    def _count(self, clause: Clause, cap: int | None, *, searched: bool) -> Asking[Count]:
        query = self._filtered((yield from self._query(clause)), _SECTION if searched else _ANY)
        (answer,) = yield [_counted(query, cap)]
        return Count.capped(answer.total, cap)

    def _frequencies(self, terms: Sequence[str]) -> Asking[Mapping[str, int]]:
        """Count each term; answers do not depend on which others are counted with it."""
        distinct = [*dict.fromkeys(terms)]
        queries = [self._filtered(self._translator.query(Term(t), _unheld), _ANY) for t in distinct]
        answers = yield [_counted(query, None) for query in queries]
        return {term: answer.total for term, answer in zip(distinct, answers, strict=True)}

    def _page(self, path: str) -> Asking[Sequence[Passage]]:
        query = self._filtered(self._translator.query(Pages((path,)), _unheld), _ANY)
        hits = yield from self._best(query, _MOST, _ORDER[1:])
        return [hit.passage for hit in hits]

    def _filtered(self, query: Body, kinds: Sequence[str]) -> Body:
        live = self._record.filters(kinds)["bool"]
        return {"bool": {"must": [query], **live}}

    def _query(self, clause: Clause) -> Asking[Body]:
        """Translate a clause, after finding out which sections hold its texts."""
        yield from self._resolve([*dict.fromkeys(texts_in(clause))])
        return self._translator.query(clause, self._holding.__getitem__)

    def _resolve(self, texts: Sequence[str]) -> Asking[None]:
        """Find what matches the sections that hold folded texts, all in the same round trips."""
        waiting: list[tuple[str, Body]] = []
        for text in texts:
            if text not in self._holding:
                query, exact = self._narrow(text)
                if exact:
                    self._holding[text] = query
                else:
                    waiting.append((text, query))
        if not waiting:
            return
        narrowed = {text: self._filtered(query, _ANY) for text, query in waiting}
        firsts = yield [_read(query, _FEW, self._verified) for query in narrowed.values()]
        more = [
            text
            for text, first in zip(narrowed, firsts, strict=True)
            if _FEW < first.total <= self._verified
        ]
        rest = (
            (yield [_read(narrowed[t], self._verified, self._verified) for t in more])
            if more
            else ()
        )
        read = dict(zip(narrowed, firsts, strict=True)) | dict(zip(more, rest, strict=True))
        for text, query in waiting:
            self._holding[text] = self._verify(text, query, read[text])

    def _verify(self, text: str, query: Body, answer: Answer) -> Body:
        """Return what matches the sections that hold a text, of those that may."""
        if answer.total > self._verified:
            return query
        holding = [hit.id for hit in answer.hits if _holds(hit.passage, text)]
        return query if len(holding) == answer.total else {"ids": {"values": holding}}

    def _narrow(self, text: str) -> tuple[Body, bool]:
        """Return what holds wherever one of a text's forms stands, and whether nowhere else."""
        if not text:
            return {"match_none": {}}, True
        narrowed: list[Body] = []
        sure = True
        for form in term_forms(text):
            clause, exact = self._fields.tokenizer.narrow(form)
            query = self._translator.query(clause, _unheld)
            if not exact and clause == Term(form) and form.isascii() and form.isalnum():
                # Wherever it is a term, but only a part of words.
                part = {"term": {PARTS: {"value": form}}}
                query, exact = {"bool": {"must": [query], "must_not": [part]}}, True
            narrowed.append(query)
            sure = sure and exact
        return either(narrowed), sure


def _unheld(text: str) -> Body:
    raise ValueError(f"what narrows a text holds no text itself: {text!r}")


def _holds(passage: Passage, text: str) -> bool:
    return any(mentions(field, text) for field in passage.fields.values())


def _read(query: Body, size: int, most: int) -> Body:
    return {
        "query": {"constant_score": {"filter": query}},
        "size": size,
        "sort": _ORDER[1:],
        "track_total_hits": most + 1,
    }


def _counted(query: Body, cap: int | None) -> Body:
    most: int | bool = True if cap is None else cap + 1
    return {"query": {"constant_score": {"filter": query}}, "size": 0, "track_total_hits": most}
