"""HTTP: an endpoint for every tool, their OpenAPI document, and MCP over streamable HTTP."""

from shirube.http.application import build_app, create_app

__all__ = ["build_app", "create_app"]
