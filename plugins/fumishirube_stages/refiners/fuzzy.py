"""Near spellings: raises sections with words similar to those of the query."""

from typing import Annotated

from pydantic import Field

from fumishirube import Corpus, Hit, Query, Ranking, Stage
from fumishirube.text import fold

_COMPARED = 200
"""The most characters of a text that are compared: other threads stand still meanwhile."""


class Fuzzy(Stage):
    """Raises each score by the similarity of the section to the required terms, or to the query.

    The similarity is rapidfuzz's partial ratio, 0 to 1, against title and body; below ``least`` it
    counts as 0. It helps with scanned text, in which characters are often misread. The first 200
    characters of a longer query are compared.
    """

    weight: Annotated[float, Field(ge=0)] = 0.2
    least: Annotated[float, Field(ge=0, le=1)] = 0.7

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the same hits, ordered by their new scores.

        Raises:
            Cancelled: when the caller has cancelled the search.
        """
        from rapidfuzz import fuzz  # noqa: PLC0415 - few pipelines use it, and it costs 10 ms

        terms = [fold(term)[:_COMPARED] for term in query.required or (query.text,)]
        raised = []
        for hit in ranking.hits:
            query.budget.check()
            text = f"{hit.passage.fields['title']}\n{hit.passage.fields['body']}"
            likeness = max(fuzz.partial_ratio(term, text) / 100 for term in terms)
            gain = likeness if likeness >= self.least else 0.0
            raised.append(hit.scored(hit.score * (1 + self.weight * gain)))
        return ranking._replace(hits=tuple(sorted(raised, key=Hit.sort_key)))
