"""What a search keeps of its question, so that evidence can be shown later too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from fumishirube import Corpus, SurfaceContext, Trace
from fumishirube_manual.evidence.concept_weights import ConceptWeight, concept_weights

ANNOTATION = "concepts"


def with_weights(
    context: SurfaceContext, trace: Trace, corpus: Corpus, more: Iterable[str] = ()
) -> Trace:
    """Note in a trace what the concepts of its question, and of further words, are worth."""
    if ANNOTATION in trace.annotations:
        return trace
    weights = concept_weights((trace.text, *trace.required, *more), corpus)
    noted: list[JsonValue] = [
        [concept.text, round(concept.weight, 4), dict(concept.shares)] for concept in weights
    ]
    return context.annotate(trace, ANNOTATION, noted)


def weights_of(trace: Trace) -> Sequence[ConceptWeight]:
    """Return what was noted; nothing of a search that was not made for it."""
    noted = trace.annotations.get(ANNOTATION)
    if not isinstance(noted, list):
        return ()
    return [ConceptWeight(*concept) for concept in noted]  # type: ignore[misc]
