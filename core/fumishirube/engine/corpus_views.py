"""Corpora that show another corpus with more, or with less."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from fumishirube.corpus import (
    Bool,
    Clause,
    Corpus,
    Count,
    IndexMatch,
    Pages,
    PassageText,
    ScoreCutoff,
    Term,
    texts_of,
)
from fumishirube.corpus_kinds import rehearse
from fumishirube.engine.reports import unsearched
from fumishirube.model import Passage
from fumishirube.text.word_forms import FormFinder, form_finder, query_terms


@dataclass(frozen=True)
class CorpusView:
    """A corpus that is another one."""

    corpus: Corpus

    @property
    def manual_id(self) -> str:
        """The manual's id."""
        return self.corpus.manual_id

    @property
    def size(self) -> int:
        """The number of searched sections."""
        return self.corpus.size

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text."""
        return self.corpus.terms(text)

    def query_terms(self, text: str) -> Sequence[str]:
        """Return the terms by which a text is scored."""
        return query_terms(self.corpus, text)

    def form_finder(self, term: str) -> FormFinder | None:
        """Return a function that finds the words of a term, or ``None`` for literal matches."""
        return form_finder(self.corpus, term)

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause."""
        return self.corpus.search(clause, limit, cutoff)

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the sections that match a clause."""
        return self.corpus.count(clause, cap, searched=searched)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return the number of sections with each term."""
        return self.corpus.frequencies(terms)

    def average_length(self, field: str) -> float:
        """Return the mean number of characters of a field."""
        return self.corpus.average_length(field)

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file."""
        return self.corpus.page(path)

    def texts(self) -> Sequence[PassageText]:
        """Return the text of every passage."""
        return [*texts_of(self.corpus)]

    def rehearse(self, search: Callable[[Corpus], object]) -> None:
        """Fetch the answers of a search together, if the corpus is on another machine."""
        rehearse(self.corpus, lambda inner: search(replace(self, corpus=inner)))

    def unsearched(self, since: float) -> str | None:
        """Return which part of the corpus did not answer."""
        return unsearched(self.corpus, since)


@dataclass(frozen=True)
class CorpusWithout(CorpusView):
    """A corpus without the files that are ``gone`` from it."""

    gone: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of searched sections."""
        return self.corpus.size - self.corpus.count(Pages(self.gone), searched=True).number

    def search(
        self, clause: Clause, limit: int, cutoff: ScoreCutoff | None = None
    ) -> Sequence[IndexMatch]:
        """Return the best matches of a clause."""
        return self.corpus.search(self._present(clause), limit, cutoff)

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        """Count the sections that match a clause."""
        return self.corpus.count(self._present(clause), cap, searched=searched)

    def frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """Return the number of sections with each term."""
        return {term: self.count(Term(term)).number for term in terms}

    def page(self, path: str) -> Sequence[Passage]:
        """Return the passages of one file."""
        return () if path in self.gone else self.corpus.page(path)

    def texts(self) -> Sequence[PassageText]:
        """Return the text of every passage."""
        return [text for text in super().texts() if text.passage.path not in self.gone]

    def _present(self, clause: Clause) -> Clause:
        return Bool(must=(clause,), must_not=(Pages(self.gone),))
