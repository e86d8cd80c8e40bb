"""Full text: finds sections that contain all words of a query, or else most of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import (
    Bool,
    Clause,
    Corpus,
    Hit,
    Holds,
    IndexMatch,
    LinkedCorpus,
    Query,
    Ranking,
    Stage,
    TextMatches,
)
from fumishirube.text import concepts, fold, mentions, words
from fumishirube_stages.document_scores import (
    MAX_CANDIDATES,
    by_document,
    candidate_sections,
    document_scores,
)
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.text_hits import passes_filter

_LOOKED_AT = 10 * MAX_CANDIDATES
"""Sections requested first; usually enough, although few of one document count."""

_NUMBERED = re.compile(r"第[0-9]+[^\Wぁ-ん]")
"""The number of a chapter or an article, such as 第3条, which is one piece of a query."""


class Fulltext(Stage):
    """Generates candidates by BM25 over the required terms, which may be inside words.

    When no section contains them all, content words and pairs of Japanese characters are searched
    instead. Sections that contain less than ``min_coverage`` of them, and no concept whole, are
    left out, and the diagnostics say so. Where the corpus has no search of substrings, words are
    searched: a section with all of them scores 1, another one its share of the pieces.
    """

    generates: ClassVar[bool] = True
    document_score: ClassVar[str] = "fulltext"

    min_coverage: Annotated[float, Field(ge=0, le=1)] = 0.2

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Ranking:
        """Return the best sections, by the estimates of the corpus."""
        requested = query.required or tuple(query.text.split())
        search = partial(_text_matches, corpus, requested, query)
        matches = search()
        relaxed = not matches.total and bool(requested)
        if relaxed:
            search = partial(self._relaxed, corpus, _pieces(requested), query)
            matches = search()
        best = candidate_sections(matches.matches)
        if len(best) < MAX_CANDIDATES and len(matches.matches) < matches.total:
            best = candidate_sections(search(limit=None).matches)
        greatest = best[0].estimate if best else 0.0
        hits = tuple(Hit(match.passage, match.estimate / greatest) for match in best)
        if best:
            values = by_document(best)
            scores = document_scores(query)
            scores.by_scorer["fulltext"] = {p: rows[0] / greatest for p, rows in values.items()}
            scores.sections["fulltext"] = {hit.passage.key: hit.score for hit in hits}
        return Ranking(hits, diagnostics={"query_relaxed": True} if relaxed and best else {})

    def _relaxed(
        self,
        corpus: Corpus,
        concept_pieces: Sequence[Sequence[str]],
        query: Query,
        limit: int | None = _LOOKED_AT,
    ) -> TextMatches:
        """Return the sections with enough of the pieces, and those with a whole concept."""
        every_piece = tuple(dict.fromkeys(chain.from_iterable(concept_pieces)))
        least = min(self.min_coverage, 1 - 1e-9)
        if not isinstance(corpus, LinkedCorpus):
            some_of_them = Bool(should=tuple(map(Holds, every_piece)))
            matches = _sections(corpus, some_of_them, query, _LOOKED_AT)
            return _counted(matches, concept_pieces, every_piece, least)
        searched = [_text_matches(corpus, every_piece, query, limit, least)]
        for pieces in concept_pieces:
            share = len(pieces) / len(every_piece)
            if share < least:
                whole = _text_matches(corpus, pieces, query, limit)
                scaled = [m._replace(estimate=m.estimate * share) for m in whole.matches]
                searched.append(whole._replace(matches=scaled))
        return _joined(searched)


def _text_matches(
    corpus: Corpus,
    texts: Sequence[str],
    query: Query,
    limit: int | None = _LOOKED_AT,
    share: float = 1.0,
) -> TextMatches:
    """Return the sections that contain texts, or words where substrings cannot be searched.

    The share of the texts that is enough counts only where substrings are searched.
    """
    if isinstance(corpus, LinkedCorpus):
        matches = corpus.search_texts(texts, limit, query.within, share)
        if not query.must:
            return matches
        filtered = [match for match in matches.matches if passes_filter(match.passage, query)]
        return matches._replace(matches=filtered)
    all_of_them = Bool(must=tuple(Holds(fold(text)) for text in texts))
    sections = _sections(corpus, all_of_them, query, MAX_CANDIDATES)
    return TextMatches([match._replace(estimate=1.0) for match in sections], len(sections))


def _sections(corpus: Corpus, clause: Clause, query: Query, limit: int) -> Sequence[IndexMatch]:
    """Return sections that match a clause and may be returned by this run."""
    if query.must:
        clause = Bool(must=(clause, *map(Holds, query.must)))
    return corpus.search(query.inside(clause), limit)


def _counted(
    matches: Iterable[IndexMatch],
    concept_pieces: Sequence[Sequence[str]],
    every_piece: Sequence[str],
    least: float,
) -> TextMatches:
    """Return the sections with enough of the pieces, or with a whole concept, by their share."""
    sections: list[IndexMatch] = []
    for match in matches:
        texts = match.passage.fields.values()
        present = {piece for piece in every_piece if any(mentions(text, piece) for text in texts)}
        share = len(present) / len(every_piece)
        if present and (share >= least or any(map(present.issuperset, concept_pieces))):
            sections.append(match._replace(estimate=share))
    sections.sort(key=lambda match: -match.estimate)
    return TextMatches(sections, len(sections))


def _joined(searched: Sequence[TextMatches]) -> TextMatches:
    """Return matches of several searches, each section once at its best."""
    if len(searched) == 1:
        return searched[0]
    best: dict[tuple[str, int], IndexMatch] = {}
    for match in chain.from_iterable(matches.matches for matches in searched):
        known = best.get(match.passage.key)
        if known is None or known.estimate < match.estimate:
            best[match.passage.key] = match
    ordered = sorted(best.values(), key=lambda match: (-match.estimate, match.passage.key))
    unseen = sum(matches.total - len(matches.matches) for matches in searched)
    return TextMatches(ordered, len(ordered) + unseen)


def _pieces(requested: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each concept of a query its word, or the overlapping pairs of its characters.

    Function words do not count, or an answer would need most particles of the question. Stems of
    verbs beside other concepts do not count either.
    """
    query = fold(" ".join(requested))
    numbers = _NUMBERED.findall(query)
    numbered = [(number[:-1], number[1:]) for number in numbers]
    about = [c for c in concepts(query) if not any(c.text in number for number in numbers)]
    named = [concept for concept in about if not concept.stem] or ([] if numbered else about)
    pairs = (tuple(dict.fromkeys(_pairs(concept.text))) for concept in named)
    return [*numbered, *filter(None, pairs)]


def _pairs(text: str) -> Iterator[str]:
    for run, japanese in words(text):
        if japanese and len(run) > 1:
            yield from map("".join, pairwise(run))
        else:
            yield run
