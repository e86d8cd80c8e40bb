"""Vector: finds sections with a similar meaning."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from fumishirube import Corpus, Hit, Query, Ranking, Stage, VectorCorpus
from fumishirube_stages.document_scores import (
    MAX_CANDIDATES,
    PER_DOCUMENT,
    by_document,
    document_scores,
)
from fumishirube_stages.scorers import Candidates
from fumishirube_stages.text_hits import passes_filter

_TOP = 3
_BEST, _REST = 0.8, 0.2


class Vector(Stage):
    """Generates candidates by the similarity of vectors; without vectors, none."""

    generates: ClassVar[bool] = True
    as_written: ClassVar[bool] = True
    document_score: ClassVar[str] = "vector"
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    def score(
        self, query: Query, corpus: Corpus, candidates: Candidates
    ) -> Iterable[Hit] | Ranking:
        """Return the best sections, by the cosine of their best passage."""
        if not isinstance(corpus, VectorCorpus) or not corpus.vectors:
            return ()
        similar = corpus.nearest(query.text, MAX_CANDIDATES, query.within, PER_DOCUMENT)
        best = [match for match in similar if passes_filter(match.passage, query)]
        documents = {path: _together(rows) for path, rows in by_document(best).items()}
        hits = [Hit(match.passage, match.estimate) for match in best]
        scores = document_scores(query)
        scores.by_scorer["vector"] = documents
        scores.sections["vector"] = {hit.passage.key: hit.score for hit in hits}
        compared: str = getattr(corpus, "comparison", "")
        if not compared:
            return hits
        return Ranking(tuple(hits), diagnostics={"vectors_compared": compared})


def _together(likenesses: Sequence[float]) -> float:
    """Return the similarity of a document from those of its sections, best first."""
    if len(likenesses) == 1:
        return likenesses[0]
    top = likenesses[:_TOP]
    return _BEST * top[0] + _REST * sum(top) / len(top)
