"""``ubp_get_context``: a document with the beginnings of its neighbours."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Call, LinkKind, Tool
from fumishirube.tools import OrAbsent, json_chars
from fumishirube_graph.arguments import (
    DATA,
    Depth3,
    FilePath,
    GraphRuntime,
    NamedPage,
    NonNullParams,
    NotNull,
    UntrustedAnswer,
)
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.traversal import WalkStep, walk

MOST_SIZE = 50_000


class ContextParams(NonNullParams):
    """The page in the middle, the depth, and the size."""

    filepath: FilePath
    depth: Depth3 = None
    max_size: Annotated[
        Annotated[int, Field(ge=1)] | None,
        NotNull,
        Field(description="Characters of the answer. Default 50000."),
    ] = None


class ContextCenter(NamedPage):
    """The page in the middle, complete."""

    content: str


class RelatedPage(NamedPage):
    """A neighbour: the link that reached it, and its beginning."""

    link_type: LinkKind
    direction: Literal["outlink", "backlink"]
    summary: str
    depth: int


class ContextAnswer(UntrustedAnswer):
    """A page and its neighbours, nearest first; ``truncated`` if there are more than max_nodes.

    ``total_size`` are the characters of the content and the summaries.
    """

    center: ContextCenter
    related: tuple[RelatedPage, ...]
    total_size: int
    truncated_count: int
    truncated: OrAbsent[bool] = None


def context_tool(runtime: GraphRuntime) -> Tool[ContextParams, ContextAnswer]:
    """Return the tool."""

    def run(params: ContextParams, _: Call) -> ContextAnswer:
        snapshot = runtime.view()
        doc = runtime.page(snapshot, params.filepath, "filepath")
        depth = params.depth or runtime.settings.max_depth
        walked = walk(snapshot, doc.path, depth, most=runtime.settings.max_nodes)
        text = doc.record.content
        alone = ContextAnswer(
            center=ContextCenter(**doc.named, content=text),
            related=(),
            total_size=len(text),
            truncated_count=len(walked.steps),
            truncated=walked.truncated or None,
            warnings=runtime.warned(snapshot),
        )
        most = params.max_size or MOST_SIZE
        left = most - json_chars(alone) - len(str(most))  # total_size may have more digits
        related = tuple(_fitting(snapshot, walked.steps, left)) if left > 0 else ()
        return alone.model_copy(
            update={
                "related": related,
                "total_size": len(text) + sum(len(page.summary) for page in related),
                "truncated_count": len(walked.steps) - len(related),
            }
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
        examples=({"filepath": "guide/install.md", "depth": 1},),
    )


def _fitting(
    snapshot: GraphSnapshot, steps: Sequence[WalkStep], left: int
) -> Iterator[RelatedPage]:
    """Yield the first pages that fit into some characters of JSON."""
    for step in steps:
        near = snapshot.docs[step.path]
        page = RelatedPage(
            **near.named,
            link_type=step.kind,
            direction=step.direction,
            summary=near.summary,
            depth=step.depth,
        )
        left -= json_chars(page)
        if left < 0:
            return
        yield page
