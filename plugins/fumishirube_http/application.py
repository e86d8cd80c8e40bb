"""The HTTP application: tool endpoints, their OpenAPI document, and MCP."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from fumishirube import Tool, __version__
from fumishirube.commands import Application
from fumishirube.serving import (
    CatalogPublisher,
    InnerCalls,
    LoadedConfig,
    Reloader,
    Schema,
    Served,
    ToolHost,
    load_plugins,
    open_application,
    process_settings,
)
from fumishirube.tools import paged
from fumishirube_http.allowed_hosts import AllowedHostsMiddleware
from fumishirube_http.endpoints import OwnEndpoint, QueryEndpoint, ToolEndpoint, ToolThreads
from fumishirube_http.limits import LimitMiddleware
from fumishirube_http.log import LoggingMiddleware, Recorder, RequestLogEntry
from fumishirube_http.mcp import McpEndpoint
from fumishirube_http.openapi import endpoint_fault, of_endpoint, of_tool
from fumishirube_http.people.settings import TeamSettings, check_no_people, proxies
from fumishirube_http.problems import Problem, invalid, reply
from fumishirube_http.server_token import ServerTokenMiddleware
from fumishirube_http.settings import check_access

_OWN = {"GET": QueryEndpoint, "POST": OwnEndpoint}


def create_app(config: LoadedConfig | None = None) -> FastAPI:
    """Return the application of a configuration, or of the workspace in the environment.

    Raises:
        ConfigError: when the configuration cannot be used.
    """
    if config is None:
        workspace = Path(os.environ.get("WORKSPACE_ROOT", "").strip() or ".").expanduser()
        return build_app(open_application(workspace))
    return build_app(Application(config, load_plugins()))


def build_app(application: Application) -> FastAPI:
    """Return the application for an open :class:`Application`, with its lifespan.

    Raises:
        ConfigError: when the settings cannot be used, or name people, who could not sign in.
    """
    check_no_people(application.loaded)
    application.drop_faulty_tools()
    return HttpApplication(application, application.tools.values()).app


class HttpApplication:
    """The ASGI application; its tools can be replaced while it runs.

    A caller that passes a ``publisher`` starts and ends the application's lifespan itself. The
    application of one ``person`` is ``running`` behind the middleware of its caller; ``inner``
    records the calls that a tool makes for one call of that person.

    Raises:
        ConfigError: when the settings cannot be used.
    """

    def __init__(
        self,
        application: ToolHost,
        tools: Iterable[Tool[Any, Any]],
        publisher: CatalogPublisher | None = None,
        record: Recorder = RequestLogEntry.write,
        person: str | None = None,
        inner: InnerCalls | None = None,
    ) -> None:
        check_access(application.loaded)
        self._alive = publisher is not None
        self._behind = person is not None
        self._application = application
        self._base = application.config.server.base_path.rstrip("/")
        self._health = f"{self._base}/healthz"
        self._mcp_path = f"{self._base}/mcp"
        self._workers = ToolThreads(inner)
        profile = replace(application.list_profile, changing=False)
        publisher = publisher or CatalogPublisher(application.catalog, profile)
        self._mcp = McpEndpoint(application, publisher, record, person, inner)
        self.app = self._build(application, tools)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve MCP while the body runs."""
        return self._mcp.running()

    def replace_application(self, served: Served[Any]) -> None:
        """Serve the tools of another application to all later requests."""
        app = self._build(served.application, served.tools)
        self.app.router.routes = app.router.routes

    def _build(self, application: ToolHost, tools: Iterable[Tool[Any, Any]]) -> FastAPI:
        """Build the routes."""
        base = self._base
        app = FastAPIOffline(
            title="Fumishirube",
            version=__version__,
            description=application.instructions,
            openapi_url=f"{base}/openapi.json",
            docs_url=f"{base}/docs",
            redoc_url=None,
            static_url=f"{base}/docs-static",
            swagger_ui_oauth2_redirect_url=f"{base}/docs/oauth2-redirect",
            redirect_slashes=False,
            lifespan=self._lifespan,
            middleware=self._middleware(),
        )
        app.add_exception_handler(Problem, _answer_problem)
        app.add_exception_handler(HTTPException, _answer_http_error)
        app.get(self._health, summary="Whether the server runs")(_healthz)
        app.router.routes.append(Route(self._mcp_path, self._mcp, include_in_schema=False))
        taken = {"/healthz", "/readyz", "/metrics", "/mcp", "/docs", "/openapi.json"}
        for tool in tools:
            fault = self._add(app, tool, taken)
            if fault:
                problem = f"tool {tool.name}: its endpoint is left out: {fault}"
                application.problems.append(problem)
        _answer_head(app)
        return app

    def _middleware(self) -> list[Middleware]:
        if self._behind:
            return [Middleware(LoggingMiddleware)]
        token = process_settings(self._application.loaded.environ).token
        hosts = self._application.config.security.allowed_hosts
        return [
            Middleware(LoggingMiddleware),
            Middleware(AllowedHostsMiddleware, hosts=hosts),
            Middleware(ServerTokenMiddleware, token=token, open_path=self._health),
            Middleware(LimitMiddleware, unlimited={self._health}, mcp_path=self._mcp_path),
        ]

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        with nullcontext() if self._alive else self._application.lifespan():
            async with self.running():
                yield

    def _add(self, app: FastAPI, tool: Tool[Any, Any], taken: set[str]) -> str | None:
        """Add the endpoint of a tool below ``/tools``, and the endpoint that it declares, if any.

        Return the fault of a declared endpoint that cannot be added.
        """
        shown = paged(tool)
        endpoint = ToolEndpoint(shown, self._workers)
        self._route(app, "POST", f"/tools/{tool.name}", endpoint, of_tool(shown))
        if tool.http is None:
            return None
        fault = endpoint_fault(tool, taken)
        if not fault:
            method, path = tool.http
            taken.add(path)
            endpoint = _OWN[method](tool, self._workers)
            self._route(app, method, path, endpoint, of_endpoint(tool, method))
        return fault

    def _route(
        self, app: FastAPI, method: str, path: str, endpoint: ToolEndpoint, operation: Schema
    ) -> None:
        tool = endpoint.tool
        app.add_api_route(
            self._base + path,
            endpoint.serve,
            methods=[method],
            summary=tool.title,
            description=tool.summary,
            operation_id=f"{method.lower()}{path.replace('/', '_')}",
            openapi_extra=operation,
        )


