"""The scores of one search: those of passages, the best coverage, and those of their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from fumishirube import Hit, Passage
from fumishirube.text import fold
from fumishirube_stages.scorers.lexical_search.query_analysis import QueryAnalysis, WeightedTerm

_SEVERAL = 2
_LENGTH_FREE = 3000
_LENGTH_WORST = 3.0


class NameWeights(NamedTuple):
    """The weights of the scores of a passage's names."""

    page_title: float
    file_name: float
    section_title: float


class SearchScores:
    """The hits of passages in one search by their keys, and the best coverage of the first ones."""

    def __init__(self) -> None:
        self.hits: dict[tuple[str, int], Hit] = {}
        self._best: float | None = None
        self._titles: dict[str, float] = {}
        self._files: dict[tuple[str, str], float] = {}
        self._sections: dict[str, float] = {}

    def best(self, coverages: Iterable[float]) -> float:
        """Return the best coverage of the passages scored first; 1 if they cover nothing."""
        if self._best is None:
            self._best = max(coverages, default=0.0) or 1.0
        return self._best

    def names(
        self,
        passage: Passage,
        analysis: QueryAnalysis,
        weights: NameWeights,
        named: Sequence[WeightedTerm],
    ) -> float:
        """Return the weighted scores of a passage's page, file and own title.

        ``named`` are the terms of the query that its names have.
        """
        named = [term for term in named if term.share]
        score = weights.page_title * self._page_title(passage, analysis)
        if weights.file_name:
            score += weights.file_name * self._file_name(passage, analysis, named)
        if weights.section_title and named:
            score += weights.section_title * self._section_title(passage, analysis, named)
        return score

    def _page_title(self, passage: Passage, analysis: QueryAnalysis) -> float:
        """Return the score of the title of a passage's page, by :func:`title_score`."""
        title = _page_title(passage)
        if title not in self._titles:
            self._titles[title] = title_score(fold(title), analysis, analysis.terms)
        return self._titles[title]

    def _file_name(
        self, passage: Passage, analysis: QueryAnalysis, named: Sequence[WeightedTerm]
    ) -> float:
        """Return the values of the terms in the path of a passage that its page's title lacks."""
        key = passage.path, _page_title(passage)
        if key not in self._files:
            path, title = passage.fields["path"], fold(key[1])
            self._files[key] = sum(
                term.value
                for terms in (named, analysis.run_together)
                for term in terms
                if term.counted(path, term.term) and not term.counted(title, term.term)
            )
        return self._files[key]

    def _section_title(
        self, passage: Passage, analysis: QueryAnalysis, named: Sequence[WeightedTerm]
    ) -> float:
        """Return the score of a passage's own title, if it has two concepts or more."""
        title = passage.fields["title"]
        if title not in self._sections:
            self._sections[title] = title_score(title, analysis, named, least=_SEVERAL)
        return self._sections[title]


def excess_length(body: str) -> float:
    """Return by how many times a text is longer than the longest without a penalty, up to 3."""
    return min(_LENGTH_WORST, max(0.0, (len(body) - _LENGTH_FREE) / _LENGTH_FREE))


def text_of_names(fields: Mapping[str, str]) -> str:
    """Return all fields but the body as one text, so that one test covers them."""
    return f"{fields['title']}\n{fields['headings']}\n{fields['path']}"


def _page_title(passage: Passage) -> str:
    return passage.ancestors[0] if passage.ancestors else passage.title


def title_score(
    title: str, analysis: QueryAnalysis, terms: Iterable[WeightedTerm], least: int = 0
) -> float:
    """Return the values of the concepts' terms in a folded title, less for a title of more words.

    ``terms`` are all terms of the query that it may have. A title with fewer than ``least``
    concepts has none. The sum is multiplied by the square root of the share of the title's
    characters, spaces not counted, that the terms cover.
    """
    value = 0.0
    covered: set[int] = set()
    present: set[str] = set()
    for term in terms:
        if not term.share:
            continue
        if not (term.counted(title, term.term) if term.forms else term.term in title):
            continue  # nearly all of them
        if places := set(_places(title, term, analysis)):
            value += term.value
            covered |= places
            present.add(term.term)
    groups = analysis.concepts.groups
    if not value or sum(not present.isdisjoint(group.shares) for group in groups) < least:
        return 0.0
    length = len(title) - title.count(" ")
    return value * sqrt(len(covered) / length)


def _places(title: str, term: WeightedTerm, analysis: QueryAnalysis) -> Iterator[int]:
    """Yield the places of the characters of a term in a title, in any of its forms."""
    if term.forms:
        forms = set(analysis.concepts.finders[term.term](title))
    else:
        forms = {term.term} if term.counted(title, term.term) else set()
    for form in forms:
        start = title.find(form)
        while start >= 0:
            yield from range(start, start + len(form))
            start = title.find(form, start + 1)
