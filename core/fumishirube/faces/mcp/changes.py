"""Telling clients of either era that there is something else on the menu."""

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
from fumishirube.host.catalog import CatalogPublisher

PATIENCE = 5.0
"""Seconds that telling one client may take."""


class ChangeNotifier:
    """Who wants to know, and what they are told."""

    def __init__(self, publisher: CatalogPublisher) -> None:
        self._publisher = publisher
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._older: WeakSet[Connection] = WeakSet()

    async def listen(
        self, ctx: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell a client of the newer era for as long as it likes; of single files never."""
        wanted = params.notifications.model_copy(update={"resource_subscriptions": None})
        return await self._listen(ctx, params.model_copy(update={"notifications": wanted}))

    async def initialized(self, ctx: RequestContext, _: types.NotificationParams) -> None:
        """Remember a client of the older era, which is told without asking, until it is gone."""
        connection = ctx.session._connection  # noqa: SLF001 - a session is of one message only
        self._older.add(connection)

    @asynccontextmanager
    async def announcements(self) -> AsyncIterator[None]:
        """Tell them while the body runs, whatever thread changes the menu."""
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
            group.start_soon(self._tell_all, receive)
            try:
                with send:
                    yield
            finally:
                end()
                self._listen.close()

    async def _tell_all(self, changes: MemoryObjectReceiveStream[None]) -> None:
        async with changes:
            async for _ in changes:
                for event in (ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()):
                    await self._bus.publish(event)
                async with anyio.create_task_group() as group:
                    for connection in [*self._older]:
                        group.start_soon(_tell, connection)


async def _tell(connection: Connection) -> None:
    # Who does not read is told nothing, and keeps nobody waiting.
    with anyio.move_on_after(PATIENCE):
        await connection.send_tool_list_changed()
        await connection.send_resource_list_changed()
        await connection.send_prompt_list_changed()
