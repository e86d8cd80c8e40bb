"""Serving an application at an address until the process is told to stop."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from fumishirube import ConfigError
from fumishirube.serving import SWITCH_SECONDS, exit_within
from fumishirube_http.access import AccessMiddleware
from fumishirube_http.protocol import CONNECTIONS, Connection

GRACE = 1
"""Seconds that requests under way have to end once the process is told to stop."""
LAST = 1.8
"""Seconds after which the process ends all the same."""
BACKLOG = 4096
"""Connections that wait to be taken."""
AT_ONCE = 32
"""Connections taken at a time; then those that were taken before are read."""


def bound(host: str, port: int, setting: str = "server.port") -> socket.socket:
    """Return a socket that listens at an address; ``setting`` is what errors name.

    Raises:
        ConfigError: when it cannot be had.
    """
    # The protocol has to be named: only then asyncio sends small pieces at once.
    kind, protocol = socket.SOCK_STREAM, socket.IPPROTO_TCP
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=kind, proto=protocol)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                # Elsewhere the option means that two servers may share a port.
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:  # no name of a host may be as long
        raise ConfigError(
            f"{setting}: nothing can listen at {host} port {port}; "
            "is another server running there? choose another port"
        ) from error
    return listening


def serve(app: ASGIApp, listening: socket.socket, ready: Callable[[str, int], None]) -> None:
    """Serve until SIGTERM or SIGINT; what is under way then has a second to end."""
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
        backlog=AT_ONCE,
        timeout_graceful_shutdown=GRACE,
    )
    # uvicorn gives the signal back when it is done; then it has been heard already.
    for known in (signal.SIGINT, signal.SIGTERM):
        signal.signal(known, _ignore_signal)
    host, port = listening.getsockname()[:2]
    server = _Server(config, lambda: ready(host, port))
    server.run(sockets=[listening])


class LocalServer:
    """Serves the pages of other commands to this machine; see ``fumishirube.serving.WebServer``."""

    def listen(self, host: str, port: int, setting: str) -> socket.socket:
        """Return a socket that listens at an address.

        Raises:
            ConfigError: when it cannot be had.
        """
        return bound(host, port, setting)

    def guarded(self, app: ASGIApp) -> ASGIApp:
        """Return an application that refuses requests from other machines and other pages."""
        return AccessMiddleware(app, hosts=(), token=None, open_path="")

    def run(
        self, app: ASGIApp, listening: socket.socket, ready: Callable[[str, int], None]
    ) -> None:
        """Serve until the process is told to stop."""
        serve(app, listening, ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio's own figure is both: how many it takes at a time, and how many may wait.
            listening.listen(BACKLOG)
        # What start-up made stays; the collector need never look at it again.
        gc.freeze()
        gc.enable()
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        exit_within(LAST)
        super().handle_exit(sig, frame)


def _ignore_signal(_signal: int, _frame: FrameType | None) -> None:
    pass


def _allow_connections() -> None:
    """Let the process hold as many files as connections need, where it may say so itself."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - there is none on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * CONNECTIONS
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
