"""HTTP: an endpoint for every tool, their OpenAPI document, and MCP over streamable HTTP."""

from fumishirube.faces.http.application import build_app, create_app

__all__ = ["build_app", "create_app"]
