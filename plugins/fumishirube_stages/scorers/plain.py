"""Plain: finds the query verbatim."""

from collections.abc import Iterable
from typing import ClassVar

from fumishirube import Corpus, Hit, Query, Stage
from fumishirube.text import TextForm
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.text_hits import first_text_hits


class Plain(Stage):
    """Finds the query in the NFKC form of every text; each hit has the place of its first match.

    Case is ignored unless the query is case-sensitive.
    """

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score 1 for each passage that contains the query, in the order of the manual."""
        del candidates
        return first_text_hits(query, corpus, TextForm(fold=not query.case_sensitive))
