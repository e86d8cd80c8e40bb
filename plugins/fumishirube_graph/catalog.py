"""What the surface ``graph`` offers, and the room in which its tools work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fumishirube import Desk, Tool
from fumishirube_graph.arguments import Room
from fumishirube_graph.check import check_tool
from fumishirube_graph.context import context_tool
from fumishirube_graph.docs import Docs
from fumishirube_graph.fulltext import fulltext_tool
from fumishirube_graph.indexing import index_tool
from fumishirube_graph.listing import list_tool
from fumishirube_graph.network import graph_tool
from fumishirube_graph.page import page_tool
from fumishirube_graph.pictures import picture_tool
from fumishirube_graph.search import search_tool
from fumishirube_graph.settings import Settings
from fumishirube_graph.stale import stale_tool
from fumishirube_graph.status import status_tool
from fumishirube_graph.suggesting import suggest_tool


def room(desk: Desk, settings: Settings, baseline_file: str) -> Room:
    """Return the one room of a desk, which all of its tools share."""
    return desk.keep("room", lambda: Room(Docs(desk, baseline_file), settings))


def tools(room: Room) -> Sequence[Tool[Any, Any]]:
    """Return the six tools, in the order in which an agent meets them."""
    return (
        search_tool(room),
        page_tool(room),
        context_tool(room),
        fulltext_tool(room),
        list_tool(room),
        graph_tool(room),
    )


def commands(room: Room) -> Sequence[Tool[Any, Any]]:
    """Return what only the command line is offered; the six tools as they stand, too."""
    return (
        *tools(room.unrefreshed()),
        index_tool(room),
        status_tool(room),
        stale_tool(room),
        check_tool(room),
        suggest_tool(room),
        picture_tool(room),
    )
