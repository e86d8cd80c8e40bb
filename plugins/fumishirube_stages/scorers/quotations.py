"""The few sections that contain the whole text of a long query."""

from __future__ import annotations

from collections.abc import Sequence

from fumishirube import Corpus, Holds, Passage
from fumishirube.text import fold, query_terms

_LEAST_TERMS = 6
"""The fewest terms of a quotation: a shorter text is a name, which many sections mention."""
_LONGEST = 200
_MOST = 5
_MOST_SHARE = 0.01
_MARKS = " 。、.,:;?!\"'「」“”"


def quoted_sections(text: str, corpus: Corpus) -> Sequence[Passage]:
    """Return the sections that contain a text of a query, if they are few in the corpus.

    Marks at both ends of the text are ignored. There are at most five sections, and at most a
    hundredth of all; where more contain the text, it distinguishes none.
    """
    quotation = fold(text).strip(_MARKS)
    most = min(_MOST, int(_MOST_SHARE * corpus.size))
    if not most or len(quotation) > _LONGEST:
        return ()
    if len(query_terms(corpus, quotation)) < _LEAST_TERMS:
        return ()
    matches = corpus.search(Holds(quotation), most + 1)
    return [match.passage for match in matches] if len(matches) <= most else ()
