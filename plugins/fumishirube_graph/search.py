"""``ubp_search``: documents by meaning, links and words together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fumishirube import Answer, Call, Hit, LinkKind, Query, Ranking, Tool
from fumishirube.tools import LeanAnswer
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
from fumishirube_graph.errors import refusing
from fumishirube_graph.records import Doc
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.staleness import Level
from fumishirube_graph.texts import spans, units
from fumishirube_graph.traversal import walk

_SECTIONS = 3
_WINDOW = 2_000
_SUMMARY = 500
_LINKED = 10


class SearchParams(NonNullParams):
    """What to search for, and how far to look around."""

    query: Annotated[str, Field(description="A question or words, in any language.")]
    limit: Annotated[
        Annotated[int, Field(ge=1, le=20)] | None,
        NotNull,
        Field(description="How many documents. Default 10."),
    ] = None
    include_linked: Annotated[
        bool | None, NotNull, Field(description="Also list each result's linked pages.")
    ] = None
    depth: Depth3 = None
    link_types: LinkTypes = None
    doc_type: OptionalDocType = None


class SearchSection(Answer):
    """One of a document's best sections."""

    section_id: str
    heading: str | None
    content: str
    score: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    truncated: bool = False


class SearchBreakdown(Answer):
    """What a score is made of, before weighting."""

    vector_similarity: float
    graph_proximity: float
    fulltext: float


class SearchLinked(Answer):
    """A page linked with a result."""

    doc_id: str
    filepath: str
    title: str
    link_type: LinkKind
    summary: str


class DocumentResult(LeanAnswer):
    """A document."""

    omitted: ClassVar[frozenset[str]] = frozenset({"linked_pages", "linked_omitted"})

    doc_id: str
    filepath: str
    title: str
    sections: tuple[SearchSection, ...]
    score: float
    score_breakdown: SearchBreakdown
    relevance_reason: str
    staleness: Level
    linked_pages: tuple[SearchLinked, ...] | None = None
    linked_omitted: int | None = None


class SearchAnswer(UntrustedAnswer):
    """The best documents, and how many there are."""

    omitted: ClassVar[frozenset[str]] = frozenset({"warnings", "query_relaxed"})

    results: tuple[DocumentResult, ...]
    total_found: int
    search_type: Literal["hybrid", "fulltext_fallback"]
    query_relaxed: bool | None = None


def search_tool(runtime: GraphRuntime) -> Tool[SearchParams, SearchAnswer]:
    """Return the tool."""

    def run(params: SearchParams, call: Call) -> SearchAnswer:
        snapshot = runtime.view()
        depth = params.depth or runtime.settings.max_depth
        kinds = params.link_types or ()
        query_units = units(params.query)
        warnings = [*query_units.warnings]
        ranking = Ranking(diagnostics={"search_type": "fulltext_fallback"})
        if query_units.units:
            query = Query(
                params.query,
                query_units.units,
                within=runtime.within(snapshot, params.doc_type),
                stage_arguments={"graph": {"depth": depth, "link_types": kinds}},
                budget=call.budget,
            )
            written = not runtime.docs.follower
            outcome = runtime.docs.context.search(
                snapshot, len(snapshot.docs), query, written=written
            )
            ranking = outcome.ranking
            warnings += [outcome.trace.degraded] if outcome.trace.degraded else []
            warnings += _unfinished(runtime, snapshot)
        groups = [(p, list(hits)) for p, hits in groupby(ranking.hits, lambda h: h.passage.path)]
        limit = params.limit or runtime.settings.default_limit
        results = [
            _result(runtime, snapshot, p, hits, query_units.units) for p, hits in groups[:limit]
        ]
        if params.include_linked:
            results = [_with_linked(snapshot, result, depth, kinds) for result in results]
        hybrid = ranking.diagnostics.get("search_type") == "hybrid"
        return SearchAnswer(
            results=tuple(results),
            total_found=len(groups),
            search_type="hybrid" if hybrid else "fulltext_fallback",
            query_relaxed=bool(ranking.diagnostics.get("query_relaxed")) or None,
            warnings=runtime.warned_of(snapshot, *warnings),
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
        refused=refusing(SearchParams),
        examples=(
            {"query": "設計", "limit": 5},
            {"query": "how is a page ranked", "include_linked": True, "depth": 1},
        ),
    )


