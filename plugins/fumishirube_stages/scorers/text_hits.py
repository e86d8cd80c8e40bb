"""Finding a text in the texts of a corpus: the way of the scorers that look for it as it is."""

from __future__ import annotations

from collections.abc import Iterator

from fumishirube import Corpus, Hit, Passage, Query, texts_of
from fumishirube.text import Projection, TextForm, TextRange, fold, form_of, occurs


def first_text_hits(query: Query, corpus: Corpus, form: TextForm) -> Iterator[Hit]:
    """Yield a hit for each text that holds the query in this form, where it first stands.

    Raises:
        Cancelled: when the caller has gone.
    """
    wanted = form_of(query.text, form)
    required = [form_of(term, form) for term in query.must]
    if not wanted:
        return
    for text in texts_of(corpus):
        query.budget.check()
        projection = text.form(form)
        place = projection.text.find(wanted)
        if place >= 0 and all(term in projection.text for term in required):
            yield hit_at(text.passage, projection, place, place + len(wanted))


def passes_filter(passage: Passage, query: Query) -> bool:
    """Tell whether a passage holds all that every hit of this run has to hold."""
    return all(
        any(occurs(text, term) for text in passage.fields.values())
        for term in map(fold, query.must)
    )


def hit_at(passage: Passage, projection: Projection, start: int, end: int) -> Hit:
    """Return the hit of a match in a projected text."""
    return Hit(passage, 1.0, places=(TextRange(*projection.span(start, end)),))
