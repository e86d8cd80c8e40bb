"""The tools of the surface ``graph``, and the runtime that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from fumishirube import SurfaceContext, Tool
from fumishirube_graph.arguments import GraphRuntime
from fumishirube_graph.check import check_tool
from fumishirube_graph.context import context_tool
from fumishirube_graph.docs import Docs
from fumishirube_graph.errors import refusing
from fumishirube_graph.fulltext import fulltext_tool
from fumishirube_graph.index import index_tool
from fumishirube_graph.network import graph_tool
from fumishirube_graph.page import page_tool
from fumishirube_graph.page_list import list_tool
from fumishirube_graph.pictures import picture_tool
from fumishirube_graph.search import search_tool
from fumishirube_graph.stale_documents import stale_tool
from fumishirube_graph.status import status_tool
from fumishirube_graph.suggestions import suggest_tool
from fumishirube_graph.surface import GraphSurface


def graph_runtime(context: SurfaceContext, settings: GraphSurface) -> GraphRuntime:
    """Return the one runtime of a context, which all of its tools share."""
    return context.keep(
        "room", lambda: GraphRuntime(Docs(context, settings.baseline_file), settings)
    )


def tools(runtime: GraphRuntime) -> Sequence[Tool[Any, Any]]:
    """Return the six tools, in the order in which clients list them."""
    made = (search_tool, page_tool, context_tool, fulltext_tool, list_tool, graph_tool)
    return _refusing(make(runtime) for make in made)


def commands(runtime: GraphRuntime) -> Sequence[Tool[Any, Any]]:
    """Return the tools that only the command line offers, and the six tools without refreshing."""
    made = (index_tool, status_tool, stale_tool, check_tool, suggest_tool, picture_tool)
    return (*tools(runtime.unrefreshed()), *_refusing(make(runtime) for make in made))


def _refusing(tools: Iterable[Tool[Any, Any]]) -> Sequence[Tool[Any, Any]]:
    """Return the tools with any failure restated."""
    return tuple(replace(tool, refused=refusing(tool.params)) for tool in tools)
