"""MCP: the tools for clients of both protocol eras. Only this room imports the SDK."""

from shirube.server.stdio import run_stdio, serve
from shirube.server.tools import build_server

__all__ = ["build_server", "run_stdio", "serve"]
