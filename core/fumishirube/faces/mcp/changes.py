"""Notify MCP clients of either protocol era that the catalog changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from weakref import WeakSet

import anyio
import mcp_types as types
from anyio import from_thread
from anyio.lowlevel import current_token
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)

from fumishirube.faces.mcp.requests import RequestContext
from fumishirube.faces.mcp.subscriptions import ResourceSubscriptions
from fumishirube.host.catalog import CatalogPublisher

NOTIFY_SECONDS = 5.0
"""Seconds that notifying one client may take."""


class ChangeNotifier:
    """Notifies every subscribed client of changes of the catalog."""

    def __init__(self, publisher: CatalogPublisher) -> None:
        self._publisher = publisher
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._older: WeakSet[Connection] = WeakSet()
        self.resources = ResourceSubscriptions(publisher, self._bus)

    async def listen(
        self, ctx: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a subscription of the newer protocol."""
        uris = await self.resources.honoured(params.notifications.resource_subscriptions or ())
        wanted = params.notifications.model_copy(update={"resource_subscriptions": uris or None})
        with self.resources.listening(uris):
            await self.resources.begin(uris)
            return await self._listen(ctx, params.model_copy(update={"notifications": wanted}))

    async def initialized(self, ctx: RequestContext, _: types.NotificationParams) -> None:
        """Register a client of the older protocol, which is notified without a subscription."""
        connection = ctx.session._connection  # noqa: SLF001 - a session is of one message only
        self._older.add(connection)

    @asynccontextmanager
    async def announcements(self) -> AsyncIterator[None]:
        """Send notifications while the body runs, whichever thread publishes the catalog."""
        token = current_token()
        send, receive = anyio.create_memory_object_stream[None](1)

        def wake() -> None:
            with suppress(anyio.WouldBlock, anyio.ClosedResourceError):
                send.send_nowait(None)

        def changed() -> None:
            with suppress(anyio.RunFinishedError):
                from_thread.run_sync(wake, token=token)

        async with anyio.create_task_group() as group:
            end = self._publisher.watch(changed)
            group.start_soon(self._notify_all, receive)
            group.start_soon(self.resources.follow)
            try:
                with send:
                    yield
            finally:
                end()
                self._listen.close()
                group.cancel_scope.cancel()

    async def _notify_all(self, changes: MemoryObjectReceiveStream[None]) -> None:
        async with changes:
            async for _ in changes:
                for event in (ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()):
                    await self._bus.publish(event)
                async with anyio.create_task_group() as group:
                    for connection in [*self._older]:
                        group.start_soon(_notify, connection)


async def _notify(connection: Connection) -> None:
    # A client that does not read must not delay the others.
    with anyio.move_on_after(NOTIFY_SECONDS):
        await connection.send_tool_list_changed()
        await connection.send_resource_list_changed()
        await connection.send_prompt_list_changed()
