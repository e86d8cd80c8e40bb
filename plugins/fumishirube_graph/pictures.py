"""``fumishirube docs get-graph --format``: draws the graph as DOT, Mermaid or HTML."""

import json
from collections.abc import Iterator
from importlib import resources
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Tool
from fumishirube.tools import OrAbsent
from fumishirube_graph.arguments import CommandParams, GraphRuntime
from fumishirube_graph.network import GraphAnswer, GraphParams, graph_page

Format = Literal["dot", "mermaid", "html"]

_PAGE = "graph.html"
_DATA = "/*GRAPH*/null"
_LOOKS = {
    "references": ("solid", "-->"),
    "depends_on": ("bold", "==>"),
    "implements": ("dashed", "-.->"),
    "extends": ("dotted", "--o"),
    "conflicts_with": ("solid", "--x"),
}
"""How a type of links is drawn: its style in DOT, its arrow in Mermaid."""


class PictureParams(GraphParams, CommandParams):
    """The graph to draw, and the format."""

    format: Annotated[Format, Field(description="dot, mermaid or html.")]


class PictureAnswer(Answer):
    """The picture, and what it does not show."""

    text: str
    warnings: OrAbsent[tuple[str, ...]] = None


def picture_tool(runtime: GraphRuntime) -> Tool[PictureParams, PictureAnswer]:
    """Return the tool."""

    def run(params: PictureParams, _: Call) -> PictureAnswer:
        graph = graph_page(runtime, runtime.view(refresh=params.refresh), params, inf)
        drawn = {"dot": _dot, "mermaid": _mermaid, "html": _html}[params.format]
        warnings = (*(graph.warnings or ()), *_left_out(graph))
        return PictureAnswer(text="\n".join(drawn(graph)), warnings=warnings or None)

    return Tool(
        name="docs_picture",
        title="Draw the graph",
        summary="Draw the graph of links.",
        params=PictureParams,
        answer=PictureAnswer,
        run=run,
    )


def _left_out(graph: GraphAnswer) -> Iterator[str]:
    """Yield what to do for the documents that are not in the picture, if there are any."""
    if graph.next_cursor:
        among = f" of {graph.total_nodes:,}" if graph.total_nodes else ""
        yield (
            f"only {len(graph.nodes):,}{among} documents are drawn, and the links between them; "
            "raise max_nodes and max_edges of the surface graph, name a --center, or draw the "
            f"next ones with --cursor {graph.next_cursor}"
        )


def _dot(graph: GraphAnswer) -> Iterator[str]:
    yield "digraph documents {"
    yield "  rankdir=LR; node [shape=box];"
    for node in graph.nodes:
        label = _quoted(f"{node.title}\n{node.filepath}")
        yield f"  {_quoted(node.id)} [label={label}, class={_quoted(node.doc_type)}];"
    for edge in graph.edges:
        look = f'label={_quoted(edge.type)}, style="{_LOOKS[edge.type][0]}"'
        yield f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [{look}];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _mermaid(graph: GraphAnswer) -> Iterator[str]:
    yield "graph LR"
    for node in graph.nodes:
        yield f'  {node.id}["{_entities(node.title)}"]:::{node.doc_type}'
    for edge in graph.edges:
        yield f"  {edge.source} {_LOOKS[edge.type][1]}|{edge.type}| {edge.target}"


def _entities(text: str) -> str:
    """Escape a text for Mermaid: every special character becomes a numeric entity."""
    return "".join(c if c.isalnum() or c in " -_./" else f"#{ord(c)};" for c in text)


def _html(graph: GraphAnswer) -> Iterator[str]:
    page = resources.files(__package__).joinpath(_PAGE).read_text(encoding="utf-8")
    data = json.dumps(graph.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    # In a script element only "<" could begin the closing tag.
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    yield page.replace(_DATA, data).rstrip("\n")
