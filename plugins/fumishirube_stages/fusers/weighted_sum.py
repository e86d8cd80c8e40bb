"""Weighted sum: scores documents by vectors, links and full text together."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from fumishirube import Corpus, Hit, Outcome, Query, Ranking, Run, Stage
from fumishirube_stages.document_scores import document_scores, document_weights, unscored

_Share = Annotated[float, Field(ge=0, le=1)]
_PARTS = ("vector", "graph", "fulltext")
_CLOSE = 1e-6


class WeightedSum(Stage):
    """Adds up the scores that ``vector``, ``graph`` and ``fulltext`` give to documents.

    ``alpha`` is the weight of vectors. Of the rest, full text gets ``fulltext_share`` if it matched
    anything, and links what remains. Explicit ``weights``, which sum to 1, replace this rule.
    Without vectors, full text alone decides. The hits of a document follow each other, each with
    the document's score, and with its own as the signal ``section``; the signal ``matched`` is how
    well its own text matches. Of several runs of fusers inside, that of the query itself counts.
    """

    alpha: _Share = 0.7
    fulltext_share: _Share = 0.3
    weights: dict[str, _Share] | None = None

    @model_validator(mode="after")
    def _complete_weights(self) -> Self:
        weights = self.weights
        if weights is None:
            return self
        if weights.keys() != set(_PARTS):
            raise ValueError(f"weights: name {', '.join(_PARTS)}, each once")
        if not math.isclose(sum(weights.values()), 1, abs_tol=_CLOSE):
            raise ValueError("weights: they must sum to 1")
        return self

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return which scorers are missing: all three, or one with an explicit weight."""
        missing = unscored(stages, _PARTS)
        weighed = [part for part in missing if self.weights and self.weights[part]]
        if weighed:
            return f"its weights count on the scorer {weighed[0]!r}, which is not configured"
        if len(missing) == len(_PARTS):
            return "none of the scorers that it sums is configured"
        return None

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the query as the only run, with the weights for its scorers."""
        document_weights(query).weigh = self._weigh
        return (Run("all", query),)

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Order documents by score, then path; order the sections of each by their own score."""
        ranking = outcomes[0].ranking
        scores = document_scores(query)
        documents = scores.by_scorer
        if not documents:
            return ranking  # none of the three scorers ran
        similar, worded = (scores.sections.get(name, {}) for name in ("vector", "fulltext"))
        hybrid = "vector" in documents
        texts = documents.get("fulltext", {})
        alpha, beta, gamma = self._weigh(bool(texts)) if hybrid else (0.0, 0.0, 1.0)
        groups: defaultdict[str, list[Hit]] = defaultdict(list)
        for hit in ranking.hits:
            groups[hit.passage.path].append(hit)
        fused: list[Hit] = []
        for path, hits in groups.items():
            parts = {name: documents.get(name, {}).get(path, 0.0) for name in _PARTS}
            score = alpha * parts["vector"] + beta * parts["graph"] + gamma * parts["fulltext"]
            for hit in hits:
                matched = worded.get(hit.passage.key, 0.0)
                own = alpha * similar.get(hit.passage.key, 0.0) + gamma * matched
                signals = {**parts, "section": round(own, 6), "matched": matched}
                fused.append(hit._replace(score=round(score, 6), signals=signals))
        fused.sort(key=_place)
        kind = "hybrid" if hybrid else "fulltext_fallback"
        return ranking._replace(
            hits=tuple(fused), diagnostics={**ranking.diagnostics, "search_type": kind}
        )

    def _weigh(self, any_text: bool) -> tuple[float, float, float]:  # noqa: FBT001 - a rule
        """Return the weights of vectors, links and full text."""
        if self.weights is not None:
            vector, graph, fulltext = (self.weights[name] for name in _PARTS)
            return vector, graph, fulltext
        rest = 1 - self.alpha
        gamma = self.fulltext_share * rest if any_text else 0.0
        return self.alpha, rest - gamma, gamma


def _place(hit: Hit) -> tuple[float, str, float, int]:
    passage = hit.passage
    return -hit.score, passage.path, -hit.signals["section"], passage.start_line
