"""The tools of the surface ``manual``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fumishirube import SurfaceContext, Tool
from fumishirube.tools import listed
from fumishirube_manual.full_answer import full_tool
from fumishirube_manual.grep.plain_lines import grep_text
from fumishirube_manual.plain_texts import find_text, hits_text, read_text
from fumishirube_manual.settings import ManualSettings
from fumishirube_manual.tools.batch import batch_tool
from fumishirube_manual.tools.find import find_tool
from fumishirube_manual.tools.grep import grep_tool
from fumishirube_manual.tools.hits import hits_tool
from fumishirube_manual.tools.ls import ls_tool
from fumishirube_manual.tools.read import read_tool
from fumishirube_manual.tools.scan import scan_tool
from fumishirube_manual.tools.toc import toc_tool
from fumishirube_manual.views import hits_view

_TEXTS = {
    "manual_find": find_text,
    "manual_grep": grep_text,
    "manual_hits": hits_text,
    "manual_read": read_text,
}
"""The plain-text formats of some answers."""

_VIEWED = frozenset({"manual_find", "manual_hits"})
"""The tools whose answers have a page for people."""


def tools(
    context: SurfaceContext, settings: ManualSettings, scan_max_chars: int
) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which clients list them."""
    every_place = (grep_tool(context, settings),) if "grep" in settings.extras else ()
    offered: Sequence[Tool[Any, Any]] = (
        ls_tool(context, settings),
        toc_tool(context, settings),
        find_tool(context, settings),
        *every_place,
        hits_tool(context, settings),
        read_tool(context, settings),
        scan_tool(context, settings, scan_max_chars),
    )
    offered = [
        replace(tool, view=hits_view() if tool.name in _VIEWED else None) for tool in offered
    ]
    offered = listed(offered, settings.extras)
    if "plain" in settings.extras:
        offered = [replace(tool, text=_TEXTS.get(tool.name)) for tool in offered]
    if "batch" not in settings.extras:
        return offered
    batch = batch_tool(offered)
    return [*offered, batch if "plain" in settings.extras else replace(batch, text=None)]


def commands(context: SurfaceContext, settings: ManualSettings) -> Sequence[Tool[Any, Any]]:
    """Return the tools for callers inside the process, independent of those offered to clients."""
    return full_tool(context, settings), grep_tool(context, settings)
