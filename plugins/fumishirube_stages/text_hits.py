"""Searches the query itself in the texts of a corpus, for the scorers that do so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fumishirube import Corpus, Hit, Passage, Query, texts_of
from fumishirube.text import Projection, TextForm, TextRange, form_of


def first_text_hits(query: Query, corpus: Corpus, form: TextForm) -> Iterator[Hit]:
    """Yield a hit for each text that contains the query in this form, at its first match.

    Raises:
        Cancelled: when the caller has cancelled the search.
    """
    needle = form_of(query.text, form)
    if not needle:
        return
    for text in texts_of(corpus):
        query.budget.check()
        projection = text.form(form)
        place = projection.text.find(needle)
        if place >= 0 and passes_filter(text.passage, query):
            yield hit_at(text.passage, projection, [(place, place + len(needle))])


def passes_filter(passage: Passage, query: Query) -> bool:
    """Return whether a passage contains all terms that this run requires."""
    return len(query.terms_in(passage, query.must)) == len({*query.must})


def may_return(passage: Passage, query: Query) -> bool:
    """Return whether this run may return a passage, by its files, exclusions and filter."""
    inside = query.within is None or passage.path in query.within
    return inside and passage.key not in query.exclude and passes_filter(passage, query)


def hit_at(passage: Passage, projection: Projection, spans: Iterable[tuple[int, int]]) -> Hit:
    """Return the hit for the matches in a projected text."""
    return Hit(passage, 1.0, places=tuple(TextRange(*projection.span(*span)) for span in spans))
