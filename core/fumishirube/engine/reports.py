"""What an answer reports: the sure matches of its query, and the counts of its search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from fumishirube.corpus import Bool, Corpus, Count, Holds, Term
from fumishirube.engine.spellings import near_spellings
from fumishirube.model import (
    FrequencyReport,
    Hit,
    MatchCount,
    Passage,
    Ranking,
    SearchReport,
    TermReport,
    TermUse,
)
from fumishirube.optional_attributes import UNSEARCHED
from fumishirube.query import Query
from fumishirube.text.folding import fold
from fumishirube.text.query_concepts import concepts
from fumishirube.text.word_forms import mentions
from fumishirube.traces.records import PARTIAL, UNRANKED, SectionKey, Span, omitted_sections

MOST_CONTINUED = 50
"""Sure matches are added to a search up to this number of hits."""
_MOST_TEXTS = 64
"""The most required terms and concepts that are searched; further ones are ignored."""
_MOST_COUNTED = 10_000
"""The sure matches that are counted: the exact number of more of them takes a fifth of a search."""

_SHARE_DIGITS = 4


class SureMatches:
    """The sections of a corpus with a required term or a whole concept of a query."""

    def __init__(self, query: Query, corpus: Corpus) -> None:
        self._corpus = corpus
        named = (*query.required, *(concept.text for concept in concepts(query.text)))
        texts = dict.fromkeys(filter(None, map(fold, named)))
        self.texts = tuple(islice(texts, _MOST_TEXTS))
        self._clause = query.inside(Bool(should=tuple(map(Holds, self.texts))))

    def count(self, matched: int) -> Count:
        """Count these sections, except those without a body.

        It counts up to ``_MOST_COUNTED``, or up to the number of all ``matched`` sections.
        """
        if not self.texts:
            return Count(0)
        return self._corpus.count(self._clause, max(_MOST_COUNTED, matched), searched=True)

    def texts_in(self, passage: Passage) -> Iterator[str]:
        """Return the required terms and concepts of a passage; it matches if there are any."""
        whole = "\n".join(passage.fields.values())
        return (text for text in self.texts if mentions(whole, text))

    def among(self, keys: Iterable[SectionKey]) -> set[SectionKey]:
        """Return the matches among some sections."""
        wanted = set(keys)
        pages = {path for path, _ in wanted}
        return {
            passage.key
            for path in pages
            for passage in self._corpus.page(path)
            if passage.key in wanted and passage.fields["body"] and any(self.texts_in(passage))
        }

    def further(self, known: Collection[SectionKey], room: int, highest: float) -> Sequence[Hit]:
        """Return up to ``room`` matches that are not known, below the ``highest`` score.

        Their score is the share of required terms and concepts that they contain. As many are
        compared for any ``room``, so that the first ones do not depend on it.
        """
        if not self.texts or room < 1:
            return ()
        terms = dict.fromkeys(term for text in self.texts for term in self._corpus.terms(text))
        clause = Bool(should=tuple(map(Term, terms)), must=(self._clause,))
        hits = []
        for passage, _ in self._corpus.search(clause, len(known) + MOST_CONTINUED):
            present = tuple(self.texts_in(passage))
            if present and passage.key not in known:
                share = len(present) / len(self.texts)
                hits.append(Hit(passage, highest * share, coverage=share, matched=present))
        return sorted(hits, key=Hit.sort_key)[:room]


def continued(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """Return a ranking with sure matches below its hits, which are then not left out."""
    hits = ranking.hits
    room = min(query.limit or MOST_CONTINUED, MOST_CONTINUED) - len(hits)
    known = query.exclude | {hit.passage.key for hit in hits}
    highest = hits[-1].score if hits else 1.0
    further = SureMatches(query, corpus).further(known, room, highest)
    returned = {hit.passage.key for hit in further}
    left_out = [out for out in ranking.left_out if (out.path, out.start_line or 0) not in returned]
    return ranking._replace(hits=(*hits, *further), left_out=tuple(left_out))


@dataclass
class SearchCounts:
    """Counts made during a search.

    ``candidates`` are the sections that any run ranked, by path and first line; ``matched`` is the
    count of the scorer that counts the matches of the whole query.
    """

    candidates: dict[tuple[str, int], Passage] = field(default_factory=dict)
    matched: MatchCount | None = None
    terms: TermUse | None = None
    out_of_time: bool = False


def unsearched(corpus: object, since: float) -> str | None:
    """Return which part of a corpus did not answer, as a sentence for the caller, if any."""
    report: Callable[[float], str | None] | None = UNSEARCHED.of(corpus)
    return report(since) if report else None


def report_search(
    query: Query,
    corpus: Corpus,
    search: Span,
    merged: Ranking,
    ranking: Ranking,
    counts: SearchCounts,
    *,
    counting: bool = True,
) -> SearchReport:
    """Return the report on a search; ``merged`` is its ranking before the refiners.

    Without ``counting``, here or in the query, the corpus is not searched: what the search itself
    has not counted is counted in its hits, and terms that none of them contains are left out.
    """
    counting = counting and query.counting
    use = counts.terms or TermUse()
    names = tuple(dict.fromkeys(query.required)) or use.picked or ()
    terms = (
        tuple(_term(name, query, corpus) for name in names)
        if counting
        else tuple(_known_terms(names, query, merged))
    )
    filtered = _filtered(terms, use, corpus.size)
    dropped = {row.term for row in filtered if row.dropped}
    applied = {name for name in names if name not in dropped}
    before = {hit.passage.key for hit in merged.hits}
    added = [hit for hit in ranking.hits if hit.passage.key not in before]
    holding = [query.terms_in(hit.passage, names) for hit in (*merged.hits, *added)]
    shown = [query.terms_in(hit.passage, names) for hit in ranking.hits]
    returned = Counter(chain.from_iterable(shown))
    left_out, at_least, scan_capped = _omitted(
        query, corpus, search, ranking, counts, counting=counting
    )
    return SearchReport(
        terms=tuple(term._replace(returned=returned[term.term]) for term in terms),
        picked=None if query.required else use.picked,
        filtered=filtered,
        sections=corpus.size,
        strict=sum(map(bool, holding)),
        applied=sum(not applied.isdisjoint(present) for present in holding),
        holding=tuple(rank for rank, present in enumerate(shown, 1) if present),
        gated=any(  # a run that required more than the query returned hits
            span.rows and not set(span.must) <= set(query.must)
            for span in search.children
            if span.kind == "run"
        ),
        returned=len(ranking.hits),
        left_out=left_out,
        at_least=at_least
        or not counting
        or bool(query.exclude or query.alternatives or query.synonyms)
        or _beyond_query(query, terms, applied),
        scan_capped=scan_capped,
        out_of_time=counts.out_of_time,
        counted=counting,
    )


def _omitted(
    query: Query,
    corpus: Corpus,
    search: Span,
    ranking: Ranking,
    counts: SearchCounts,
    *,
    counting: bool,
) -> tuple[Mapping[str, int], bool, bool]:
    """Count the matches that are no hits: those that a stage left out, and those of no run.

    Return their numbers by reason, whether there may be more, and whether the scan was capped.
    """
    named = omitted_sections(search)
    reasons = Counter(out.reason for out in named)
    known = len(ranking.hits) + reasons.total()
    matched, at_least, scan_capped = counts.matched or MatchCount(0)
    number = matched - len(query.exclude)
    unnamed = max(0, min(number, corpus.size) - known)
    if unnamed or query.exclude or query.required or counts.matched is None:
        passages = {hit.passage.key: hit.passage for hit in ranking.hits} | counts.candidates
        places = {*passages, *((out.path, out.start_line or 0) for out in named)}
        # Without time to look, each of them may contain a whole word of the query.
        look = counting and not query.budget.spent
        all_of_them = Count(unnamed, at_least=True)
        sure = _unranked(query, corpus, passages, places, matched) if look else all_of_them
        reasons += Counter({UNRANKED: sure.number, PARTIAL: unnamed - sure.number})
        at_least = at_least or sure.at_least
    return dict(reasons), at_least or known > number, scan_capped


def report_for_query(report: SearchReport, query: Query) -> SearchReport:
    """Return a cached report with its terms in the order of this query."""
    places = {name: place for place, name in enumerate(dict.fromkeys(query.required))}
    terms = sorted(report.terms, key=lambda term: places.get(term.term, len(places)))
    return replace(report, terms=tuple(terms))


def _term(name: str, query: Query, corpus: Corpus) -> TermReport:
    whole = sections = query.sections_with(name, corpus)
    if whole and query.within is not None:
        forms = tuple(map(Holds, query.forms(name)))
        sections = corpus.count(query.inside(Bool(should=forms))).number
    look = not whole and not query.budget.spent
    near = tuple(near_spellings(name, corpus)) if look else ()
    return TermReport(name, sections, near, 0 if sections else whole)


def _known_terms(names: tuple[str, ...], query: Query, merged: Ranking) -> Iterable[TermReport]:
    """Yield the terms that a stage has counted, or that some hits contain."""
    present = Counter(
        chain.from_iterable(query.terms_in(hit.passage, names) for hit in merged.hits)
    )
    for name in names:
        known = query.state.known_sections_with(query.forms(name))
        if known is None or query.within is not None:
            known = present[name] or None
        if known is not None:
            yield TermReport(name, known)


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


def _unranked(
    query: Query,
    corpus: Corpus,
    passages: Mapping[tuple[str, int], Passage],
    places: Collection[tuple[str, int]],
    matched: int,
) -> Count:
    """Count the sure matches that are neither ranked nor left out nor excluded."""
    matches = SureMatches(query, corpus)
    total, at_least = matches.count(matched)
    required = tuple(dict.fromkeys(query.required))
    known = query.state.terms_in  # of most passages
    seen = {
        key
        for key, passage in passages.items()
        if known(passage, required) or any(matches.texts_in(passage))
    }
    seen |= matches.among((query.exclude | {*places}) - passages.keys())
    return Count(max(0, total - len(seen)), at_least)


def _beyond_query(query: Query, terms: tuple[TermReport, ...], applied: set[str]) -> bool:
    """Tell whether a required term that is no part of the query may have matched by itself."""
    text = fold(query.text)
    return any(
        term.sections and term.term in applied and not mentions(text, fold(term.term))
        for term in terms
    )
