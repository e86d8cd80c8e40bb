"""Counting what a search claims: by the corpus and the rows, never by what stages say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from fumishirube.corpus import Corpus, Holds
from fumishirube.engine.spellings import near_spellings
from fumishirube.model import MatchCount, Ranking, TermUse
from fumishirube.query import Query
from fumishirube.report import FrequencyReport, SearchReport, TermReport
from fumishirube.text.folding import fold, occurs
from fumishirube.traces.coverage import UNRANKED, omitted_sections
from fumishirube.traces.records import Span

_SHARE_DIGITS = 4


@dataclass
class SearchCounts:
    """What is counted while a search goes on.

    ``candidates`` are the sections that any run ranked, by path and first line.
    """

    candidates: dict[tuple[str, int], None] = field(default_factory=dict)
    matched: MatchCount | None = None
    terms: TermUse | None = None
    out_of_time: bool = False

    def count_matches(self, matched: MatchCount | None, run: Query, whole: Query) -> None:
        """Take a scorer's count, if it is of the whole query and not of a part of it."""
        if matched is not None and self.matched is None:
            same = run.text == whole.text and run.must == whole.must
            self.matched = matched if same else None


def report_search(
    query: Query,
    corpus: Corpus,
    search: Span,
    merged: Ranking,
    ranking: Ranking,
    counts: SearchCounts,
) -> SearchReport:
    """Return the report on a search; ``merged`` is its ranking before the refiners."""
    use = counts.terms or TermUse()
    names = tuple(dict.fromkeys(query.required)) or use.picked or ()
    terms = tuple(_term(name, query, corpus) for name in names)
    filtered = _filtered(terms, use, corpus.size)
    dropped = {row.term for row in filtered if row.dropped}
    applied = {name for name in names if name not in dropped}
    holding = [query.state.terms_in(hit.passage, names) for hit in merged.hits]
    shown = enumerate((query.state.terms_in(hit.passage, names) for hit in ranking.hits), 1)
    omitted = Counter(out.reason for out in omitted_sections(search))
    known = len(ranking.hits) + omitted.total()
    number, at_least, scan_capped = counts.matched or MatchCount(0)
    number -= len(query.exclude)
    if (unranked := min(number, corpus.size) - known) > 0:
        omitted[UNRANKED] = unranked
    return SearchReport(
        terms=terms,
        picked=None if query.required else use.picked,
        filtered=filtered,
        sections=corpus.size,
        strict=sum(map(bool, holding)),
        applied=sum(not applied.isdisjoint(present) for present in holding),
        holding=tuple(rank for rank, present in shown if present),
        gated=_gated(query, search),
        returned=len(ranking.hits),
        left_out=dict(omitted),
        at_least=at_least
        or bool(query.exclude or query.alternatives)
        or known > number
        or _beyond_query(query, terms, applied),
        scan_capped=scan_capped,
        out_of_time=counts.out_of_time,
    )


def report_as_asked(report: SearchReport, query: Query) -> SearchReport:
    """Return a kept report with its terms in the order in which this query names them."""
    places = {name: place for place, name in enumerate(dict.fromkeys(query.required))}
    terms = sorted(report.terms, key=lambda term: places.get(term.term, len(places)))
    return replace(report, terms=tuple(terms))


def _term(name: str, query: Query, corpus: Corpus) -> TermReport:
    if query.within is None:
        sections = query.state.sections_with(name, corpus)
    else:
        sections = corpus.count(query.inside(Holds(name))).number
    look = not sections and not query.budget.spent
    return TermReport(name, sections, tuple(near_spellings(name, corpus)) if look else ())


def _filtered(
    terms: tuple[TermReport, ...], use: TermUse, size: int
) -> tuple[FrequencyReport, ...]:
    counted = {term.term: term.sections for term in terms}
    return tuple(
        FrequencyReport(
            row.term,
            counted[row.term],
            round(counted[row.term] / size, _SHARE_DIGITS) if size else 0.0,
            row.reason,
            row.dropped,
        )
        for row in use.filtered
        if row.term in counted
    )


def _gated(query: Query, search: Span) -> bool:
    """Tell whether a run that required more than the query does brought hits."""
    return any(
        span.rows and not set(span.must) <= set(query.must)
        for span in search.children
        if span.kind == "run"
    )


def _beyond_query(query: Query, terms: tuple[TermReport, ...], applied: set[str]) -> bool:
    """Tell whether a required term that is no part of the query may have matched by itself."""
    text = fold(query.text)
    return any(
        term.sections and term.term in applied and not occurs(text, fold(term.term))
        for term in terms
    )
