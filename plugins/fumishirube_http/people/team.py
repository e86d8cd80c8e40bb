"""The server of many people: signs them in, and passes each request on to the person's server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic, time

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fumishirube import ConfigError
from fumishirube.serving import Reloader
from fumishirube_http.allowed_hosts import AllowedHostsMiddleware
from fumishirube_http.limits import LimitMiddleware, is_stream
from fumishirube_http.log import LoggingMiddleware
from fumishirube_http.people.audit import record_call
from fumishirube_http.people.authentication import SignedIn
from fumishirube_http.people.limits import PeopleCounts
from fumishirube_http.people.metrics import Metrics
from fumishirube_http.people.records import Person
from fumishirube_http.people.server import PersonServer
from fumishirube_http.people.settings import TeamSettings
from fumishirube_http.problems import Problem, forbidden, invalid, reply

OPEN = 256
"""People with an open server, at most; for a further one, that of the longest idle is closed."""
IDLE = 1800.0
"""Seconds without a request after which a person's server is closed."""
_READING = ("GET", "HEAD")
_LOOK = 1.0
"""Seconds between two looks for people who were removed, and for idle servers."""

_log = logging.getLogger("fumishirube.http")


class Team:
    """An ASGI application for all people, without the middleware; see :func:`team_app`."""

    def __init__(
        self, reloader: Reloader, settings: TeamSettings, counts: PeopleCounts, worker: int = 1
    ) -> None:
        self._reloader = reloader
        self._counts = counts
        self._file = settings.file
        self._sign_in = settings.sign_in
        self._documents = settings.documents
        self._base = reloader.application.config.server.base_path.rstrip("/")
        self._servers: dict[str, PersonServer] = {}
        self._used: dict[str, float] = {}
        self._opening = anyio.Lock()
        self._group: TaskGroup | None = None
        self.metrics = Metrics(worker, lambda: len(self._servers))
        self.record = partial(record_call, self.metrics)

    @property
    def open_paths(self) -> frozenset[str]:
        """The paths that need no token."""
        return frozenset((self._path("healthz"), self._path("readyz"), *self._documents))

    @property
    def mcp_path(self) -> str:
        """The path of MCP."""
        return self._path("mcp")

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or run from the start of the server to its end."""
        if scope["type"] == "lifespan":
            await _lifespan(self, receive, send)
            return
        try:
            await self._answer(scope, receive, send)
        except Problem as problem:
            await reply(problem)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path in self.open_paths:
            _check_reading(scope["method"])
            await self._document(path)(scope, receive, send)
            return
        signed_in = await self._sign_in.person(Headers(scope=scope))
        person = signed_in.person
        scope["state"]["line"].person = signed_in.name
        if path == self._path("metrics"):
            _check_reading(scope["method"])
            if not person.metrics:
                raise forbidden("you have no right to the metrics")
            await self.metrics.response()(scope, receive, send)
            return
        server = await self._server(signed_in)
        stream = is_stream(self.mcp_path, scope)
        await server.limits.check_rate()
        async with server.limits.request(stream=stream):
            if stream and signed_in.expires is not None:
                await _until(signed_in.expires, server, scope, receive, send)
            else:
                await server(scope, receive, send)

    def _document(self, path: str) -> Response:
        if path in self._documents:
            return JSONResponse({**self._documents[path]})
        if path == self._path("healthz"):
            return JSONResponse({"ok": True})
        return self._ready()

    def _ready(self) -> Response:
        """Return whether people can sign in and be answered."""
        ready = self._group is not None
        try:
            self._file.people()
        except ConfigError:
            ready = False
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    async def _server(self, signed_in: SignedIn) -> PersonServer:
        """Return the server of a person, opened now or renewed if it has to be."""
        server = self._servers.get(signed_in.name)
        if server is None or not server.current or server.person != signed_in.person:
            async with self._opening:
                server = await self._opened(signed_in)
        self._used[signed_in.name] = monotonic()
        await server.ready.wait()
        return server

    async def _opened(self, signed_in: SignedIn) -> PersonServer:
        server = self._servers.get(signed_in.name)
        if server is not None and _same_way_in(signed_in.person, server.person):
            await to_thread.run_sync(server.renew, signed_in.person)
            return server
        if server is not None:  # with another token or subject, sessions begin anew
            self._end(signed_in.name)
        if self._group is None:
            raise Problem(503, {"error": "busy", "message": "the server is starting or stopping"})
        name, person = signed_in.name, signed_in.person
        made = partial(PersonServer, name, person, self._reloader, self.record, self._counts)
        server = self._servers[signed_in.name] = await to_thread.run_sync(made)
        self._used[signed_in.name] = monotonic()
        self._group.start_soon(self._run, server)
        for name in self._longest_idle(signed_in.name):
            self._end(name)
        return server

    def _longest_idle(self, besides: str) -> list[str]:
        """Return the people beyond the limit whose servers are idle, longest first.

        ``besides`` is the person whose server was just opened, for a request still to come.
        """
        idle = [
            name for name, server in self._servers.items() if server.limits.idle and name != besides
        ]
        return sorted(idle, key=self._used.__getitem__)[: max(0, len(self._servers) - OPEN)]

    async def _run(self, server: PersonServer) -> None:
        try:
            await server.runs()
        except Exception:
            _log.exception("the server of a person ended")
            if self._servers.get(server.name) is server:
                self._end(server.name)
        await server.limits.ended()
        await to_thread.run_sync(server.close)

    def _end(self, name: str) -> None:
        self._used.pop(name, None)
        self._servers.pop(name).stop()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the body runs."""
        end = self._reloader.publisher.watch(self._renew_all)
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._look_after)
                yield
                self._group = None
                group.cancel_scope.cancel()
        finally:
            end()
            for server in self._servers.values():
                server.close()

    def _renew_all(self) -> None:
        """Renew all servers after a reload, in its thread, so that clients are notified."""
        for server in [*self._servers.values()]:
            server.renew(server.person)

    async def _look_after(self) -> None:
        """End the servers of people who were removed or sign in otherwise, and idle ones."""
        while True:
            await anyio.sleep(_LOOK)
            try:
                people = self._file.people()
            except ConfigError:
                people = {}
            oldest = monotonic() - IDLE
            for name, server in [*self._servers.items()]:
                if self._servers.get(name) is not server:
                    continue  # a request ended it while another one was renewed
                person = people.get(name)
                unused = server.limits.idle and self._used[name] < oldest
                if person is None or not _same_way_in(person, server.person) or unused:
                    self._end(name)
                elif person != server.person:
                    try:
                        await to_thread.run_sync(server.renew, person)
                    except Exception:  # the next look tries again, and the others go on
                        _log.exception("the server of a person was not renewed")


