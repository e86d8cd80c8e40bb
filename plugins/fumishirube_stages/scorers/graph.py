"""Graph: finds documents that are linked to the best ones."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from fumishirube import Corpus, Hit, LinkedCorpus, Query, Stage, link_levels
from fumishirube_stages.document_scores import (
    DocumentScores,
    Weigh,
    document_scores,
    document_weights,
    unscored,
)
from fumishirube_stages.scorers import Candidates


class Graph(Stage):
    """Follows links from the best ``seeds`` documents, and scores 1 / (1 + hops).

    A search may set a ``depth``, and the ``link_types`` to follow. The scorer starts from the
    results of vectors and full text, so it comes last; without vectors it adds nothing.
    """

    generates: ClassVar[bool] = True
    document_score: ClassVar[str] = "graph"
    last: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("links", "vectors")

    seeds: Annotated[int, Field(ge=1)] = 5
    depth: Annotated[int, Field(ge=1, le=5)] = 2

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return the message for a missing scorer of start documents, or ``None``."""
        if unscored(stages, ["vector"]):
            return "it starts from what the scorer 'vector' finds, which is not configured"
        return None

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Return the first section of every document reached."""
        documents = document_scores(query)
        if not isinstance(corpus, LinkedCorpus) or "vector" not in documents.by_scorer:
            return ()
        options = query.stage_arguments.get("graph", {})
        depth = options.get("depth", self.depth)
        seeds = self._best(documents, document_weights(query).weigh or _evenly)
        hops = _hops(corpus, seeds, depth, options.get("link_types", ()))
        reached = {p: n for p, n in hops.items() if query.within is None or p in query.within}
        scores = {path: 1 / (1 + number) for path, number in reached.items()}
        documents.by_scorer["graph"] = scores
        first = {path: corpus.page(path) for path in reached}
        return [Hit(first[path][0], score) for path, score in scores.items() if first[path]]

    def _best(self, documents: DocumentScores, weigh: Weigh) -> list[str]:
        """Return the start documents: the best by vectors and full text together."""
        similar = documents.by_scorer["vector"]
        texts = documents.by_scorer.get("fulltext", {})
        alpha, _, gamma = weigh(bool(texts))
        combined = {
            path: alpha * similar.get(path, 0.0) + gamma * texts.get(path, 0.0)
            for path in {*similar, *texts}
        }
        return sorted(combined, key=lambda path: (-combined[path], path))[: self.seeds]


def _evenly(any_text: bool) -> tuple[float, float, float]:  # noqa: FBT001 - a rule, called by place
    del any_text
    return 0.5, 0.0, 0.5


def _hops(
    pages: LinkedCorpus, seeds: Sequence[str], depth: int, kinds: Collection[str]
) -> dict[str, int]:
    hops = dict.fromkeys(seeds, 0)
    for number, reached in enumerate(link_levels(seeds, depth, pages.neighbours, kinds), start=1):
        hops.update(dict.fromkeys(reached, number))
    return hops
