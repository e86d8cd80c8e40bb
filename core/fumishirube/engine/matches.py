"""Sure matches of a query: sections with a required term or a whole concept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from fumishirube.corpus import Bool, Corpus, Count, Holds, Term
from fumishirube.model import Hit, Passage
from fumishirube.query import Query
from fumishirube.text.folding import fold
from fumishirube.text.query_concepts import concepts
from fumishirube.text.word_forms import mentions

SectionKey = tuple[str, int]

_MOST_TEXTS = 64
"""The most required terms and concepts that are searched; further ones are ignored."""


class SureMatches:
    """The sections of a corpus with a required term or a whole concept of a query."""

    def __init__(self, query: Query, corpus: Corpus) -> None:
        self._corpus = corpus
        named = (*query.required, *(concept.text for concept in concepts(query.text)))
        texts = dict.fromkeys(filter(None, map(fold, named)))
        self.texts = tuple(islice(texts, _MOST_TEXTS))
        self._clause = query.inside(Bool(should=tuple(map(Holds, self.texts))))

    def count(self) -> Count:
        """Count these sections, except those without a body."""
        if not self.texts:
            return Count(0)
        return self._corpus.count(self._clause, searched=True)

    def texts_in(self, passage: Passage) -> tuple[str, ...]:
        """Return the required terms and concepts of a passage; it matches if there are any."""
        whole = "\n".join(passage.fields.values())
        return tuple(text for text in self.texts if mentions(whole, text))

    def match(self, passage: Passage) -> bool:
        """Tell whether a passage contains any of them."""
        whole = "\n".join(passage.fields.values())
        return any(mentions(whole, text) for text in self.texts)

    def among(self, keys: Iterable[SectionKey]) -> set[SectionKey]:
        """Return the matches among some sections."""
        wanted = set(keys)
        pages = {path for path, _ in wanted}
        return {
            passage.key
            for path in pages
            for passage in self._corpus.page(path)
            if passage.key in wanted and passage.fields["body"] and self.match(passage)
        }

    def further(self, known: Collection[SectionKey], room: int, highest: float) -> Sequence[Hit]:
        """Return up to ``room`` matches that are not known, below the ``highest`` score.

        Their score is the share of required terms and concepts that they contain.
        """
        if not self.texts or room < 1:
            return ()
        terms = dict.fromkeys(term for text in self.texts for term in self._corpus.terms(text))
        clause = Bool(should=tuple(map(Term, terms)), must=(self._clause,))
        hits = []
        for passage, _ in self._corpus.search(clause, len(known) + room):
            present = self.texts_in(passage)
            if present and passage.key not in known:
                share = len(present) / len(self.texts)
                hits.append(Hit(passage, highest * share, coverage=share, matched=present))
        return sorted(hits[:room], key=Hit.sort_key)
