"""Loose: finds the query regardless of separators between its characters."""

from collections.abc import Iterable
from typing import ClassVar

from fumishirube import Corpus, Hit, Query, Stage
from fumishirube.text import TextForm
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.text_hits import first_text_hits


class Loose(Stage):
    """Finds the query, ignoring blanks, middle dots and hyphens in it and in the text.

    ``extra_separators`` are further characters to ignore. A query of separators only finds nothing.
    """

    generates: ClassVar[bool] = True

    extra_separators: str = ""

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score 1 for each passage that contains the query, in the order of the manual."""
        del candidates
        form = TextForm(fold=not query.case_sensitive, separators=self.extra_separators)
        return first_text_hits(query, corpus, form)