def _answer_head(app: FastAPI) -> None:
    """Let each path that answers GET answer HEAD too; the document lists GET alone."""
    for route in [*app.routes]:
        if isinstance(route, APIRoute) and route.methods == {"GET"}:
            app.add_api_route(route.path, route.endpoint, methods=["HEAD"], include_in_schema=False)


async def _healthz() -> dict[str, bool]:
    """Answer on the event loop, without reading files."""
    return {"ok": True}


async def _answer_problem(_: Request, problem: Exception) -> Response:
    return reply(cast("Problem", problem))


async def _answer_http_error(request: Request, error: Exception) -> Response:
    """Answer requests that the router refuses."""
    refused = cast("HTTPException", error)
    if refused.status_code == HTTPStatus.NOT_FOUND:
        message = "there is no such path; the OpenAPI document lists all paths"
        return reply(Problem(404, {"error": "not_found", "message": message}))
    message = f"{request.method} is not allowed here; the OpenAPI document lists what is"
    return reply(invalid(message, refused.status_code, refused.headers))


def served_app(
    reloader: Reloader, people: TeamSettings | None, worker: int | None = None
) -> ASGIApp:
    """Return the ASGI application, which follows the reloads of the configuration.

    ``worker`` is the number of this process among those of the server, if there are several.
    """
    application = reloader.application
    if people is None:
        http_app = HttpApplication(application, reloader.served.tools, reloader.publisher)
        reloader.follow(http_app.replace_application)
        return http_app.app
    from fumishirube_http.people.audit import start_audit  # noqa: PLC0415 - only with people
    from fumishirube_http.people.limits import PeopleCounts  # noqa: PLC0415 - the same
    from fumishirube_http.people.team import Team, team_app  # noqa: PLC0415 - the same

    folder, number = application.loaded.folder("runtime"), worker or 1
    start_audit(folder, number)
    counts = PeopleCounts.of(folder if worker else None)
    # What raises here refuses the reload.
    reloader.follow(lambda fresh: people.file.check_place(fresh.application.loaded))
    team = Team(reloader, people, counts, number)
    return team_app(team, people.hosts, proxies(application.loaded.environ))
