"""``fumishirube docs suggest-links``: lists similar pages without a link between them."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import CommandParams, GraphRuntime
from fumishirube_graph.errors import refusing
from fumishirube_graph.records import Doc


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
        suggestions: list[Suggestion] = []
        docs = [*snapshot.docs.values()]
        for number, first in enumerate(docs, 1):
            call.budget.check()
            linked = {edge.target for edge in snapshot.out[first.path]}
            linked |= {edge.source for edge in snapshot.back.get(first.path, ())}
            others = [doc for doc in islice(docs, number, None) if doc.path not in linked]
            similar = vectors.most_similar(first.path, [doc.path for doc in others])
            for second, (similarity, mine, theirs) in zip(others, similar, strict=True):
                if similarity >= params.threshold:
                    suggestions.append(
                        Suggestion(
                            source_filepath=first.path,
                            target_filepath=second.path,
                            similarity=round(similarity, 6),
                            source_section=_heading(first, mine),
                            target_section=_heading(second, theirs),
                        )
                    )
        suggestions.sort(key=lambda s: (-s.similarity, s.source_filepath, s.target_filepath))
        return SuggestAnswer(
            suggestions=tuple(suggestions[: params.limit]),
            total=len(suggestions),
            warnings=runtime.warned_of(snapshot),
        )

    return Tool(
        name="docs_suggest_links",
        title="Suggest links",
        summary="List pairs of similar pages without a link.",
        params=SuggestParams,
        answer=SuggestAnswer,
        run=run,
        refused=refusing(SuggestParams),
    )


def _heading(doc: Doc, number: int) -> str | None:
    return doc.record.parts[number].heading if doc.record.parts else None
