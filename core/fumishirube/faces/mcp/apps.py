"""MCP Apps (SEP-1865): HTML pages that show the answers of tools in clients that support them."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from fumishirube.faces.mcp.requests import RequestContext
from fumishirube.tools.definitions import Tool, View

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"


def shows_views(ctx: RequestContext) -> bool:
    """Tell whether a client has declared that it shows such pages.

    The SDK's own function would import its larger server.
    """
    capabilities = ctx.session.client_capabilities
    declared = (capabilities.extensions or {}) if capabilities else {}
    mimes = (declared.get(EXTENSION) or {}).get("mimeTypes")
    return isinstance(mimes, (list, tuple)) and MIME in mimes


def with_view(entry: types.Tool, tool: Tool[Any, Any]) -> types.Tool:
    """Return the entry of a tool with its view, if it has one."""
    if tool.view is None:
        return entry
    return entry.model_copy(update={"meta": {"ui": {"resourceUri": tool.view.uri}}})


def page_of(view: View) -> types.TextResourceContents:
    """Return the page of a view; it needs no access to any network."""
    return types.TextResourceContents(
        uri=view.uri, mime_type=MIME, text=view.html, _meta={"ui": {"prefersBorder": True}}
    )
