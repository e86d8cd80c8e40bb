"""``ubp_get_graph``: documents as nodes, links as edges."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Answer, Call, LinkKind, Tool
from fumishirube.tools import ANSWER_CHARS, OrAbsent, json_chars
from fumishirube_graph.arguments import (
    DATA,
    Center,
    Cursor,
    Depth5,
    GraphRuntime,
    NonNullParams,
    UntrustedAnswer,
)
from fumishirube_graph.page_list import decoded_cursor, encoded_cursor, foreign_cursor
from fumishirube_graph.records import DocType
from fumishirube_graph.resolution import LinkEdge
from fumishirube_graph.snapshot import GraphSnapshot
from fumishirube_graph.traversal import walk


class GraphParams(NonNullParams):
    """The page in the middle and the depth; without it, the whole graph in pages."""

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
    """A link between two nodes, by their ids."""

    source: str
    target: str
    type: LinkKind


class GraphAnswer(UntrustedAnswer):
    """Nodes and edges; when some were left out, also the totals or a cursor."""

    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]
    truncated: OrAbsent[bool] = None
    total_nodes: OrAbsent[int] = None
    total_edges: OrAbsent[int] = None
    next_cursor: OrAbsent[str] = None


def graph_tool(runtime: GraphRuntime) -> Tool[GraphParams, GraphAnswer]:
    """Return the tool."""

    def run(params: GraphParams, _: Call) -> GraphAnswer:
        return graph_page(runtime, runtime.view(), params, ANSWER_CHARS)

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
        examples=({"center": "guide/install.md", "depth": 1}, {}),
    )


def graph_page(
    runtime: GraphRuntime, snapshot: GraphSnapshot, params: GraphParams, chars: float
) -> GraphAnswer:
    """Return a page of the graph: as many nodes and edges as the limits and ``chars`` allow.

    Raises:
        JsonRpcError: when the center is unknown, or the cursor belongs to other arguments.
    """
    if params.center is None:
        return _whole(runtime, snapshot, params.cursor, chars)
    center = runtime.page(snapshot, params.center, "center").path
    return _around(runtime, snapshot, center, params, chars)


def _whole(
    runtime: GraphRuntime, snapshot: GraphSnapshot, cursor: str | None, chars: float
) -> GraphAnswer:
    order = list(snapshot.docs)
    start = _decoded(cursor, "graph")
    if start is not None:
        # The last node of the previous page may be gone by now.
        start = start._replace(nodes=bisect_right(order, start.path))
    part = _part(runtime, snapshot, order, start, chars)
    shown = _answer(runtime, snapshot, part)
    if start is None and part.complete:
        return shown
    totals = {"total_nodes": len(order), "total_edges": sum(map(len, snapshot.out.values()))}
    next_cursor = None if part.complete else _encoded("graph", part.end)
    return shown.model_copy(update={"truncated": True, **totals, "next_cursor": next_cursor})


def _around(
    runtime: GraphRuntime, snapshot: GraphSnapshot, center: str, params: GraphParams, chars: float
) -> GraphAnswer:
    depth = params.depth or runtime.settings.max_depth
    request: JsonValue = ["graph", center, depth]
    start = _decoded(params.cursor, request)
    passed = start.nodes if start else 0
    most = passed + runtime.settings.max_nodes - (not start)
    walked = walk(snapshot, center, depth, most=most)
    order = [center, *(step.path for step in walked.steps)]
    if start is not None and start.path in order:
        start = start._replace(nodes=order.index(start.path) + 1)
    part = _part(runtime, snapshot, order, start, chars)
    cut = walked.truncated or not part.complete
    truncated = cut or start is not None or None
    next_cursor = _encoded(request, part.end) if cut else None
    shown = _answer(runtime, snapshot, part)
    return shown.model_copy(update={"truncated": truncated, "next_cursor": next_cursor})


class _GraphPlace(NamedTuple):
    """Where a page starts: the nodes delivered so far, and the edges of the last of them.

    With ``edges`` 0, all edges of that node were delivered.
    """

    nodes: int
    path: str
    edges: int


class _GraphPart(NamedTuple):
    """The nodes and edges of a page, whether they are the last, and where the next page starts."""

    paths: list[str]
    edges: list[LinkEdge]
    complete: bool
    end: _GraphPlace


def _part(
    runtime: GraphRuntime,
    snapshot: GraphSnapshot,
    order: Sequence[str],
    start: _GraphPlace | None,
    chars: float,
) -> _GraphPart:
    """Return a page of nodes in order, each with its edges to itself and to earlier nodes."""
    first = start.nodes if start else 0
    taken = set(order[:first])
    paths: list[str] = []
    edges: list[LinkEdge] = []
    end = start or _GraphPlace(0, "", 0)
    left = chars
    if start and start.edges and start.path in taken:
        more = _completing(snapshot, start.path, taken)[start.edges :]
        edges, left = _fitting(snapshot, more, left)
        if len(edges) < len(more):
            end = _GraphPlace(first, start.path, start.edges + len(edges))
            return _GraphPart(paths, edges, complete=False, end=end)
        end = _GraphPlace(first, start.path, 0)
    for number, path in enumerate(order[first:], start=first + 1):
        taken.add(path)
        new = _completing(snapshot, path, taken)
        bounded = len(edges) + len(new) > runtime.settings.max_edges
        left -= json_chars(_node(snapshot, path))
        fitting, rest = _fitting(snapshot, new, left)
        whole = left >= 0 and len(fitting) == len(new)
        if len(paths) >= runtime.settings.max_nodes or (
            (paths or edges) and (bounded or not whole)
        ):
            return _GraphPart(paths, edges, complete=False, end=end)
        paths.append(path)
        edges += fitting
        left = rest
        end = _GraphPlace(number, path, 0 if whole else len(fitting))
        if not whole:
            return _GraphPart(paths, edges, complete=False, end=end)
    return _GraphPart(paths, edges, complete=True, end=end)


def _fitting(
    snapshot: GraphSnapshot, edges: Sequence[LinkEdge], chars: float
) -> tuple[list[LinkEdge], float]:
    """Return the first edges that fit, at least one, and the characters that remain."""
    fitting: list[LinkEdge] = []
    for edge in edges:
        size = json_chars(_edge(snapshot, edge))
        if size > chars and fitting:
            break
        fitting.append(edge)
        chars -= size
    return fitting, chars


def _encoded(request: JsonValue, end: _GraphPlace) -> str:
    return encoded_cursor(request, [end.path, [end.nodes, end.edges]])


def _decoded(cursor: str | None, request: JsonValue) -> _GraphPlace | None:
    """Return where a page starts, or ``None`` for the first.

    Raises:
        JsonRpcError: when the cursor was issued for other arguments.
    """
    if cursor is None:
        return None
    match decoded_cursor(cursor, request):
        case [str(path), [int(nodes), int(edges)]] if min(nodes, edges) >= 0:
            return _GraphPlace(nodes, path, edges)
    raise foreign_cursor(cursor)


def _completing(snapshot: GraphSnapshot, path: str, taken: Collection[str]) -> list[LinkEdge]:
    """Return the edges between a page and itself, or a page taken earlier."""
    out = [e for e in snapshot.out[path] if e.target == path or e.target in taken]
    back = [e for e in snapshot.back.get(path, ()) if e.source != path and e.source in taken]
    return sorted([*out, *back])


def _answer(runtime: GraphRuntime, snapshot: GraphSnapshot, part: _GraphPart) -> GraphAnswer:
    return GraphAnswer(
        nodes=tuple(_node(snapshot, path) for path in part.paths),
        edges=tuple(_edge(snapshot, edge) for edge in part.edges),
        warnings=runtime.warned_of(snapshot),
    )


def _node(snapshot: GraphSnapshot, path: str) -> Node:
    doc = snapshot.docs[path]
    return Node(id=doc.id, filepath=path, title=doc.title, doc_type=doc.record.doc_type)


def _edge(snapshot: GraphSnapshot, edge: LinkEdge) -> GraphEdge:
    source, target = snapshot.docs[edge.source], snapshot.docs[edge.target]
    return GraphEdge(source=source.id, target=target.id, type=edge.kind)
