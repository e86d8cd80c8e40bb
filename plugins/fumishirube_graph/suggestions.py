"""``fumishirube docs suggest-links``: lists similar pages without a link between them."""

from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from typing import Annotated, NamedTuple

from pydantic import Field

from fumishirube import Answer, Call, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import CommandParams, GraphRuntime
from fumishirube_graph.records import Doc
from fumishirube_graph.snapshot import GraphSnapshot


class SuggestParams(CommandParams):
    """The least similarity, and how many pairs."""

    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.6
    limit: Annotated[int, Field(ge=1)] = 10


class Suggestion(Answer):
    """Two pages, and their most similar sections."""

    source_filepath: str
    target_filepath: str
    similarity: float
    source_section: str | None
    target_section: str | None


class SuggestAnswer(Answer):
    """The most similar pairs, and the total."""

    suggestions: tuple[Suggestion, ...]
    total: int
    warnings: OrAbsent[tuple[str, ...]] = None


def suggest_tool(runtime: GraphRuntime) -> Tool[SuggestParams, SuggestAnswer]:
    """Return the tool."""

    def run(params: SuggestParams, call: Call) -> SuggestAnswer:
        snapshot = runtime.view(refresh=params.refresh)
        vectors = runtime.docs.complete_vectors()
        total = 0

        def similar_pages() -> Iterator[_SimilarPages]:
            nonlocal total
            for number, first in enumerate(snapshot.docs, 1):
                call.budget.check()
                linked = {edge.target for edge in snapshot.out[first]}
                linked |= {edge.source for edge in snapshot.back.get(first, ())}
                others = [p for p in islice(snapshot.docs, number, None) if p not in linked]
                similar = vectors.most_similar(first, others)
                for second, (similarity, *sections) in zip(others, similar, strict=True):
                    if similarity >= params.threshold:
                        total += 1
                        yield _SimilarPages(-round(similarity, 6), first, second, *sections)

        # Nearly all pairs may be similar, so only those to show are kept.
        best = nsmallest(params.limit, similar_pages())
        return SuggestAnswer(
            suggestions=tuple(_suggestion(snapshot, pair) for pair in best),
            total=total,
            warnings=runtime.warned_of(snapshot),
        )

    return Tool(
        name="docs_suggest_links",
        title="Suggest links",
        summary="List pairs of similar pages without a link.",
        params=SuggestParams,
        answer=SuggestAnswer,
        run=run,
    )


class _SimilarPages(NamedTuple):
    """Two pages and the numbers of their most similar sections, in the order of suggestions."""

    minus_similarity: float
    first: str
    second: str
    section_of_first: int
    section_of_second: int


def _suggestion(snapshot: GraphSnapshot, pair: _SimilarPages) -> Suggestion:
    return Suggestion(
        source_filepath=pair.first,
        target_filepath=pair.second,
        similarity=-pair.minus_similarity,
        source_section=_heading(snapshot.docs[pair.first], pair.section_of_first),
        target_section=_heading(snapshot.docs[pair.second], pair.section_of_second),
    )


def _heading(doc: Doc, number: int) -> str | None:
    return doc.record.parts[number].heading if doc.record.parts else None
