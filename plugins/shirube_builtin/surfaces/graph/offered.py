"""What the surface ``graph`` offers, and the room in which its tools work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shirube import Desk, Tool
from shirube_builtin.surfaces.graph.arguments import Room
from shirube_builtin.surfaces.graph.check import check_tool
from shirube_builtin.surfaces.graph.context import context_tool
from shirube_builtin.surfaces.graph.docs import Docs
from shirube_builtin.surfaces.graph.fulltext import fulltext_tool
from shirube_builtin.surfaces.graph.indexing import index_tool
from shirube_builtin.surfaces.graph.listing import list_tool
from shirube_builtin.surfaces.graph.network import graph_tool
from shirube_builtin.surfaces.graph.page import page_tool
from shirube_builtin.surfaces.graph.pictures import picture_tool
from shirube_builtin.surfaces.graph.search import search_tool
from shirube_builtin.surfaces.graph.settings import Settings
from shirube_builtin.surfaces.graph.stale import stale_tool
from shirube_builtin.surfaces.graph.status import status_tool
from shirube_builtin.surfaces.graph.suggesting import suggest_tool


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
