"""What a trace stores for its evidence: values by name, and the weights of the query's concepts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import JsonValue

from fumishirube import Corpus, SurfaceContext, Trace, TraceRow
from fumishirube.agreed_names import ALTERNATIVE
from fumishirube.text import concepts
from fumishirube_manual.evidence.concept_weights import ConceptWeight, concept_weights

LOOKED_AT = 50
"""The number of the best hits for which a trace stores values."""

T = TypeVar("T", list[Any], dict[str, Any])
ANNOTATION = "concepts"

_OTHERS = 0.5


def stored(trace: Trace, name: str, kind: type[T]) -> T | None:
    """Return the value of a trace under a name; ``None`` without one, or for one of another type.

    A trace that was read from a file may have any value.
    """
    value: Any = trace.annotations.get(name)
    return value if isinstance(value, kind) else None


def key_of(path: str, line: int) -> str:
    """Return the key under which the values of a section are stored."""
    return f"{path}#L{line}"


def stored_of(trace: Trace, name: str, row: TraceRow) -> list[JsonValue]:
    """Return the list that a trace stores for a hit; empty without one."""
    values = (stored(trace, name, dict) or {}).get(key_of(row.path, row.start_line))
    return values if isinstance(values, list) else []


def with_weights(context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
    """Store in a trace the weights of the concepts of its query and of each alternative."""
    if ANNOTATION in trace.annotations:
        return trace
    query = trace.origin.query
    others = (text for other in query.rewordings() for text in (other.text, *other.required))
    wordings = [(trace.text, *trace.required, *others), *((text,) for text in query.alternatives)]
    return context.annotate(trace, ANNOTATION, [_noted(texts, corpus) for texts in wordings])


def weights_of(trace: Trace, own: int) -> Sequence[ConceptWeight]:
    """Return the weights of the concepts for a hit of a wording: half for those that it lacks.

    Empty if the trace has no stored weights.
    """
    wordings = stored(trace, ANNOTATION, list) or []
    weights: dict[str, ConceptWeight] = {}
    order = sorted(range(len(wordings)), key=lambda number: number != own)
    for number in order:
        for text, weight, shares in wordings[number]:
            share = 1.0 if number == own else _OTHERS
            weights.setdefault(text, ConceptWeight(text, share * weight, shares))
    return [*weights.values()]


def weights_of_each(trace: Trace) -> Sequence[Sequence[ConceptWeight]]:
    """Return the weights of the concepts of each wording, those of the query first."""
    wordings = stored(trace, ANNOTATION, list) or []
    return [[ConceptWeight(*concept) for concept in wording] for wording in wordings]


def wordings_of(trace: Trace) -> Sequence[Sequence[tuple[str, float]]]:
    """Return the concepts of each wording with their weights, those of the query first.

    A concept that does not occur in the manual gets the highest weight of its wording.
    """
    worths = []
    for wording in stored(trace, ANNOTATION, list) or []:
        best = max((weight for _, weight, _ in wording), default=0.0) or 1.0
        worths.append([(text, weight or best) for text, weight, _ in wording])
    return worths


def wording_of(row: TraceRow) -> int:
    """Return the number of the alternative that returned a hit; 0 for the query itself."""
    return _wording(row.labels)


@lru_cache(maxsize=1024)  # a find asks for each of a few sets some twenty times
def _wording(labels: frozenset[str]) -> int:
    prefixed = [label for label in labels if label.startswith(ALTERNATIVE)]
    numbers = [label.removeprefix(ALTERNATIVE) for label in prefixed]
    return min((int(number) for number in numbers if number.isdecimal()), default=0)


def _noted(texts: Sequence[str], corpus: Corpus) -> list[JsonValue]:
    """Return the stored rows of the concepts; the weight of an unknown concept is 0."""
    known = concept_weights(texts, corpus)
    named = {concept.text for concept in known}
    absent = dict.fromkeys(c.text for text in texts for c in concepts(text) if not c.single)
    rows: list[JsonValue] = [[c.text, round(c.weight, 4), dict(c.shares)] for c in known]
    return rows + [[text, 0.0, {}] for text in absent if text not in named]
