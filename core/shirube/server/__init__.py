"""MCP: all that is offered, for clients of both protocol eras. Only this room imports the SDK."""

from shirube.server.host import build_server
from shirube.server.stdio import run_stdio, serve

__all__ = ["build_server", "run_stdio", "serve"]
