"""The scores of one search: those of passages, the best coverage, and those of page titles."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from fumishirube import Hit, Passage
from fumishirube.text import fold
from fumishirube_stages.scorers.query_analysis import QueryAnalysis, WeightedTerm


class SearchScores:
    """The scores of passages in one search, and the best coverage among the first ones.

    ``parts`` has, by the key of a passage, its hit with the score of its concepts, and the score of
    its terms between concepts.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int], tuple[Hit, float]] = {}
        self._best: float | None = None
        self._titles: dict[str, float] = {}

    @property
    def best(self) -> float:
        """The best coverage of the passages that were scored first; 1 if they cover nothing."""
        if self._best is None:
            self._best = max((hit.coverage for hit, _ in self.parts.values()), default=0.0) or 1.0
        return self._best

    def page_title(self, passage: Passage, analysis: QueryAnalysis) -> float:
        """Return the score of the title of a passage's page, by :func:`title_score`."""
        title = passage.ancestors[0] if passage.ancestors else passage.title
        if title not in self._titles:
            self._titles[title] = title_score(fold(title), analysis)
        return self._titles[title]


def title_score(title: str, analysis: QueryAnalysis) -> float:
    """Return the values of the concepts' terms in a folded title, less for a title of more words.

    The sum is multiplied by the square root of the share of the title's characters, spaces not
    counted, that the terms cover.
    """
    value = 0.0
    covered: set[int] = set()
    for term in analysis.terms:
        if term.share and (places := set(_places(title, term, analysis))):
            value += term.value
            covered |= places
    length = len(title) - title.count(" ")
    return value * sqrt(len(covered) / length) if value else 0.0


def _places(title: str, term: WeightedTerm, analysis: QueryAnalysis) -> Iterator[int]:
    """Yield the places of the characters of a term in a title, in any of its forms."""
    if not term.counted(title, term.term):
        return
    forms = set(analysis.finders[term.term](title)) if term.forms else {term.term}
    for form in forms:
        start = title.find(form)
        while start >= 0:
            yield from range(start, start + len(form))
            start = title.find(form, start + 1)
