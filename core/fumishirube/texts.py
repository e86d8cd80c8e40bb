"""Corpora that can be read through, for scorers that look at every character."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from fumishirube.clauses import MatchAllClause
from fumishirube.model import Passage
from fumishirube.stages import Corpus
from fumishirube.text.projections import Projection, TextForm, project


class PassageText(Protocol):
    """The own text of a passage, in the forms in which it is searched."""

    @property
    def passage(self) -> Passage:
        """The passage."""
        ...

    @property
    def own(self) -> str:
        """The text as it stands."""
        ...

    def form(self, form: TextForm) -> Projection:
        """Return it in a form."""
        ...


@runtime_checkable
class TextCorpus(Protocol):
    """A corpus that can be read through from beginning to end."""

    def texts(self) -> Iterable[PassageText]:
        """Return the text of every passage, in the order of the manual."""
        ...


def texts_of(corpus: Corpus) -> Iterable[PassageText]:
    """Return every text of a corpus; where it keeps none, its folded ones stand for them."""
    if isinstance(corpus, TextCorpus):
        return corpus.texts()
    matches = corpus.search(MatchAllClause(), corpus.size)
    return map(
        _FoldedText, sorted((match.passage for match in matches), key=lambda passage: passage.key)
    )


@dataclass(frozen=True)
class _FoldedText:
    passage: Passage

    @property
    def own(self) -> str:
        return self.passage.fields["body"]

    def form(self, form: TextForm) -> Projection:
        return project(self.own, form)
