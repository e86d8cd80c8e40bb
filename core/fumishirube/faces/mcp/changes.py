"""Notify MCP clients of either protocol era of changes of the catalog, and of resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from fumishirube.errors import ToolError
from fumishirube.faces.mcp.requests import RequestContext, connection_of
from fumishirube.host.catalog import CatalogPublisher

LOOK_SECONDS = 1.0
"""Seconds between two looks at the resources with subscriptions; without any, there is no look."""
MOST_SUBSCRIPTIONS = 500
"""The most resources that all clients of a server may subscribe to."""
NOTIFY_SECONDS = 5.0
"""Seconds that notifying one client may take."""


class ResourceSubscriptions:
    """Compares the stamps of subscribed resources, and notifies clients of both protocol eras."""

    def __init__(self, publisher: CatalogPublisher, bus: InMemorySubscriptionBus) -> None:
        self._publisher = publisher
        self._bus = bus
        self._listening = Counter[str]()
        self._older: dict[Connection, set[str]] = {}
        self._stamps: dict[str, str] = {}
        self._any = anyio.Event()

    @property
    def offered(self) -> bool:
        """Whether any resources of the catalog have stamps."""
        return any(resources.stamp for resources in self._publisher.catalog.resources)

    async def subscribe(
        self, ctx: RequestContext, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Subscribe a client of the older protocol to a resource."""
        uri = str(params.uri)
        if not await to_thread.run_sync(self._stamp, uri):
            raise MCPError(types.INVALID_PARAMS, "there is no such resource to subscribe to")
        connection = connection_of(ctx)
        if connection not in self._older:
            self._older[connection] = set()
            connection.exit_stack.callback(self._older.pop, connection, None)
        uris = self._older[connection]
        if uri not in uris and len(self._wanted()) >= MOST_SUBSCRIPTIONS:
            refusal = f"at most {MOST_SUBSCRIPTIONS} resources can be subscribed to"
            raise MCPError(types.INVALID_PARAMS, refusal)
        uris.add(uri)
        await self.begin([uri])
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: RequestContext, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """End a subscription of a client of the older protocol."""
        self._older.get(connection_of(ctx), set()).discard(str(params.uri))
        return types.EmptyResult()

    async def honoured(self, uris: Iterable[str]) -> list[str]:
        """Return the resources of a subscription of the newer protocol that are followed."""
        known = [uri for uri in uris if await to_thread.run_sync(self._stamp, uri)]
        return known[: max(0, MOST_SUBSCRIPTIONS - len(self._wanted()))]

    @contextmanager
    def listening(self, uris: Iterable[str]) -> Iterator[None]:
        """Follow resources for a stream of the newer protocol while the body runs."""
        followed = [*uris]
        self._listening.update(followed)
        try:
            yield
        finally:
            self._listening.subtract(followed)

    async def follow(self) -> None:
        """Look at the subscribed resources again and again, until it is cancelled."""
        while True:
            await self._any.wait()
            await anyio.sleep(LOOK_SECONDS)
            wanted = self._wanted()
            if not wanted:
                self._any = anyio.Event()
                self._stamps.clear()
                continue
            self._stamps = {uri: self._stamps[uri] for uri in self._stamps if uri in wanted}
            now = await to_thread.run_sync(self._stamped, wanted)
            changed = [uri for uri, stamp in now.items() if self._stamps.get(uri, stamp) != stamp]
            self._stamps.update(now)
            for uri in changed:
                await self._bus.publish(ResourceUpdated(uri=uri))
                for connection, uris in [*self._older.items()]:
                    if uri in uris:
                        # A client that does not read must not delay the others for long.
                        with anyio.move_on_after(NOTIFY_SECONDS):
                            await connection.send_resource_updated(uri)

    async def begin(self, uris: Iterable[str]) -> None:
        """Follow resources from their present state, or from that which another client knows."""
        now = await to_thread.run_sync(self._stamped, {*uris})
        self._stamps = {**now, **self._stamps}
        self._any.set()

    def _wanted(self) -> set[str]:
        listening = {uri for uri, number in self._listening.items() if number > 0}
        return listening.union(*self._older.values())

    def _stamped(self, uris: set[str]) -> dict[str, str]:
        return {uri: self._stamp(uri) for uri in sorted(uris)}

    def _stamp(self, uri: str) -> str:
        """Return the stamp of a resource; it is empty where there is none."""
        resources = self._publisher.catalog.resources_of(uri)
        if resources is None or resources.stamp is None:
            return ""
        with suppress(ToolError):
            return resources.stamp(uri)
        return ""


class ChangeNotifier:
    """Notifies every subscribed client of changes of the catalog."""

    def __init__(self, publisher: CatalogPublisher) -> None:
        self._publisher = publisher
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._older: set[Connection] = set()
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
        connection = connection_of(ctx)
        if connection not in self._older:
            self._older.add(connection)
            connection.exit_stack.callback(self._older.discard, connection)

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
