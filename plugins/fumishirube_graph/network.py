"""``ubp_get_graph``: documents as nodes, links as edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from fumishirube import Answer, Call, LinkKind, Tool
from fumishirube_graph.arguments import (
    DATA,
    Center,
    Cursor,
    Depth5,
    GraphRuntime,
    NonNullParams,
    UntrustedAnswer,
)
from fumishirube_graph.errors import JsonRpcError, refusing
from fumishirube_graph.page_list import decoded_cursor, encoded_cursor
from fumishirube_graph.records import DocType
from fumishirube_graph.resolution import LinkEdge
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.traversal import walk


class GraphParams(NonNullParams):
    """Around which page, and how far; or the whole graph, page by page."""

    center: Center = None
    depth: Depth5 = None
    cursor: Cursor = None


class Node(Answer):
    """A document."""

    id: str
    filepath: str
    title: str
    doc_type: DocType


class GraphEdge(Answer):
    """A link, by the ids of its ends."""

    source: str
    target: str
    type: LinkKind


class GraphAnswer(UntrustedAnswer):
    """Nodes and edges; the counts come when something was left out."""

    omitted: ClassVar[frozenset[str]] = frozenset(
        {"warnings", "truncated", "total_nodes", "total_edges", "next_cursor"}
    )

    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool | None = None
    total_nodes: int | None = None
    total_edges: int | None = None
    next_cursor: str | None = None


def graph_tool(runtime: GraphRuntime) -> Tool[GraphParams, GraphAnswer]:
    """Return the tool."""

    def run(params: GraphParams, call: Call) -> GraphAnswer:
        del call
        snapshot = runtime.view()
        if params.center is None:
            return _whole(runtime, snapshot, params.cursor)
        if params.cursor is not None:
            message = "cursor goes with the whole graph; leave it out, or leave center out"
            raise JsonRpcError(message, parameter="cursor", reason="with_center")
        doc = runtime.page(snapshot, params.center, "center")
        return _around(runtime, snapshot, doc.path, params.depth or runtime.settings.max_depth)

    return Tool(
        name="ubp_get_graph",
        title="Show the graph of links",
        summary=(
            "Return documents as nodes and links as edges: those within depth links of a center, "
            "or, without center, the whole graph in pages. Use it to see what depends on what; "
            f"read single documents with ubp_get_page. No text is returned but titles. {DATA}"
        ),
        params=GraphParams,
        answer=GraphAnswer,
        run=run,
        refused=refusing(GraphParams),
        examples=({"center": "guide/install.md", "depth": 1}, {}),
    )


def _around(runtime: GraphRuntime, snapshot: GraphSnapshot, center: str, depth: int) -> GraphAnswer:
    most_nodes, most_edges = runtime.settings.max_nodes, runtime.settings.max_edges
    walked = walk(center, depth, snapshot.neighbours, snapshot.title, most=most_nodes - 1)
    paths: list[str] = []
    chosen: list[LinkEdge] = []
    cut = walked.truncated
    taken: set[str] = set()
    for path in (center, *(step.path for step in walked.steps)):
        new = _completing(snapshot, path, taken)
        if paths and len(chosen) + len(new) > most_edges:
            cut = True
            break
        paths.append(path)
        taken.add(path)
        chosen += new
    return _answer(runtime, snapshot, paths, chosen, truncated=cut or None)


def _whole(runtime: GraphRuntime, snapshot: GraphSnapshot, cursor: str | None) -> GraphAnswer:
    after = str(decoded_cursor(cursor, "graph")[0]) if cursor is not None else None
    everything = list(snapshot.docs)
    # An edge comes with the later of its two ends, so what was delivered is all that sorts before.
    taken = {path for path in everything if after is not None and path <= after}
    left = [path for path in everything if path not in taken]
    paths: list[str] = []
    chosen: list[LinkEdge] = []
    for path in left[: runtime.settings.max_nodes]:
        new = _completing(snapshot, path, taken)
        if paths and len(chosen) + len(new) > runtime.settings.max_edges:
            break
        paths.append(path)
        taken.add(path)
        chosen += new
    if len(paths) == len(everything):
        return _answer(runtime, snapshot, paths, chosen)
    more = len(paths) < len(left)
    return _answer(
        runtime,
        snapshot,
        paths,
        chosen,
        truncated=True,
        total_nodes=len(everything),
        total_edges=sum(map(len, snapshot.out.values())),
        next_cursor=encoded_cursor("graph", [paths[-1], 0]) if more and paths else None,
    )


def _completing(snapshot: GraphSnapshot, path: str, taken: set[str]) -> list[LinkEdge]:
    """Return the edges between a page and itself or those taken before."""
    out = [e for e in snapshot.out[path] if e.target == path or e.target in taken]
    back = [e for e in snapshot.back.get(path, ()) if e.source != path and e.source in taken]
    return sorted([*out, *back])


def _answer(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    paths: Iterable[str],
    edges: Iterable[LinkEdge],
    *,
    truncated: bool | None = None,
    total_nodes: int | None = None,
    total_edges: int | None = None,
    next_cursor: str | None = None,
) -> GraphAnswer:
    docs = [snapshot.docs[path] for path in paths]
    return GraphAnswer(
        nodes=tuple(
            Node(id=d.id, filepath=d.path, title=d.title, doc_type=d.record.doc_type) for d in docs
        ),
        edges=tuple(
            GraphEdge(
                source=snapshot.docs[edge.source].id,
                target=snapshot.docs[edge.target].id,
                type=edge.kind,
            )
            for edge in edges
        ),
        truncated=truncated,
        total_nodes=total_nodes,
        total_edges=total_edges,
        next_cursor=next_cursor,
        warnings=runtime.warned_of(snapshot),
    )
