"""``ubp_get_context``: a document with the beginnings of its neighbours."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, LinkKind, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import (
    DATA,
    Depth3,
    FilePath,
    GraphRuntime,
    NonNullParams,
    NotNull,
    UntrustedAnswer,
)
from fumishirube_graph.errors import refusing
from fumishirube_graph.traversal import walk

MOST_SIZE = 50_000


class ContextParams(NonNullParams):
    """The page in the middle, the depth, and the size."""

    filepath: FilePath
    depth: Depth3 = None
    max_size: Annotated[
        Annotated[int, Field(ge=1)] | None,
        NotNull,
        Field(description="Characters of the answer's texts. Default 50000."),
    ] = None


class ContextCenter(Answer):
    """The page in the middle, complete."""

    doc_id: str
    filepath: str
    title: str
    content: str


class RelatedPage(Answer):
    """A neighbour: the link that reached it, and its beginning."""

    doc_id: str
    filepath: str
    title: str
    link_type: LinkKind
    direction: Literal["outlink", "backlink"]
    summary: str
    depth: int


class ContextAnswer(UntrustedAnswer):
    """A page and its neighbours, nearest first; ``truncated`` if there are more than max_nodes."""

    center: ContextCenter
    related: tuple[RelatedPage, ...]
    total_size: int
    truncated_count: int
    truncated: OrAbsent[bool] = None


def context_tool(runtime: GraphRuntime) -> Tool[ContextParams, ContextAnswer]:
    """Return the tool."""

    def run(params: ContextParams, call: Call) -> ContextAnswer:
        del call
        snapshot = runtime.view()
        doc = runtime.page(snapshot, params.filepath, "filepath")
        depth = params.depth or runtime.settings.max_depth
        walked = walk(
            doc.path, depth, snapshot.neighbours, snapshot.title, most=runtime.settings.max_nodes
        )
        size = len(doc.record.content)
        related: list[RelatedPage] = []
        for step in walked.steps:
            near = snapshot.docs[step.path]
            if size + len(near.summary) > (params.max_size or MOST_SIZE):
                break
            size += len(near.summary)
            related.append(
                RelatedPage(
                    doc_id=near.id,
                    filepath=near.path,
                    title=near.title,
                    link_type=step.kind,
                    direction=step.direction,
                    summary=near.summary,
                    depth=step.depth,
                )
            )
        text = doc.record.content
        return ContextAnswer(
            center=ContextCenter(doc_id=doc.id, filepath=doc.path, title=doc.title, content=text),
            related=tuple(related),
            total_size=size,
            truncated_count=len(walked.steps) - len(related),
            truncated=walked.truncated or None,
            warnings=runtime.warned(snapshot),
        )

    return Tool(
        name="ubp_get_context",
        title="Read a document with its neighbours",
        summary=(
            "Read one document whole, and the first 500 characters of each document within depth "
            "links of it, either way, nearest first. Use it to fill a context in one call, after "
            "ubp_search. Neighbours that would exceed max_size characters are counted in "
            f"truncated_count; read them with ubp_get_page. {DATA}"
        ),
        params=ContextParams,
        answer=ContextAnswer,
        run=run,
        refused=refusing(ContextParams),
        examples=({"filepath": "guide/install.md", "depth": 1},),
    )
