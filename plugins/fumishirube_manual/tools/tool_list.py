"""The tools of the surface ``manual``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fumishirube import SurfaceContext, Tool
from fumishirube.tools import listed
from fumishirube_manual.contract_answers import by_contract
from fumishirube_manual.full_answer import full_tool
from fumishirube_manual.surface import ManualSurface
from fumishirube_manual.tools.batch import batch_tool
from fumishirube_manual.tools.find import find_tool
from fumishirube_manual.tools.grep import grep_tool
from fumishirube_manual.tools.hits import hits_tool
from fumishirube_manual.tools.ls import ls_tool
from fumishirube_manual.tools.read import read_tool
from fumishirube_manual.tools.scan import scan_tool
from fumishirube_manual.tools.toc import toc_tool


def tools(context: SurfaceContext, settings: ManualSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which clients list them."""
    every_place = (grep_tool(context, settings),) if "grep" in settings.extras else ()
    offered = listed(
        (
            ls_tool(context, settings),
            toc_tool(context, settings),
            find_tool(context, settings),
            *every_place,
            hits_tool(context, settings),
            read_tool(context, settings),
            scan_tool(context, settings),
        ),
        settings.extras,
    )
    if not settings.extras:
        return [by_contract(tool) for tool in offered]
    return [*offered, batch_tool(offered, settings)] if "batch" in settings.extras else offered


def commands(context: SurfaceContext, settings: ManualSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools for callers inside the process, independent of those offered to clients."""
    return full_tool(context, settings), grep_tool(context, settings)
