"""The MCP face, for clients of both protocol eras. No other package imports the SDK."""

from fumishirube.faces.mcp.stdio import run_stdio

__all__ = ["run_stdio"]