def _unfinished(runtime: GraphRuntime, snapshot: GraphSnapshot) -> Iterator[str]:
    """Yield how far the vectors are, when they are not complete."""
    if failure := runtime.docs.vectors.failure:
        yield f"words alone decide: {failure}"
    done, total = runtime.docs.vectors.progress(snapshot.docs)
    if done < total:
        yield f"embeddings are not complete: {done} of {total} passages"


def _result(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    path: str,
    hits: Sequence[Hit],
    wanted: Sequence[str],
) -> DocumentResult:
    doc = snapshot.docs[path]
    parts = {name: round(hits[0].signals.get(name, 0.0), 6) for name in ("vector", "graph")}
    text = round(hits[0].signals.get("fulltext", 0.0), 6)
    own = [hit for hit in hits if hit.signals.get("section", 0.0) > 0][:_SECTIONS]
    shown = (own or hits[:1]) if doc.record.parts else ()
    return DocumentResult(
        doc_id=doc.id,
        filepath=path,
        title=doc.title,
        sections=tuple(_section(snapshot, doc, hit, wanted) for hit in shown),
        score=hits[0].score,
        score_breakdown=SearchBreakdown(
            vector_similarity=parts["vector"], graph_proximity=parts["graph"], fulltext=text
        ),
        relevance_reason=_reason(parts["vector"], parts["graph"], text, own),
        staleness=runtime.staleness(doc).level,
    )


def _section(snapshot: GraphSnapshot, doc: Doc, hit: Hit, wanted: Sequence[str]) -> SearchSection:
    number = snapshot.number_of(doc, hit.passage.start_line)
    part = doc.record.parts[number]
    score = hit.signals.get("section", 0.0)
    text = doc.text(part)
    shown = _window(text, wanted) if score else text[:_SUMMARY]
    return SearchSection(
        section_id=doc.section_ids[number],
        heading=part.heading,
        content=shown,
        score=score,
        heading_path=part.heading_path,
        line_start=part.line_start,
        line_end=part.line_end,
        truncated=len(shown) < len(text),
    )


def _window(text: str, wanted: Sequence[str]) -> str:
    """Return the text, or so much of it around its first match."""
    if len(text) <= _WINDOW:
        return text
    first = next((start for start, _ in spans(text, wanted)), 0)
    start = max(0, min(first - _WINDOW // 4, len(text) - _WINDOW))
    return text[start : start + _WINDOW]


def _reason(vector: float, graph: float, text: float, own: Sequence[Hit]) -> str:
    reasons = [f"vector {vector:.3f}"] if vector else []
    if graph:
        hops = round(1 / graph) - 1
        reasons.append(f"graph {graph:.3f} ({hops} {'hop' if hops == 1 else 'hops'})")
    if text:
        matched = max(own, key=lambda hit: hit.signals.get("matched", 0.0), default=None)
        title = matched.passage.title if matched else ""
        reasons.append(f"fulltext {text:.3f}" + (f" in '{title}'" if title else ""))
    return "; ".join(reasons)


def _with_linked(
    snapshot: GraphSnapshot, result: DocumentResult, depth: int, kinds: Iterable[str]
) -> DocumentResult:
    steps = walk(
        result.filepath, depth, snapshot.neighbours, snapshot.title, frozenset(kinds)
    ).steps
    pages = tuple(
        SearchLinked(
            doc_id=snapshot.docs[step.path].id,
            filepath=step.path,
            title=snapshot.title(step.path),
            link_type=step.kind,
            summary=snapshot.docs[step.path].summary,
        )
        for step in steps[:_LINKED]
    )
    omitted = len(steps) - len(pages) or None
    return result.model_copy(update={"linked_pages": pages, "linked_omitted": omitted})
