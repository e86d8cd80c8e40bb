"""MCP: all that is offered, for clients of both protocol eras. Only this room imports the SDK."""

from fumishirube.faces.mcp.host import build_server
from fumishirube.faces.mcp.stdio import run_stdio, serve

__all__ = ["build_server", "run_stdio", "serve"]
