"""What the surface ``manual`` offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shirube import Desk, Tool
from shirube_builtin.surfaces.manual.find import find_tool
from shirube_builtin.surfaces.manual.full import full_tool
from shirube_builtin.surfaces.manual.hits import hits_tool
from shirube_builtin.surfaces.manual.ls import ls_tool
from shirube_builtin.surfaces.manual.read import read_tool
from shirube_builtin.surfaces.manual.scan import scan_tool
from shirube_builtin.surfaces.manual.settings import Settings
from shirube_builtin.surfaces.manual.toc import toc_tool


def tools(desk: Desk, settings: Settings, scan_max_chars: int) -> Sequence[Tool[Any, Any]]:
    """Return the six tools, in the order in which an agent meets them."""
    return (
        ls_tool(desk),
        toc_tool(desk),
        find_tool(desk, settings),
        hits_tool(desk, settings),
        read_tool(desk, settings),
        scan_tool(desk, settings, scan_max_chars),
    )


def commands(desk: Desk, settings: Settings) -> Sequence[Tool[Any, Any]]:
    """Return the tools whose whole answer callers inside the process may have."""
    return (full_tool(desk, settings),)
