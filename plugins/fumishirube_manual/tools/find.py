"""``manual_find``: search one manual."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, JsonValue

from fumishirube import (
    Answer,
    Budget,
    Call,
    CoverageReport,
    InvalidParameter,
    Params,
    Query,
    SearchAssessment,
    SurfaceContext,
    Tool,
    Trace,
)
from fumishirube.text import estimate_tokens, fold
from fumishirube.tools import LeanAnswer
from fumishirube_manual.actions import marginal_gain
from fumishirube_manual.addressed_tags import with_tags
from fumishirube_manual.arguments import ManualId, after_discovery, manual_by_id
from fumishirube_manual.claims import with_claim_graph
from fumishirube_manual.coverage import Coverage, coverage_of
from fumishirube_manual.deliveries import delivered
from fumishirube_manual.diagnosis import Diagnosis, Status, diagnose, recall_ok
from fumishirube_manual.evidence.annotations import weights_of, with_weights
from fumishirube_manual.evidence.shown_hits import EvidenceReader, shown_hits
from fumishirube_manual.pointers import with_pointers
from fumishirube_manual.rows import evident, integrated
from fumishirube_manual.settings import ManualSettings

QUERY_CHARS = 100_000
TERM_CHARS = 200
TIME_MS = 60_000
CANDIDATES = 200
INLINE_HITS = 5

_TERMS = 2


def _not_blank(value: str) -> str:
    if not fold(value):
        raise InvalidParameter("query must not be blank", parameter="query")
    return value


def _terms(values: tuple[str, ...]) -> tuple[str, ...]:
    """Trim the terms, and keep each once."""
    distinct: dict[str, str] = {}
    for value in values:
        if not fold(value):
            raise InvalidParameter(
                "required_terms must not hold blank terms", parameter="required_terms"
            )
        distinct.setdefault(fold(value), value.strip())
    if not 1 <= len(distinct) <= _TERMS:
        raise InvalidParameter(
            "required_terms must hold 1 or 2 different terms",
            parameter="required_terms",
            min=1,
            max=_TERMS,
        )
    return tuple(distinct.values())


def _trace_id(value: str) -> str:
    if not value.strip():
        raise InvalidParameter(
            "only_unscanned_from_trace_id must not be blank",
            parameter="only_unscanned_from_trace_id",
        )
    return value.strip()


Positive = Annotated[int, Field(ge=1)]
RequiredTerm = Annotated[str, Field(max_length=TERM_CHARS)]


class FindBudget(Params):
    """How much a search may return, and how long it may take."""

    max_candidates: Annotated[Positive | None, Field(description="Default 200.")] = None
    time_ms: Annotated[Positive | None, Field(description="Default 60000.")] = None


class InlineHits(Params):
    """How many hits the answer itself holds."""

    limit: Annotated[Positive | None, Field(description="1 to 5; more counts as 5.")] = None


class FindParams(Params):
    """What to search, and where."""

    query: Annotated[
        str,
        Field(max_length=QUERY_CHARS, description="A question, or keywords."),
        AfterValidator(_not_blank),
    ]
    manual_id: ManualId
    required_terms: Annotated[
        tuple[RequiredTerm, ...],
        Field(description="One or two words."),
        AfterValidator(_terms),
    ]
    expand_scope: Annotated[bool | None, Field(description="Only echoed.")] = None
    only_unscanned_from_trace_id: Annotated[
        Annotated[str, AfterValidator(_trace_id)] | None,
        Field(description="A trace_id: leave out what it returned, and what has been read."),
    ] = None
    budget: FindBudget | None = None
    include_claim_graph: Annotated[
        bool | None,
        Field(description="Draw the graph of claims too."),
    ] = None
    use_cache: Annotated[bool | None, Field(description="Take a kept answer.")] = None
    inline_hits: InlineHits | None = None


class InlinePage(LeanAnswer):
    """The first page of ``integrated_top``.

    Where copies are folded, ``next_offset`` is where ``manual_hits`` goes on.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"next_offset"})

    trace_id: str
    kind: Literal["integrated_top"]
    offset: int
    limit: int
    total: int
    items: tuple[dict[str, JsonValue], ...]
    next_offset: int | None = None


class FindAnswer(LeanAnswer):
    """The compact answer; ``manual_hits`` gives the rest by its trace id."""

    omitted: ClassVar[frozenset[str]] = frozenset({"coverage", "est_tokens", "degraded"})

    trace_id: str
    candidates: int
    status: Status
    failure_reason: str | None
    next_actions: tuple[dict[str, JsonValue], ...]
    inline_hits: InlinePage
    coverage: Coverage | None = None
    est_tokens: Annotated[int | None, Field(description="About how many tokens this is.")] = None
    degraded: str | None = None


