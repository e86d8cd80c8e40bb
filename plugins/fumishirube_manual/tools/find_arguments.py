"""The arguments of ``manual_find``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from fumishirube import InvalidParameter, Params
from fumishirube.text import fold
from fumishirube.tools import narrowed_params
from fumishirube_manual.arguments import ManualId
from fumishirube_manual.scopes import PathPrefix, Scope
from fumishirube_manual.settings import ManualSettings

QUERY_CHARS = 100_000
TERM_CHARS = 200
TIME_MS = 60_000
CANDIDATES = 200
ALTERNATIVES = 5
INLINE_HITS = 5

TERMS = 2


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
    if not 1 <= len(distinct) <= TERMS:
        raise InvalidParameter(
            "required_terms must hold 1 or 2 different terms",
            parameter="required_terms",
            min=1,
            max=TERMS,
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
    manual_id: Scope
    required_terms: Annotated[
        tuple[RequiredTerm, ...],
        Field(
            description="Words that the passage surely holds.",
            json_schema_extra={"minItems": 1, "maxItems": TERMS},
        ),
        AfterValidator(_terms),
    ]
    alternatives: Annotated[
        tuple[RequiredTerm, ...] | None,
        Field(
            max_length=ALTERNATIVES,
            description="Other wordings, or parts of a long question.",
        ),
    ] = None
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
    path_prefix: PathPrefix = None


def other_wordings(params: FindParams) -> tuple[str, ...]:
    """Return the alternatives, each once, without blank ones and the query itself."""
    texts = {fold(text): text.strip() for text in params.alternatives or ()}
    known = ("", fold(params.query))
    return tuple(text for folded, text in texts.items() if folded not in known)


def hits_wanted(params: FindParams) -> int:
    """Return how many hits the answer holds: one more for each other wording, unless limited."""
    if params.inline_hits and params.inline_hits.limit:
        return min(params.inline_hits.limit, INLINE_HITS)
    return INLINE_HITS + len(other_wordings(params))


def offered_arguments(settings: ManualSettings) -> type[FindParams]:
    """Return the arguments that the settings let a caller give."""
    return narrowed_params(
        FindParams,
        {"path_prefix", "alternatives"}.difference(settings.extras),
        {} if "everywhere" in settings.extras else {"manual_id": ManualId},
    )
