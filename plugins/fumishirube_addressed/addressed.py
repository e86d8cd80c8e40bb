"""Addressed: finds passages that address the agent instead of a reader."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from fumishirube import Corpus, Hit, Passage, Query, Stage, texts_of


class AddressedScorer(Stage):
    """Finds passages that address the agent instead of a reader: orders, roles, concealment.

    The score is one minus the product of the doubts that the cues of a passage leave, and the
    labels are its reasons. The text of the query is ignored.
    """

    generates: ClassVar[bool] = True

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterator[Hit]:
        """Score each passage with a cue from 0 to 1; its labels are the reasons."""
        from fumishirube_addressed.judgements import judged  # noqa: PLC0415 - many patterns

        del candidates
        for text in texts_of(corpus):
            query.budget.check()
            score, reasons = judged(text.own)
            if score and query.terms_in(text.passage, query.must).issuperset(query.must):
                yield Hit(text.passage, score, reasons)