def team_app(team: Team, hosts: frozenset[str], proxies: frozenset[str]) -> ASGIApp:
    """Return the application of a team behind the log, the checks of headers, and the limits."""
    limited = LimitMiddleware(team, unlimited=team.open_paths, mcp_path=team.mcp_path)
    access = AllowedHostsMiddleware(limited, hosts=sorted(hosts), proxies=proxies)
    return LoggingMiddleware(access, team.record)


async def _until(
    expires: float, server: PersonServer, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer with a stream that ends when its token expires, as if the client had hung up."""
    deadline = anyio.current_time() + expires - time()
    state = "unanswered"

    async def receive_or_end() -> Message:
        with anyio.move_on_at(deadline):
            return await receive()
        return {"type": "http.disconnect"}

    async def watched(message: Message) -> None:
        nonlocal state
        state = "open" if message.get("more_body", True) else "ended"
        await send(message)

    await server(scope, receive_or_end, watched)
    if state == "open":
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _lifespan(team: Team, receive: Receive, send: Send) -> None:
    await receive()
    async with team.running():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _check_reading(method: str) -> None:
    if method not in _READING:
        raise invalid(f"{method} is not allowed here", 405, {"allow": ", ".join(_READING)})


def _same_way_in(person: Person, before: Person) -> bool:
    """Tell whether a person has the same token and subject as before."""
    return (person.token, person.subject) == (before.token, before.subject)
