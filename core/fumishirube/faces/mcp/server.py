"""The MCP server of a published catalog, for any transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from fumishirube import __version__
from fumishirube.faces.mcp.changes import ChangeNotifier, ResourceSubscriptions
from fumishirube.faces.mcp.requests import CallReporter, RequestRunner, SessionOf
from fumishirube.faces.mcp.resources import ResourceHandlers
from fumishirube.faces.mcp.tools import ToolHandlers, admit
from fumishirube.host.catalog import CatalogPublisher
from fumishirube.tools.definitions import InnerCalls

FRESH = CacheHint(ttl_ms=300_000)
"""How long clients may use a list that only a restart changes; others are stale at once."""
_LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/templates/list")


class CatalogServer(Server[Any]):
    """A server whose capabilities follow the published catalog, and that notifies of changes."""

    publisher: CatalogPublisher
    subscriptions: ResourceSubscriptions

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *others: Any, **named: Any
    ) -> InitializationOptions:
        """Return what the handshake of the older protocol declares."""
        changing = notification_options or NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(changing, *others, **named)

    def get_capabilities(self, *options: Any, **named: Any) -> types.ServerCapabilities:
        """Return the capabilities of the current catalog."""
        capabilities = super().get_capabilities(*options, **named)
        catalog = self.publisher.catalog
        if capabilities.resources is not None:
            capabilities.resources.subscribe = self.subscriptions.offered
        capabilities.resources = capabilities.resources if catalog.resources else None
        capabilities.prompts = capabilities.prompts if catalog.prompts else None
        capabilities.completions = (
            capabilities.completions if catalog.resources or catalog.prompts else None
        )
        return capabilities


def build_server(
    publisher: CatalogPublisher,
    *,
    name: str,
    session_of: SessionOf,
    report: CallReporter | None = None,
    inner: InnerCalls | None = None,
) -> Server[Any]:
    """Return an MCP server for any transport.

    ``session_of`` returns the session that a request belongs to, or ``None``. ``inner`` is for
    calls that a tool makes for one call.
    """
    work = RequestRunner(session_of, report, inner)
    tools, changes = ToolHandlers(publisher, work), ChangeNotifier(publisher)
    resources = ResourceHandlers(publisher, work)

    @asynccontextmanager
    async def lifespan(server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        def renewed() -> None:
            server.instructions = publisher.catalog.instructions or None

        end = publisher.watch(renewed)
        try:
            async with changes.announcements():
                yield {}
        finally:
            end()

    server = CatalogServer(
        name,
        version=__version__,
        instructions=publisher.catalog.instructions or None,
        lifespan=lifespan,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read_resource,
        on_list_prompts=resources.list_prompts,
        on_get_prompt=resources.get_prompt,
        on_completion=resources.complete,
        on_subscribe_resource=changes.resources.subscribe,
        on_unsubscribe_resource=changes.resources.unsubscribe,
        on_subscriptions_listen=changes.listen,
        cache_hints={} if publisher.profile.changing else dict.fromkeys(_LISTS, FRESH),
    )
    server.publisher = publisher
    server.subscriptions = changes.resources
    announcements = "notifications/initialized"
    server.add_notification_handler(announcements, types.NotificationParams, changes.initialized)
    server.middleware.append(admit)
    return server
