"""The sections of one generation, answering the clauses of stages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from fumishirube import (
    Clause,
    Corpus,
    Count,
    Fields,
    Holds,
    IndexMatch,
    Pages,
    Passage,
    ScoreCutoff,
    Term,
)
from fumishirube.text import FormFinder, fold, form_finder, query_terms, term_forms
from fumishirube_opensearch.clauses import Body, ClauseTranslator, either, texts_in
from fumishirube_opensearch.cluster import VectorSearch
from fumishirube_opensearch.generations import IndexRecord
from fumishirube_opensearch.searches import (
    ClusterAnswer,
    FoundSection,
    Search,
    Searches,
    SearchKey,
    key_of,
)
from fumishirube_opensearch.section_requests import ORDER, counted, holds_text, read_first, unheld
from fumishirube_opensearch.sections import PARTS

_log = logging.getLogger("fumishirube")

T = TypeVar("T")
Asking: TypeAlias = Generator[Sequence[Search], Sequence[ClusterAnswer], T]
"""A verb on its way: it yields searches, is sent their answers, and returns what comes of them."""

_SECTION = ("section",)
_ANY = ("section", "blank")
_PAGE = 10_000
"""The engine returns no more hits at a time."""
_MOST = 1_000_000
_FEW = 20
"""How many matches are read at once when it takes reading to tell where a text stands."""
_REHEARSALS = 8
_NOTHING = ClusterAnswer(hits=(), total=0, partial=False, shards={})


class SharedCorpus:
    """Searches one generation; later ones are not visible."""

    def __init__(
        self, manual_id: str, record: IndexRecord, fields: Fields, searches: Searches, verified: int
    ) -> None:
        self.manual_id = manual_id
        self.size = record.searched
        self._record = record
        self._fields = fields
        self._searches = searches
        self._verified = verified
        self._translator = ClauseTranslator(fields.names, multiplies=searches.multiplies)
        self._holding: dict[str, Body] = {}

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, as they are indexed."""
        return self._fields.tokenizer.terms(fold(text))

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text of a query is scored."""
        return query_terms(self._fields.tokenizer, fold(text))

    def form_finder(self, term: str) -> FormFinder | None:
        """Return a finder of a term's word forms; ``None`` if it is matched literally."""
        return form_finder(self._fields.tokenizer, term)

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        return self._record.lengths.get(field, 0) / self.size if self.size else 0.0

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches above the score cut-off, best first, ties by path and line."""
        return self._run(self._search(clause, limit, cutoff or ScoreCutoff()), ())

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the matching sections; with ``searched`` only those with a text of their own."""
        return self._run(self._count(clause, cap, searched=searched), Count(0))

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return the number of live sections that contain each term."""
        return self._run(self._frequencies(tuple(terms)), dict.fromkeys(terms, 0))

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file, in order."""
        return self._run(self._page(path), ())

    def similar(self, search: VectorSearch) -> ClusterAnswer | None:
        """Return the pieces most similar to a vector; ``None`` if a rehearsal has to ask first."""
        return self._run(_alone(search), None)

    def rehearse(self, search: Callable[[Corpus], object]) -> None:
        """Repeat a search while it has new requests, and fetch their answers in between."""
        for number in range(_REHEARSALS if self._record.ranges else 0):
            rehearsal = Rehearsal(self, hits=number > 0)
            try:
                search(rehearsal)
            except Exception:  # a stage that fails does so again, where that is handled
                _log.debug("a stage failed in a rehearsal", exc_info=True)
            if not rehearsal.wanted:
                return
            self._answers([*rehearsal.wanted.values()])

    def unsearched(self, since: float) -> str | None:
        """Return, as a sentence, how many shards did not answer since a moment."""
        return self._searches.unsearched(since)

    def _run(self, asking: Asking[T], otherwise: T) -> T:
        """Call a verb until it returns; ``otherwise`` is what a rehearsal returns."""
        try:
            wanted = next(asking)
            while True:
                wanted = asking.send(self._answers(wanted))
        except StopIteration as done:
            result: T = done.value
            return result

    def _answers(self, wanted: Sequence[Search]) -> Sequence[ClusterAnswer]:
        if not self._record.ranges:
            return [_NOTHING for _ in wanted]
        return self._searches.answers(wanted)

    def _search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff
    ) -> Asking[Sequence[IndexMatch]]:
        if limit <= 0:
            return ()
        query = self._filtered((yield from self._query(clause)), _SECTION)
        hits = yield from self._best(query, limit, ORDER)
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
        if isinstance(clause, Holds) and cap is not None and not searched:
            least = yield from self._at_least(fold(clause.text))
            if least > cap:
                return Count(cap, at_least=True)
        query = self._filtered((yield from self._query(clause)), _SECTION if searched else _ANY)
        (answer,) = yield [counted(query, cap)]
        return Count.capped(answer.total, cap)

    def _at_least(self, text: str) -> Asking[int]:
        """Return how many of the first sections that may hold a text do."""
        if text in self._holding:
            return 0
        query, exact = self._narrow(text)
        if exact:
            return 0
        (first,) = yield [read_first(self._filtered(query, _ANY), _FEW, self._verified)]
        return sum(holds_text(hit.passage, text) for hit in first.hits)

    def _frequencies(self, terms: Sequence[str]) -> Asking[Mapping[str, int]]:
        """Count each term; answers do not depend on which others are counted with it."""
        distinct = [*dict.fromkeys(terms)]
        queries = [self._filtered(self._translator.query(Term(t), unheld), _ANY) for t in distinct]
        answers = yield [counted(query, None) for query in queries]
        return {term: answer.total for term, answer in zip(distinct, answers, strict=True)}

    def _page(self, path: str) -> Asking[Sequence[Passage]]:
        query = self._filtered(self._translator.query(Pages((path,)), unheld), _ANY)
        hits = yield from self._best(query, _MOST, ORDER[1:])
        return [hit.passage for hit in hits]

    def _filtered(self, query: Body, kinds: Sequence[str]) -> Body:
        live = self._record.filters(kinds)["bool"]
        return {"bool": {"must": [query], **live}}

    def _query(self, clause: Clause) -> Asking[Body]:
        """Translate a clause, after finding out which sections hold its texts."""
        resolved = yield from self._resolve([*dict.fromkeys(texts_in(clause))])
        return self._translator.query(clause, lambda t: resolved.get(t) or self._holding[t])

    def _resolve(self, texts: Sequence[str]) -> Asking[Mapping[str, Body]]:
        """Find the sections that contain folded texts, all in the same round trips.

        Only what all shards say is kept for later searches.
        """
        waiting: list[tuple[str, Body]] = []
        for text in texts:
            if text not in self._holding:
                query, exact = self._narrow(text)
                if exact:
                    self._holding[text] = query
                else:
                    waiting.append((text, query))
        if not waiting:
            return {}
        narrowed = {text: self._filtered(query, _ANY) for text, query in waiting}
        firsts = yield [read_first(query, _FEW, self._verified) for query in narrowed.values()]
        more = [
            text
            for text, first in zip(narrowed, firsts, strict=True)
            if _FEW < first.total <= self._verified
        ]
        rest = (
            (yield [read_first(narrowed[t], self._verified, self._verified) for t in more])
            if more
            else ()
        )
        read = dict(zip(narrowed, firsts, strict=True)) | dict(zip(more, rest, strict=True))
        verified = {text: self._verify(text, query, read[text]) for text, query in waiting}
        self._holding.update((t, query) for t, query in verified.items() if not read[t].partial)
        return verified

    def _verify(self, text: str, query: Body, answer: ClusterAnswer) -> Body:
        """Return a query for the sections that contain a text, of those that may."""
        if answer.total > self._verified:
            return query
        holding = [hit.id for hit in answer.hits if holds_text(hit.passage, text)]
        return query if len(holding) == answer.total else {"ids": {"values": holding}}

    def _narrow(self, text: str) -> tuple[Body, bool]:
        """Return a clause that matches wherever a form of a text occurs, and whether only there."""
        if not text:
            return {"match_none": {}}, True
        narrowed: list[Body] = []
        sure = True
        for form in term_forms(text):
            clause, exact = self._fields.tokenizer.narrow(form)
            query = self._translator.query(clause, unheld)
            if not exact and clause == Term(form) and form.isascii() and form.isalnum():
                # Wherever it is a term, but only a part of words.
                part = {"term": {PARTS: {"value": form}}}
                query, exact = {"bool": {"must": [query], "must_not": [part]}}, True
            narrowed.append(query)
            sure = sure and exact
        return either(narrowed), sure