def find_tool(context: SurfaceContext, settings: ManualSettings) -> Tool[FindParams, FindAnswer]:
    """Return the tool."""

    def run(params: FindParams, call: Call) -> FindAnswer:
        trace = search(context, params, call, settings)
        wanted = params.inline_hits.limit if params.inline_hits else None
        diagnosis, account = diagnose(trace, settings.coverage_min), CoverageReport.of(trace)
        limit = min(wanted or INLINE_HITS, INLINE_HITS)
        answer = compact(context, trace, diagnosis, account, limit, settings)
        context.conclude(trace.id, assessment(trace, diagnosis, account, answer))
        return answer

    return Tool(
        name="manual_find",
        title="Search a manual",
        summary=(
            "Search one manual and get the best sections, ranked. Ask in the user's own words "
            "and the manual's language, and name one or two required_terms that the right "
            "section should hold: they guide the ranking, and status says what they did. 'A and "
            "B' searches both sides. About 100 tokens a hit. Next: manual_read with a hit's ref; "
            "manual_hits(trace_id) for more."
        ),
        params=FindParams,
        answer=FindAnswer,
        run=run,
        before=after_discovery,
        examples=(
            {
                "query": "Who may claim the travel allowance?",
                "manual_id": "handbook",
                "required_terms": ["travel allowance"],
            },
        ),
    )


def search(
    context: SurfaceContext, params: FindParams, call: Call, settings: ManualSettings
) -> Trace:
    """Run the search that the arguments ask for, and return its trace."""
    manual_by_id(context, params.manual_id)
    limits = params.budget or FindBudget()
    follows = params.only_unscanned_from_trace_id is not None
    query = Query(
        text=params.query,
        required=params.required_terms,
        limit=limits.max_candidates or CANDIDATES,
        exclude=_seen(context, params, call),
        budget=Budget.of(limits.time_ms or TIME_MS, call.budget.cancelled),
        cache=False if params.include_claim_graph or follows else params.use_cache,
    )
    result = context.find(params.manual_id, query, call.progress)
    trace = result.trace
    if "lines" in settings.extras:
        trace = with_weights(context, trace, result.corpus)
    if "refers_to" in settings.extras:
        trace = with_pointers(context, trace)
    if "addressed" in settings.extras:
        trace = with_tags(context, trace)
    if params.include_claim_graph and settings.claim_graph:
        return with_claim_graph(context, trace, query.budget)
    return trace


def compact(
    context: SurfaceContext,
    trace: Trace,
    diagnosis: Diagnosis,
    account: CoverageReport,
    limit: int,
    settings: ManualSettings,
) -> FindAnswer:
    """Return the answer that every client gets, with the extra keys that the settings name."""
    rows = trace.search.rows
    items, covered_rows = hit_items(context, trace, limit, settings)
    covered = "coverage" in settings.extras
    answer = FindAnswer(
        trace_id=trace.id,
        candidates=len(rows),
        status=diagnosis.status,
        failure_reason=diagnosis.failure_reason,
        next_actions=(),
        inline_hits=InlinePage(
            trace_id=trace.id,
            kind="integrated_top",
            offset=0,
            limit=limit,
            total=len(rows),
            items=tuple(items),
            next_offset=covered_rows if covered_rows != len(items) else None,
        ),
        coverage=coverage_of(account, diagnosis.cutoff_reason) if covered else None,
        degraded=trace.degraded,
    )
    if "est_tokens" in settings.extras:
        return answer.model_copy(update={"est_tokens": tokens(answer)})
    return answer


def hit_items(
    context: SurfaceContext, trace: Trace, limit: int, settings: ManualSettings
) -> tuple[list[Any], int]:
    """Return the best hits with their evidence, and how many rows they stand for."""
    rows, extras = trace.search.rows, settings.extras
    if "lines" not in extras:
        return [integrated(trace, row, extras) for row in rows[:limit]], len(rows[:limit])
    reader = EvidenceReader(context, trace, weights_of(trace))
    hits, covered = shown_hits(reader, rows, limit, folded="also" in extras)
    return [evident(integrated(trace, hit.row, extras), hit, hit.row.path) for hit in hits], covered


def tokens(answer: Answer) -> int:
    """Return about how many tokens an answer costs, as the one line of JSON that it is sent as."""
    shown = answer.model_dump(mode="json")
    return estimate_tokens(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


def assessment(
    trace: Trace, diagnosis: Diagnosis, account: CoverageReport, answer: Answer
) -> SearchAssessment:
    """Return what is said of a search to the cache and to the statistics."""
    return SearchAssessment(
        status=diagnosis.status,
        cutoff_reason=diagnosis.cutoff_reason,
        recall_ok=recall_ok(trace),
        gaps=len(diagnosis.gaps),
        conflicts=len(diagnosis.conflicts),
        unscanned=len(account.unread),
        tokens=tokens(answer),
        marginal_gain=marginal_gain(trace),
    )


def _seen(context: SurfaceContext, params: FindParams, call: Call) -> frozenset[tuple[str, int]]:
    trace_id = params.only_unscanned_from_trace_id
    if trace_id is None:
        return frozenset()
    trace = context.trace(trace_id)
    if trace.manual_id != params.manual_id:
        raise InvalidParameter(
            f"only_unscanned_from_trace_id is of another manual: {trace.manual_id}",
            parameter="only_unscanned_from_trace_id",
        )
    return trace.seen | delivered(context, call.session, params.manual_id)
