"""The hits of a search: merged by rank, added up, limited, accounted for, and read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube.agreed_names import RRF_K
from fumishirube.corpus import Corpus, Holds, Part
from fumishirube.corpus_kinds import rehearse
from fumishirube.model import Hit, LeftOut, Passage, Ranking
from fumishirube.query import Outcome, Query
from fumishirube.text.encoding import has_surrogates
from fumishirube.text.query_concepts import (
    ConceptShares,
    concepts,
    is_part_of_terms,
    joined_terms,
    rarity,
)
from fumishirube.text.word_forms import form_finder, query_terms
from fumishirube.traces.records import SectionKey, Span

_MOST_TERMS = 256
"""The most terms of a wording by which coverage is counted."""


# --- reciprocal rank fusion -----------------------------------------------------------------


class FusedHit(NamedTuple):
    """A hit with its fused score, and the best score of a single run."""

    hit: Hit
    score: float
    best: float


def merge_rankings(outcomes: Sequence[Outcome], k: int = RRF_K) -> list[FusedHit]:
    """Return every hit once, best fused score first; labels and matches are united.

    Cormack, Clarke and Buettcher (2009): every ranking adds ``weight / (k + rank)``.
    """
    merged: dict[tuple[str, int], FusedHit] = {}
    for run, ranking in outcomes:
        for rank, hit in enumerate(ranking.hits, start=1):
            key = hit.passage.key
            added = run.weight / (k + rank)
            before = merged.get(key)
            if before is None:
                merged[key] = FusedHit(hit, added, hit.score)
                continue
            merged[key] = FusedHit(
                united_hit(before.hit, hit), before.score + added, max(before.best, hit.score)
            )
    return sorted(merged.values(), key=lambda m: (-m.score, *m.hit.sort_key()))


def united_hit(first: Hit, second: Hit) -> Hit:
    """Return the better scored of two hits of one passage, with the labels and matches of both."""
    if first is second:
        return first
    better, worse = (first, second) if first.score >= second.score else (second, first)
    same = better.labels == worse.labels and better.matched == worse.matched
    if same and better.coverage >= worse.coverage:
        return better
    return Hit(
        better.passage,
        better.score,
        better.labels | worse.labels,
        max(better.coverage, worse.coverage),
        better.matched + tuple(m for m in worse.matched if m not in better.matched),
        better.signals,
        better.places,
    )


def fused_ranking(hits: Sequence[Hit], outcomes: Sequence[Outcome]) -> Ranking:
    """Return a ranking of these hits, with the left-out rows and diagnostics of the runs.

    A section that is among the hits is not left out, even if a run left it out.
    """
    returned = {hit.passage.key for hit in hits}
    rows = (row for outcome in outcomes for row in outcome.ranking.left_out)
    left = dict.fromkeys(row for row in rows if (row.path, row.start_line) not in returned)
    diagnostics: dict[str, JsonValue] = {}
    for outcome in reversed(outcomes):
        diagnostics |= outcome.ranking.diagnostics
    return Ranking(tuple(sorted(hits, key=Hit.sort_key)), tuple(left), diagnostics)


def merge_by_rank(outcomes: Sequence[Outcome]) -> Ranking:
    """Return the runs merged by rank alone; a single ranking is unchanged."""
    if len(outcomes) == 1:
        return outcomes[0].ranking
    return fused_ranking([m.hit.scored(m.score) for m in merge_rankings(outcomes)], outcomes)


# --- the hits of a search -------------------------------------------------------------------


def allowed_hits(hits: Sequence[Hit], query: Query) -> Sequence[Hit]:
    """Return the hits that a query allows: in its files, and not excluded."""
    within, exclude = query.within, query.exclude
    if within is not None:
        hits = [hit for hit in hits if hit.passage.path in within]
    return [hit for hit in hits if hit.passage.key not in exclude] if exclude else hits


def merge_hits(
    name: str,
    scored: Iterable[Hit],
    candidates: dict[SectionKey, Passage],
    hits: dict[SectionKey, Hit],
) -> None:
    """Add the hits of a scorer to those of others, and to the candidates."""
    for hit in scored:
        key = hit.passage.key
        before = hits.get(key)
        if before is None:
            candidates[key] = hit.passage
            passage, score, labels, coverage, matched, _, places = hit
            hits[key] = Hit(passage, score, labels, coverage, matched, {name: score}, places)
        else:
            hits[key] = Hit(
                before.passage,
                before.score + hit.score,
                before.labels | hit.labels if hit.labels else before.labels,
                max(before.coverage, hit.coverage),
                (*before.matched, *(m for m in hit.matched if m not in before.matched))
                if hit.matched
                else before.matched,
                {**before.signals, name: before.signals.get(name, 0.0) + hit.score},
                (*before.places, *hit.places) if hit.places else before.places,
            )


class OwnSections:
    """The sections of a corpus by key; ``known`` are those that a search has ranked so far."""

    def __init__(self, corpus: Corpus, known: Mapping[SectionKey, Passage]) -> None:
        self._corpus = corpus
        self._known = known
        self._pages: dict[str, dict[int | None, Passage]] = {}

    def of(self, ranking: Ranking, listed: Iterable[LeftOut] = ()) -> tuple[Ranking, str]:
        """Return a ranking with the corpus's own sections alone, and what was wrong, or nothing.

        What ``listed`` contains was left out before, by other stages.
        """
        hits, changed, before = [], 0, {*listed}
        for hit in ranking.hits:
            own = self._section(*hit.passage.key)
            if own is not None:
                same = own is hit.passage or own == hit.passage
                hits.append(hit if same else hit._replace(passage=own))
                changed += not same
        left_out = tuple(
            out
            for out in ranking.left_out
            if out in before or self._section(out.path, out.start_line) is not None
        )
        lacking = len(ranking.hits) - len(hits) + len(ranking.left_out) - len(left_out)
        if not lacking and not changed:
            return ranking, ""
        problems = [f"sections that the manual lacks were dropped: {lacking}"] if lacking else []
        problems += [f"changed sections were put right: {changed}"] if changed else []
        return ranking._replace(hits=tuple(hits), left_out=left_out), "; ".join(problems)

    def _section(self, path: str, start_line: int | None) -> Passage | None:
        """Return a section; without a line, any of the file."""
        known = self._known.get((path, start_line)) if start_line is not None else None
        if known is not None or has_surrogates(path):
            return known
        if path not in self._pages:
            page = self._corpus.page(path)
            self._pages[path] = {None: page[0]} if page else {}
            self._pages[path].update((passage.start_line, passage) for passage in page)
        return self._pages[path].get(start_line)


def covering_hits(hits: Iterable[Hit], texts: Iterable[str], corpus: Corpus) -> tuple[Hit, ...]:
    """Return hits with the spans of some texts that they contain, and the best coverage of one."""
    wordings = [_shares(text, corpus) for text in texts]

    def covering(hit: Hit) -> Hit:
        text = "\n".join(hit.passage.fields.values())
        coverage = max((shares.coverage(text) for shares in wordings), default=0.0)
        matched = dict.fromkeys(span for shares in wordings for span in shares.matched(text))
        return hit._replace(coverage=coverage, matched=tuple(matched))

    return tuple(map(covering, hits))


def _shares(text: str, corpus: Corpus) -> ConceptShares:
    """Return the concepts of a text, weighted by their rarity in a corpus."""
    every = concepts(text)
    joined = joined_terms(text, corpus, lambda words: corpus.count(Holds(words), 1).number > 0)
    terms = [term for concept in every for term in query_terms(corpus, concept.text)]
    counts = dict(corpus.frequencies([*islice(dict.fromkeys((*terms, *joined)), _MOST_TERMS)]))
    parts = [concept.text for concept in every if is_part_of_terms(concept.text, corpus)]
    counts |= {part: corpus.count(Part(part)).number for part in parts[:_MOST_TERMS]}
    idf = {term: rarity(corpus.size, count) for term, count in counts.items()}
    finders = {term: finder for term in counts if (finder := form_finder(corpus, term))}
    return ConceptShares.weighted(every, corpus, idf, joined, finders)


def limited(ranking: Ranking, query: Query) -> Ranking:
    """Return at most as many hits as the query allows; list the others as left out."""
    if query.limit is None or len(ranking.hits) <= query.limit:
        return ranking
    beyond = [LeftOut(*hit.passage.key, "candidate_cap") for hit in ranking.hits[query.limit :]]
    return ranking._replace(hits=ranking.hits[: query.limit], left_out=(*ranking.left_out, *beyond))


def completed(ranking: Ranking, candidates: Iterable[SectionKey]) -> Ranking:
    """List candidates that a stage dropped without a reason as left out."""
    named = {hit.passage.key for hit in ranking.hits}
    named.update((out.path, out.start_line or 0) for out in ranking.left_out)
    lost = [LeftOut(*key, "not_returned") for key in candidates if key not in named]
    return ranking._replace(left_out=(*ranking.left_out, *lost)) if lost else ranking


def restore_ranking(search: Span, corpus: Corpus) -> Ranking:
    """Return the ranking of a search, with its passages read from the index."""
    paths = {row.path for row in search.rows}

    def sections(corpus: Corpus) -> dict[SectionKey, Passage]:
        return {passage.key: passage for path in paths for passage in corpus.page(path)}

    rehearse(corpus, sections)
    passages = sections(corpus)
    hits = (
        Hit(passages[key], row.score, row.labels, row.coverage, row.matched, row.signals)
        for row in search.rows
        if (key := (row.path, row.start_line)) in passages
    )
    return Ranking(tuple(hits), search.left_out, search.diagnostics)
