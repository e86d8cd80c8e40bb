"""``manual_find``: search one manual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, JsonValue

from shirube import (
    Budget,
    Call,
    Desk,
    InvalidParameter,
    Params,
    Query,
    Tool,
    Trace,
    fold,
)
from shirube_builtin.surfaces.answers import Lean
from shirube_builtin.surfaces.manual.arguments import ManualId, after_discovery, shelved
from shirube_builtin.surfaces.manual.diagnosis import Status, Thresholds, diagnose
from shirube_builtin.surfaces.manual.rows import integrated

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
    kept: dict[str, str] = {}
    for value in values:
        if not fold(value):
            raise InvalidParameter(
                "required_terms must not hold blank terms", parameter="required_terms"
            )
        kept.setdefault(fold(value), value.strip())
    if not 1 <= len(kept) <= _TERMS:
        raise InvalidParameter(
            "required_terms must hold 1 or 2 different terms",
            parameter="required_terms",
            min=1,
            max=_TERMS,
        )
    return tuple(kept.values())


def _trace_id(value: str) -> str:
    if not value.strip():
        raise InvalidParameter(
            "only_unscanned_from_trace_id must not be blank",
            parameter="only_unscanned_from_trace_id",
        )
    return value.strip()


Positive = Annotated[int, Field(ge=1)]
Term = Annotated[str, Field(max_length=TERM_CHARS)]


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
        Field(max_length=QUERY_CHARS, description="The question, as it was asked, or keywords."),
        AfterValidator(_not_blank),
    ]
    manual_id: ManualId
    required_terms: Annotated[
        tuple[Term, ...],
        Field(description="One or two words that the answer's section should hold."),
        AfterValidator(_terms),
    ]
    expand_scope: bool | None = None
    only_unscanned_from_trace_id: Annotated[
        Annotated[str, AfterValidator(_trace_id)] | None,
        Field(description="A trace_id: leave out what it, and its own one, returned."),
    ] = None
    budget: FindBudget | None = None
    include_claim_graph: bool | None = None
    use_cache: bool | None = None
    inline_hits: InlineHits | None = None


class InlinePage(Lean):
    """The first page of ``integrated_top``."""

    trace_id: str
    kind: Literal["integrated_top"]
    offset: int
    limit: int
    total: int
    items: tuple[dict[str, JsonValue], ...]


class FindAnswer(Lean):
    """The compact answer; ``manual_hits`` gives the rest by its trace id."""

    omitted: ClassVar[frozenset[str]] = frozenset({"degraded"})

    trace_id: str
    candidates: int
    status: Status
    failure_reason: str | None
    next_actions: tuple[dict[str, JsonValue], ...]
    inline_hits: InlinePage
    degraded: str | None = None


def find_tool(
    desk: Desk, thresholds: Thresholds, extras: Sequence[str]
) -> Tool[FindParams, FindAnswer]:
    """Return the tool."""

    def run(params: FindParams, call: Call) -> FindAnswer:
        shelved(desk, params.manual_id)
        trace = search(desk, params, call)
        wanted = params.inline_hits.limit if params.inline_hits else None
        return compact(trace, thresholds, min(wanted or INLINE_HITS, INLINE_HITS), extras)

    return Tool(
        name="manual_find",
        title="Search a manual",
        summary=(
            "Search one manual and get the best sections, ranked. Ask with the user's own words, "
            "in the manual's language, and name one or two required_terms that the right section "
            "should hold; they guide the ranking, and status says what they did. Comparisons "
            "('A and B') search both sides. Costs about 100 tokens a hit. Next: manual_read with a "
            "hit's ref; manual_hits(trace_id) for more hits."
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


def search(desk: Desk, params: FindParams, call: Call) -> Trace:
    """Run the search that the arguments ask for, and return its trace."""
    asked = params.budget or FindBudget()
    query = Query(
        text=params.query,
        required=params.required_terms,
        limit=asked.max_candidates or CANDIDATES,
        exclude=_seen(desk, params),
        budget=Budget.of(asked.time_ms or TIME_MS, call.budget.cancelled),
    )
    return desk.find(params.manual_id, query, call.progress).trace


def compact(trace: Trace, thresholds: Thresholds, limit: int, extras: Sequence[str]) -> FindAnswer:
    """Return the answer that every client gets."""
    diagnosis = diagnose(trace, thresholds)
    rows = trace.search.rows
    items: list[Any] = [integrated(trace, row, extras) for row in rows[:limit]]
    return FindAnswer(
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
        ),
        degraded=trace.degraded,
    )


def _seen(desk: Desk, params: FindParams) -> frozenset[tuple[str, int]]:
    trace_id = params.only_unscanned_from_trace_id
    if trace_id is None:
        return frozenset()
    trace = desk.trace(trace_id)
    if trace.manual_id != params.manual_id:
        raise InvalidParameter(
            f"only_unscanned_from_trace_id is of another manual: {trace.manual_id}",
            parameter="only_unscanned_from_trace_id",
        )
    return trace.seen
