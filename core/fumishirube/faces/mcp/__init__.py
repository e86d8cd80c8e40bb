"""The MCP face, for clients of both protocol eras. No other package imports the SDK."""

from fumishirube.faces.mcp.server import build_server
from fumishirube.faces.mcp.stdio import run_stdio, serve

__all__ = ["build_server", "run_stdio", "serve"]
