"""``fumishirube docs suggest-links``: pages that are alike and not linked."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Tool
from fumishirube_graph.arguments import Closed, Room
from fumishirube_graph.records import Doc
from fumishirube_graph.refusals import refusing


class SuggestParams(Closed):
    """How alike, and how many."""

    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.6
    limit: Annotated[int, Field(ge=1)] = 10


class Suggestion(Answer):
    """Two pages, and the sections of theirs that are most alike."""

    source_filepath: str
    target_filepath: str
    similarity: float
    source_section: str | None
    target_section: str | None


class SuggestAnswer(Answer):
    """The most similar pairs, and how many there are."""

    suggestions: tuple[Suggestion, ...]
    total: int


def suggest_tool(room: Room) -> Tool[SuggestParams, SuggestAnswer]:
    """Return the tool."""

    def run(params: SuggestParams, call: Call) -> SuggestAnswer:
        view = room.docs.view()
        vectors = room.docs.likeness_vectors()
        found: list[Suggestion] = []
        for one, other in combinations(view.docs.values(), 2):
            call.budget.check()
            linked = {edge.target for edge in view.out[one.path]}
            linked |= {edge.source for edge in view.back.get(one.path, ())}
            if other.path in linked:
                continue
            similarity, mine, theirs = vectors.likeness(one, other)
            if similarity >= params.threshold:
                found.append(
                    Suggestion(
                        source_filepath=one.path,
                        target_filepath=other.path,
                        similarity=round(similarity, 6),
                        source_section=_heading(one, mine),
                        target_section=_heading(other, theirs),
                    )
                )
        found.sort(key=lambda s: (-s.similarity, s.source_filepath, s.target_filepath))
        return SuggestAnswer(suggestions=tuple(found[: params.limit]), total=len(found))

    return Tool(
        name="docs_suggest_links",
        title="Suggest links",
        summary="List pairs of pages that are alike and not linked.",
        params=SuggestParams,
        answer=SuggestAnswer,
        run=run,
        refused=refusing(SuggestParams),
    )


def _heading(doc: Doc, number: int) -> str | None:
    return doc.record.parts[number].heading if doc.record.parts else None
