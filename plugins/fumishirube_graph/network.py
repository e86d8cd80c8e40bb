"""``ubp_get_graph``: documents as nodes, links as edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from fumishirube import Answer, Call, LinkKind, Tool
from fumishirube_graph.arguments import (
    DATA,
    Center,
    Closed,
    Cursor,
    Depth5,
    Room,
    Trusting,
)
from fumishirube_graph.listing import decoded, encoded
from fumishirube_graph.records import DocType
from fumishirube_graph.refusals import Refused, refusing
from fumishirube_graph.resolution import Edge
from fumishirube_graph.view import View
from fumishirube_graph.walk import walk


class GraphParams(Closed):
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


class GraphAnswer(Trusting):
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


def graph_tool(room: Room) -> Tool[GraphParams, GraphAnswer]:
    """Return the tool."""

    def run(params: GraphParams, call: Call) -> GraphAnswer:
        del call
        view = room.view()
        if params.center is None:
            return _whole(room, view, params.cursor)
        if params.cursor is not None:
            told = "cursor goes with the whole graph; leave it out, or leave center out"
            raise Refused(told, parameter="cursor", reason="with_center")
        doc = room.page(view, params.center, "center")
        return _around(room, view, doc.path, params.depth or room.settings.max_depth)

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


def _around(room: Room, view: View, center: str, depth: int) -> GraphAnswer:
    most_nodes, most_edges = room.settings.max_nodes, room.settings.max_edges
    found = walk(center, depth, view.neighbours, view.title, most=most_nodes - 1)
    paths: list[str] = []
    chosen: list[Edge] = []
    cut = found.truncated
    taken: set[str] = set()
    for path in (center, *(step.path for step in found.steps)):
        new = _completing(view, path, taken)
        if paths and len(chosen) + len(new) > most_edges:
            cut = True
            break
        paths.append(path)
        taken.add(path)
        chosen += new
    return _answer(room, view, paths, chosen, truncated=cut or None)


def _whole(room: Room, view: View, cursor: str | None) -> GraphAnswer:
    after = str(decoded(cursor, "graph")[0]) if cursor is not None else None
    everything = list(view.docs)
    # An edge comes with the later of its two ends, so what was delivered is all that sorts before.
    taken = {path for path in everything if after is not None and path <= after}
    left = [path for path in everything if path not in taken]
    paths: list[str] = []
    chosen: list[Edge] = []
    for path in left[: room.settings.max_nodes]:
        new = _completing(view, path, taken)
        if paths and len(chosen) + len(new) > room.settings.max_edges:
            break
        paths.append(path)
        taken.add(path)
        chosen += new
    if len(paths) == len(everything):
        return _answer(room, view, paths, chosen)
    more = len(paths) < len(left)
    return _answer(
        room,
        view,
        paths,
        chosen,
        truncated=True,
        total_nodes=len(everything),
        total_edges=sum(map(len, view.out.values())),
        next_cursor=encoded("graph", [paths[-1], 0]) if more and paths else None,
    )


def _completing(view: View, path: str, taken: set[str]) -> list[Edge]:
    """Return the edges between a page and itself or those taken before."""
    out = [e for e in view.out[path] if e.target == path or e.target in taken]
    back = [e for e in view.back.get(path, ()) if e.source != path and e.source in taken]
    return sorted([*out, *back])


def _answer(
    room: Room,
    view: View,
    paths: Iterable[str],
    edges: Iterable[Edge],
    *,
    truncated: bool | None = None,
    total_nodes: int | None = None,
    total_edges: int | None = None,
    next_cursor: str | None = None,
) -> GraphAnswer:
    docs = [view.docs[path] for path in paths]
    return GraphAnswer(
        nodes=tuple(
            Node(id=d.id, filepath=d.path, title=d.title, doc_type=d.record.doc_type) for d in docs
        ),
        edges=tuple(
            GraphEdge(
                source=view.docs[edge.source].id,
                target=view.docs[edge.target].id,
                type=edge.kind,
            )
            for edge in edges
        ),
        truncated=truncated,
        total_nodes=total_nodes,
        total_edges=total_edges,
        next_cursor=next_cursor,
        warnings=room.warned_of(view),
    )
