"""Full text: finds sections that contain all words of a query, or else most of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Hit,
    Holds,
    LinkedCorpus,
    Pages,
    Passage,
    Query,
    Ranking,
    Stage,
    TextMatches,
)
from fumishirube.text import concepts, fold, words
from fumishirube_stages.scorers.evidence import (
    MAX_CANDIDATES,
    by_document,
    candidate_sections,
    store_document_scores,
)
from fumishirube_stages.scorers.text_hits import passes_filter

_LOOKED_AT = 10 * MAX_CANDIDATES
"""Sections requested first; usually enough, although few of one document count."""


class Fulltext(Stage):
    """Generates candidates by BM25 over the required terms, which may be inside words.

    When no section contains them all, content words and pairs of Japanese characters are searched
    instead. Sections that contain less than ``min_coverage`` of them are left out, and the
    diagnostics say so.
    """

    generates: ClassVar[bool] = True
    document_score: ClassVar[str] = "fulltext"

    min_coverage: Annotated[float, Field(ge=0, le=1)] = 0.2

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Ranking:
        """Return the best sections, by the estimates of the corpus."""
        requested = query.required or tuple(query.text.split())
        texts, share = requested, 1.0
        matches = _text_matches(corpus, texts, query)
        relaxed = not matches.total and bool(requested)
        if relaxed:
            texts = _pieces(requested)
            share = min(self.min_coverage, 1 - 1e-9)
            matches = _text_matches(corpus, texts, query, share)
        best = candidate_sections(matches.matches)
        if len(best) < MAX_CANDIDATES and len(matches.matches) < matches.total:
            best = candidate_sections(_text_matches(corpus, texts, query, share, None).matches)
        greatest = best[0].estimate if best else 0.0
        if best:
            values = by_document(best)
            store_document_scores(
                query, "fulltext", {path: rows[0] / greatest for path, rows in values.items()}
            )
        hits = tuple(Hit(match.passage, match.estimate / greatest) for match in best)
        return Ranking(hits, diagnostics={"query_relaxed": True} if relaxed and best else {})


def _text_matches(
    corpus: Corpus,
    texts: Sequence[str],
    query: Query,
    share: float = 1.0,
    limit: int | None = _LOOKED_AT,
) -> TextMatches:
    """Return the sections that contain texts, or words where substrings cannot be searched."""
    if isinstance(corpus, LinkedCorpus):
        matches = corpus.search_texts(texts, limit, query.within, share)
        filtered = [match for match in matches.matches if passes_filter(match.passage, query)]
        return matches._replace(matches=filtered) if query.must else matches
    each = tuple(Holds(fold(text)) for text in texts)
    clause: Clause = Bool(must=each) if share == 1 else Bool(should=each)
    if query.must:
        clause = Bool(must=(clause, *map(Holds, query.must)))
    if query.within is not None:
        clause = Bool(must=(clause, Pages(tuple(query.within))))
    sections = [match._replace(estimate=1.0) for match in corpus.search(clause, MAX_CANDIDATES)]
    return TextMatches(sections, len(sections))


def _pieces(requested: Sequence[str]) -> tuple[str, ...]:
    """Return the content words of a query, and the overlapping pairs of its Japanese runs.

    Function words do not count, or an answer would need most particles of the question. Single
    characters beside longer pieces do not count either.
    """
    about = concepts(" ".join(requested))
    chosen = [concept for concept in about if not concept.single] or about
    return tuple(dict.fromkeys(piece for concept in chosen for piece in _pairs(concept.text)))


def _pairs(text: str) -> Iterator[str]:
    for run, japanese in words(text):
        if japanese and len(run) > 1:
            yield from map("".join, pairwise(run))
        else:
            yield run
