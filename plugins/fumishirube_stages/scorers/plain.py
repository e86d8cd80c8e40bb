"""Plain: finds the query verbatim."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from fumishirube import Corpus, Hit, Passage, Query, Stage
from fumishirube.text import TextForm
from fumishirube_stages.scorers.text_hits import first_text_hits


class Plain(Stage):
    """Finds the query in the NFKC form of every text; each hit has the place of its first match.

    Case is ignored unless the query is case-sensitive.
    """

    generates: ClassVar[bool] = True

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        """Score 1 for each passage that contains the query, in the order of the manual."""
        del candidates
        return first_text_hits(query, corpus, TextForm(fold=not query.case_sensitive))
