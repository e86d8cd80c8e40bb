"""Runs uvicorn until the process receives a signal."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube import ConfigError
from fumishirube.serving import SWITCH_SECONDS, exit_within
from fumishirube_http.allowed_hosts import AllowedHostsMiddleware
from fumishirube_http.protocol import CONNECTIONS, Connection

_LOG = logging.getLogger("fumishirube.http")

GRACE = 1.0
"""Seconds for requests in progress after the signal."""
LAST = 1.8
"""Seconds until the process exits in any case, with the usual grace."""
BACKLOG = 4096
"""The most connections that wait for accept()."""
AT_ONCE = 32
"""Connections accepted in one turn of the event loop."""


def bound(host: str, port: int, setting: str = "server.port") -> socket.socket:
    """Return a listening socket; ``setting`` is the setting that errors name.

    Raises:
        ConfigError: when the address cannot be used.
    """
    # Name the protocol: only then does asyncio set TCP_NODELAY.
    kind, protocol = socket.SOCK_STREAM, socket.IPPROTO_TCP
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=kind, proto=protocol)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                # On Windows this option would let two servers share a port.
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:  # a host name may be too long to encode
        raise ConfigError(
            f"{setting}: nothing can listen at {host} port {port}; "
            "is another server running there? choose another port"
        ) from error
    return listening


def serve(
    app: ASGIApp,
    listening: socket.socket,
    ready: Callable[[str, int], None],
    own: socket.socket | None = None,
    tls: tuple[str, str] | None = None,
    grace: float = GRACE,
) -> None:
    """Serve until SIGTERM or SIGINT; requests in progress then have ``grace`` seconds to end.

    ``own`` is the socket of this process, if other processes accept connections of ``listening``.
    ``tls`` names the files of a certificate and its key.
    """
    _allow_connections()
    sys.setswitchinterval(SWITCH_SECONDS)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        # With a backlog of one, an idle process accepts the next of several new connections.
        backlog=AT_ONCE if own is None else 1,
        workers=None if own is None else 2,  # this chooses an event loop that shares sockets
        timeout_graceful_shutdown=math.ceil(grace),
        ssl_certfile=tls[0] if tls else None,
        ssl_keyfile=tls[1] if tls else None,
    )
    # uvicorn raises the signal again at its end; it was already handled.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    host, port = listening.getsockname()[:2]
    server = _Server(config, lambda: ready(host, port), own, grace - GRACE + LAST)
    server.run(sockets=[listening])


class LocalServer:
    """Serves the pages of other commands on this machine; see ``fumishirube.serving.WebServer``."""

    listen = staticmethod(bound)

    def guarded(self, app: ASGIApp) -> ASGIApp:
        """Return the application behind checks of the Host and Origin headers."""
        return AllowedHostsMiddleware(app, hosts=())

    def run(
        self, app: ASGIApp, listening: socket.socket, ready: Callable[[str, int], None]
    ) -> None:
        """Serve until SIGTERM or SIGINT.

        Raises:
            RuntimeError: when the application does not start, or does not end, as it should.
        """
        failures: list[str] = []

        async def observed(scope: Scope, receive: Receive, send: Send) -> None:
            async def noting_failures(message: Message) -> None:
                if message["type"].endswith(".failed"):
                    failures.append(message.get("message") or message["type"])
                await send(message)

            if scope["type"] != "lifespan":
                with _named_failures():
                    await app(scope, receive, send)
                return
            try:
                await app(scope, receive, noting_failures)
            except BaseException as error:
                failures.append(repr(error))
                raise

        with suppress(SystemExit):  # uvicorn's end where a start fails; its log is off
            serve(observed, listening, ready)
        if failures:
            raise RuntimeError(f"the application failed in its 'lifespan': {failures[0]}")


@contextmanager
def _named_failures() -> Iterator[None]:
    """Log what a page raises; uvicorn's own log is off where no tools are served."""
    try:
        yield
    except Exception as error:
        first, *_ = [*str(error).splitlines(), ""]
        fault = f"a page failed: {type(error).__name__}: {first[:300]}"
        _LOG.exception("a page failed", extra={"fault": fault})
        raise


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        own: socket.socket | None,
        last: float,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._own = own
        self._last = last

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio uses one number for the backlog and for the connections accepted in one turn.
            listening.listen(BACKLOG)
        if self._own is not None:
            self.servers.append(await self._listen_to_peers(self._own))
        # Objects from the start are permanent; exclude them from garbage collection.
        gc.freeze()
        gc.enable()
        self._ready()

    async def _listen_to_peers(self, own: socket.socket) -> asyncio.Server:
        app_state = self.lifespan.state
        protocol = partial(
            Connection, config=self.config, server_state=self.server_state, app_state=app_state
        )
        return await asyncio.get_running_loop().create_server(protocol, sock=own)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        exit_within(self._last)
        super().handle_exit(sig, frame)


def _allow_connections() -> None:
    """Raise the limit of open files as far as the connections need it, where allowed."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - there is none on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = 2 * CONNECTIONS
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
