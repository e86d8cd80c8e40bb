"""The signals of a hit that the contract defines: those of the stages, and those of its content."""

from __future__ import annotations

from collections.abc import Callable

from fumishirube import Ranking, SurfaceContext, Trace, TraceRow
from fumishirube.text import fold
from fumishirube_manual.evidence.annotations import key_of, stored
from fumishirube_manual.sentences import defines, excepts

ANNOTATION = "exceptions"

_OF_STAGES = frozenset(
    {
        "exact",
        "required_term",
        "required_term_and",
        "required_terms_rrf",
        "gate_rrf",
        "phrase",
        "anchor",
        "number_context",
        "proximity",
        "code_exact",
        "prf",
        "exploration",
        "query_decomp_rrf",
    }
)


def with_exceptions(context: SurfaceContext, trace: Trace, rank: Callable[[], Ranking]) -> Trace:
    """Store which hits have a word of exceptions, if the query asks for exceptions and has time."""
    known = ANNOTATION in trace.annotations or trace.report.out_of_time
    if known or not excepts(fold(trace.text)):
        return trace
    passages = [hit.passage for hit in rank().hits]
    excepting = [each for each in passages if excepts("\n".join(each.fields.values()))]
    return context.annotate(trace, ANNOTATION, [key_of(*each.key) for each in excepting])


def signals(trace: Trace, row: TraceRow) -> list[str]:
    """Return the signals of a hit, sorted."""
    names = _OF_STAGES.intersection(row.labels)
    if defines(fold(row.title)) and defines(fold(trace.text)):
        names |= {"definition_title"}
    if key_of(row.path, row.start_line) in (stored(trace, ANNOTATION, list) or ()):
        names |= {"exceptions"}
    return sorted(names)
