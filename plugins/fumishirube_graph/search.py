"""``ubp_search``: searches documents by meaning, links and words together."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Call, Hit, Query, Ranking, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import (
    DATA,
    Depth3,
    GraphRuntime,
    LinkTypes,
    NonNullParams,
    NotNull,
    OptionalDocType,
    UntrustedAnswer,
)
from fumishirube_graph.search_results import (
    LINKED,
    WINDOW,
    DocumentResult,
    bounded,
    document_result,
    with_linked,
)
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.texts import Units, densest, pieces, spans, units
from fumishirube_graph.traversal import WalkStep, walk


class SearchParams(NonNullParams):
    """The query, and how many links to follow."""

    query: Annotated[str, Field(description="A question or words, in any language.")]
    limit: Annotated[
        Annotated[int, Field(ge=1, le=20)] | None,
        NotNull,
        Field(description="How many documents. Default: set by the server, usually 10."),
    ] = None
    include_linked: Annotated[
        bool | None, NotNull, Field(description="Also list each result's linked pages.")
    ] = None
    depth: Depth3 = None
    link_types: LinkTypes = None
    doc_type: OptionalDocType = None


class SearchAnswer(UntrustedAnswer):
    """The best documents, and the total.

    With ``content_truncated``, texts are shorter than usual to keep the answer within its limit.
    """

    results: tuple[DocumentResult, ...]
    total_found: int
    search_type: Literal["hybrid", "fulltext_fallback"]
    content_truncated: OrAbsent[bool] = None
    query_relaxed: OrAbsent[bool] = None


def search_tool(runtime: GraphRuntime) -> Tool[SearchParams, SearchAnswer]:
    """Return the tool."""

    def run(params: SearchParams, call: Call) -> SearchAnswer:
        snapshot = runtime.view()
        query_units = units(params.query)
        ranking, warnings = _search(runtime, snapshot, params, query_units, call)
        # A hit without a named scorer has no score to break down.
        named = [hit for hit in ranking.hits if hit.signals]
        groups = [(p, list(hits)) for p, hits in groupby(named, lambda h: h.passage.path)]
        relaxed = bool(ranking.diagnostics.get("query_relaxed"))
        results = _results(runtime, snapshot, params, query_units, groups, relaxed=relaxed)
        whole = results(WINDOW, LINKED)
        shown = bounded(whole, results)
        hybrid = ranking.diagnostics.get("search_type") == "hybrid"
        return SearchAnswer(
            results=tuple(shown),
            total_found=len(groups),
            search_type="hybrid" if hybrid else "fulltext_fallback",
            content_truncated=shown is not whole or None,
            query_relaxed=relaxed or None,
            warnings=runtime.warned_of(snapshot, *warnings, *runtime.docs.baselines.damage()),
        )

    return Tool(
        name="ubp_search",
        title="Search the documents",
        summary=(
            "Find documents for a question or words: by meaning where there are embeddings, by "
            "links and by words. Start here; then read a hit with ubp_get_page, or with its "
            "neighbours through ubp_get_context. score_breakdown says why a document was found, "
            f"staleness whether it is behind its sources. {DATA}"
        ),
        params=SearchParams,
        answer=SearchAnswer,
        run=run,
        examples=(
            {"query": "設計", "limit": 5},
            {"query": "how is a page ranked", "include_linked": True, "depth": 1},
        ),
    )


def _search(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    params: SearchParams,
    query_units: Units,
    call: Call,
) -> tuple[Ranking, Sequence[str]]:
    """Return the ranking of a query, and warnings; without units there is nothing to search."""
    if not query_units.units:
        return Ranking(), query_units.warnings
    query = Query(
        params.query,
        query_units.units,
        within=runtime.within(snapshot, params.doc_type),
        stage_arguments={
            "graph": {"depth": _depth(runtime, params), "link_types": params.link_types or ()}
        },
        budget=call.budget,
        counting=False,  # each count would read every section, and the answer shows none
    )
    outcome = runtime.docs.context.search(
        snapshot, len(snapshot.docs), query, written=not runtime.docs.follower
    )
    degraded = [outcome.trace.degraded] if outcome.trace.degraded else []
    return outcome.ranking, [*query_units.warnings, *degraded, *_unfinished(runtime, snapshot)]


def _results(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    params: SearchParams,
    query_units: Units,
    groups: Sequence[tuple[str, Sequence[Hit]]],
    *,
    relaxed: bool,
) -> Callable[[int, int], list[DocumentResult]]:
    """Return what makes the results with texts of some characters, and some linked pages each."""
    limit = params.limit or runtime.settings.default_limit
    depth, kinds = _depth(runtime, params), frozenset(params.link_types or ())

    @cache
    def match_start(text: str) -> int:
        matches = [] if relaxed else spans(text, query_units.units)
        return matches[0][0] if matches else densest(text, pieces(query_units.units))

    @cache
    def linked_steps(path: str) -> Sequence[WalkStep]:
        return walk(snapshot, path, depth, kinds).steps

    def results(chars: int, linked: int) -> list[DocumentResult]:
        drawn = [
            document_result(runtime, snapshot, path, hits, match_start, chars)
            for path, hits in groups[:limit]
        ]
        if not params.include_linked:
            return drawn
        return [with_linked(snapshot, r, linked_steps(r.filepath), chars, linked) for r in drawn]

    return results


def _depth(runtime: GraphRuntime, params: SearchParams) -> int:
    return params.depth or runtime.settings.max_depth


def _unfinished(runtime: GraphRuntime, snapshot: GraphSnapshot) -> Iterator[str]:
    """Yield a warning while the vectors are incomplete."""
    if failure := runtime.docs.vectors.failure:
        yield f"words alone decide: {failure}"
    done, total = runtime.docs.vectors.progress(snapshot.stamps, snapshot.section_texts_of)
    if done < total:
        yield f"embeddings are not complete: {done} of {total} passages"
