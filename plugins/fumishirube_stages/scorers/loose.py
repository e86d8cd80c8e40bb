"""Loose: what holds the query, whatever separators stand between its characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from fumishirube import Corpus, Hit, Passage, Query, Stage
from fumishirube.text import TextForm
from fumishirube_stages.scorers.text_hits import first_text_hits


class Loose(Stage):
    """Finds the query where both it and the text are without blanks, middle dots and hyphens.

    ``extra_separators`` are further characters to leave out. A query of nothing else finds nothing.
    """

    generates: ClassVar[bool] = True

    extra_separators: str = ""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        """Score 1 for each passage that holds the query, in the order of the manual."""
        del candidates
        form = TextForm(fold=not query.case_sensitive, separators=self.extra_separators)
        return first_text_hits(query, corpus, form)