class Rehearsal(SharedCorpus):
    """Answers from known results, and collects the further requests.

    Without ``hits`` it collects only counts until they are known: searches depend on them.
    """

    def __init__(self, corpus: SharedCorpus, *, hits: bool) -> None:
        vars(self).update(vars(corpus))
        self._hits = hits
        self.wanted: dict[SearchKey, Search] = {}

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the matching sections, or estimate how many: runs are planned by that."""
        estimate = self._estimate(fold(clause.text)) if isinstance(clause, Holds) else 0
        return self._run(self._count(clause, cap, searched=searched), Count.capped(estimate, cap))

    def _estimate(self, text: str) -> int:
        """Return about how many sections hold a text, by the first that may, if they are known."""
        body = read_first(self._filtered(self._narrow(text)[0], _ANY), _FEW, self._verified)
        known = self._searches.known(body)
        if known is None or not known.hits:
            return 0
        holding = sum(holds_text(hit.passage, text) for hit in known.hits)
        return -(-holding * known.total // len(known.hits))

    def _run(self, asking: Asking[T], otherwise: T) -> T:
        try:
            wanted = next(asking)
            while True:
                known = [self._searches.known(body) for body in wanted]
                answers = [answer for answer in known if answer is not None]
                if len(answers) < len(known):
                    self._remember(wanted)
                    return otherwise
                wanted = asking.send(answers)
        except StopIteration as done:
            result: T = done.value
            return result

    def _remember(self, wanted: Sequence[Search]) -> None:
        for body in wanted:
            scored = not isinstance(body, VectorSearch) and "_score" in str(body.get("sort"))
            if self._hits or not self.wanted or not scored:
                self.wanted[key_of(body)] = body


def _alone(search: Search) -> Asking[ClusterAnswer | None]:
    (answer,) = yield [search]
    return answer
