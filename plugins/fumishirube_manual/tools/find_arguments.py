"""The arguments of ``manual_find``."""

from typing import Annotated

from pydantic import AfterValidator, Field

from fumishirube import InvalidParameter, Params
from fumishirube.text import fold
from fumishirube.tools import MaxChars, narrowed_params
from fumishirube_manual.arguments import (
    CANDIDATES,
    MOST_ALTERNATIVES,
    QUERY_CHARS,
    TERM_CHARS,
    TERMS,
    TIME_MS,
    ManualId,
    other_wordings,
)
from fumishirube_manual.scopes import PathPrefix, Scope
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.find_answers import ShownSize

INLINE_HITS = 5
_BESIDE_ALTERNATIVES = 3
"""How many hits an answer has besides one for each alternative; at least ``INLINE_HITS`` in all."""


def _not_blank(value: str) -> str:
    if not fold(value):
        raise InvalidParameter("query must not be blank", parameter="query")
    return value


def _terms(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct terms, trimmed; reject blank ones, and too few or too many."""
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
    """The most candidates that a search returns, and its time limit."""

    max_candidates: Annotated[Positive | None, Field(description=f"Default {CANDIDATES}.")] = None
    time_ms: Annotated[Positive | None, Field(description=f"Default {TIME_MS}.")] = None


class InlineHits(Params):
    """The number of hits in the answer itself."""

    limit: Annotated[
        Positive | None,
        Field(description=f"1 to {INLINE_HITS}; default {INLINE_HITS}, one more an alternative."),
    ] = None


class FindParams(Params):
    """The query, its scope, and the size of the answer."""

    query: Annotated[
        str,
        Field(max_length=QUERY_CHARS, description="Question or keywords."),
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
        Field(max_length=MOST_ALTERNATIVES, description="Other wordings; each part."),
    ] = None
    expand_scope: Annotated[bool | None, Field(description="Only echoed.")] = None
    only_unscanned_from_trace_id: Annotated[
        Annotated[str, AfterValidator(_trace_id)] | None,
        Field(description="Leave out what it returned, or was read since."),
    ] = None
    budget: FindBudget | None = None
    include_claim_graph: Annotated[bool | None, Field(description="The graph of claims too.")] = (
        None
    )
    use_cache: Annotated[bool | None, Field(description="Take a kept answer.")] = None
    inline_hits: InlineHits | None = None
    path_prefix: PathPrefix = None
    max_chars: Annotated[
        MaxChars | None, Field(description="For all lines; spare room shows more.")
    ] = None


class FewInlineHits(InlineHits):
    """The number of hits in an answer without alternatives."""

    limit: Annotated[
        Positive | None, Field(description=f"1 to {INLINE_HITS}; default {INLINE_HITS}.")
    ] = None


class OneWordingParams(FindParams):
    """The query without alternatives, its scope, and the size of the answer."""

    inline_hits: FewInlineHits | None = None


def shown_size(params: FindParams) -> ShownSize:
    """Return the size of an answer: hits for each alternative and three more, unless limited."""
    others = len(other_wordings(params.query, params.alternatives or ()))
    hits = max(INLINE_HITS, _BESIDE_ALTERNATIVES + others)
    if params.inline_hits and params.inline_hits.limit:
        hits = min(params.inline_hits.limit, INLINE_HITS)
    return ShownSize(hits, params.max_chars)


def offered_arguments(settings: ManualSurface) -> type[FindParams]:
    """Return the parameters without those that the settings disable."""
    withheld = {"path_prefix", "alternatives"}.difference(settings.extras)
    return narrowed_params(
        FindParams if "alternatives" in settings.extras else OneWordingParams,
        withheld if "lines" in settings.extras else withheld | {"max_chars"},
        {} if "everywhere" in settings.extras else {"manual_id": ManualId},
    )
